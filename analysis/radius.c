/* Computes radii, peaks and modes of distances. */
#include "analysis/radius.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "kernels/base/core/philox.h"

enum { REDRAWS = 1000, STREAM = 0x5244 };

static double radius_of(int64_t distances, const double *mass, double q)
{
    double all = 0, sum = 0;
    for (int64_t d = 0; d < distances; d++) all += mass[d];
    if (!(all > 0)) return NAN;
    for (int64_t d = 0; d < distances; d++)
        if ((sum += mass[d]) >= (q - 1e-12) * all) return (double)d;
    return (double)(distances - 1);
}

lra_estimate lra_radius(int64_t n, int64_t distances, const double *mass, double q, uint64_t key)
{
    double *sum = lra_alloc_array((size_t)distances + 1, sizeof *sum);
    double *drawn = lra_alloc_array(REDRAWS, sizeof *drawn);
    for (int64_t i = 0; i < n; i++)
        for (int64_t d = 0; d < distances; d++) sum[d] += mass[i * distances + d];
    lra_estimate r = {radius_of(distances, sum, q), NAN, NAN};
    for (int k = 0; k < REDRAWS && n > 1; k++) {
        lra_rng rng = lra_rng_new(key, STREAM, (uint64_t)k);
        for (int64_t d = 0; d < distances; d++) sum[d] = 0;
        for (int64_t i = 0; i < n; i++) {
            const double *row = mass + distances * lra_rng_below(&rng, (uint32_t)n);
            for (int64_t d = 0; d < distances; d++) sum[d] += row[d];
        }
        drawn[k] = radius_of(distances, sum, q);
    }
    if (n > 1) r = lra_holding(lra_percentile(r.value, REDRAWS, drawn, 0.95));
    lra_free(sum);
    lra_free(drawn);
    return r;
}

double lra_peak_floor(int64_t n, const double *x)
{
    double most = 0;
    for (int64_t d = 1; d <= n / 2 && d < n; d++) most = fmax(most, x[d]);
    return most / 10;
}

double lra_peak(int64_t n, const double *x, const double *other)
{
    double best = -INFINITY, at = NAN, floor = lra_peak_floor(n, x);
    for (int64_t d = 1; d <= n / 2 && d < n; d++)
        if (other[d] > 0 && x[d] >= floor && x[d] / other[d] > best)
            best = x[d] / other[d], at = (double)d;
    return at;
}

double lra_peak_middle(int64_t n)
{
    int64_t last = n / 2 < n - 1 ? n / 2 : n - 1;
    return last < 1 ? NAN : (1 + (double)last) / 2;
}

/* Returns the weighted mode of ascending positions; count: multiplicity of each example. */
static double mode_of(int64_t n, const int64_t *sorted, const double *count)
{
    double most = 0, here = 0;
    int64_t at = 0;
    for (int64_t i = 0; i < n; i++) {
        here = i > 0 && sorted[i] == sorted[i - 1] ? here + count[i] : count[i];
        if (here > most) most = here, at = sorted[i];
    }
    return n > 0 ? (double)at : NAN;
}

static int ascending(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

lra_estimate lra_modal_position(int64_t n, const int64_t *place, uint64_t key)
{
    int64_t *sorted = lra_alloc_array((size_t)n + 1, sizeof *sorted);
    double *count = lra_alloc_array((size_t)n + 1, sizeof *count), drawn[REDRAWS];
    memcpy(sorted, place, (size_t)n * sizeof *sorted);
    qsort(sorted, (size_t)n, sizeof *sorted, ascending);
    for (int64_t i = 0; i < n; i++) count[i] = 1;
    lra_estimate r = {mode_of(n, sorted, count), NAN, NAN};
    for (int k = 0; k < REDRAWS && n > 1; k++) {
        lra_rng rng = lra_rng_new(key, STREAM, (uint64_t)k);
        for (int64_t i = 0; i < n; i++) count[i] = 0;
        for (int64_t i = 0; i < n; i++) count[lra_rng_below(&rng, (uint32_t)n)] += 1;
        drawn[k] = mode_of(n, sorted, count);
    }
    if (n > 1) r = lra_holding(lra_percentile(r.value, REDRAWS, drawn, 0.95));
    lra_free(sorted);
    lra_free(count);
    return r;
}
