/* Why a run failed: FOLDER/failed.json, written by the process that trained it, and removed when it
 * is trained again. Its absence means nothing: a process that is killed writes no file. */
#ifndef LRA_PROBES_RUN_FAILURE_H
#define LRA_PROBES_RUN_FAILURE_H

#include <stdbool.h>

typedef struct {
    int code;          /* exit code; 128 + signal number if a signal ended the process */
    bool diverged;     /* training diverged: consecutive updates were not finite */
    char message[512]; /* one printable line */
    char date[32];     /* "2026-05-04T12:30:00Z" */
    char host[72];
} lra_run_failure;

/* Writes the failure of a run with its time and host. Failing to write it is no error. */
void lra_run_failure_write(const char *folder, int code, bool diverged, const char *message);
/* Returns false if the folder has no valid failure file. */
bool lra_run_failure_read(const char *folder, lra_run_failure *f);
void lra_run_failure_remove(const char *folder);
/* True if the run of a result file has diverged instead. */
bool lra_run_diverged(const char *result);

#endif
