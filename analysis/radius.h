/* Radius that contains a share of the mass around a point: the smallest r such that the mass at
 * distances 0 .. r is at least q of the total, as for effective receptive fields in vision (Luo et
 * al. 2016, Ding et al. 2022).
 * Masses of n examples are summed without normalisation. Intervals are percentiles of 1,000
 * bootstrap resamples of examples. */
#ifndef LRA_ANALYSIS_RADIUS_H
#define LRA_ANALYSIS_RADIUS_H

#include <stdint.h>

#include "analysis/interval.h"

/* Returns the radius that contains the share q. mass: (n, distances), not negative. NAN if all mass
 * is 0; no interval with one example. */
lra_estimate lra_radius(int64_t n, int64_t distances, const double *mass, double q, uint64_t key);

/* Returns the distance at which the ratio of two profiles is largest: the d from 1 to n / 2 with
 * the largest x(d) / other(d), the smallest d among equals, of those with x(d) >= lra_peak_floor().
 * NAN: there is none. */
double lra_peak(int64_t n, const double *x, const double *other);
/* Returns the minimum of x for a candidate distance: a tenth of the largest x. At the edge of the
 * receptive field of stacked windows both profiles are close to 0, and their ratio would be largest
 * where the model uses nothing. */
double lra_peak_floor(int64_t n, const double *x);
/* Returns the middle of the candidate distances, the expected peak if all are equally likely. */
double lra_peak_middle(int64_t n);

/* Returns the mode of n positions, the smallest among equals, with a bootstrap interval over
 * examples. */
lra_estimate lra_modal_position(int64_t n, const int64_t *place, uint64_t key);

#endif
