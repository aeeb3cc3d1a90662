/* The log of a run: one JSON line per epoch, truncated to the checkpoint when a run is resumed.  A
 * non-finite value is null. */
#ifndef LRA_MODELS_TRAINING_EPOCH_LOG_H
#define LRA_MODELS_TRAINING_EPOCH_LOG_H

#include "kernels/base/core/history.h"
#include "kernels/base/core/metric.h"
#include "models/training/train_spec.h"

/* Appends a line and syncs the file, so that a checkpoint never counts bytes that a power failure
 * can lose.  chance: the metric of a predictor without inputs on the validation split. *n_bytes: of
 * the log, with this line. */
int lra_epoch_log_add(const char *path, const lra_metric *m, double chance,
                      const lra_epoch_record *h, int64_t *n_bytes, lra_err *e);
/* The epoch as a row of the history: (LRA_HISTORY_COLUMNS). */
void lra_epoch_values(const lra_epoch_record *h, double *row);
/* Truncates the log to n_bytes.  A missing log counts as empty; a shorter one is left unchanged,
 * with a warning. */
int lra_epoch_log_cut(const char *path, int64_t n_bytes, lra_err *e);

#endif
