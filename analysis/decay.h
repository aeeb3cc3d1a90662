/* Fits decay laws to an intensity, as straight lines through its logarithm, and tests for a decay
 * by ranks.
 *   exponential  ln y = a - d/tau         power law  ln y = a - beta ln d         constant  ln y = a
 * Lines are fitted by weighted least squares; AIC = n ln(weighted residual sum / n) + 2 * (number
 * of parameters), with weights of mean 1. A law is named if its AIC is smaller by at least 4 than
 * that of the other law and of the constant, and if it decreases (tau, beta > 0). */
#ifndef LRA_ANALYSIS_DECAY_H
#define LRA_ANALYSIS_DECAY_H

#include <stdint.h>

typedef enum { LRA_DECAY_NONE, LRA_DECAY_EXP, LRA_DECAY_POWER } lra_decay_kind;
extern const char *const lra_decay_names[3]; /* "none", "exp", "power" */

typedef struct {
    int64_t n; /* number of points */
    double tau,
        beta; /* tau: INFINITY or negative if y does not decrease; NAN: fewer than three points */
    double level_exp, level_power; /* intercept a of the exponential law, of the power law */
    double r2_exp, r2_power;
    lra_decay_kind kind;
} lra_decay;

/* Fits the exponential and the power law to n points d > 0, y > 0 with weights > 0. */
lra_decay lra_decay_fit(int64_t n, const double *d, const double *y, const double *weight);

/* Result of Kendall's test for a decay: tau-b of y against its order, and the exact one-sided
 * p-value, the probability of a tau this small if all orders are equally likely (from the
 * distribution of the number of inversions; ties count against a decay, except among zeros, whose
 * order does not matter: a kernel that decays fast is zero in float32 at most lags). */
typedef struct {
    double tau, p; /* NAN and 1 if all values are equal */
} lra_kendall;
/* null distribution for n numbers; can be used for many series */
typedef struct lra_kendall_null lra_kendall_null;
lra_kendall_null *lra_kendall_null_new(int n);
void lra_kendall_null_free(lra_kendall_null *k); /* Nullable: k */
lra_kendall lra_kendall_falling(const lra_kendall_null *k, const double *y);

#endif
