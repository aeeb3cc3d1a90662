/* Measures the interaction of blocks of an input. */
#include "analysis/interaction.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/distributions.h"
#include "analysis/interval.h"
#include "analysis/quantile.h"
#include "analysis/radius.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/core/philox.h"

enum { FLIPS = 999, REDRAWS = 1000, SIGNS = 0x494E, REDRAWN = 0x494F };
static const double margin = 0.1, smallest = 0.001, level = 0.05;

/* ---- differences ----------------------------------------------------------------------------- */

static double rounded(double difference, double largest)
{
    return fabs(difference) < 8 * (double)FLT_EPSILON * largest ? 0 : difference;
}

double lra_interaction_second(double whole, double a, double b, double both)
{
    double most = fmax(fmax(fabs(whole), fabs(a)), fmax(fabs(b), fabs(both)));
    return rounded(whole - a - b + both, most);
}

double lra_interaction_first(double whole, double a)
{
    return rounded(whole - a, fmax(fabs(whole), fabs(a)));
}

double lra_interaction_place(double squares, double moved)
{
    if (squares == 0 && moved == 0) return 1;
    if (moved == 0) return 8;
    return fmin(fmax(sqrt(squares / moved), 1.0 / 8), 8);
}

/* ---- examples -------------------------------------------------------------------------------- */

/* Curves of each example by distance in blocks, (examples, blocks); NAN where an example has no
 * pair. */
typedef struct {
    int64_t n, blocks; /* n: number of examples whose weights are not all 0 */
    int64_t *example;
    /* is: I_e; null: N_e (interaction.h); mass, moved: mass by distance of w and of the null
     * weights */
    double *is, *null, *mass, *moved;
} curves;

/* Computes the curve of example e: mean weight of the pairs at each distance divided by the mean of
 * all pairs. Returns the mean of all pairs. */
static double curve_of(const lra_interactions *x, const double *weight, int64_t e, double *to)
{
    double all = 0, pairs = 0;
    const double *w = weight + e * x->blocks * x->blocks;
    for (int64_t d = 0; d < x->blocks; d++) to[d] = NAN;
    for (int64_t d = 1; d < x->count[e]; d++) {
        double sum = 0;
        for (int64_t a = d; a < x->count[e]; a++) sum += w[a * x->blocks + a - d];
        to[d] = sum / (double)(x->count[e] - d);
        all += sum, pairs += (double)(x->count[e] - d);
    }
    double mean = pairs > 0 ? all / pairs : 0;
    for (int64_t d = 1; d < x->count[e]; d++) to[d] /= mean;
    return mean;
}

/* Computes the mass by distance of example e: mean over its rows whose weights are not all 0. */
static void mass_of(const lra_interactions *x, const double *weight, int64_t e, double *mass)
{
    int64_t rows = 0;
    const double *w = weight + e * x->blocks * x->blocks;
    for (int64_t d = 0; d < x->blocks; d++) mass[d] = 0;
    for (int64_t a = 0; a < x->count[e]; a++) {
        double sum = 0;
        for (int64_t b = 0; b < x->count[e]; b++) sum += b == a ? 0 : w[a * x->blocks + b];
        if (!(sum > 0) || !isfinite(sum)) continue;
        rows++;
        for (int64_t b = 0; b < x->count[e]; b++)
            if (b != a) mass[llabs(a - b)] += w[a * x->blocks + b] / sum;
    }
    for (int64_t d = 0; d < x->blocks && rows > 0; d++) mass[d] /= (double)rows;
}

static curves find_curves(const lra_interactions *x)
{
    size_t room = (size_t)(x->examples * x->blocks) + 1;
    curves c = {.blocks = x->blocks, .example = lra_alloc_array((size_t)x->examples + 1, 8)};
    c.is = lra_alloc_array(4 * room, sizeof *c.is);
    c.null = c.is + room, c.mass = c.null + room, c.moved = c.mass + room;
    for (int64_t e = 0; e < x->examples; e++) {
        int64_t at = c.n * x->blocks;
        double mean = curve_of(x, x->weight, e, c.is + at), other = 1;
        if (x->null) other = curve_of(x, x->null, e, c.null + at);
        if (!(mean > 0 && isfinite(mean) && other > 0 && isfinite(other))) continue;
        mass_of(x, x->weight, e, c.mass + at);
        if (x->null) mass_of(x, x->null, e, c.moved + at);
        c.example[c.n++] = e;
    }
    return c;
}

static void free_curves(curves *c)
{
    lra_free(c->example);
    lra_free(c->is);
}

