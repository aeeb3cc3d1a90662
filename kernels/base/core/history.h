/* The learning curve of a training run, epoch by epoch: the dataset "/history" of results and
 * checkpoints. */
#ifndef LRA_BASE_CORE_HISTORY_H
#define LRA_BASE_CORE_HISTORY_H

#include "kernels/base/formats/h5.h"

/* Columns of a curve in memory, where row i is epoch i + 1. In files the epoch number is the first
 * column. Values are those of the task's metric. */
enum {
    LRA_HISTORY_STEP,
    LRA_HISTORY_TRAIN_LOSS,
    LRA_HISTORY_TRAIN_VALUE,
    LRA_HISTORY_VAL_LOSS,
    LRA_HISTORY_VAL_VALUE,
    LRA_HISTORY_RATE,
    LRA_HISTORY_SECONDS,
    LRA_HISTORY_COLUMNS
};

/* Writes a curve; history: (n_epochs, LRA_HISTORY_COLUMNS). */
int lra_history_write(lra_h5 *f, int64_t n_epochs, const double *history, lra_err *e);
/* Reads a curve. The caller frees *history. */
int lra_history_read(lra_h5 *f, int64_t *n_epochs, double **history, lra_err *e);

#endif
