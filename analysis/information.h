/* Losses of a classifier as lower bounds on the information that its answers hold about the label:
 *   information >= loss of chance - loss,  nats
 * after one temperature fitted on other rows than those that are measured, so that a model that is
 * too sure of itself is not taken for one that knows nothing (Guo et al. 2017). */
#ifndef LRA_ANALYSIS_INFORMATION_H
#define LRA_ANALYSIS_INFORMATION_H

#include <stdint.h>

/* Inverse temperature, 0 to 100, with the least mean loss of softmax(b * logits); logits: (n,
 * n_classes). */
double lra_temperature_fit(int64_t n, int64_t n_classes, const float *logits, const int32_t *label);
/* loss: (n) nats of softmax(b * logits). */
void lra_losses(int64_t n, int64_t n_classes, const float *logits, const int32_t *label, double b,
                double *loss);
/* loss: (n) nats of the label frequencies of other rows, one of each class added. */
void lra_chance_losses(int64_t n, int64_t n_classes, const int32_t *label, int64_t n_other,
                       const int32_t *other, double *loss);

#endif
