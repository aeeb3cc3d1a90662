/* Effective distance of the rungs of a sweep over distances, computed from their measured values:
 *   gain = (value - chance) / (value at the shortest distance - chance)
 *   d50  distance at which the gain falls to 0.5, interpolated linearly in log2 of the distance
 *        between two distances of the sweep
 *   len  longest distance up to which the interval of the gain lies entirely at or above 0.95 */
#ifndef LRA_REPORTS_LADDER_SWEEP_REACH_H
#define LRA_REPORTS_LADDER_SWEEP_REACH_H

#include "reports/ladder/sweep_view.h"

typedef struct {
    /* d50; INFINITY: beyond the longest distance; NAN: the value at the shortest distance is not
     * clearly above chance */
    lra_estimate half;
    double solved; /* len in tokens; NAN: there is no such distance */
} lra_sweep_reach;

/* Computes d50 and len of every rung; the caller frees them with lra_free(). */
lra_sweep_reach *lra_sweep_reaches(const lra_sweep *s);

#endif
