/* Computes context curves (context_curve.h). */
#include "analysis/context_curve.h"

#include "kernels/base/core/mem.h"

/* Adds row values with the sign of a metric of which larger values are better. */
static void add_negated(lra_sample *s, const double *value)
{
    double *row = lra_alloc_array((size_t)s->n + 1, sizeof *row);
    for (int64_t i = 0; i < s->n; i++) row[i] = -value[i];
    lra_sample_add_rows(s, 1, (const double *const[]){row});
    lra_free(row);
}

void lra_context_curve_compute(int64_t rows, int points, const double *x, const double *loss,
                               const double *kl, const double *key, const double *unigram,
                               uint64_t seed, lra_context_curve *out)
{
    *out = (lra_context_curve){.n = points};
    lra_sample *s = lra_sample_new(rows, false);
    for (int k = 0; k < points; k++) {
        out->loss[k] = lra_mean_interval(rows, loss + k * rows);
        out->kl[k] = lra_mean_interval(rows, kl + k * rows);
        if (out->kl[k].lo < 0) out->kl[k].lo = 0;
        out->key[k] = lra_share_interval(rows, key + k * rows);
        add_negated(s, loss + k * rows);
    }
    add_negated(s, loss + (points - 1) * rows);
    add_negated(s, unigram);
    out->full = out->loss[points - 1];
    out->unigram = lra_mean_interval(rows, unigram);
    lra_gain_compute(s, x, seed, &out->gain);
    lra_sample_free(s);
}
