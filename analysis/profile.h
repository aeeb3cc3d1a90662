/* Distance profiles: weights w(i,j) >= 0 of outputs i and inputs j (attention, kernels, Jacobians,
 * pairs of blocks) as functions of the distance d = |i-j|.
 *   p(i,j) = w(i,j) / sum_j w(i,j)                                  a row's shares; n_i inputs are allowed
 *   self   = mean over rows of p(i,i)                               the token's own share: no distance
 *   p'(i,j) = p(i,j) / (1 - p(i,i)), j != i                        shares of the other tokens
 *   M'(d)  = mean over rows of sum_{j: |i-j| = d} p'(i,j)           MASS of the others, d >= 1
 *   M(d)   = mean over rows of sum_{j: |i-j| = d} p(i,j)            MASS by distance
 *   I(d)   = sum_{|i-j| = d} w(i,j) / number of allowed pairs       INTENSITY: weight per pair
 *   I.rel  = I(d) / the same of uniform weights (row sum / n_i) on the same rows
 * Rows are averaged within an example, then examples.  dist.* is read from M', range.* from M (own
 * token included), decay is fitted to I.rel.  A row whose weights add up to 0 or are not finite is
 * undefined: counted, and left out.  Rows without another allowed input are left out of self and
 * M'; rows with 1 - p(i,i) < 1e-6 are undefined for M', and counted.  Dividing M by 1 - M(0)
 * instead of row by row would give uniform weights on causal rows another mean distance than the
 * null 1/(n_i - 1).
 * On images of W columns distances may be max(|dy|,|dx|), in pixels: a profile of its own.
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
 * one-sided: mean 49, q50 34, q90 113, q95 148, q99 227, support 134.5527, by squares 99, tau
 * 49.4983. */
#ifndef LRA_ANALYSIS_PROFILE_H
#define LRA_ANALYSIS_PROFILE_H

#include "analysis/measurement.h"

/* ---- uniform baseline of a set of rows ------------------------------------------------------- */

/* Rows of one example with the inputs that each may use.  Made once for all heads and all examples
 * of a length. */
typedef struct {
    int64_t n, T;             /* distances 0 .. n-1; inputs are 0 .. T-1 */
    int64_t columns;          /* of an image; 0: distances along the sequence */
    int64_t n_rows, n_single; /* rows; those with a single input */
    double *pairs, *equal,
        *reach;            /* (n) pairs; sum over rows of 1/n_i; number of rows that have an input
                              at this distance */
    double *other;         /* (n) the same of the inputs j != i alone: 1/(n_i - 1) with i allowed */
    int64_t n_other;       /* rows that have another input than i */
    double self;           /* sum over those of 1/n_i where i is allowed */
    double past, future;   /* sums over rows: mass of uniform weights on each side, */
    double keys, log_keys; /* n_i, ln n_i */
} lra_profile_mask;

lra_profile_mask *lra_profile_mask_new(int64_t T, int64_t columns);
void lra_profile_mask_free(lra_profile_mask *m); /* Nullable: m */
/* Allows inputs from .. to-1 for row i. */
void lra_profile_mask_row(lra_profile_mask *m, int64_t i, int64_t from, int64_t to);
/* Allows the inputs j of row i with allowed[j] != 0; allowed: (T). */
void lra_profile_mask_holes(lra_profile_mask *m, int64_t i, const uint8_t *allowed);
/* Distance: max(|y-y'|, |x-x'|); columns 0: |i-j|. */
int64_t lra_profile_distance(int64_t columns, int64_t i, int64_t j);

/* ---- accumulate ------------------------------------------------------------------------------ */

typedef struct lra_profile lra_profile;

/* T: longest example.  columns: width of the image, for distances in pixels; 0: distances in
 * tokens. */
lra_profile *lra_profile_new(int64_t T, int64_t columns);
void lra_profile_free(lra_profile *p); /* Nullable: p */
/* Sets the period of periodic.p: number of tokens in a row of the image, 0: none.  Must be called
 * before the first example. */
void lra_profile_period(lra_profile *p, int64_t period);

void lra_profile_begin(lra_profile *p,
                       int64_t T); /* an example of T inputs, at most those of the profile */
/* Adds the weights of inputs from .. from+n-1 for output i; other inputs, and inputs with a
 * negative weight, are not allowed. */
void lra_profile_row(lra_profile *p, int64_t i, int64_t from, int64_t n, const double *w);
void lra_profile_end(lra_profile *p);

/* Sums of an example that were computed elsewhere, such as by a GPU kernel.  Unknown means over
 * rows are NAN. */
