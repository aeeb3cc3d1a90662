/* Compares two or more distance profiles. */
#include <math.h>

#include "analysis/interval.h"
#include "analysis/profile_impl.h"
#include "analysis/radius.h"
#include "kernels/base/core/mem.h"

double lra_shift_w1(int64_t n, const double *a, const double *b)
{
    double f = 0, sum = 0;
    for (int64_t d = 0; d < n; d++) f += a[d] - b[d], sum += fabs(f);
    return sum;
}

double lra_shift_js(int64_t n, const double *a, const double *b)
{
    double sum = 0;
    for (int64_t d = 0; d < n; d++) {
        double mean = (a[d] + b[d]) / 2;
        if (a[d] > 0) sum += a[d] / 2 * log2(a[d] / mean);
        if (b[d] > 0) sum += b[d] / 2 * log2(b[d] / mean);
    }
    return fmin(fmax(sum, 0), 1);
}

/* Wasserstein-1 distance from binned masses; F is linear within a bin. */
static double w1_in_bins(const lra_profile *p, const double *a, const double *b)
{
    double f = 0, sum = 0;
    for (int64_t k = 0, from = 0; k < p->n_bins; from = p->bin_end[k++]) {
        double before = f, width = (double)(p->bin_end[k] - from);
        f += a[k] - b[k];
        sum += width == 1 ? fabs(f) : width * (fabs(before) + fabs(f)) / 2;
    }
    return sum;
}

/* Computes W1 and Jensen-Shannon divergence of resampled examples (count: multiplicities) from
 * binned masses. */
static void shift_in_bins(const lra_profile *a, const lra_profile *b, const double *count,
                          double *mass, double out[2])
{
    double n = (double)a->examples, *other = mass + a->n_bins;
    lra_profile_binned_sum(a, P_MASS, count, mass);
    lra_profile_binned_sum(b, P_MASS, count, other);
    for (int k = 0; k < 2 * a->n_bins; k++) mass[k] /= n;
    out[0] = w1_in_bins(a, mass, other);
    out[1] = lra_shift_js(a->n_bins, mass, other);
}

/* Sets bootstrap intervals, shifted so that the sample itself has the value that is computed
 * without bins. */
static void set_intervals(const lra_profile *a, const lra_profile *b, uint64_t key,
                          lra_measurement out[2])
{
    double *count = lra_alloc_array((size_t)a->examples, sizeof *count), whole[2], one[2];
    double *mass = lra_alloc_array(2 * (size_t)a->n_bins, sizeof *mass);
    double *drawn = lra_alloc_array(2 * LRA_PROFILE_REDRAWS, sizeof *drawn);
    for (int64_t i = 0; i < a->examples; i++) count[i] = 1;
    shift_in_bins(a, b, count, mass, whole);
    for (int r = 0; r < LRA_PROFILE_REDRAWS; r++) {
        lra_profile_redraw(a->examples, key, r, count);
        shift_in_bins(a, b, count, mass, one);
        for (int k = 0; k < 2; k++)
            drawn[k * LRA_PROFILE_REDRAWS + r] = fmax(one[k] - whole[k] + out[k].value, 0);
    }
    for (int k = 0; k < 2; k++) {
        lra_estimate e = lra_holding(lra_percentile(out[k].value, LRA_PROFILE_REDRAWS,
                                                    drawn + k * LRA_PROFILE_REDRAWS, 0.95));
        out[k].lo = e.lo, out[k].hi = e.hi;
    }
    lra_free(drawn);
    lra_free(mass);
    lra_free(count);
}

int lra_profile_shift(const lra_profile *a, const lra_profile *b, const lra_profile_options *o,
                      lra_measurement *out)
{
    double *mass = lra_alloc_array(2 * (size_t)a->n, sizeof *mass), *other = mass + a->n;
    lra_profile_curves(a, mass, NULL, NULL, NULL, NULL);
    lra_profile_curves(b, other, NULL, NULL, NULL, NULL);
    out[0] = lra_profile_measurement(a, o, "shift.w1", lra_shift_w1(a->n, mass, other));
    out[1] = lra_profile_measurement(a, o, "shift.js", lra_shift_js(a->n, mass, other));
    for (int k = 0; k < 2; k++) out[k].null[LRA_NULL_UNIFORM] = 0;
    if (a->examples > 1 && a->examples == b->examples) set_intervals(a, b, o->key, out);
    lra_free(mass);
    return 2;
}

/* ---- where it grew most ---------------------------------------------------------------------- */

/* Growth of the ratio b / a in bins of distances. */
typedef struct {
    /* (n_bins) each: the largest growth within a bin, its distance, and the bin's ratio b / a for
     * all examples */
    double *most, *at, *whole;
} growth;

/* Computes the ratio b / a in each bin for resampled examples (count: multiplicities). */
static void growth_in_bins(const lra_profile *a, const lra_profile *b, bool by_intensity,
                           const double *count, double *room, double *out)
{
    double *above = room, *below = room + b->n_bins;
    int quantity = by_intensity ? P_WEIGHT : P_MASS;
    lra_profile_binned_sum(b, quantity, count, above);
    lra_profile_binned_sum(a, quantity, count, below);
    for (int k = 0; k < b->n_bins; k++) out[k] = above[k] / below[k];
    if (!by_intensity) return;
    lra_profile_binned_sum(a, P_EQUAL, count, above);
    lra_profile_binned_sum(b, P_EQUAL, count, below);
    for (int k = 0; k < b->n_bins; k++) out[k] *= above[k] / below[k];
}

