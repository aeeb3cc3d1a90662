/* Distributions from GSL, or our own implementation in builds without it (-DLRA_GPL=OFF). */
#include "analysis/distributions.h"

#if LRA_GPL
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_version.h>

void lra_distributions_start(void)
{
    gsl_set_error_handler_off();
}

const char *lra_distributions_library(void)
{
    return "GSL " GSL_VERSION;
}

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
#else
#include "analysis/distributions_builtin.h"

void lra_distributions_start(void) {}

const char *lra_distributions_library(void)
{
    return "distributions of our own";
}

double lra_normal_quantile(double p)
{
    return lra_own_normal_quantile(p);
}

double lra_t_quantile(double df, double p)
{
    return lra_own_t_quantile(df, p);
}

double lra_binomial_cdf(unsigned k, double p, unsigned n)
{
    return lra_own_binomial_cdf(k, p, n);
}
#endif
