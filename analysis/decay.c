/* Fits decay laws, and computes Kendall's test. */
#include "analysis/decay.h"

#include <gsl/gsl_fit.h>
#include <gsl/gsl_statistics.h>
#include <math.h>
#include <stdbool.h>

#include "kernels/base/core/mem.h"

const char *const lra_decay_names[3] = {"none", "exp", "power"};

/* ---- lines ----------------------------------------------------------------------------------- */

/* a law is named if its AIC is lower than those of the alternatives by at least this */
#define BETTER      4.0
#define LEAST_SHARE 1e-24 /* smaller shares of the variance are rounding errors */

typedef struct {
    double slope, level, r2, aic;
} line;

/* Fits y = level + slope x by weighted least squares. Weights are positive with sum n; x are not
 * all equal. *aic_flat: AIC of a constant. */
static line fit_line(int64_t n, const double *x, const double *y, const double *w, double *aic_flat)
{
    double size = (double)n, v00, v01, v11, rest;
    line l = {0};
    gsl_fit_wlinear(x, 1, w, 1, y, 1, (size_t)n, &l.level, &l.slope, &v00, &v01, &v11, &rest);
    double mean = gsl_stats_wmean(w, 1, y, 1, (size_t)n);
    double flat = gsl_stats_wtss_m(w, 1, y, 1, (size_t)n, mean);
    double least = LEAST_SHARE * (flat + size * mean * mean) + 1e-300;
    l.r2 = flat > least ? 1 - rest / flat : 0;
    l.aic = size * log(fmax(rest, least) / size) + 2 * 2;
    *aic_flat = size * log(fmax(flat, least) / size) + 2 * 1;
    return l;
}

lra_decay lra_decay_fit(int64_t n, const double *d, const double *y, const double *weight)
{
    lra_decay f = {.n = n,
                   .tau = NAN,
                   .beta = NAN,
                   .level_exp = NAN,
                   .level_power = NAN,
                   .r2_exp = NAN,
                   .r2_power = NAN};
    if (n < 3) return f;
    double *ln_y = lra_alloc_array(3 * (size_t)n, sizeof *ln_y), *ln_d = ln_y + n, *w = ln_d + n;
    double sum = 0, flat;
    for (int64_t i = 0; i < n; i++) ln_y[i] = log(y[i]), ln_d[i] = log(d[i]), sum += weight[i];
    for (int64_t i = 0; i < n; i++) w[i] = weight[i] * (double)n / sum;
    line e = fit_line(n, d, ln_y, w, &flat), p = fit_line(n, ln_d, ln_y, w, &flat);
    lra_free(ln_y);
    f.tau = e.slope == 0 ? INFINITY : -1 / e.slope, f.beta = -p.slope;
    f.level_exp = e.level, f.level_power = p.level;
    f.r2_exp = e.r2, f.r2_power = p.r2;
    if (e.slope < 0 && e.aic <= flat - BETTER && e.aic <= p.aic - BETTER) f.kind = LRA_DECAY_EXP;
    if (p.slope < 0 && p.aic <= flat - BETTER && p.aic <= e.aic - BETTER) f.kind = LRA_DECAY_POWER;
    return f;
}

/* ---- Kendall --------------------------------------------------------------------------------- */

/* Null distribution of Kendall's test. below[c]: P(at most c of the pairs are inverted), for c up
 * to half of the pairs. */
struct lra_kendall_null {
    int n;
    int64_t pairs;
    double *below;
};

lra_kendall_null *lra_kendall_null_new(int n)
{
    lra_kendall_null *k = lra_alloc(sizeof *k);
    int64_t pairs = (int64_t)n * (n - 1) / 2, size = pairs / 2 + 1;
    double *a = lra_alloc_array((size_t)size, sizeof *a),
           *b = lra_alloc_array((size_t)size, sizeof *b);
    a[0] = 1;
    /* element m precedes 0 .. m-1 of the earlier elements, with equal probability */
    for (int m = 2; m <= n; m++) {
        double window = 0;
        for (int64_t c = 0; c < size; c++) {
            window += a[c];
            if (c >= m) window -= a[c - m];
            b[c] = window / m;
        }
        double *swap = a;
        a = b, b = swap;
    }
    for (int64_t c = 1; c < size; c++) a[c] += a[c - 1];
    lra_free(b);
    *k = (lra_kendall_null){n, pairs, a};
    return k;
}

void lra_kendall_null_free(lra_kendall_null *k)
{
    if (k) lra_free(k->below);
    lra_free(k);
}

/* Probability of at most `most` inversions in a random order of n numbers of which z are equal: the
 * generating function of inversions is the product over m = z+1 .. n of (1 + q + .. + q^(m-1)) / m.
 */
static double tied_below(int n, int z, int64_t most)
{
    if (most < 0) return 0;
    double *a = lra_alloc_array((size_t)most + 1, sizeof *a),
           *b = lra_alloc_array((size_t)most + 1, sizeof *b), sum = 0;
    a[0] = 1;
    for (int m = z + 1; m <= n; m++) {
        double window = 0;
        for (int64_t c = 0; c <= most; c++) {
            window += a[c];
            if (c >= m) window -= a[c - m];
            b[c] = window / m;
        }
        double *swap = a;
        a = b, b = swap;
    }
    for (int64_t c = 0; c <= most; c++) sum += a[c];
    lra_free(a);
    lra_free(b);
    return sum < 1 ? sum : 1;
}

lra_kendall lra_kendall_falling(const lra_kendall_null *k, const double *y)
{
    int64_t falls = 0, rises = 0;
    int z = 0;
    for (int i = 0; i < k->n; i++) {
        z += y[i] == 0;
        for (int j = i + 1; j < k->n; j++) falls += y[j]<y[i], rises += y[j]> y[i];
    }
    if (falls + rises == 0) return (lra_kendall){NAN, 1};
    double tau = (double)(rises - falls) / sqrt((double)k->pairs * (double)(falls + rises));
    if (z > 1) {
        int64_t ordered = k->pairs - (int64_t)z * (z - 1) / 2, inverted = ordered - falls;
        bool few = inverted <= ordered / 2;
        double p = few ? tied_below(k->n, z, inverted) : 1 - tied_below(k->n, z, falls - 1);
        return (lra_kendall){tau, p};
    }
    /* the upper half of the distribution is the mirror image of the lower half */
    int64_t against = k->pairs - falls, above = falls - 1;
    double p = against <= k->pairs / 2 ? k->below[against] : falls == 0 ? 1 : 1 - k->below[above];
    return (lra_kendall){tau, p};
}
