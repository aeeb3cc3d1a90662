/* Draws replicates of several series on the same examples. */
#include <math.h>

#include "analysis/sample.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/core/philox.h"

enum { EXAMPLES = 0x424F, SEEDS = 0x5345 };

/* Random part of a series due to its seeds: scale times Student's t(df). */
typedef struct {
    double scale, df;
} seed_part;

/* Returns the random part of series r. With a single seed, the pooled variance of the other series
 * is used. */
static seed_part part_of(const lra_sample *s, int r)
{
    const lra_series *x = &s->series[r];
    if (x->n_seeds == 0) return (seed_part){0, 1};
    if (x->n_seeds > 1) return (seed_part){x->own_sd / sqrt(x->n_seeds), x->n_seeds - 1};
    double sum = 0, df = 0;
    for (int k = 0; k < s->n_series; k++) {
        const lra_series *other = &s->series[k];
        if (other->n_seeds < 2) continue;
        df += other->n_seeds - 1;
        sum += (other->n_seeds - 1) * other->own_sd * other->own_sd;
    }
    return df > 0 ? (seed_part){sqrt(sum / df), df} : (seed_part){0, 1};
}

/* Draws from Student's t with any degrees of freedom, from two uniform numbers (Bailey 1994). */
static double student(lra_rng *r, double df)
{
    uint32_t first = lra_rng_u32(r);
    double u = lra_u01_open(first), angle = 6.283185307179586 * lra_rng_u01(r);
    return sqrt(df * (pow(u, -2 / df) - 1)) * cos(angle);
}

/* Computes the covariance of the rows divided by n, then its Cholesky factor, in place. If no
 * variance of a series remains, its column is 0. */
static void factor(const lra_sample *s, double (*a)[LRA_MAX_SERIES])
{
    int R = s->n_series;
    double n = (double)s->n;
    for (int p = 0; p < R; p++)
        for (int q = 0; q <= p; q++) {
            const lra_series *x = &s->series[p], *y = &s->series[q];
            double sum = 0;
            for (int64_t i = 0; i < s->n; i++) sum += x->row[i] * y->row[i];
            a[p][q] = (sum - n * x->value * y->value) / (n - 1) / n;
        }
    for (int q = 0; q < R; q++) {
        double whole = a[q][q];
        for (int k = 0; k < q; k++) a[q][q] -= a[q][k] * a[q][k];
        a[q][q] = a[q][q] > 1e-12 * whole && whole > 0 ? sqrt(a[q][q]) : 0;
        for (int p = q + 1; p < R; p++) {
            for (int k = 0; k < q; k++) a[p][q] -= a[p][k] * a[q][k];
            a[p][q] = a[q][q] > 0 ? a[p][q] / a[q][q] : 0;
        }
    }
}

static void draw_normal(const lra_sample *s, lra_rng *rng, double (*a)[LRA_MAX_SERIES], double *out)
{
    double z[LRA_MAX_SERIES + 1];
    for (int r = 0; r < s->n_series; r += 2) {
        uint32_t first = lra_rng_u32(rng);
        lra_normal2(first, lra_rng_u32(rng), &z[r], &z[r + 1]);
    }
    for (int r = 0; r < s->n_series; r++) {
        out[r] = s->series[r].value;
        for (int k = 0; k <= r; k++) out[r] += a[r][k] * z[k];
    }
}

/* Draws examples with replacement, the same for all series, and computes the means. */
static void draw_examples(const lra_sample *s, lra_rng *rng, double *out)
{
    for (int r = 0; r < s->n_series; r++) out[r] = 0;
    for (int64_t i = 0; i < s->n; i++) {
        uint32_t at = lra_rng_below(rng, (uint32_t)s->n);
        for (int r = 0; r < s->n_series; r++) out[r] += s->series[r].row[at];
    }
    for (int r = 0; r < s->n_series; r++) out[r] /= (double)s->n;
}

void lra_sample_draw(const lra_sample *s, uint64_t key, int n_replicates, double *out)
{
    seed_part seeds[LRA_MAX_SERIES];
    double(*a)[LRA_MAX_SERIES] = lra_alloc_array(LRA_MAX_SERIES, sizeof *a);
    bool redraw = s->n < LRA_REDRAW_BELOW;
    if (!redraw) factor(s, a);
    for (int r = 0; r < s->n_series; r++) seeds[r] = part_of(s, r);
    for (int b = 0; b < n_replicates; b++, out += s->n_series) {
        lra_rng rng = lra_rng_new(key, EXAMPLES, (uint64_t)b);
        if (redraw)
            draw_examples(s, &rng, out);
        else
            draw_normal(s, &rng, a, out);
        for (int r = 0; r < s->n_series; r++) {
            if (seeds[r].scale == 0) continue;
            rng = lra_rng_new(key, SEEDS + (uint32_t)r, (uint64_t)b);
            out[r] += seeds[r].scale * student(&rng, seeds[r].df);
        }
    }
    lra_free(a);
}
