/* Confidence intervals of proportions, and percentile intervals of replicates. */
#ifndef LRA_ANALYSIS_INTERVAL_H
#define LRA_ANALYSIS_INTERVAL_H

#include <stdbool.h>
#include <stdint.h>

/* A value with the ends of its 95 % interval, in the unit of the value. */
typedef struct {
    double value, lo, hi;
} lra_estimate;

/* Wilson score interval of k successes in n >= 1 trials; level: for example 0.95.
 * centre (p + z^2/2n)/(1 + z^2/n), half width z sqrt(p(1-p)/n + z^2/4n^2)/(1 + z^2/n). */
lra_estimate lra_wilson(double k, double n, double level);
/* Mean of n numbers with its 95 % interval by Student's t: mean +- t(n-1) s / sqrt(n). No interval
 * with fewer than two numbers. */
lra_estimate lra_mean_interval(int64_t n, const double *x);
/* Same for shares: numbers from 0 to 1. The interval is cut to 0 .. 1; if all numbers are equal, it
 * is Wilson's for n trials. */
lra_estimate lra_share_interval(int64_t n, const double *x);
/* Percentile interval of n replicates around a value; the replicates are reordered. NaN replicates
 * are ignored; if all are NaN, the interval is NAN. */
lra_estimate lra_percentile(double value, int n, double *replicate, double level);
/* Returns the interval, widened so that it contains its value.  Percentiles of a statistic that
 * resampling shifts (a running maximum, the first crossing of a threshold) can miss it. */
lra_estimate lra_holding(lra_estimate x);
/* Returns true if the value lies in its interval, or if there is no interval. */
bool lra_holds_value(const lra_estimate *x);
/* McNemar's exact test: two-sided binomial p-value of b against c discordant pairs. */
double lra_mcnemar(int b, int c);

#endif
