/* The few distributions that the statistics need; the only file that asks a library for them. */
#ifndef LRA_ANALYSIS_DISTRIBUTIONS_H
#define LRA_ANALYSIS_DISTRIBUTIONS_H

/* Once, by main(): the library says nothing by itself.  And what it is: "GSL 2.7.1". */
void lra_distributions_start(void);
const char *lra_distributions_library(void);

double lra_normal_quantile(double p);
double lra_t_quantile(double df, double p); /* df > 0, not only whole numbers */
/* P(X <= k), X the number of successes in n trials of probability p. */
double lra_binomial_cdf(unsigned k, double p, unsigned n);

#endif
