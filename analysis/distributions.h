/* Quantiles and distribution functions that the statistics use, by GSL.  Arguments outside of the
 * domain give NAN. */
#ifndef LRA_ANALYSIS_DISTRIBUTIONS_H
#define LRA_ANALYSIS_DISTRIBUTIONS_H

double lra_normal_quantile(double p);
/* quantile of Student's t; df > 0, not necessarily an integer */
double lra_t_quantile(double df, double p);
/* Returns P(X <= k), where X is the number of successes in n trials with probability p. */
double lra_binomial_cdf(unsigned k, double p, unsigned n);

#endif
