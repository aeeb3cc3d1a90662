/* Quantiles and distribution functions that the statistics use.  Only the implementation of this
 * header calls a statistics library. */
#ifndef LRA_ANALYSIS_DISTRIBUTIONS_H
#define LRA_ANALYSIS_DISTRIBUTIONS_H

/* lra_distributions_start(): called once by main(); turns off the library's own error messages.
 * lra_distributions_library(): name and version of the library, "GSL 2.7.1". */
void lra_distributions_start(void);
const char *lra_distributions_library(void);

double lra_normal_quantile(double p);
double lra_t_quantile(double df, double p); /* df > 0, not necessarily an integer */
/* P(X <= k), X the number of successes in n trials of probability p. */
double lra_binomial_cdf(unsigned k, double p, unsigned n);

#endif
