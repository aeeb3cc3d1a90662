/* Outputs as probabilities, compared without labels: p = softmax(logits), in nats. */
#ifndef LRA_PROBES_INFLUENCE_PROBABILITIES_H
#define LRA_PROBES_INFLUENCE_PROBABILITIES_H

#include <stdint.h>

/* KL(p || q) = sum_c p_c (ln p_c - ln q_c) of logits a and b; of the same logits exactly 0. */
double lra_kl(int64_t C, const float *a, const float *b);

/* The mean of the outputs: the best prediction without an input.
 *   mean KL(p || mean p) = H(mean p) - mean H(p) */
typedef struct {
    int64_t n, C;
    double *sum; /* (C) of probabilities */
} lra_mean_answer;
/* Returns H(p). */
double lra_mean_answer_add(lra_mean_answer *m, int64_t C, const float *logits);
double lra_mean_answer_entropy(const lra_mean_answer *m);
void lra_mean_answer_free(lra_mean_answer *m);

#endif
