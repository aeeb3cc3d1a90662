/* Intervals. */
#include "analysis/interval.h"

#include <math.h>

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics.h>

lra_estimate lra_wilson(double k, double n, double level)
{
    double z = gsl_cdf_ugaussian_Pinv((1 + level) / 2), p = k / n, w = 1 + z * z / n;
    double centre = (p + z * z / (2 * n)) / w;
    double half = z * sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / w;
    return (lra_estimate){p, fmax(centre - half, 0), fmin(centre + half, 1)};
}

lra_estimate lra_t_interval(int n, const double *x, double level)
{
    double mean = gsl_stats_mean(x, 1, (size_t)n);
    if (n < 2) return (lra_estimate){mean, mean, mean};
    double t = gsl_cdf_tdist_Pinv((1 + level) / 2, n - 1);
    double half = t * gsl_stats_sd_m(x, 1, (size_t)n, mean) / sqrt(n);
    return (lra_estimate){mean, mean - half, mean + half};
}

/* Of sorted values, linear between neighbours; between a finite and an infinite one: infinite. */
static double quantile(int n, const double *sorted, double q)
{
    double at = q * (n - 1);
    int i = (int)at;
    if (i + 1 < n && at > i && isinf(sorted[i + 1])) return sorted[i + 1];
    if (isinf(sorted[i])) return sorted[i];
    return gsl_stats_quantile_from_sorted_data(sorted, 1, (size_t)n, q);
}

lra_estimate lra_percentile(double value, int n, double *replicate, double level)
{
    gsl_sort(replicate, 1, (size_t)n);
    double lo = quantile(n, replicate, (1 - level) / 2);
    double hi = quantile(n, replicate, (1 + level) / 2);
    return (lra_estimate){value, lo, hi};
}

double lra_mcnemar(int b, int c)
{
    unsigned n = (unsigned)(b + c), k = (unsigned)(b < c ? b : c);
    if (n == 0) return 1;
    return fmin(1, 2 * gsl_cdf_binomial_P(k, 0.5, n));
}
