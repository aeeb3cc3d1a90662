/* Expresses functions of sums over rows (root mean squared error, R2, bits) as the mean of one
 * number for each row, so that intervals of means apply to them. These numbers are Tukey's
 * pseudo-values:
 *   x_i = v + (n - 1) (v - v without row i), shifted so that their mean is v
 * var(x)/n is the jackknife's variance of v, which agrees with the delta method to first order. If
 * v is a mean, x_i are its terms. */
#ifndef LRA_ANALYSIS_JACKKNIFE_H
#define LRA_ANALYSIS_JACKKNIFE_H

#include <stdint.h>

/* The function to be measured: value() maps the sums over all rows of n_columns numbers to one
 * number. */
typedef struct {
    int n_columns; /* at most 16 */
    int64_t n;     /* number of rows */
    double (*value)(const void *context, const double *sum);
    const void *context;
} lra_measure;

/* Computes the pseudo-values. row: (n, n_columns); out: (n), all NAN if the value, or the value
 * without one of the rows, is not finite. */
void lra_jackknife(const lra_measure *m, const double *row, double *out);

#endif
