/* What is left of what a model gains over chance when its input, or its reach, is restricted to x
 * tokens:
 *   gain(x) = (metric at x - chance) / (metric of the whole - chance)
 * and the smallest x with a gain of at least q ("w95": q = 0.95).  All are of the same examples, so
 * that intervals are
 * paired: 10,000 replicates of all values together (sample.h), percentiles.  Ratios of raw
 * accuracies are not used: of two classes a model at chance would keep more than half.
 * Where the whole is not clearly above chance (half width of the difference at least half of it)
 * there are no gains.
 * Where x is no window but the scale below or above which a permutation spares the order, what is
 * read off is the smallest and the largest x that cost 5 % of the gain. */
#ifndef LRA_ANALYSIS_GAIN_H
#define LRA_ANALYSIS_GAIN_H

#include "analysis/sample.h"

enum { LRA_GAIN_POINTS = LRA_MAX_SERIES - 2, LRA_GAIN_SHARES = 4 };
extern const double lra_gain_shares[LRA_GAIN_SHARES]; /* 0.50 0.90 0.95 0.99 */

typedef struct {
    int n;
    double x[LRA_GAIN_POINTS]; /* ascending */
    lra_estimate value[LRA_GAIN_POINTS], gain[LRA_GAIN_POINTS];
    lra_estimate full, above; /* of the whole; less chance */
    double chance;
    bool at_chance; /* no gains */
    /* Smallest x that keeps so much; an end that no x reaches is INFINITY. */
    lra_estimate least[LRA_GAIN_SHARES];
    /* Smallest and largest x with a gain of at most 0.95; none: INFINITY and 0. */
    lra_estimate costs_from, costs_to;
    /* Area under the gain against log2 x, over the width of the axis, from the first x > 0 on.
     * NAN: fewer than two. */
    lra_estimate area;
    double whole_area; /* the same of a gain of 0 but at the last x: who needs all of it */
} lra_gain;

/* The series of s are n restrictions by ascending x, then the whole, then chance. */
void lra_gain_compute(const lra_sample *s, const double *x, uint64_t key, lra_gain *out);
/* Gain of the first less that of the second of two restrictions, paired; the series of s are they,
 * the whole, chance.  NAN: the whole is at chance. */
lra_estimate lra_gain_difference(const lra_sample *s, uint64_t key);
/* x = 0, 1, 2, 4, .. below `end`, then `end` itself, from the one that is at least `first`; returns
 * how many, at most LRA_GAIN_POINTS. */
int lra_gain_axis(int64_t first, int64_t end, double *x);

#endif
