/* Computes the metrics of tasks from sums over rows. */
#include "kernels/base/core/metric.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double ln_2 = 0.69314718055994530942;

static double accuracy(const lra_sums *s)
{
    return s->n ? (double)s->right / (double)s->n : 0;
}

static double mean_loss(const lra_sums *s)
{
    return s->n ? s->loss / (double)s->n : NAN;
}

static double rmse(const lra_sums *s)
{
    return sqrt(mean_loss(s));
}

static double r2(const lra_sums *s)
{
    double n = (double)s->n, spread = s->square - s->target * s->target / n;
    return s->n && spread > 0 ? 1 - s->loss / spread : NAN;
}

static double bits(const lra_sums *s)
{
    return mean_loss(s) / ln_2;
}

static double perplexity(const lra_sums *s)
{
    return exp(mean_loss(s));
}

static double undefined(const lra_sums *s)
{
    (void)s;
    return NAN;
}

static const lra_metric registry[] = {
    {"accuracy", "accuracy", 100, " %", 2, false, NULL, accuracy},
    {"rmse", "RMSE", 1, "", 4, true, "r2", rmse},
    {"mae", "mean absolute error", 1, "", 4, true, NULL, mean_loss},
    {"r2", "R2", 1, "", 4, false, "rmse", r2},
    {"bits-per-token", "bits per token", 1, "", 4, true, "perplexity", bits},
    {"bits-per-byte", "bits per byte", 1, "", 4, true, "perplexity", bits},
    {"bits-per-character", "bits per character", 1, "", 4, true, "perplexity", bits},
    {"perplexity", "perplexity", 1, "", 2, true, "bits-per-token", perplexity},
    {"none", "none (no labels)", 1, "", 4, false, NULL, undefined},
};
enum { N_METRICS = sizeof registry / sizeof *registry };

const lra_metric *lra_metric_at(int i)
{
    return i >= 0 && i < N_METRICS ? &registry[i] : NULL;
}

const lra_metric *lra_metric_find(const char *name, lra_err *e)
{
    for (int i = 0; i < N_METRICS; i++)
        if (strcmp(registry[i].name, name) == 0) return &registry[i];
    lra_fail(
        e,
        "unknown metric '%s', expected accuracy, rmse, mae, r2, bits-per-..., perplexity or none",
        name);
    return NULL;
}

void lra_sums_add(lra_sums *to, const lra_sums *more)
{
    to->n += more->n;
    to->right += more->right;
    to->loss += more->loss;
    to->target += more->target;
    to->square += more->square;
}

bool lra_metric_better(const lra_metric *m, double a, double b)
{
    if (isnan(a) || isnan(b)) return !isnan(a);
    return m->lower ? a < b : a > b;
}

char *lra_metric_value_text(const lra_metric *m, double value, char buf[32])
{
    if (isnan(value))
        snprintf(buf, 32, "-");
    else if (fabs(value) >= 1e12)
        snprintf(buf, 32, "%.4g%s", m->scale * value, m->unit);
    else
        snprintf(buf, 32, "%.*f%s", m->decimals, m->scale * value, m->unit);
    return buf;
}
