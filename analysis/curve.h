/* Functions of the metric values of all rungs: gains, locality index, radii. They are computed once
 * for the values and once for every replicate. */
#ifndef LRA_ANALYSIS_CURVE_H
#define LRA_ANALYSIS_CURVE_H

#include <stdbool.h>
#include <stdint.h>

enum { LRA_LADDER_MAX_RUNGS = 16, LRA_LADDER_RADII = 3 };
extern const double lra_ladder_points[LRA_LADDER_RADII]; /* margins of the radii: 0.01 0.02 0.05 */

typedef struct {
    int n_rungs, first;                 /* first: index of the first rung with R > 0 */
    double place[LRA_LADDER_MAX_RUNGS]; /* log2 of the reach of each rung */
    /* Share of the axis from each rung to the next; NAN: the locality index is undefined. */
    double width[LRA_LADDER_MAX_RUNGS];
    bool values;
} lra_curve_axis;

typedef struct {
    double gain[LRA_LADDER_MAX_RUNGS];
    double li, li_raw, radius[LRA_LADDER_RADII];
} lra_curve;

/* reach: (n_rungs) ascending, clipped to the sequence length. end: end of the axis, after the last
 * rung. values: row values instead of accuracies. */
lra_curve_axis lra_curve_axis_of(int n_rungs, const int64_t *reach, int64_t end, bool values);
void lra_curve_compute(const lra_curve_axis *a, const double *value, double reference,
                       double chance, lra_curve *out);

#endif
