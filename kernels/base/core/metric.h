/* Metrics. A metric is a function of sums over the targets that are not masked, so that the same
 * sums serve one row, a running mean, a split and a bootstrap over its rows.
 *   accuracy     right / n
 *   rmse         sqrt(loss / n)                          loss: squared errors
 *   mae          loss / n                                loss: absolute errors
 *   r2           1 - loss / (square - target^2 / n)      over all numbers together, as one list
 *   bits-per-..  loss / n / ln 2                         loss: nats
 *   perplexity   exp(loss / n)
 *   none         NaN: the rows have no labels
 * Without any target the accuracy is 0 and the other metrics are NaN. */
#ifndef LRA_BASE_CORE_METRIC_H
#define LRA_BASE_CORE_METRIC_H

#include <stdbool.h>
#include <stdint.h>

#include "kernels/base/core/err.h"

typedef struct {
    int64_t n, right; /* number of targets; number of targets with the correct class */
    double loss;      /* sum of losses in nats, or of squared or absolute errors */
    double target;    /* target, square: sum of the targets, sum of their squares */
    double square;
} lra_sums;

typedef struct {
    const char *name; /* name stored in files: "bits-per-byte" */
    const char *text; /* printed name: "bits per byte" */
    double scale;     /* factor of printed values: 100 for per cent */
    const char *unit; /* unit after the value: " %" or "" */
    int decimals;     /* decimals of printed values */
    bool lower;       /* true if lower values are better */
    /* another metric of the same sums, which is printed with this one.  Nullable */
    const char *also;
    double (*value)(const lra_sums *s);
} lra_metric;

const lra_metric *lra_metric_at(int i); /* the i-th metric; NULL after the last */
const lra_metric *lra_metric_find(const char *name, lra_err *e);

void lra_sums_add(lra_sums *to, const lra_sums *more);
/* True if a is better than b; every value is better than NaN. */
bool lra_metric_better(const lra_metric *m, double a, double b);
/* Value with its unit for people: "63.20 %", "4.2130", "-" for NaN. Returns buf. */
char *lra_metric_value_text(const lra_metric *m, double value, char buf[32]);

#endif
