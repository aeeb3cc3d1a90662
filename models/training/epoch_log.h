/* The log of a run: one JSON line per epoch. When a run is resumed, it is truncated to the state of
 * the checkpoint. A value that is not finite is null. */
#ifndef LRA_MODELS_TRAINING_EPOCH_LOG_H
#define LRA_MODELS_TRAINING_EPOCH_LOG_H

#include "kernels/base/core/history.h"
#include "kernels/base/core/metric.h"
#include "models/training/train_spec.h"

/* Appends a line and syncs the file, so that a checkpoint never counts bytes that a power failure
 * can lose. chance: metric of a predictor without inputs on the validation split. *n_bytes: size of
 * the log including this line. */
int lra_epoch_log_add(const char *path, const lra_metric *m, double chance,
                      const lra_epoch_record *h, int64_t *n_bytes, lra_err *e);
/* Writes the epoch as a row of the history: (LRA_HISTORY_COLUMNS). */
void lra_epoch_values(const lra_epoch_record *h, double *row);
/* Truncates the log to n_bytes. A missing log counts as empty. A log shorter than n_bytes is left
 * unchanged, with a warning. */
int lra_epoch_log_cut(const char *path, int64_t n_bytes, lra_err *e);

#endif
