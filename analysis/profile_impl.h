/* Internal declarations shared by the source files of distance profiles. */
#ifndef LRA_ANALYSIS_PROFILE_IMPL_H
#define LRA_ANALYSIS_PROFILE_IMPL_H

#include "analysis/profile.h"

/* Statistics of one example; the profile's values are their means over examples. */
enum {
    P_MEAN, /* mean distance: sum d M(d) */
    P_MEAN_EQUAL,
    /* M(0) over the rows that have an input other than their own token; NAN: there are none */
    P_SELF,
    P_SELF_EQUAL,
    P_DIST, /* mean distance of the other tokens: sum d M'(d); NAN: no row defines it */
    P_DIST_EQUAL,
    P_FAR,
    P_FAR_EQUAL,
    P_PAST,
    P_FUTURE,
    P_PAST_EQUAL,
    P_FUTURE_EQUAL,
    P_ENTROPY,
    P_ENTROPY_REL,
    P_PARTICIPATION,
    P_KEYS,
    P_LOG_KEYS,
    P_PERIOD, /* intensity at multiples of the period; at neighbouring distances */
    P_ADJACENT,
    P_NUMBERS
};
/* Quantities of one example that are stored in bins of distances. */
enum { P_MASS, P_OTHER, P_WEIGHT, P_EQUAL, P_BINNED };

struct lra_profile {
    int64_t T, columns, n; /* n: number of distances, 0 .. n-1 */
    int64_t period;        /* period in tokens; 0: none */
    /* (n) sums over all examples, by distance: mean mass; weights; uniform weights; pairs; rows
     * that have an input at this distance. */
    double *mass, *mass_equal, *weight, *equal, *pairs, *reach;
    double *other, *other_equal; /* (n) sums of M' over the n_other examples that define it */
    double *weight2, *weight_pairs,
        *pairs2; /* (n) sums over examples of weight^2, weight * pairs and pairs^2 */
    int n_bins;
    int64_t *bin_end; /* (n_bins) end of each bin, exclusive */
    int64_t examples, undefined, capacity;
    int64_t n_other, lone; /* lone: number of rows that are undefined only for M' */
    double *number;        /* (examples, P_NUMBERS) statistics of each example */
    float *binned;         /* (examples, P_BINNED, n_bins) sums in bins */
    /* The example that is being added: */
    lra_profile_mask *rows;
    double *row_mass, *row_weight, *row_equal, *row_other; /* (n) sums over its rows */
    double row_self;
    int64_t row_lone;
    double past, future, entropy, entropy_rel, participation;
    int64_t row_undefined;
};

/* Returns the mean of one statistic over examples; NAN if it is unknown for any of them. */
double lra_profile_mean(const lra_profile *p, int number);
/* Draws bootstrap resample b: count (examples) receives the multiplicity of each example. Resamples
 * are the same for all profiles with the same key. */
void lra_profile_redraw(int64_t n_examples, uint64_t key, int b, double *count);
enum { LRA_PROFILE_REDRAWS = 1000 };
/* Adds up a binned quantity over resampled examples (count: multiplicities): out (n_bins). */
void lra_profile_binned_sum(const lra_profile *p, int quantity, const double *count, double *out);
/* Returns a measurement with an id such as "range.mean", with prefix and suffix added. */
lra_measurement lra_profile_measurement(const lra_profile *p, const lra_profile_options *o,
                                        const char *id, double value);

/* Minimum share of the other tokens in a row; below it, M' of the row is undefined. */
#define LRA_PROFILE_LONE 1e-6

#endif
