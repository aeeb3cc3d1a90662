/* The log of a run: one JSON line per epoch, cut back to the checkpoint when a run goes on.
 * A value that is not finite is null. */
#ifndef LRA_MODELS_TRAINING_EPOCH_LOG_H
#define LRA_MODELS_TRAINING_EPOCH_LOG_H

#include "kernels/base/core/history.h"
#include "kernels/base/core/metric.h"
#include "models/training/train_spec.h"

/* Appends a line and syncs the file, so that a checkpoint never records bytes that a power cut
 * takes away.  chance: the metric on the validation split without a look at the inputs.
 * *n_bytes: of the log, with this line. */
int lra_epoch_log_add(const char *path, const lra_metric *m, double chance,
                      const lra_epoch_record *h, int64_t *n_bytes, lra_err *e);
/* The epoch as a row of the history: (LRA_HISTORY_COLUMNS). */
void lra_epoch_values(const lra_epoch_record *h, double *row);
/* Cuts the log to n_bytes.  No log is as good as an empty one; one that is shorter is left as it
 * is, with a warning. */
int lra_epoch_log_cut(const char *path, int64_t n_bytes, lra_err *e);

#endif
