/* Sorting and quantiles of numbers, by GSL. */
#ifndef LRA_ANALYSIS_QUANTILE_H
#define LRA_ANALYSIS_QUANTILE_H

#include <stdint.h>

/* Sorts n numbers, none of them NAN, in ascending order. */
void lra_sort(int64_t n, double *x);
/* Returns quantile q, 0 to 1, of n >= 1 ascending numbers, interpolated linearly between
 * neighbours; infinite between a finite and an infinite number. */
double lra_quantile(int64_t n, const double *sorted, double q);

#endif
