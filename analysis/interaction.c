/* Interaction of blocks. */
#include "analysis/interaction.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/interval.h"
#include "analysis/radius.h"
#include "kernels/base/mem.h"
#include "kernels/base/philox.h"

enum { PERMUTATIONS = 1000, STREAM = 0x494E, REDRAWN = 0x494F };

static double weight_of(const lra_interactions *x, int64_t e, int64_t a, int64_t b)
{
    return x->weight[(e * x->blocks + a) * x->blocks + b];
}

/* I by distance with block k in the place of label[e][k]; n: pairs. */
static void intensity(const lra_interactions *x, const int64_t *label, double *sum, double *n)
{
    for (int64_t d = 0; d < x->blocks; d++) sum[d] = n[d] = 0;
    for (int64_t e = 0; e < x->examples; e++) {
        const int64_t *own = label + e * x->blocks;
        for (int64_t a = 0; a < x->count[e]; a++)
            for (int64_t b = 0; b < a; b++)
                sum[a - b] += weight_of(x, e, own[a], own[b]), n[a - b]++;
    }
    for (int64_t d = 0; d < x->blocks; d++) sum[d] = n[d] > 0 ? sum[d] / n[d] : NAN;
}

/* Mass by distance of an example: mean over its rows that have weight.  Returns how many have
 * none. */
static int64_t add_mass(const lra_interactions *x, int64_t e, double *mass)
{
    int64_t rows = 0, undefined = 0;
    for (int64_t a = 0; a < x->count[e]; a++) {
        double sum = 0;
        for (int64_t b = 0; b < x->count[e]; b++) sum += b == a ? 0 : weight_of(x, e, a, b);
        bool is = sum > 0 && isfinite(sum);
        rows += is, undefined += !is;
        for (int64_t b = 0; b < x->count[e] && is; b++)
            if (b != a) mass[llabs(a - b)] += weight_of(x, e, a, b) / sum;
    }
    for (int64_t d = 0; d < x->blocks && rows > 0; d++) mass[d] /= (double)rows;
    return undefined;
}

static double mean_distance(int64_t n, const double *mass)
{
    double sum = 0, all = 0;
    for (int64_t d = 0; d < n; d++) sum += (double)d * mass[d], all += mass[d];
    return all > 0 ? sum / all : NAN;
}

/* Of equal weights: mean over examples. */
static double equal_distance(const lra_interactions *x)
{
    double sum = 0, n = 0;
    for (int64_t e = 0; e < x->examples;
         e++) { /* (k^2 - 1) / 3k with the own block, of k - 1 others */
        double k = (double)x->count[e];
        if (k > 1) sum += (k + 1) / 3, n++;
    }
    return sum / n;
}

/* ---- permutations ---------------------------------------------------------------------------- */

