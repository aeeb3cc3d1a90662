/* Computes losses after temperature scaling. */
#include "analysis/information.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_roots.h>
#include <math.h>

#include "kernels/base/core/gsl.h"
#include "kernels/base/core/mem.h"

/* Returns the loss of one row at inverse temperature b; adds its derivative with respect to b to
 * *slope. */
static double row_loss(int64_t C, const float *z, int32_t label, double b, double *slope)
{
    double most = z[0], sum = 0, first = 0;
    for (int64_t c = 1; c < C; c++) most = fmax(most, (double)z[c]);
    for (int64_t c = 0; c < C; c++) {
        double x = (double)z[c] - most, p = exp(b * x);
        sum += p, first += p * x;
    }
    double own = (double)z[label] - most;
    *slope += first / sum - own;
    return log(sum) - b * own;
}

/* Rows to which a temperature is fitted. */
typedef struct {
    int64_t n, classes;
    const float *logits;
    const int32_t *label;
} rows;

/* Returns the derivative of the sum of all losses with respect to b. */
static double slope_at(double b, void *context)
{
    const rows *r = context;
    double slope = 0;
    for (int64_t i = 0; i < r->n; i++)
        row_loss(r->classes, r->logits + i * r->classes, r->label[i], b, &slope);
    return slope;
}

/* The loss is convex in b; the root of its derivative is found by Brent's method. */
double lra_temperature_fit(int64_t n, int64_t n_classes, const float *logits, const int32_t *label)
{
    enum { MOST_STEPS = 100 };
    const double least = 0, most = 100;
    rows r = {n, n_classes, logits, label};
    gsl_function slope = {slope_at, &r};
    if (slope_at(least, &r) >= 0) return least;
    if (slope_at(most, &r) < 0) return most;
    gsl_root_fsolver *s = lra_gsl_workspace(gsl_root_fsolver_alloc(gsl_root_fsolver_brent),
                                            "a root");
    int status = gsl_root_fsolver_set(s, &slope, least, most);
    for (int step = 0; status == GSL_SUCCESS && step < MOST_STEPS; step++) {
        status = gsl_root_fsolver_iterate(s);
        if (gsl_root_test_interval(gsl_root_fsolver_x_lower(s), gsl_root_fsolver_x_upper(s), 0,
                                   1e-12) == GSL_SUCCESS)
            break;
    }
    double b = status == GSL_SUCCESS ? gsl_root_fsolver_root(s) : (double)NAN;
    gsl_root_fsolver_free(s);
    return b;
}

void lra_losses(int64_t n, int64_t n_classes, const float *logits, const int32_t *label, double b,
                double *loss)
{
    double slope = 0;
    for (int64_t i = 0; i < n; i++)
        loss[i] = row_loss(n_classes, logits + i * n_classes, label[i], b, &slope);
}

void lra_chance_losses(int64_t n, int64_t n_classes, const int32_t *label, int64_t n_other,
                       const int32_t *other, double *loss)
{
    double *count = lra_alloc_array((size_t)n_classes, sizeof *count);
    for (int64_t c = 0; c < n_classes; c++) count[c] = 1;
    for (int64_t i = 0; i < n_other; i++) count[other[i]]++;
    for (int64_t i = 0; i < n; i++) loss[i] = log((double)(n_other + n_classes) / count[label[i]]);
    lra_free(count);
}
