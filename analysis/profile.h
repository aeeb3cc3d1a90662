/* Distance profiles: weights w(i,j) >= 0 of outputs i and inputs j (attention, kernels, Jacobians,
 * pairs of blocks) as functions of the distance d = |i-j|.
 *   p(i,j) = w(i,j) / sum_j w(i,j)                                  a row's shares; n_i inputs are allowed
 *   self   = mean over rows of p(i,i)                               the token's own share
 *   p'(i,j) = p(i,j) / (1 - p(i,i)), j != i                        shares of the other tokens
 *   M'(d)  = mean over rows of sum_{j: |i-j| = d} p'(i,j)           MASS of the other tokens, d >= 1
 *   M(d)   = mean over rows of sum_{j: |i-j| = d} p(i,j)            MASS by distance
 *   I(d)   = sum_{|i-j| = d} w(i,j) / number of allowed pairs       INTENSITY: weight per pair
 *   I.rel  = I(d) / I(d) of uniform weights (row sum / n_i) on the same rows
 * Means are taken over the rows of an example, then over examples. dist.* is computed from M',
 * range.* from M (own token included); decay is fitted to I.rel. A row whose weights add up to 0 or
 * are not finite is undefined: it is counted and excluded. Rows without another allowed input are
 * excluded from self and M'; rows with 1 - p(i,i) < 1e-6 are undefined for M', and counted. M' is
 * normalised row by row, because M / (1 - M(0)) of uniform weights on causal rows has another mean
 * distance than the null 1/(n_i - 1). For images of W columns, a separate profile has the distances
 * max(|dy|,|dx|), in pixels.
 *
 * Streaming:  p = lra_profile_new(T, 0);
 *             for (examples) { lra_profile_begin(p, length); for (rows) lra_profile_row(p, ..); lra_profile_end(p); }
 *             n = lra_profile_measurements(p, &options, out);
 * or lra_profile_add(), if a kernel has already computed the sums of an example.  Memory: 14
 * numbers for each distance, and 5 for each example and each of at most 64 + 24 log2(T/64) bins of
 * distances, from which intervals are computed.
 *
 * Known: uniform weights of T tokens: dist.mean (T+1)/3, causal (T+2)/4; T = 1024: 341.667, 256.5;
 * range.mean 341.333, support 1024; causal 255.75.  Weights 0.98^d,
 * one-sided: mean 49, q50 34, q90 113, q95 148, q99 227, support 134.5527, participation
 * ratio (support.pr) 99, tau 49.4983. */
#ifndef LRA_ANALYSIS_PROFILE_H
#define LRA_ANALYSIS_PROFILE_H

#include "analysis/measurement.h"

/* ---- uniform baseline of a set of rows ------------------------------------------------------- */

/* The rows of an example, each with the inputs that it may use; made once for all heads and all
 * examples of one length. */
typedef struct {
    int64_t n, T;             /* distances are 0 .. n-1, inputs 0 .. T-1 */
    int64_t columns;          /* width of an image in pixels; 0: distances along the sequence */
    int64_t n_rows, n_single; /* number of rows; number of rows with a single allowed input */
    /* (n) by distance: number of pairs; sum over rows of 1/n_i; number of rows that have an input
     * at this distance. */
    double *pairs, *equal, *reach;
    /* (n) uniform weights of the inputs j != i alone: sum of 1/(n_i - 1) if i is allowed */
    double *other;
    /* number of rows that have an allowed input other than their own token */
    int64_t n_other;
    /* sum of 1/n_i over the rows counted by n_other whose own token is allowed */
    double self;
    double past, future;   /* sums over rows: mass of uniform weights on each side of the output */
    double keys, log_keys; /* sums over rows: of n_i and of ln n_i */
} lra_profile_mask;

lra_profile_mask *lra_profile_mask_new(int64_t T, int64_t columns);
void lra_profile_mask_free(lra_profile_mask *m); /* Nullable: m */
/* Allows inputs from .. to-1 for row i. */
void lra_profile_mask_row(lra_profile_mask *m, int64_t i, int64_t from, int64_t to);
/* Allows the inputs j of row i for which allowed[j] != 0; allowed: (T). */
void lra_profile_mask_holes(lra_profile_mask *m, int64_t i, const uint8_t *allowed);
/* Returns the distance of i and j: max(|y-y'|, |x-x'|) in pixels, or with columns 0 |i-j| in
 * tokens. */
int64_t lra_profile_distance(int64_t columns, int64_t i, int64_t j);

/* ---- accumulate ------------------------------------------------------------------------------ */

typedef struct lra_profile lra_profile;

/* T: length of the longest example. columns: width of an image, for distances in pixels; 0:
 * distances in tokens. */
lra_profile *lra_profile_new(int64_t T, int64_t columns);
void lra_profile_free(lra_profile *p); /* Nullable: p */
/* Sets the period of periodic.p: number of tokens in a row of the image, 0: none. Call it before
 * the first example. */
void lra_profile_period(lra_profile *p, int64_t period);

void lra_profile_begin(lra_profile *p,
                       /* number of inputs of the example, at most those of the profile */
                       int64_t T);
/* Adds the weights w (n) of the inputs from .. from+n-1 for output i. All other inputs, and inputs
 * with a negative weight, are not allowed. */
void lra_profile_row(lra_profile *p, int64_t i, int64_t from, int64_t n, const double *w);
void lra_profile_end(lra_profile *p);

