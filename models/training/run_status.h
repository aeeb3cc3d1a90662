/* The progress of a run, for users and other processes: FOLDER/status, one line of JSON. The run
 * overwrites it in place, at most once a second, and removes it when it is finished. The file is
 * never synced and not needed to resume. A missing or unreadable entry is "unknown". */
#ifndef LRA_MODELS_TRAINING_RUN_STATUS_H
#define LRA_MODELS_TRAINING_RUN_STATUS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct {
    char title[96];        /* title of the run: "listops resconv K=5 seed 0" */
    char value[48];        /* "accuracy 55.10 %": training metric of this epoch so far */
    int64_t epoch, epochs; /* current epoch, from 1; number of epochs */
    int64_t step, steps;
    double left; /* estimated remaining time in seconds; negative: unknown so far */
} lra_run_status;

enum { LRA_RUN_STATUS_BYTES = 512 }; /* size of the file in bytes */

typedef struct lra_run_reporter lra_run_reporter;
/* Creates the status file of a run. If the folder is not writable, the run has no status; this is
 * not an error. */
lra_run_reporter *lra_run_reporter_new(const char *folder, const char *title, int64_t epochs,
                                       int64_t steps);
/* lra_run_reporter_due(): true if a second has passed since the last write. lra_run_reporter_at():
 * writes the state after a step. Nullable: value. */
bool lra_run_reporter_due(const lra_run_reporter *r);
void lra_run_reporter_at(lra_run_reporter *r, int64_t epoch, int64_t step, const char *value);
/* finished: removes the status file; otherwise the file remains. Nullable: r. */
void lra_run_reporter_free(lra_run_reporter *r, bool finished);

/* Reads the status of a run; returns false if it is missing or invalid. */
bool lra_run_status_read(const char *folder, lra_run_status *s);

#endif
