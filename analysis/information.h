/* Lower bounds on the mutual information between the predictions of a classifier and the label,
 * from its losses:
 *   information >= loss of chance - loss of the model,  nats
 * Losses are computed after temperature scaling, which is fitted on rows other than the evaluated
 * ones, so that an overconfident model does not count as uninformative (Guo et al. 2017). */
#ifndef LRA_ANALYSIS_INFORMATION_H
#define LRA_ANALYSIS_INFORMATION_H

#include <stdint.h>

/* Returns the inverse temperature b, 0 to 100, with the smallest mean loss of softmax(b * logits);
 * logits: (n, n_classes). */
double lra_temperature_fit(int64_t n, int64_t n_classes, const float *logits, const int32_t *label);
/* Computes loss (n): the loss of softmax(b * logits) in nats. */
void lra_losses(int64_t n, int64_t n_classes, const float *logits, const int32_t *label, double b,
                double *loss);
/* Computes loss (n): the loss in nats of a constant prediction, the label frequencies of n_other
 * other rows with one count added to each class. */
void lra_chance_losses(int64_t n, int64_t n_classes, const int32_t *label, int64_t n_other,
                       const int32_t *other, double *loss);

#endif