/* Mean of a curve at distance d over the examples that have this distance; *n: their number. */
static double mean_at(const curves *c, const double *of, int64_t d, double *n)
{
    double sum = 0;
    *n = 0;
    for (int64_t e = 0; e < c->n; e++)
        if (!isnan(of[e * c->blocks + d])) sum += of[e * c->blocks + d], ++*n;
    return *n > 0 ? sum / *n : NAN;
}

/* ---- the test -------------------------------------------------------------------------------- */

/* Test statistic of values with signs: max(0, |mean| - least) over the standard error of the mean;
 * infinite if all values are equal. Nullable: sign. */
static double size_of(int64_t n, int64_t stride, const double *value, const double *sign,
                      double least)
{
    double sum = 0, squares = 0, known = 0;
    for (int64_t e = 0; e < n; e++) {
        double v = value[e * stride] * (sign ? sign[e] : 1);
        if (!isnan(v)) sum += v, squares += v * v, known++;
    }
    double mean = sum / known, more = fmax(0, fabs(mean) - least);
    double variance = fmax(0, squares - known * mean * mean) / (known - 1);
    if (more == 0) return 0;
    return variance > 1e-18 * mean * mean ? more / sqrt(variance / known) : INFINITY;
}

static void draw_signs(uint64_t seed, int flip, int64_t n, double *sign)
{
    lra_rng r = lra_rng_new(seed, SIGNS, (uint64_t)flip);
    for (int64_t e = 0; e < n; e++) sign[e] = lra_rng_u32(&r) & 1 ? 1 : -1;
}

/* State of the test. Arrays (examples, blocks) are NAN where an example does not have a
 * distance. */
typedef struct {
    const curves *c;
    bool *tested;       /* (blocks) true for each distance that is tested */
    double *d, *of_rel; /* (examples, blocks) D_e; influence of each example on inter.rel */
    double *rel, t, p, critical;
} test;

/* Computes D_e, inter.rel(d), and the influence of each example on inter.rel(d). */
static void fill(test *t)
{
    const curves *c = t->c;
    for (int64_t d = 0; d < c->blocks; d++) {
        double n, is = mean_at(c, c->is, d, &n), null = mean_at(c, c->null, d, &n);
        t->tested[d] = d > 0 && n >= LRA_INTERACTION_LEAST;
        t->rel[d] = null > 0 ? is / null : NAN;
        for (int64_t e = 0; e < c->n; e++) {
            int64_t at = e * c->blocks + d;
            double x = c->is[at] - c->null[at];
            t->d[at] = fabs(x) < smallest ? 0 : x;
            t->of_rel[at] = (c->is[at] - t->rel[d] * c->null[at]) / null;
        }
    }
}

static double largest(const test *t, const double *value, const double *sign, double least)
{
    double most = 0;
    for (int64_t d = 1; d < t->c->blocks; d++)
        if (t->tested[d]) most = fmax(most, size_of(t->c->n, t->c->blocks, value + d, sign, least));
    return most;
}

static test run_test(const curves *c, uint64_t seed)
{
    size_t room = (size_t)(c->n * c->blocks) + 1;
    test t = {.c = c, .tested = lra_alloc_array((size_t)c->blocks, sizeof *t.tested)};
    double *sign = lra_alloc_array((size_t)c->n + 1, sizeof *sign), as_far = 1;
    double *flipped = lra_alloc_array(FLIPS, sizeof *flipped);
    t.d = lra_alloc_array(2 * room + (size_t)c->blocks, sizeof *t.d);
    t.of_rel = t.d + room, t.rel = t.of_rel + room;
    fill(&t);
    bool any = false;
    for (int64_t d = 0; d < c->blocks; d++) any = any || t.tested[d];
    t.t = largest(&t, t.d, NULL, margin);
    for (int k = 0; k < FLIPS; k++) {
        draw_signs(seed, k, c->n, sign);
        as_far += largest(&t, t.d, sign, 0) >= t.t;
        flipped[k] = largest(&t, t.of_rel, sign, 0);
    }
    lra_sort(FLIPS, flipped);
    t.critical = flipped[(int)((1 - level) * FLIPS)];
    t.p = any ? as_far / (FLIPS + 1) : NAN;
    lra_free(flipped);
    lra_free(sign);
    return t;
}

static void free_test(test *t)
{
    lra_free(t->tested);
    lra_free(t->d);
}

