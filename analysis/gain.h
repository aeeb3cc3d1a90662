/* Share of a model's gain over chance that remains when its input, or its reach, is restricted to x
 * tokens:
 *   gain(x) = (metric at x - chance) / (unrestricted metric - chance)
 * and the smallest x with a gain of at least q ("w95": q = 0.95). All values are measured on the
 * same examples. Intervals are therefore paired: percentiles of 10,000 replicates of all values
 * together (sample.h). Ratios of accuracies would be misleading: with two classes a model at chance
 * would retain more than 50 %. If the unrestricted model is not clearly above chance (half width of
 * the interval of the difference at least half of the difference), no gains are computed. If x is
 * not a window, but the scale below or above which a permutation preserves the order of tokens, the
 * results are the smallest and the largest x that cost 5 % of the gain. */
#ifndef LRA_ANALYSIS_GAIN_H
#define LRA_ANALYSIS_GAIN_H

#include "analysis/sample.h"

enum { LRA_GAIN_POINTS = LRA_MAX_SERIES - 2, LRA_GAIN_SHARES = 4 };
extern const double lra_gain_shares[LRA_GAIN_SHARES]; /* shares q: 0.50 0.90 0.95 0.99 */

typedef struct {
    int n;
    double x[LRA_GAIN_POINTS]; /* sizes of the restricted input in tokens, ascending */
    lra_estimate value[LRA_GAIN_POINTS], gain[LRA_GAIN_POINTS];
    lra_estimate full, above; /* metric of the unrestricted model; its difference from chance */
    double chance;
    bool at_chance; /* the unrestricted model is not clearly above chance; no gains are computed */
    bool undefined; /* true: created by lra_gain_undefined(), so that all values are NAN */
    /* Smallest x with a gain of at least lra_gain_shares[k]; INFINITY: no measured x has it. */
    lra_estimate least[LRA_GAIN_SHARES];
    /* Smallest and largest x with a gain of at most 0.95; INFINITY and 0 if there is none. Their
     * intervals include the values between measured x: the lower end of the smallest is one above
     * the x before it, the upper end of the largest is one below the next x. */
    lra_estimate costs_from, costs_to;
    /* Mean gain: area under the gain against log2 x from the first x > 0 on, divided by the width
     * of the axis. NAN: fewer than two x > 0. */
    lra_estimate area;
    /* the mean gain of a model that needs the full input: its gain is 0 except at the last x */
    double whole_area;
} lra_gain;

/* Computes all results. Series of s: n restrictions by ascending x, the unrestricted model,
 * chance. */
void lra_gain_compute(const lra_sample *s, const double *x, uint64_t key, lra_gain *out);
/* Fills in a result without gains: n restrictions x, all values NAN. */
void lra_gain_undefined(int n, const double *x, lra_gain *out);
/* Returns the paired difference of the gains of two restrictions, first minus second. Series of s:
 * the two restrictions, the unrestricted model, chance. NAN: the unrestricted model is at
 * chance. */
lra_estimate lra_gain_difference(const lra_sample *s, uint64_t key);
/* Writes 0 and the powers of two that are at least `first` and below `end`, then `end`.
 * Returns their number, at most LRA_GAIN_POINTS. */
int lra_gain_axis(int64_t first, int64_t end, double *x);

#endif
