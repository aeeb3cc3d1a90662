/* How far apart are parts of an input that a score lets work together: weights w(a,b) of pairs of
 * blocks of an example,
 *   w(a,b) = sqrt( mean over draws of D2(a,b)^2 ),   D2 = s(x) - s(x_a) - s(x_b) + s(x_ab)
 * x_a: with block a replaced.  A score that adds up over blocks has D2 = 0; one that multiplies two
 * tokens has it exactly at their distance.  A nonlinear head behind a pool makes all pairs work
 * together a little, whatever the encoder sees; so the profile is tested: block labels are permuted
 * within each example, 1,000 times, and
 *   z = max over distances of (I(d) - mean of permuted I(d)) / their deviation
 * is compared with the same of the permutations.  Pointwise bands would call most profiles that are
 * flat not flat.
 * Known: the product of two tokens of +-1 at 8 and 48: mean 40 exactly; a sum: all 0. */
#ifndef LRA_ANALYSIS_INTERACTION_H
#define LRA_ANALYSIS_INTERACTION_H

#include "analysis/finding.h"

typedef struct {
    int64_t blocks, width; /* of the longest example; tokens of each */
    int64_t examples;
    const int64_t *count; /* (examples) blocks of each */
    const double *weight; /* (examples, blocks, blocks), symmetrical; the diagonal is not read */
} lra_interactions;

/* inter.mean (mean distance, rows over their sum; null values: of equal weights, of permuted
 * blocks), inter.q95, inter.contrast (I of neighbours over the median of all distances), inter.peak
 * (the distance with the largest I; null values of both: means over permutations), inter.p (of the
 * test).  Intervals are over examples; a p has none.  Flag flat on all but the last where p
 * is above 0.05.  curve: (3, blocks) I by distance in blocks (at 0: NAN), and the 2.5 and 97.5 %
 * points of permutations.  Blocks without a partner are undefined rows, and counted.  Returns how
 * many.  Nullable: curve */
enum { LRA_INTERACTION_FINDINGS = 5 };
int lra_interaction_findings(const lra_interactions *x, uint64_t seed, lra_finding *out,
                             double *curve);

#endif