/* Returns inter.rel at distance d with its simultaneous interval. */
static lra_estimate rel_at(const test *t, int64_t d)
{
    const curves *c = t->c;
    double squares = 0, n = 0;
    for (int64_t e = 0; e < c->n; e++) {
        double u = t->of_rel[e * c->blocks + d];
        if (!isnan(u)) squares += u * u, n++;
    }
    double se = n > 1 ? sqrt(squares / (n - 1) / n) : NAN;
    double half = t->tested[d] ? t->critical * se : NAN;
    double lo = t->rel[d] - half;
    return (lra_estimate){t->rel[d], lo < 0 ? 0 : lo, t->rel[d] + half};
}

/* ---- summary statistics ---------------------------------------------------------------------- */

/* Weight of neighbours over the median of the curve. INFINITY: the median is below `smallest`, but
 * not the weight of neighbours; NAN: both are. */
static double contrast(int64_t n, const double *is)
{
    double *sorted = lra_alloc_array((size_t)n, sizeof *sorted);
    int64_t known = 0;
    for (int64_t d = 1; d < n; d++)
        if (!isnan(is[d])) sorted[known++] = is[d];
    lra_sort(known, sorted);
    double median = known == 0 ? NAN : lra_quantile(known, sorted, 0.5);
    lra_free(sorted);
    if (median >= smallest) return is[1] / median;
    return known > 0 && is[1] >= smallest ? INFINITY : NAN;
}

static double finite_or_nan(double x)
{
    return isfinite(x) ? x : NAN;
}

/* Returns the tested distance with the largest mean of D over the examples from[0..n-1] (NULL:
 * all); 0 if no distance is tested. */
static int64_t peak(const test *t, const int64_t *from)
{
    const curves *c = t->c;
    double most = -INFINITY;
    int64_t found = 0;
    for (int64_t d = 1; d < c->blocks; d++) {
        double sum = 0, n = 0;
        for (int64_t i = 0; i < c->n && t->tested[d]; i++) {
            double v = t->d[(from ? from[i] : i) * c->blocks + d];
            if (!isnan(v)) sum += v, n++;
        }
        if (n > 0 && sum / n > most) most = sum / n, found = d;
    }
    return found;
}

static double mean_distance(int64_t n, const double *mass)
{
    double sum = 0, all = 0;
    for (int64_t d = 0; d < n; d++) sum += (double)d * mass[d], all += mass[d];
    return all > 0 ? sum / all : NAN;
}

/* Returns inter.mean: the mean over examples with its interval. Null values: uniform weights,
 * permuted blocks. */
static lra_measurement mean_of(const lra_interactions *x, const curves *c)
{
    double sum = 0, squares = 0, n = 0, width = (double)x->width, equal = 0, moved = 0;
    for (int k = 0; k < 2; k++)
        for (int64_t e = 0; e < c->n; e++) {
            double d = width * mean_distance(x->blocks, c->mass + e * x->blocks);
            double blocks = (double)x->count[c->example[e]];
            if (k == 1) squares += (d - sum / n) * (d - sum / n);
            if (k == 1) continue;
            sum += d, n++;
            /* mean distance (k^2 - 1) / 3k of all pairs of k blocks, times k / (k - 1) without
             * pairs of equal blocks */
            equal += width * (blocks + 1) / 3;
            moved += width * mean_distance(x->blocks, c->moved + e * x->blocks);
        }
    lra_measurement f = lra_measurement_of("inter.mean", n > 0 ? sum / n : NAN);
    double half = n > 1 ? lra_normal_quantile(0.975) * sqrt(squares / (n - 1) / n) : NAN;
    f.lo = f.value - half, f.hi = f.value + half;
    f.null[LRA_NULL_UNIFORM] = n > 0 ? equal / n : NAN;
    if (x->null) f.null[LRA_NULL_PERM] = n > 0 ? moved / n : NAN;
    return f;
}

/* Computes the mean of a curve by distance over the examples from[0..n-1] (NULL: all). */
static void mean_curve(const curves *c, const double *of, const int64_t *from, double *to)
{
    for (int64_t d = 0; d < c->blocks; d++) {
        double sum = 0, n = 0;
        for (int64_t i = 0; i < c->n; i++) {
            double v = of[(from ? from[i] : i) * c->blocks + d];
            if (!isnan(v)) sum += v, n++;
        }
        to[d] = n > 0 ? sum / n : NAN;
    }
}

/* Sets the intervals of inter.contrast and inter.peak by bootstrap resamples of examples. Nullable:
 * t. */
