/* Computes the curve of a ladder: gains, locality index, radii. */
#include "analysis/curve.h"

#include <math.h>

const double lra_ladder_points[LRA_LADDER_RADII] = {0.01, 0.02, 0.05};

lra_curve_axis lra_curve_axis_of(int n_rungs, const int64_t *reach, int64_t end, bool values)
{
    lra_curve_axis a = {.n_rungs = n_rungs, .values = values};
    int first = 0;
    while (first < n_rungs - 1 && reach[first] == 0) first++;
    a.first = first;
    double whole = log2((double)end) - log2((double)reach[first]);
    for (int r = first; r < n_rungs; r++) {
        double next = log2((double)(r + 1 < n_rungs ? reach[r + 1] : end));
        a.place[r] = log2((double)reach[r]);
        a.width[r] = whole > 0 ? (next - a.place[r]) / whole : NAN;
    }
    return a;
}

/* Returns the smallest reach R with a value of at least `wanted`, interpolated linearly in log2 R
 * between rungs. */
static double radius(const lra_curve_axis *a, const double *value, double wanted)
{
    for (int r = a->first; r < a->n_rungs; r++) {
        if (value[r] < wanted) continue;
        if (r == a->first) return exp2(a->place[r]);
        double share = (wanted - value[r - 1]) / (value[r] - value[r - 1]);
        return exp2(a->place[r - 1] + share * (a->place[r] - a->place[r - 1]));
    }
    return INFINITY;
}

void lra_curve_compute(const lra_curve_axis *a, const double *value, double reference,
                       double chance, lra_curve *out)
{
    double span = reference - chance, best = 0;
    out->li = out->li_raw = 0;
    for (int r = 0; r < a->n_rungs; r++) {
        double gain = out->gain[r] = (value[r] - chance) / span;
        if (r < a->first) continue;
        best = fmax(best, fmin(fmax(gain, 0), 1));
        out->li += best * a->width[r];
        out->li_raw += gain * a->width[r];
    }
    double unit = a->values ? fabs(span) : 1;
    for (int i = 0; i < LRA_LADDER_RADII; i++)
        out->radius[i] = radius(a, value, reference - unit * lra_ladder_points[i]);
}
