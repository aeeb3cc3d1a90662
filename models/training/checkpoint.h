/* Where a run is, and its checkpoint.  Everything that decides the following steps is in it:
 * parameters, moments, states, position in the data, schedule, running sums of the epoch,
 * history. */
#ifndef LRA_MODELS_TRAINING_CHECKPOINT_H
#define LRA_MODELS_TRAINING_CHECKPOINT_H

#include "kernels/base/core/metric.h"
#include "models/training/train_spec.h"

typedef struct {
    int64_t epoch, batch; /* the next one */
    int64_t step;         /* number of batches done in the run */
    int64_t skipped;      /* updates that were not applied */
    lra_schedule_state schedule;
    double loss_sum;    /* of this epoch so far: loss times number of targets */
    lra_sums sums;      /* of this epoch so far: sums of the metric */
    double best_val;    /* value of the task's metric */
    int64_t best_epoch; /* -1: none */
    double seconds;     /* spent in earlier sessions */
    int64_t log_bytes;  /* of log.jsonl that belong to it */
    lra_epoch_record *history;
    int64_t n_epochs; /* in history */
    char level[96];   /* instruction levels that its steps were computed on: "avx512+avx2" */
} lra_run_state;

/* Writes FOLDER/checkpoint.h5, completely or not at all. */
int lra_checkpoint_write(const lra_train_spec *s, const lra_run_state *now, const lra_params *p,
                         lra_err *e);
/* Reads the checkpoint; *found is false if it is missing.  Fails for a checkpoint of another
 * configuration, with the first line that differs. */
int lra_checkpoint_read(const lra_train_spec *s, lra_run_state *now, lra_params *p, bool *found,
                        lra_err *e);
/* FOLDER/best.h5: weights and states of the selected epoch. */
int lra_best_write(const lra_train_spec *s, int64_t epoch, double value, const lra_params *p,
                   lra_err *e);
/* Weights and states; a file of another configuration is refused. */
int lra_best_read(const lra_train_spec *s, lra_params *p, lra_err *e);

#endif
