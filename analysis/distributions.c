/* Quantiles and distribution functions, computed by GSL. */
#include "analysis/distributions.h"

#include <gsl/gsl_cdf.h>

double lra_normal_quantile(double p)
{
    return gsl_cdf_ugaussian_Pinv(p);
}

double lra_t_quantile(double df, double p)
{
    return gsl_cdf_tdist_Pinv(p, df);
}

double lra_binomial_cdf(unsigned k, double p, unsigned n)
{
    return gsl_cdf_binomial_P(k, p, n);
}
