/* Internal declarations of the profile's source files. */
#ifndef LRA_ANALYSIS_PROFILE_IMPL_H
#define LRA_ANALYSIS_PROFILE_IMPL_H

#include "analysis/profile.h"

/* Statistics of one example; the profile's values are their means over examples. */
enum {
    P_MEAN, /* sum d M(d) */
    P_MEAN_EQUAL,
    P_SELF, /* M(0) of the rows that have another input; NAN: none has */
    P_SELF_EQUAL,
    P_DIST, /* sum d M'(d); NAN: no row defines it */
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
    P_PERIOD, /* intensity at multiples of the period, and next to them */
    P_BESIDE,
    P_NUMBERS
};
/* Sums of one example in bins of distances. */
enum { P_MASS, P_OTHER, P_WEIGHT, P_EQUAL, P_BINNED };

struct lra_profile {
    int64_t T, columns, n; /* distances 0 .. n-1 */
    int64_t period;        /* 0: none */
    /* (n) over all examples: means of mass; sums of weights, of uniform weights, of pairs, of rows
     * that have an input at this distance */
    double *mass, *mass_equal, *weight, *equal, *pairs, *reach;
    double *other, *other_equal; /* (n) sums of M' over the examples that define it, n_other */
    double *weight2, *weight_pairs,
        *pairs2; /* (n) sums of squares and products, for the interval of I */
    int n_bins;
    int64_t *bin_end; /* (n_bins) distances below */
    int64_t examples, undefined, capacity;
    int64_t n_other, lone; /* lone: rows that are undefined for M' alone */
    double *number;        /* (examples, P_NUMBERS) */
    float *binned;         /* (examples, P_BINNED, n_bins) */
    /* the example that is being added */
    lra_profile_mask *rows;
    double *row_mass, *row_weight, *row_equal, *row_other; /* (n) */
    double row_self;
    int64_t row_lone;
    double past, future, entropy, entropy_rel, participation;
    int64_t row_undefined;
};

/* Mean over examples of one number; NAN if it is unknown for any of them. */
double lra_profile_mean(const lra_profile *p, int number);
/* Writes the number of draws of each example in redraw b to count (examples); the same for all
 * profiles of a key. */
void lra_profile_redraw(int64_t n_examples, uint64_t key, int b, double *count);
enum { LRA_PROFILE_REDRAWS = 1000 };
/* Binned quantities of drawn examples: out (n_bins). */
void lra_profile_binned_sum(const lra_profile *p, int quantity, const double *count, double *out);
/* "range.mean" with prefix and suffix. */
lra_measurement lra_profile_measurement(const lra_profile *p, const lra_profile_options *o,
                                        const char *id, double value);

/* Smallest share of other tokens of a row; below it, M' of the row is undefined. */
#define LRA_PROFILE_LONE 1e-6

#endif