static void shuffle(const lra_interactions *x, uint64_t seed, int permutation, int64_t *label)
{
    for (int64_t e = 0; e < x->examples; e++) {
        lra_rng r = lra_rng_new(seed, STREAM, ((uint64_t)e << 16) + (uint64_t)permutation);
        int64_t *own = label + e * x->blocks;
        for (int64_t k = 0; k < x->blocks; k++) own[k] = k;
        for (int64_t k = x->count[e] - 1; k > 0; k--) {
            int64_t other = lra_rng_below(&r, (uint32_t)k + 1), kept = own[k];
            if (permutation < 0) continue;
            own[k] = own[other], own[other] = kept;
        }
    }
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Largest deviation of a curve from the mean of the permuted ones, over their deviation. */
static double largest(int64_t blocks, const double *curve, const double *mean, const double *dev)
{
    double most = 0;
    for (int64_t d = 1; d < blocks; d++)
        if (dev[d] > 0) most = fmax(most, fabs(curve[d] - mean[d]) / dev[d]);
    return most;
}

/* What is read off a curve. */
static double contrast(int64_t n, const double *is)
{
    double *sorted = lra_alloc_array((size_t)n, sizeof *sorted);
    int64_t known = 0;
    for (int64_t d = 1; d < n; d++)
        if (!isnan(is[d])) sorted[known++] = is[d];
    qsort(sorted, (size_t)known, sizeof *sorted, ascending);
    double median = known == 0 ? NAN : (sorted[(known - 1) / 2] + sorted[known / 2]) / 2;
    lra_free(sorted);
    return median > 0 ? is[1] / median : NAN;
}

/* The distance with the largest weight, the first of equals. */
static double peak(int64_t n, const double *is)
{
    int64_t at = 1;
    for (int64_t d = 2; d < n; d++)
        if (is[d] > is[at]) at = d;
    return n > 1 && is[at] > 0 ? (double)at : NAN;
}

/* Means over permutations. */
typedef struct {
    double contrast, peak;
} permuted;

/* Share of permutations that deviate as much as what is measured.  Nullable: curve */
static double test(const lra_interactions *x, uint64_t seed, const double *is, double *curve,
                   permuted *null)
{
    int64_t n = x->blocks;
    double *all = lra_alloc_array((size_t)((PERMUTATIONS + 4) * n), sizeof *all);
    double *mean = all + PERMUTATIONS * n, *dev = mean + n, *pairs = dev + n, as_far = 1;
    double *sorted = lra_alloc_array(PERMUTATIONS, sizeof *sorted);
    int64_t *label = lra_alloc_array((size_t)(x->examples * n), sizeof *label);
    for (int k = 0; k < PERMUTATIONS; k++) {
        shuffle(x, seed, k, label);
        intensity(x, label, all + k * n, pairs);
    }
    *null = (permuted){0, 0};
    for (int k = 0; k < PERMUTATIONS; k++) {
        null->contrast += contrast(n, all + k * n) / PERMUTATIONS;
        null->peak += peak(n, all + k * n) / PERMUTATIONS;
    }
    for (int64_t d = 1; d < n; d++) {
        for (int k = 0; k < PERMUTATIONS; k++) mean[d] += all[k * n + d] / PERMUTATIONS;
        for (int k = 0; k < PERMUTATIONS; k++) {
            double off = all[k * n + d] - mean[d];
            dev[d] += off * off / (PERMUTATIONS - 1);
            sorted[k] = all[k * n + d];
        }
        dev[d] = sqrt(dev[d]);
        qsort(sorted, PERMUTATIONS, sizeof *sorted, ascending);
        if (curve) curve[n + d] = sorted[PERMUTATIONS / 40];
        if (curve) curve[2 * n + d] = sorted[PERMUTATIONS - 1 - PERMUTATIONS / 40];
    }
    double own = largest(n, is, mean, dev);
    for (int k = 0; k < PERMUTATIONS; k++)
        as_far += largest(n, all + k * n, mean, dev) >= own * (1 - 1e-12);
    lra_free(all);
    lra_free(sorted);
    lra_free(label);
    return as_far / (PERMUTATIONS + 1);
}

/* ---- findings -------------------------------------------------------------------------------- */

static lra_finding mean_of(const lra_interactions *x, const double *mass)
{
    double sum = 0, squares = 0, n = 0, width = (double)x->width;
    for (int k = 0; k < 2; k++) {
        for (int64_t e = 0; e < x->examples; e++) {
            double d = width * mean_distance(x->blocks, mass + e * x->blocks);
            if (isnan(d)) continue;
            if (k == 0) sum += d, n++;
            if (k == 1) squares += (d - sum / n) * (d - sum / n);
        }
    }
    lra_finding f = lra_finding_of("inter.mean", "tokens", n > 0 ? sum / n : NAN);
    double half = n > 1 ? 1.959963985 * sqrt(squares / (n - 1) / n) : NAN;
    f.lo = f.value - half, f.hi = f.value + half;
    f.null[LRA_NULL_UNIFORM] = f.null[LRA_NULL_PERM] = width * equal_distance(x);
    return f;
}

/* Contrast and peak of redraws of examples. */
static void set_ends(const lra_interactions *x, uint64_t seed, lra_finding *of_contrast,
                     lra_finding *of_peak)
{
    size_t n = (size_t)x->blocks, examples = (size_t)x->examples;
    double *sum = lra_alloc_array((2 * examples + 2) * n + 2 * PERMUTATIONS, sizeof *sum);
    double *pairs = sum + examples * n, *is = pairs + examples * n, *all = is + n;
    double *drawn[] = {all + n, all + n + PERMUTATIONS};
    for (int64_t e = 0; e < x->examples; e++)
        for (int64_t a = 0; a < x->count[e]; a++)
            for (int64_t b = 0; b < a; b++)
                sum[e * x->blocks + a - b] += weight_of(x, e, a, b), pairs[e * x->blocks + a - b]++;
    for (int k = 0; k < PERMUTATIONS; k++) {
        lra_rng r = lra_rng_new(seed, REDRAWN, (uint64_t)k);
        for (size_t d = 0; d < n; d++) is[d] = all[d] = 0;
        for (int64_t i = 0; i < x->examples; i++) {
            int64_t e = lra_rng_below(&r, (uint32_t)x->examples);
            for (int64_t d = 1; d < x->blocks; d++)
                is[d] += sum[e * x->blocks + d], all[d] += pairs[e * x->blocks + d];
        }
        for (size_t d = 0; d < n; d++) is[d] = all[d] > 0 ? is[d] / all[d] : NAN;
        drawn[0][k] = contrast(x->blocks, is);
        drawn[1][k] = (double)x->width * peak(x->blocks, is);
    }
    lra_finding *f[] = {of_contrast, of_peak};
    for (int i = 0; i < 2 && x->examples > 1; i++) {
        lra_estimate e = lra_holding(lra_percentile(f[i]->value, PERMUTATIONS, drawn[i], 0.95));
        f[i]->lo = e.lo, f[i]->hi = e.hi;
    }
    lra_free(sum);
}

int lra_interaction_findings(const lra_interactions *x, uint64_t seed, lra_finding *out,
                             double *curve)
{
    int64_t n = x->blocks, undefined = 0;
    double *mass = lra_alloc_array((size_t)(x->examples * n + 2 * n), sizeof *mass);
    double *is = mass + x->examples * n, *pairs = is + n;
    int64_t *label = lra_alloc_array((size_t)(x->examples * n), sizeof *label);
    shuffle(x, seed, -1, label);
    intensity(x, label, is, pairs);
    for (int64_t e = 0; e < x->examples; e++) undefined += add_mass(x, e, mass + e * n);
    if (curve) memcpy(curve, is, (size_t)n * sizeof *is);
    if (curve) curve[0] = curve[n] = curve[2 * n] = NAN;
    permuted null;
    double p = test(x, seed, is, curve, &null);
    lra_estimate q95 = lra_radius(x->examples, n, mass, 0.95, seed);
    double width = (double)x->width;
    out[0] = mean_of(x, mass);
    out[1] = lra_finding_of("inter.q95", "tokens", width * q95.value);
    out[1].lo = width * q95.lo, out[1].hi = width * q95.hi;
    out[2] = lra_finding_of("inter.contrast", "1", contrast(n, is));
    out[2].null[LRA_NULL_PERM] = null.contrast;
    out[3] = lra_finding_of("inter.peak", "tokens", width * peak(n, is));
    out[3].null[LRA_NULL_PERM] = width * null.peak;
    set_ends(x, seed, &out[2], &out[3]);
    out[4] = lra_finding_of("inter.p", "1", p);
    for (int k = 0; k < LRA_INTERACTION_FINDINGS; k++) {
        out[k].examples = x->examples, out[k].undefined = undefined;
        if (k < LRA_INTERACTION_FINDINGS - 1 && p > 0.05) out[k].flags |= LRA_FLAT;
    }
    lra_free(mass);
    lra_free(label);
    return LRA_INTERACTION_FINDINGS;
}
