/* Compares outputs without labels, as probabilities p = softmax(logits). Entropies and divergences
 * are in nats. */
#ifndef LRA_PROBES_INFLUENCE_PROBABILITIES_H
#define LRA_PROBES_INFLUENCE_PROBABILITIES_H

#include <stdint.h>

/* KL(p || q) = sum_c p_c (ln p_c - ln q_c) for logits a of p and b of q; exactly 0 for equal
 * logits. */
double lra_kl(int64_t C, const float *a, const float *b);

/* Mean of output probabilities over examples: the best prediction without an input.
 *   mean KL(p || mean p) = H(mean p) - mean H(p) */
typedef struct {
    int64_t n, C;
    double *sum; /* (C) sum of the probabilities */
} lra_mean_output;
/* Adds softmax(logits) to the mean; returns its entropy H(p) in nats. */
double lra_mean_output_add(lra_mean_output *m, int64_t C, const float *logits);
double lra_mean_output_entropy(const lra_mean_output *m);
void lra_mean_output_free(lra_mean_output *m);

#endif
