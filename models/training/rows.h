/* Contributions of single rows of a batch to the sums of a metric (lra_sums). */
#ifndef LRA_MODELS_TRAINING_ROWS_H
#define LRA_MODELS_TRAINING_ROWS_H

#include "datasets/loader/batch.h"
#include "kernels/base/core/metric.h"
#include "models/training/train_spec.h"

/* Computes the contributions of n rows of a batch of length T; row: (n), 0 for missing rows. */
void lra_session_rows(const lra_train_spec *s, const lra_batch *b, int64_t n, int64_t T,
                      const float *output, lra_sums *row);
/* Returns the contribution of one target with logits (C); 0 if the label is negative. */
lra_sums lra_class_row(const float *logits, int64_t C, int32_t label);
/* Contribution of n predicted numbers, with squared errors; target_mask: 0 where a target is
 * masked. */
lra_sums lra_number_row(int64_t n, const float *x, const float *target, const float *target_mask);

#endif
