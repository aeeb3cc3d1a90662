/* Why a run failed: FOLDER/failed.json, written by the process that trained it, or by the sweep
 * that started that process. It is removed when the run is trained again. A run that is neither
 * finished nor in training and has no such file was interrupted or killed. */
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
/* True if the run of a result file has failed: it has no result, and its folder has a failure
 * file. */
bool lra_run_failed(const char *result, lra_run_failure *f);
/* Writes the failure of a process that trained the run of a result file, unless the process wrote
 * it. */
void lra_run_failure_of_process(const char *result, int code);
/* Removes the failure file of a result file's run. */
void lra_run_failure_forget(const char *result);
/* "exit code 1, 2026-05-04T12:30:00Z on HOST: MESSAGE". The caller frees it. */
char *lra_run_failure_text(const lra_run_failure *f);

#endif
