/* The state of a run, and its checkpoint. A checkpoint contains everything that determines the
 * following steps: parameters, moments, states, position in the data, schedule, running sums of the
 * epoch, history. */
#ifndef LRA_MODELS_TRAINING_CHECKPOINT_H
#define LRA_MODELS_TRAINING_CHECKPOINT_H

#include "kernels/base/core/metric.h"
#include "models/training/train_spec.h"

typedef struct {
    int64_t epoch, batch; /* epoch (from 0) and update within it that come next */
    int64_t step;         /* number of updates done in the run */
    int64_t skipped;      /* number of updates not applied, because they were not finite */
    lra_schedule_state schedule;
    double loss_sum;    /* sum of loss times number of targets, over this epoch so far */
    lra_sums sums;      /* sums of the metric, over this epoch so far */
    double best_val;    /* best validation value of the metric */
    int64_t best_epoch; /* epoch (from 0) with the best value; -1: none */
    double seconds;     /* training time of earlier sessions, in seconds */
    int64_t log_bytes;  /* size of log.jsonl in bytes */
    lra_epoch_record *history;
    int64_t n_epochs; /* rows in `history` */
    char level[96];   /* instruction levels on which the run's steps were computed: "avx512+avx2" */
} lra_run_state;

/* Writes FOLDER/checkpoint.h5; on failure the old file remains complete. */
int lra_checkpoint_write(const lra_train_spec *s, const lra_run_state *now, const lra_params *p,
                         lra_err *e);
/* Reads the checkpoint; *found: false if there is none. Fails for a checkpoint of another
 * configuration and reports the first line that differs. */
int lra_checkpoint_read(const lra_train_spec *s, lra_run_state *now, lra_params *p, bool *found,
                        lra_err *e);
/* Writes FOLDER/best.h5: weights and states of the selected epoch, and its validation value. */
int lra_best_write(const lra_train_spec *s, int64_t epoch, double value, const lra_params *p,
                   lra_err *e);
/* Reads weights and states from FOLDER/best.h5; fails for a file of another configuration. */
int lra_best_read(const lra_train_spec *s, lra_params *p, lra_err *e);

#endif
