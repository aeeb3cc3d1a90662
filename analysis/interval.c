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
