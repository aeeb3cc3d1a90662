/* Sorts numbers and computes quantiles. */
#include "analysis/quantile.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics.h>
#include <math.h>

void lra_sort(int64_t n, double *x)
{
    gsl_sort(x, 1, (size_t)n);
}

/* Infinite and equal neighbours are handled here: GSL's interpolation multiplies infinite numbers
 * by 0, and may round a mixture of equal numbers away from them. */
double lra_quantile(int64_t n, const double *sorted, double q)
{
    double at = q * (double)(n - 1);
    int64_t i = (int64_t)at, next = i + 1 < n ? i + 1 : i;
    if (at <= (double)i || sorted[i] == sorted[next]) return sorted[i];
    if (isinf(sorted[i])) return sorted[i];
    if (isinf(sorted[next])) return sorted[next];
    return gsl_stats_quantile_from_sorted_data(sorted, 1, (size_t)n, q);
}
