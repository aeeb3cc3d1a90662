/* Measures the distance between the parts of an input that a model's score combines. The weight of
 * a pair of blocks a, b of an example is computed from scores s of inputs in which these blocks are
 * replaced by those of another example (draw r):
 *   D2_r(a,b) = s(x) - s(x_a) - s(x_b) + s(x_ab)
 *   w(a,b)    = sqrt( mean_r D2_r^2 )
 * A score that is a sum over blocks has D2 = 0. A product of two tokens has D2 > 0 only at their
 * distance. s is the same difference of true class and rival class in all four terms.
 *
 * A nonlinear head after pooling makes all pairs interact, independent of the encoder's receptive
 * field. The null measurement is therefore repeated with permuted blocks: a model that ignores the
 * order of blocks gives the same weights for every order.  In draw r the permutation pi_r of the
 * full blocks moves both the blocks and their replacements; a and b denote blocks by content, not
 * by position:
 *   w^pi(a,b) = sqrt( mean_r (D2^pi_r)^2 )
 *   rho(a)    = sqrt( sum_r delta_r(a)^2 / sum_r delta^pi_r(a)^2 ) in [1/8, 8]; 1 where 0/0
 * is the effect of position alone, delta_r(a) = s(x) - s(x_a). By distance d, for example e,
 *   I_e(d) = mean of w(a,b),  N_e(d) = mean of w^pi(a,b) rho(a) rho(b)  over pairs at d,
 * each divided by its mean over all pairs; inter.rel(d) = mean I / mean N; D_e = I_e - N_e, set to
 * 0 if |D_e| < 0.001.
 *   t = max_d max(0, |mean D(d)| - 0.1) / se(d)  over distances d that at least 16 examples have
 * is compared with max_d |mean D(d)| / se(d) under 999 random sign flips, one sign for all
 * distances of an example.
 * Known (tests/analysis/interaction_test.c): the product of the tokens at positions 8 and 48 has
 * its peak at distance 40; a sum has weight 0. Trained bag-of-tokens models with and without a
 * window of positions are classified as flat in at least 93 % of the cases. Permuting labels of
 * blocks is not a valid null measurement, because neighbouring blocks have similar effects. */
#ifndef LRA_ANALYSIS_INTERACTION_H
#define LRA_ANALYSIS_INTERACTION_H

#include "analysis/measurement.h"

typedef struct {
    /* blocks: number of blocks of the longest example; width: tokens per block */
    int64_t blocks, width;
    int64_t examples;
    const int64_t *count; /* (examples) number of blocks of each example */
    /* (examples, blocks, blocks) w(a,b), symmetric; the diagonal is not used */
    const double *weight;
    /* Null weights w^pi(a,b) rho(a) rho(b), of the same shape as `weight`. Nullable: not
     * measured. */
    const double *null;
} lra_interactions;

/* Returns D2 = whole - a - b + both; 0 if it is below 8 float32 epsilons of the largest score. */
double lra_interaction_second(double whole, double a, double b, double both);
/* Returns delta = whole - a; 0 if it is below 8 float32 epsilons of the largest score. */
double lra_interaction_first(double whole, double a);
/* Returns rho from the sums of squared first differences, without and with permutation. */
double lra_interaction_place(double squares, double moved);

/* Indices of the measurements in `out`:
 * 0 inter.mean: mean distance, with rows of w normalised to sum 1; null values: uniform weights,
 * permuted blocks 1 inter.q95
 * 2 inter.contrast: I at distance 1 over the median of I over all distances; null value: permuted
 * blocks 3 inter.peak: the distance with the largest mean D.  NAN: no distance is tested
 * 4 inter.rel: I over N at the peak; its interval is simultaneous over distances; null value 1
 * 5 inter.p: p-value of the test; has no interval
 * Examples whose weights or null weights are all 0 are counted as undefined and excluded.
 * All but the last have the flag `flat` if p is above 0.05, t = 0, or there is no test.
 * curve: (5, blocks) by distance in blocks: mean I, mean N, inter.rel, its lower and upper end; NAN
 * where unknown. Returns the number of measurements. Nullable: curve. */
enum {
    LRA_INTERACTION_MEAN,
    LRA_INTERACTION_Q95,
    LRA_INTERACTION_CONTRAST,
    LRA_INTERACTION_PEAK,
    LRA_INTERACTION_REL,
    LRA_INTERACTION_P,
    LRA_INTERACTION_MEASUREMENTS
};
enum {
    LRA_INTERACTION_CURVES = 5,
    LRA_INTERACTION_LEAST = 16 /* minimum number of examples for testing a distance */
};
int lra_interaction_measurements(const lra_interactions *x, uint64_t seed, lra_measurement *out,
                                 double *curve);

#endif
