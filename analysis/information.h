/* Lower bounds on the mutual information between the predictions of a classifier and the label,
 * from its losses:
 *   information >= loss of chance - loss,  nats
 * after temperature scaling fitted on other rows than the evaluated ones, so that an overconfident
 * model is not mistaken for an uninformative one (Guo et al. 2017). */
#ifndef LRA_ANALYSIS_INFORMATION_H
#define LRA_ANALYSIS_INFORMATION_H

#include <stdint.h>

/* Inverse temperature, 0 to 100, with the smallest mean loss of softmax(b * logits); logits: (n,
 * n_classes). */
double lra_temperature_fit(int64_t n, int64_t n_classes, const float *logits, const int32_t *label);
/* loss: (n) nats of softmax(b * logits). */
void lra_losses(int64_t n, int64_t n_classes, const float *logits, const int32_t *label, double b,
                double *loss);
/* loss: (n) nats of the label frequencies of other rows, one of each class added. */
void lra_chance_losses(int64_t n, int64_t n_classes, const int32_t *label, int64_t n_other,
                       const int32_t *other, double *loss);

#endif
