/* Effective distance of the rungs of a sweep over distances, from their measured values:
 *   gain = (value - chance) / (value at the shortest distance - chance)
 *   d50  distance where the gain falls to 0.5, linear in log2 of the distance between two of the
 *        sweep
 *   len  longest distance up to which the interval of the gain lies entirely at or above 0.95 */
#ifndef LRA_REPORTS_LADDER_SWEEP_REACH_H
#define LRA_REPORTS_LADDER_SWEEP_REACH_H

#include "reports/ladder/sweep_view.h"

typedef struct {
    lra_estimate half; /* d50; INFINITY: beyond the longest distance; NAN: the shortest is not
                          clearly above chance */
    double solved;     /* len; NAN: none */
} lra_sweep_reach;

/* Returns the values of every rung; the caller frees them with lra_free(). */
lra_sweep_reach *lra_sweep_reaches(const lra_sweep *s);

#endif
