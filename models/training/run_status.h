/* How far a run is, for people and other processes: FOLDER/status, one line of JSON that the run
 * overwrites in place, at most once a second, and removes when it is finished.  It is never synced
 * and not needed to resume: a missing or unreadable entry is "unknown". */
#ifndef LRA_MODELS_TRAINING_RUN_STATUS_H
#define LRA_MODELS_TRAINING_RUN_STATUS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct {
    char title[96];        /* "listops resconv K=5 seed 0" */
    char value[48];        /* "accuracy 55.10 %": of training, in this epoch so far */
    int64_t epoch, epochs; /* from 1 */
    int64_t step, steps;
    double left; /* seconds; negative: unknown so far */
} lra_run_status;

enum { LRA_RUN_STATUS_BYTES = 512 }; /* of the file */

typedef struct lra_run_reporter lra_run_reporter;
/* A folder that is not writable is not an error: the run then has no status. */
lra_run_reporter *lra_run_reporter_new(const char *folder, const char *title, int64_t epochs,
                                       int64_t steps);
/* After a step; done before a second has passed since the last time.  value: Nullable. */
bool lra_run_reporter_due(const lra_run_reporter *r);
void lra_run_reporter_at(lra_run_reporter *r, int64_t epoch, int64_t step, const char *value);
/* finished: the status is removed; else it stays as it is.  Nullable: r */
void lra_run_reporter_free(lra_run_reporter *r, bool finished);

/* false: missing or not a status. */
bool lra_run_status_read(const char *folder, lra_run_status *s);

#endif
