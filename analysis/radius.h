/* Radius that contains a share of the mass around a point: the smallest r such that the mass at
 * distances 0 .. r is at least q of the total, as for effective receptive fields in vision (Luo et
 * al. 2016, Ding et al. 2022).
 * Masses of n examples are summed without normalisation; intervals: bootstrap of 1,000 resamples
 * of examples. */
#ifndef LRA_ANALYSIS_RADIUS_H
#define LRA_ANALYSIS_RADIUS_H

#include <stdint.h>

#include "analysis/interval.h"

/* mass: (n, distances), not negative.  Returns NAN if all mass is 0; no interval with one
 * example. */
lra_estimate lra_radius(int64_t n, int64_t distances, const double *mass, double q, uint64_t key);

/* Distance of the largest ratio of two profiles: the d from 1 to n / 2 with the largest x(d) /
 * other(d), the first one among equals, over the d with x(d) >= lra_peak_floor().  NAN: there is
 * none. */
double lra_peak(int64_t n, const double *x, const double *other);
/* Smallest x of a candidate distance: a tenth of the largest.  At the edge of the receptive field
 * of a stack of windows both profiles are close to 0, and their ratio would be largest where
 * nothing is used. */
double lra_peak_floor(int64_t n, const double *x);
/* Middle of these distances: the expected peak of a uniform distribution over them. */
double lra_peak_middle(int64_t n);

/* Mode of n positions, the smallest one among equals; its interval is a bootstrap over examples. */
lra_estimate lra_usual_place(int64_t n, const int64_t *place, uint64_t key);

#endif