/* Sums of an example that were computed elsewhere, for example by a GPU kernel. Unknown means over
 * rows are NAN. */
typedef struct {
    const lra_profile_mask *mask; /* allowed inputs of the rows */
    const double *mass; /* (mask->n) sums or means of p over rows; only proportions matter */
    /* (mask->n) sums of the weights by distance, and of uniform weights with equal row sums; */
    const double *intensity;
    const double
        /* both NULL: all rows sum to 1, so that `mass` and the mask's uniform weights are used */
        *equal;
    /* (mask->n) sums or means of p' over the rows that define it, distances from 1 on. NULL:
     * unknown. */
    const double *other;
    /* (mask->n) sums or means of p' of uniform weights on the rows that define `other`; NULL: those
     * of the mask */
    const double *other_equal;
    /* mean of p(i,i) over the rows that have an input other than i; NAN: unknown */
    double self;
    int64_t lone; /* number of rows that have another input but 1 - p(i,i) < 1e-6 */
    /* means over rows: mass on the past side and on the future side of the output */
    double past, future;
    /* Means over rows: of the entropy -sum p ln p in nats; of the entropy divided by ln n_i,
     * without rows with a single input. */
    double entropy, entropy_rel;
    double participation; /* mean over rows of 1 / sum p^2 */
    int64_t undefined;    /* number of undefined rows, which are not part of the mask */
} lra_profile_sums;
void lra_profile_add(lra_profile *p, const lra_profile_sums *s);

/* ---- read ------------------------------------------------------------------------------------ */

/* returns the number n of distances, 0 .. n-1 */
int64_t lra_profile_distances(const lra_profile *p);
/* Writes the curves, (n) each. I.rel and its interval are NAN where there are no pairs; the
 * interval is also NAN with fewer than two examples. All curves are Nullable. */
void lra_profile_curves(const lra_profile *p, double *mass, double *equal_mass, double *rel,
                        double *rel_lo, double *rel_hi);
/* Writes M'(d) and that of uniform weights, (n) each, averaged over the examples that define it;
 * NAN if none does. Nullable: both. */
void lra_profile_others(const lra_profile *p, double *mass, double *equal_mass);

/* Groups of measurements that can be requested. */
enum {
    LRA_PROFILE_DISTANCES = 1, /* measurements self, dist.*, range.* */
    LRA_PROFILE_FAR = 2,       /* measurement far.half */
    LRA_PROFILE_SHAPE = 4,     /* measurements local.R, side, entropy*, support*, periodic.p */
    LRA_PROFILE_FITS = 8,      /* measurements decay.* */
    LRA_PROFILE_ALL = 15
};

typedef struct {
    unsigned groups;    /* requested groups; 0: all */
    const char *suffix; /* suffix of the ids: ".px", ".nosink"; NULL: none */
    const char *prefix; /* prefix of the ids: "value."; NULL: none */
    int64_t reach;      /* reach of a bounded model in tokens; 0: unbounded */
    uint64_t key;       /* key of the bootstrap resamples of examples: the run's seed */
} lra_profile_options;
enum { LRA_PROFILE_MEASUREMENTS = 56 };
/* Writes all measurements of the profile to out, at most LRA_PROFILE_MEASUREMENTS, and returns
 * their number.
 *   self dist.mean dist.mean.rel dist.q50 .q90 .q95 .q99 range.mean range.mean.rel range.q50 .q90 .q95 .q99 [range.q95.used] local.R far.half side entropy entropy.rel
 *   support support.pr decay.tau decay.beta decay.kind decay.r2.exp decay.r2.power [periodic.p]
 * decay.kind: 0 none, 1 exponential, 2 power law. Means have the intervals described in README.md.
 * The intervals of quantiles and fits are percentiles of 1,000 bootstrap resamples of examples,
 * computed in bins of distances. */
int lra_profile_measurements(const lra_profile *p, const lra_profile_options *o,
                             lra_measurement *out);

/* ---- compare --------------------------------------------------------------------------------- */

/* Divergence of two masses by distance. lra_shift_w1(): Wasserstein-1 distance sum_d |F1(d) -
 * F2(d)|, in tokens. lra_shift_js(): Jensen-Shannon divergence, in bits. */
double lra_shift_w1(int64_t n, const double *mass1, const double *mass2);
double lra_shift_js(int64_t n, const double *mass1, const double *mass2);
/* Writes shift.w1 and shift.js of two profiles of the same examples, with intervals over examples.
 * Returns 2, their number. */
int lra_profile_shift(const lra_profile *a, const lra_profile *b, const lra_profile_options *o,
                      lra_measurement *out);
/* Returns shift.peak: the distance, up to half of the largest, at which the ratio of b to a is
 * largest, by mass or by I.rel (lra_peak()). Its interval is that of bootstrap resamples of
 * examples, which are the same for both profiles. Null value: the middle of the candidate
 * distances. */
lra_measurement lra_profile_peak(const lra_profile *a, const lra_profile *b, bool by_intensity,
                                 const lra_profile_options *o);
/* Returns the mean Jensen-Shannon divergence in bits of all pairs of n profiles of the same
 * examples, with an interval over examples. NAN for a single profile. */
lra_measurement lra_profile_difference(int n, const lra_profile *const *p, const char *id,
                                       uint64_t key);

#endif
