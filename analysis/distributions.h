/* Quantiles and distribution functions that the statistics use, by GSL.  Arguments outside of the
 * domain give NAN. */
#ifndef LRA_ANALYSIS_DISTRIBUTIONS_H
#define LRA_ANALYSIS_DISTRIBUTIONS_H

double lra_normal_quantile(double p);
double lra_t_quantile(double df, double p); /* df > 0, not necessarily an integer */
/* P(X <= k), X the number of successes in n trials of probability p. */
double lra_binomial_cdf(unsigned k, double p, unsigned n);

#endif
