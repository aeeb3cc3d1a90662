/* Losses after temperature scaling. */
#include "analysis/information.h"

#include <math.h>

#include "kernels/base/core/mem.h"

/* The loss of one row; its first and second derivative by b are added to slope and bend. */
static double row_loss(int64_t C, const float *z, int32_t label, double b, double *slope,
                       double *bend)
{
    double most = z[0], sum = 0, first = 0, second = 0;
    for (int64_t c = 1; c < C; c++) most = fmax(most, (double)z[c]);
    for (int64_t c = 0; c < C; c++) {
        double x = (double)z[c] - most, p = exp(b * x);
        sum += p, first += p * x, second += p * x * x;
    }
    double own = (double)z[label] - most, mean = first / sum;
    *slope += mean - own;
    *bend += second / sum - mean * mean;
    return log(sum) - b * own;
}

static void derivatives(int64_t n, int64_t C, const float *logits, const int32_t *label, double b,
                        double *slope, double *bend)
{
    *slope = *bend = 0;
    for (int64_t i = 0; i < n; i++) row_loss(C, logits + i * C, label[i], b, slope, bend);
}

/* The loss is convex in b: Newton's method inside a bracket, with bisection if a step would leave
 * it. */
double lra_temperature_fit(int64_t n, int64_t n_classes, const float *logits, const int32_t *label)
{
    double lo = 0, hi = 100, b = 1, slope, bend;
    derivatives(n, n_classes, logits, label, lo, &slope, &bend);
    if (slope >= 0) return lo;
    for (int step = 0; step < 60 && hi - lo > 1e-9 * hi; step++) {
        derivatives(n, n_classes, logits, label, b, &slope, &bend);
        if (slope < 0)
            lo = b;
        else
            hi = b;
        double next = bend > 0 ? b - slope / bend : hi;
        if (fabs(next - b) <= 1e-12 * b) return b;
        b = next > lo && next < hi ? next : (lo + hi) / 2;
    }
    return b;
}

void lra_losses(int64_t n, int64_t n_classes, const float *logits, const int32_t *label, double b,
                double *loss)
{
    double slope = 0, bend = 0;
    for (int64_t i = 0; i < n; i++)
        loss[i] = row_loss(n_classes, logits + i * n_classes, label[i], b, &slope, &bend);
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
