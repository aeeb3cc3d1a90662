/* Compares outputs as probabilities (probabilities.h). */
#include "probes/influence/probabilities.h"

#include <math.h>

#include "kernels/base/core/mem.h"

/* ln sum_c exp(a_c) of logits a (C). */
static double log_sum(int64_t C, const float *a)
{
    double most = -INFINITY, sum = 0;
    for (int64_t c = 0; c < C; c++) most = fmax(most, (double)a[c]);
    for (int64_t c = 0; c < C; c++) sum += exp((double)a[c] - most);
    return most + log(sum);
}

double lra_kl(int64_t C, const float *a, const float *b)
{
    double of_a = log_sum(C, a), of_b = log_sum(C, b), kl = 0;
    for (int64_t c = 0; c < C; c++) {
        double p = (double)a[c] - of_a, q = (double)b[c] - of_b;
        kl += exp(p) * (p - q);
    }
    return fmax(kl, 0);
}

double lra_mean_output_add(lra_mean_output *m, int64_t C, const float *logits)
{
    double all = log_sum(C, logits), entropy = 0;
    if (!m->sum) m->sum = lra_alloc_array((size_t)C, sizeof *m->sum);
    m->C = C, m->n++;
    for (int64_t c = 0; c < C; c++) {
        double p = (double)logits[c] - all;
        m->sum[c] += exp(p);
        entropy -= exp(p) * p;
    }
    return entropy;
}

double lra_mean_output_entropy(const lra_mean_output *m)
{
    double entropy = 0;
    for (int64_t c = 0; c < m->C; c++) {
        double p = m->sum[c] / (double)m->n;
        if (p > 0) entropy -= p * log(p);
    }
    return entropy;
}

void lra_mean_output_free(lra_mean_output *m)
{
    lra_free(m->sum);
    *m = (lra_mean_output){0};
}