/* Sets `most` and `at` from the distances 1 .. n / 2, the candidates of lra_peak(). */
static void set_growth(const lra_profile *p, const double *mass, const double *other, growth *g)
{
    double floor = lra_peak_floor(p->n, mass);
    for (int k = 0; k < p->n_bins; k++) g->most[k] = -INFINITY;
    for (int64_t d = 1, k = 0; d <= p->n / 2 && d < p->n; d++) {
        while (d >= p->bin_end[k]) k++;
        if (!(other[d] > 0) || mass[d] < floor) continue;
        if (!(mass[d] / other[d] > g->most[k])) continue;
        g->most[k] = mass[d] / other[d], g->at[k] = (double)d;
    }
}

/* Returns the peak of resampled examples. Within a bin, the growth has the shape that it has over
 * all examples, multiplied by the bin's ratio. */
static double peak_in_bins(const lra_profile *p, const growth *g, const double *drawn)
{
    double best = -INFINITY, at = NAN;
    for (int k = 0; k < p->n_bins; k++) {
        double x = g->most[k] * drawn[k] / g->whole[k];
        if (isfinite(x) && x > best) best = x, at = g->at[k];
    }
    return at;
}

static lra_estimate peak_interval(const lra_profile *a, const lra_profile *b, bool by_intensity,
                                  uint64_t key, growth *g, double value)
{
    size_t wide = (size_t)b->n_bins;
    double *count = lra_alloc_array((size_t)b->examples + 3 * wide, sizeof *count);
    double *room = count + b->examples, *drawn = room + 2 * wide, place[LRA_PROFILE_REDRAWS];
    for (int64_t i = 0; i < b->examples; i++) count[i] = 1;
    growth_in_bins(a, b, by_intensity, count, room, g->whole);
    for (int r = 0; r < LRA_PROFILE_REDRAWS; r++) {
        lra_profile_redraw(b->examples, key, r, count);
        growth_in_bins(a, b, by_intensity, count, room, drawn);
        place[r] = peak_in_bins(b, g, drawn);
    }
    lra_free(count);
    return lra_holding(lra_percentile(value, LRA_PROFILE_REDRAWS, place, 0.95));
}

lra_measurement lra_profile_peak(const lra_profile *a, const lra_profile *b, bool by_intensity,
                                 const lra_profile_options *o)
{
    size_t n = (size_t)b->n, wide = (size_t)b->n_bins;
    double *x = lra_alloc_array(2 * n + 3 * wide, sizeof *x), *other = x + n;
    growth g = {other + n, other + n + wide, other + n + 2 * wide};
    lra_profile_curves(b, by_intensity ? NULL : x, NULL, by_intensity ? x : NULL, NULL, NULL);
    lra_profile_curves(a, by_intensity ? NULL : other, NULL, by_intensity ? other : NULL, NULL,
                       NULL);
    lra_measurement f = lra_profile_measurement(b, o, "shift.peak", lra_peak(b->n, x, other));
    f.null[LRA_NULL_UNIFORM] = lra_peak_middle(b->n);
    if (!isnan(f.value) && b->examples > 1 && a->examples == b->examples) {
        set_growth(b, x, other, &g);
        lra_estimate e = peak_interval(a, b, by_intensity, o->key, &g, f.value);
        f.lo = e.lo, f.hi = e.hi;
    }
    lra_free(x);
    return f;
}

/* ---- several --------------------------------------------------------------------------------- */

enum { REDRAWS = 200 }; /* bootstrap resamples of the mean over pairs of profiles */

/* Returns the mean Jensen-Shannon divergence of all pairs of n masses; mass: (n, wide). */
static double mean_js(int n, int64_t wide, const double *mass)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        for (int k = 0; k < i; k++) sum += lra_shift_js(wide, mass + i * wide, mass + k * wide);
    return n > 1 ? 2 * sum / (n * (n - 1)) : NAN;
}

static double mean_in_bins(int n, const lra_profile *const *p, const double *count, double *mass)
{
    int bins = p[0]->n_bins;
    for (int i = 0; i < n; i++) lra_profile_binned_sum(p[i], P_MASS, count, mass + i * bins);
    for (int k = 0; k < n * bins; k++) mass[k] /= (double)p[0]->examples;
    return mean_js(n, bins, mass);
}

/* Returns a bootstrap interval, shifted as in set_intervals(). */
static lra_estimate interval_of(int n, const lra_profile *const *p, uint64_t key, double value)
{
    int64_t examples = p[0]->examples;
    double *count = lra_alloc_array((size_t)examples, sizeof *count), drawn[REDRAWS];
    double *mass = lra_alloc_array((size_t)(n * p[0]->n_bins), sizeof *mass);
    for (int64_t e = 0; e < examples; e++) count[e] = 1;
    double whole = mean_in_bins(n, p, count, mass);
    for (int r = 0; r < REDRAWS; r++) {
        lra_profile_redraw(examples, key, r, count);
        drawn[r] = fmax(mean_in_bins(n, p, count, mass) - whole + value, 0);
    }
    lra_free(mass);
    lra_free(count);
    return lra_holding(lra_percentile(value, REDRAWS, drawn, 0.95));
}

lra_measurement lra_profile_difference(int n, const lra_profile *const *p, const char *id,
                                       uint64_t key)
{
    int64_t wide = p[0]->n;
    double *mass = lra_alloc_array((size_t)(n * wide), sizeof *mass);
    for (int i = 0; i < n; i++) lra_profile_curves(p[i], mass + i * wide, NULL, NULL, NULL, NULL);
    lra_measurement f = lra_profile_measurement(p[0], &(lra_profile_options){.key = key}, id,
                                                mean_js(n, wide, mass));
    lra_free(mass);
    f.null[LRA_NULL_UNIFORM] = 0;
    if (n < 2 || p[0]->examples < 2) return f;
    lra_estimate e = interval_of(n, p, key, f.value);
    f.lo = e.lo, f.hi = e.hi;
    return f;
}
