/* Contributions of single rows of a batch to the sums of a metric. */
#ifndef LRA_MODELS_TRAINING_ROWS_H
#define LRA_MODELS_TRAINING_ROWS_H

#include "datasets/loader/batch.h"
#include "kernels/base/core/metric.h"
#include "models/training/train_spec.h"

/* Contributions of the rows of a batch of length T to the sums of a metric; row: (n), 0 for missing
 * rows. */
void lra_session_rows(const lra_train_spec *s, const lra_batch *b, int64_t n, int64_t T,
                      const float *output, lra_sums *row);
/* Contribution of the logits of one target; 0 if the label is below 0. */
lra_sums lra_class_row(const float *logits, int64_t C, int32_t label);

#endif
