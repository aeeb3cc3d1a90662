/* Intervals of proportions and means. */
#ifndef LRA_ANALYSIS_INTERVAL_H
#define LRA_ANALYSIS_INTERVAL_H

/* A value with its 95 % interval, unit of the value. */
typedef struct {
    double value, lo, hi;
} lra_estimate;

/* Wilson score interval of k successes in n trials; level 0.95.  n >= 1.
 * centre (p + z^2/2n)/(1 + z^2/n), half width z sqrt(p(1-p)/n + z^2/4n^2)/(1 + z^2/n). */
lra_estimate lra_wilson(double k, double n, double level);
/* mean +- t(n-1, (1+level)/2) s/sqrt(n); lo = hi = value for n = 1. */
lra_estimate lra_t_interval(int n, const double *x, double level);
/* Percentile interval of n replicates (sorted in place) around a value. */
lra_estimate lra_percentile(double value, int n, double *replicate, double level);
/* McNemar's exact test: two-sided binomial p of b against c discordant pairs. */
double lra_mcnemar(int b, int c);

#endif
