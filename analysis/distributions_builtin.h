/* Own implementation of the distributions of distributions.h, for builds without GSL
 * (-DLRA_GPL=OFF).
 *   normal    P(X <= x) = erfc(-x/sqrt 2)/2, solved by Halley's method
 *   t         P(X <= -x) = I(df/2, 1/2; df/(df + x^2))/2, by Newton's method in a bracket
 *   binomial  P(X <= k) = I(n - k, k + 1; 1 - p)
 * I is the regularised incomplete beta function, by its continued fraction (Lentz 1976).
 * Known: within 1e-12 of GSL, relative (tests/analysis/distributions_test.c). */
#ifndef LRA_ANALYSIS_DISTRIBUTIONS_BUILTIN_H
#define LRA_ANALYSIS_DISTRIBUTIONS_BUILTIN_H

double lra_own_normal_quantile(double p);
double lra_own_t_quantile(double df, double p);
double lra_own_binomial_cdf(unsigned k, double p, unsigned n);

#endif
