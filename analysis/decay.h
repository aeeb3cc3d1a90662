/* Fits decay laws to an intensity, as straight lines through its logarithm, and tests for a decay
 * by ranks.
 *   exponential  ln y = a - d/tau         power law  ln y = a - beta ln d         constant  ln y = a
 * by weighted least squares; AIC = n ln(weighted residual sum / n) + 2 parameters, weights of mean
 * 1.  A law is named if it is better than the other and than the constant by at least 4, and falls
 * (tau, beta > 0). */
#ifndef LRA_ANALYSIS_DECAY_H
#define LRA_ANALYSIS_DECAY_H

#include <stdint.h>

typedef enum { LRA_DECAY_NONE, LRA_DECAY_EXP, LRA_DECAY_POWER } lra_decay_kind;
extern const char *const lra_decay_names[3]; /* none exp power */

typedef struct {
    int64_t n; /* points */
    double tau,
        beta; /* tau: INFINITY or below 0 if y does not fall; NAN: fewer than three points */
    double level_exp, level_power; /* a */
    double r2_exp, r2_power;
    lra_decay_kind kind;
} lra_decay;

/* n points d > 0, y > 0, weight > 0. */
lra_decay lra_decay_fit(int64_t n, const double *d, const double *y, const double *weight);

/* Kendall's tau-b of y against its order, and the exact one-sided p-value of a tau this small under
 * the null hypothesis that all orders are equally likely (from the distribution of the number of
 * inversions; ties count against a decay). */
typedef struct {
    double tau, p; /* NAN and 1: all are equal */
} lra_kendall;
typedef struct lra_kendall_null lra_kendall_null; /* of n numbers, for any number of series */
lra_kendall_null *lra_kendall_null_new(int n);
void lra_kendall_null_free(lra_kendall_null *k); /* Nullable: k */
lra_kendall lra_kendall_falling(const lra_kendall_null *k, const double *y);

#endif
