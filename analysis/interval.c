/* Confidence intervals. */
#include "analysis/interval.h"

#include <math.h>

#include "analysis/distributions.h"
#include "analysis/quantile.h"

lra_estimate lra_wilson(double k, double n, double level)
{
    double z = lra_normal_quantile((1 + level) / 2), p = k / n, w = 1 + z * z / n;
    double centre = (p + z * z / (2 * n)) / w;
    double half = z * sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / w;
    return (lra_estimate){p, fmin(fmax(centre - half, 0), p), fmax(fmin(centre + half, 1), p)};
}

lra_estimate lra_mean_interval(int64_t n, const double *x)
{
    double mean = 0, square = 0;
    for (int64_t i = 0; i < n; i++) mean += x[i] / (double)n;
    for (int64_t i = 0; i < n; i++) square += (x[i] - mean) * (x[i] - mean);
    if (n == 0) return (lra_estimate){NAN, NAN, NAN};
    if (n < 2) return (lra_estimate){mean, NAN, NAN};
    double df = (double)n - 1, half = lra_t_quantile(df, 0.975) * sqrt(square / df / (double)n);
    return (lra_estimate){mean, mean - half, mean + half};
}

lra_estimate lra_share_interval(int64_t n, const double *x)
{
    bool equal = true;
    for (int64_t i = 1; i < n; i++) equal = equal && x[i] == x[0];
    if (n > 1 && equal) return lra_wilson(x[0] * (double)n, (double)n, 0.95);
    lra_estimate e = lra_mean_interval(n, x);
    if (isnan(e.lo)) return e;
    return (lra_estimate){e.value, fmax(e.lo, 0), fmin(e.hi, 1)};
}

lra_estimate lra_percentile(double value, int n, double *replicate, double level)
{
    int kept = 0;
    for (int i = 0; i < n; i++)
        if (!isnan(replicate[i])) replicate[kept++] = replicate[i];
    if (kept == 0) return (lra_estimate){value, NAN, NAN};
    lra_sort(kept, replicate);
    double lo = lra_quantile(kept, replicate, (1 - level) / 2);
    double hi = lra_quantile(kept, replicate, (1 + level) / 2);
    return (lra_estimate){value, lo, hi};
}

lra_estimate lra_holding(lra_estimate x)
{
    if (isnan(x.lo) || isnan(x.value)) return x;
    return (lra_estimate){x.value, fmin(x.lo, x.value), fmax(x.hi, x.value)};
}

bool lra_holds_value(const lra_estimate *x)
{
    return isnan(x->lo) || isnan(x->value) || (x->lo <= x->value && x->value <= x->hi);
}

double lra_mcnemar(int b, int c)
{
    unsigned n = (unsigned)(b + c), k = (unsigned)(b < c ? b : c);
    if (n == 0) return 1;
    return fmin(1, 2 * lra_binomial_cdf(k, 0.5, n));
}