static void set_ends(const lra_interactions *x, const curves *c, const test *t, uint64_t seed,
                     lra_measurement *of_contrast, lra_measurement *of_peak)
{
    double *drawn = lra_alloc_array(2 * REDRAWS + (size_t)c->blocks, sizeof *drawn);
    double *is = drawn + 2 * REDRAWS;
    int64_t *from = lra_alloc_array((size_t)c->n + 1, sizeof *from);
    for (int k = 0; k < REDRAWS; k++) {
        lra_rng r = lra_rng_new(seed, REDRAWN, (uint64_t)k);
        for (int64_t i = 0; i < c->n; i++) from[i] = lra_rng_below(&r, (uint32_t)c->n);
        mean_curve(c, c->is, from, is);
        drawn[k] = contrast(c->blocks, is);
        int64_t at = t ? peak(t, from) : 0;
        drawn[REDRAWS + k] = at ? (double)(x->width * at) : (double)NAN;
    }
    lra_measurement *f[] = {of_contrast, of_peak};
    for (int i = 0; i < 2; i++) {
        if (isnan(f[i]->value)) continue;
        lra_estimate e = lra_holding(
            lra_percentile(f[i]->value, REDRAWS, drawn + i * REDRAWS, 0.95));
        f[i]->lo = e.lo, f[i]->hi = e.hi;
        if (isinf(e.hi)) f[i]->flags |= LRA_CENSORED_HI;
    }
    lra_free(drawn);
    lra_free(from);
}

static void fill_curve(const curves *c, const test *t, double *curve)
{
    int64_t n = c->blocks;
    for (int64_t k = 0; k < LRA_INTERACTION_CURVES * n; k++) curve[k] = NAN;
    mean_curve(c, c->is, NULL, curve);
    if (!t) return;
    mean_curve(c, c->null, NULL, curve + n);
    for (int64_t d = 1; d < n; d++) {
        lra_estimate rel = rel_at(t, d);
        curve[2 * n + d] = rel.value, curve[3 * n + d] = rel.lo, curve[4 * n + d] = rel.hi;
    }
}

int lra_interaction_measurements(const lra_interactions *x, uint64_t seed, lra_measurement *out,
                                 double *curve)
{
    curves c = find_curves(x);
    test t = {0};
    bool tests = x->null != NULL;
    if (tests) t = run_test(&c, seed);
    double *is = lra_alloc_array(2 * (size_t)x->blocks, sizeof *is), width = (double)x->width;
    mean_curve(&c, c.is, NULL, is);
    mean_curve(&c, c.null, NULL, is + x->blocks);
    lra_estimate q95 = lra_radius(c.n, x->blocks, c.mass, 0.95, seed);
    int64_t at = tests ? peak(&t, NULL) : 0;
    lra_estimate rel = at ? rel_at(&t, at) : (lra_estimate){NAN, NAN, NAN};
    out[LRA_INTERACTION_MEAN] = mean_of(x, &c);
    out[LRA_INTERACTION_Q95] = lra_measurement_of("inter.q95", width * q95.value);
    out[LRA_INTERACTION_Q95].lo = width * q95.lo, out[LRA_INTERACTION_Q95].hi = width * q95.hi;
    double own = contrast(x->blocks, is);
    out[LRA_INTERACTION_CONTRAST] = lra_measurement_of("inter.contrast", finite_or_nan(own));
    if (isinf(own)) out[LRA_INTERACTION_CONTRAST].flags |= LRA_NO_MEDIAN;
    if (tests)
        out[LRA_INTERACTION_CONTRAST].null[LRA_NULL_PERM] = finite_or_nan(
            contrast(x->blocks, is + x->blocks));
    out[LRA_INTERACTION_PEAK] = lra_measurement_of("inter.peak",
                                                   at ? width * (double)at : (double)NAN);
    out[LRA_INTERACTION_REL] = lra_measurement_of("inter.rel", rel.value);
    out[LRA_INTERACTION_REL].lo = rel.lo, out[LRA_INTERACTION_REL].hi = rel.hi;
    out[LRA_INTERACTION_REL].null[LRA_NULL_PERM] = 1;
    set_ends(x, &c, tests ? &t : NULL, seed, &out[LRA_INTERACTION_CONTRAST],
             &out[LRA_INTERACTION_PEAK]);
    out[LRA_INTERACTION_P] = lra_measurement_of("inter.p", tests ? t.p : (double)NAN);
    bool flat = !tests || !(t.p <= level) || t.t == 0;
    for (int k = 0; k < LRA_INTERACTION_MEASUREMENTS; k++) {
        out[k].examples = c.n, out[k].undefined = x->examples - c.n;
        if (k != LRA_INTERACTION_P && flat) out[k].flags |= LRA_FLAT;
    }
    if (curve) fill_curve(&c, tests ? &t : NULL, curve);
    lra_free(is);
    if (tests) free_test(&t);
    free_curves(&c);
    return LRA_INTERACTION_MEASUREMENTS;
}
