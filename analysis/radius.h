/* The radius that holds a share of what is around a point: smallest r with sum of the mass at
 * distances 0 .. r at least q of all, as effective receptive fields are told in vision (Luo et al.
 * 2016, Ding et al. 2022).
 * Masses of n examples are added up as they are; intervals by 1,000 redraws of examples. */
#ifndef LRA_ANALYSIS_RADIUS_H
#define LRA_ANALYSIS_RADIUS_H

#include <stdint.h>

#include "analysis/interval.h"

/* mass: (n, distances), not negative.  Without any mass NAN; with one example no interval. */
lra_estimate lra_radius(int64_t n, int64_t distances, const double *mass, double q, uint64_t key);

/* Where a profile stands out most against another: the distance d from 1 to n / 2 with the largest
 * x(d) / other(d), the first of equals, among those with x(d) of lra_peak_floor() at least.  NAN:
 * there is none. */
double lra_peak(int64_t n, const double *x, const double *other);
/* The least x of a distance that is taken: a tenth of the largest.  At the edge of what a stack of
 * windows reaches both profiles are close to 0, and their ratio is largest where nothing is
 * used. */
double lra_peak_floor(int64_t n, const double *x);
/* The middle of these distances: where it is on average if it may be anywhere. */
double lra_peak_middle(int64_t n);

/* The place that most of n examples have, the least of equals, with redraws of examples. */
lra_estimate lra_usual_place(int64_t n, const int64_t *place, uint64_t key);

#endif
