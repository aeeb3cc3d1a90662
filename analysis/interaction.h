/* Measures the distance between parts of an input that a score combines.  A pair of blocks a, b of
 * an example gets a weight from the scores s of inputs whose blocks are replaced by those of
 * another example (draw r):
 *   D2_r(a,b) = s(x) - s(x_a) - s(x_b) + s(x_ab)
 *   w(a,b)    = sqrt( mean_r D2_r^2 )
 * A score that adds up over blocks has D2 = 0; one that multiplies two tokens has it at their
 * distance alone.  s uses one true class and one rival class in all four terms.
 *
 * A nonlinear head after pooling makes all pairs interact, independent of the encoder's receptive
 * field. The null measurement is therefore repeated with permuted blocks: a model of the bag of
 * blocks gives the same weights for every order.  In draw r the permutation pi_r of the full blocks
 * moves both content and replacement; weights are labelled by content:
 *   w^pi(a,b) = sqrt( mean_r (D2^pi_r)^2 )
 *   rho(a)    = sqrt( sum_r delta_r(a)^2 / sum_r delta^pi_r(a)^2 ) in [1/8, 8]; 1 where 0/0
 * is the effect of the position alone, delta_r(a) = s(x) - s(x_a).  By distance d, for example e,
 *   I_e(d) = mean of w(a,b),  N_e(d) = mean of w^pi(a,b) rho(a) rho(b)  over pairs at d,
 * each over its mean of all pairs; inter.rel(d) = mean I / mean N; D_e = I_e - N_e, below 0.001: 0.
 *   t = max_d max(0, |mean D(d)| - 0.1) / se(d)  over d that at least 16 examples reach
 * is compared with max_d |mean D(d)| / se(d) under 999 random sign flips, one sign for all
 * distances of an example.
 * Known (tests/analysis/interaction_test.c): the product of two tokens at 8 and 48 has its peak at
 * 40; a sum has weight 0; trained bags with and without a window of positions are classified as
 * flat in at least 93 % of the cases.  Permuting labels of blocks is no valid null: effects of
 * neighbouring blocks are alike. */
#ifndef LRA_ANALYSIS_INTERACTION_H
#define LRA_ANALYSIS_INTERACTION_H

#include "analysis/measurement.h"

typedef struct {
    int64_t blocks, width; /* blocks: number in the longest example; width: tokens per block */
    int64_t examples;
    const int64_t *count; /* (examples) number of blocks of each example */
    const double *weight; /* (examples, blocks, blocks), symmetric; the diagonal is not used */
    const double *null;   /* null weights w^pi(a,b) rho(a) rho(b), of the same shape.  Nullable: not
                             measured */
} lra_interactions;

/* Second difference; set to 0 if it is below 8 float32 epsilons of the largest score. */
double lra_interaction_second(double whole, double a, double b, double both);
/* First difference, with the same rounding. */
double lra_interaction_first(double whole, double a);
/* rho from sums of squares of first differences. */
double lra_interaction_place(double squares, double moved);

/* Indices of the measurements:
 * 0 inter.mean: mean distance, rows of w over their sum; null values: uniform weights, moved blocks
 * 1 inter.q95
 * 2 inter.contrast: I of neighbours over the median of all distances; null value: moved blocks
 * 3 inter.peak: the distance with the largest mean D.  NAN: no distance is tested
 * 4 inter.rel: I over N there; its interval is simultaneous over distances; null value 1
 * 5 inter.p: of the test; has no interval
 * Examples without weight, or without weight of moved blocks, are counted as undefined and left
 * out.
 * All but the last have the flag `flat` if p is above 0.05, t = 0, or there is no test.
 * curve: (5, blocks) by distance in blocks: mean I, mean N, inter.rel, its lower and upper end; NAN
 * where unknown.  Returns how many measurements.  Nullable: curve */
enum {
    LRA_INTERACTION_MEAN,
    LRA_INTERACTION_Q95,
    LRA_INTERACTION_CONTRAST,
    LRA_INTERACTION_PEAK,
    LRA_INTERACTION_REL,
    LRA_INTERACTION_P,
    LRA_INTERACTION_FINDINGS
};
enum { LRA_INTERACTION_CURVES = 5, LRA_INTERACTION_LEAST = 16 /* examples of a tested distance */ };
int lra_interaction_measurements(const lra_interactions *x, uint64_t seed, lra_measurement *out,
                                 double *curve);

#endif