typedef struct {
    const lra_profile_mask *mask; /* of its rows */
    const double
        *mass; /* (mask->n) sums or means over rows of the shares; only proportions count */
    const double *intensity; /* (mask->n) sums of weights, and the same of uniform weights with
                                equal row sums; */
    const double
        *equal; /* NULL, both: all rows add up to 1, so that these are the mass and the mask's */
    const double *other; /* (mask->n) of p' over the rows that define it, distances from 1 on: sums
                            or means.  NULL: not known */
    const double *other_equal;   /* the same of uniform weights on those rows; NULL: the mask's */
    double self;                 /* mean over the rows that have another input; NAN: not known */
    int64_t lone;                /* rows with 1 - p(i,i) < 1e-6, of those that have another input */
    double past, future;         /* means over rows: mass on each side of the output */
    double entropy, entropy_rel; /* means over rows of -sum p ln p, nats; and over ln n_i, without
                                    single inputs */
    double participation;        /* mean over rows of 1 / sum p^2 */
    int64_t undefined;           /* rows left out (not in the mask) */
} lra_profile_sums;
void lra_profile_add(lra_profile *p, const lra_profile_sums *s);

/* ---- read ------------------------------------------------------------------------------------ */

int64_t lra_profile_distances(const lra_profile *p); /* 0 .. n-1 */
/* Writes the curves, (n) each.  I.rel and its ends are NAN if there are no pairs, the ends also
 * with fewer than two examples.  Nullable: all but p. */
void lra_profile_curves(const lra_profile *p, double *mass, double *equal_mass, double *rel,
                        double *rel_lo, double *rel_hi);
/* (n) M'(d) and the same of uniform weights, averaged over the examples that define it; NAN: none.
 * Nullable: both */
void lra_profile_others(const lra_profile *p, double *mass, double *equal_mass);

/* Groups of measurements. */
enum {
    LRA_PROFILE_DISTANCES = 1, /* self, dist.*, range.* */
    LRA_PROFILE_FAR = 2,       /* far.half */
    LRA_PROFILE_SHAPE = 4,     /* local.R, side, entropy*, support*, periodic.p */
    LRA_PROFILE_FITS = 8,      /* decay.* */
    LRA_PROFILE_ALL = 15
};

typedef struct {
    unsigned groups;    /* groups that are measured; 0: all */
    const char *suffix; /* of the ids, ".px", ".nosink"; NULL: none */
    const char *prefix; /* "value."; NULL: none */
    int64_t reach;      /* of a bounded model; 0: none */
    uint64_t key;       /* of the redraws of examples; the run's seed */
} lra_profile_options;
enum { LRA_PROFILE_FINDINGS = 56 };
/* Writes all measurements of the profile to out (at most LRA_PROFILE_FINDINGS) and returns their
 * number.
 *   self dist.mean dist.mean.rel dist.q50 .q90 .q95 .q99 range.mean range.mean.rel range.q50 .q90 .q95 .q99 [range.q95.used] local.R far.half side entropy entropy.rel
 *   support support.pr decay.tau decay.beta decay.kind decay.r2.exp decay.r2.power [periodic.p]
 * decay.kind: 0 none, 1 exponential, 2 power law.  Means have the interval of README.md; quantiles
 * and fits are recomputed in 1,000 redraws of examples, in bins of distances. */
int lra_profile_measurements(const lra_profile *p, const lra_profile_options *o,
                             lra_measurement *out);

/* ---- compare --------------------------------------------------------------------------------- */

/* lra_shift_w1(): Wasserstein-1 distance sum_d |F1(d) - F2(d)|, in tokens.  lra_shift_js():
 * Jensen-Shannon divergence, in bits. */
double lra_shift_w1(int64_t n, const double *mass1, const double *mass2);
double lra_shift_js(int64_t n, const double *mass1, const double *mass2);
/* shift.w1 and shift.js of two profiles of the same examples, with intervals over these.  Returns
 * 2. */
int lra_profile_shift(const lra_profile *a, const lra_profile *b, const lra_profile_options *o,
                      lra_measurement *out);
/* shift.peak: the distance, up to half of the largest, at which the ratio of b to a is largest, by
 * mass or by I.rel (lra_peak()).  Its interval over examples consists of the peaks of redraws,
 * which are the same for both profiles.  Null value: the middle of the candidate distances. */
lra_measurement lra_profile_peak(const lra_profile *a, const lra_profile *b, bool by_intensity,
                                 const lra_profile_options *o);
/* Mean Jensen-Shannon divergence of all pairs of n profiles of the same examples, bits, with its
 * interval over these.  NAN: a single one. */
lra_measurement lra_profile_difference(int n, const lra_profile *const *p, const char *id,
                                       uint64_t key);

#endif
