/* Means and contrasts of several series on the same examples. */
#include "analysis/sample.h"

#include <math.h>

#include "analysis/distributions.h"
#include "kernels/base/core/err.h"
#include "kernels/base/core/mem.h"

/* Variances below this are rounding errors. */
static const double nothing = 1e-24;

lra_sample *lra_sample_new(int64_t n, bool shares)
{
    lra_sample *s = lra_alloc(sizeof *s);
    s->n = n, s->shares = shares;
    return s;
}

void lra_sample_free(lra_sample *s)
{
    if (!s) return;
    for (int r = 0; r < s->n_series; r++) {
        lra_free(s->series[r].row);
        lra_free(s->series[r].by_seed);
    }
    lra_free(s);
}

/* ---- series ---------------------------------------------------------------------------------- */

static lra_series *new_series(lra_sample *s, int n_seeds)
{
    if (s->n_series == LRA_MAX_SERIES) LRA_BUG("more than %d series", LRA_MAX_SERIES);
    lra_series *x = &s->series[s->n_series++];
    x->n_seeds = n_seeds;
    x->by_seed = lra_alloc_array((size_t)n_seeds + 1, sizeof *x->by_seed);
    x->row = lra_alloc_array((size_t)s->n + 1, sizeof *x->row);
    x->sd = x->own_sd = x->seed_error = NAN;
    return x;
}

/* Completes a series, whose `row` contains sums over seeds and `by_seed` contains means. squares:
 * sum of all squared values. */
static void finish(lra_series *x, int64_t n_examples, double squares)
{
    double S = x->n_seeds, n = (double)n_examples, between = 0, rows = 0, mean = 0;
    double seeds = 0;
    for (int k = 0; k < x->n_seeds; k++) {
        mean += x->by_seed[k] / S;
        seeds += x->by_seed[k] * x->by_seed[k];
    }
    x->value = mean;
    if (n > 1) x->seed_error = sqrt(fmax(squares - n * seeds, 0) / (S * (n - 1) * n));
    for (int64_t i = 0; i < n_examples; i++) x->row[i] /= S;
    if (x->n_seeds < 2) return;
    for (int64_t i = 0; i < n_examples; i++) rows += x->row[i] * x->row[i];
    for (int k = 0; k < x->n_seeds; k++) between += (x->by_seed[k] - mean) * (x->by_seed[k] - mean);
    double variance = between / (S - 1);
    double interaction = squares - n * seeds - S * rows + n * S * mean * mean;
    double mean_square = n > 1 ? fmax(interaction, 0) / ((S - 1) * (n - 1)) : 0;
    x->sd = sqrt(variance);
    x->own_sd = sqrt(fmax(variance - mean_square / n, 0));
}

int lra_sample_add_correct(lra_sample *s, int n_seeds, const uint8_t *const *correct)
{
    lra_series *x = new_series(s, n_seeds);
    /* adding bytes is much faster than adding doubles */
    uint8_t *count = lra_alloc((size_t)s->n + 1);
    double squares = 0;
    for (int k = 0; k < n_seeds; k++) {
        int64_t right = 0;
        for (int64_t i = 0; i < s->n; i++) right += correct[k][i];
        for (int64_t i = 0; i < s->n; i++) count[i] = (uint8_t)(count[i] + correct[k][i]);
        x->by_seed[k] = (double)right / (double)s->n;
        squares += (double)right;
        if (k % UINT8_MAX == UINT8_MAX - 1 || k == n_seeds - 1)
            for (int64_t i = 0; i < s->n; i++) x->row[i] += count[i], count[i] = 0;
    }
    lra_free(count);
    finish(x, s->n, squares);
    return s->n_series - 1;
}

int lra_sample_add_rows(lra_sample *s, int n_seeds, const double *const *row)
{
    lra_series *x = new_series(s, n_seeds);
    double squares = 0;
    for (int k = 0; k < n_seeds; k++) {
        double sum = 0;
        for (int64_t i = 0; i < s->n; i++) {
            double v = row[k][i];
            x->row[i] += v;
            sum += v;
            squares += v * v;
        }
        x->by_seed[k] = sum / (double)s->n;
    }
    finish(x, s->n, squares);
    return s->n_series - 1;
}

int lra_sample_add_fixed(lra_sample *s, const uint8_t *correct)
{
    int r = lra_sample_add_correct(s, 1, &correct);
    s->series[r].n_seeds = 0;
    return r;
}

int lra_sample_add_number(lra_sample *s, double value)
{
    lra_series *x = new_series(s, 0);
    x->value = value;
    for (int64_t i = 0; i < s->n; i++) x->row[i] = value;
    return s->n_series - 1;
}

/* ---- variances ------------------------------------------------------------------------------- */

/* Returns the variance of the mean over the seeds of series r; *df: its degrees of freedom. With a
 * single seed, the pooled variance of the other series is used (0 if there is none). */
static double seed_variance(const lra_sample *s, int r, double *df)
{
    const lra_series *x = &s->series[r];
    double sum = 0;
    *df = x->n_seeds - 1;
    if (x->n_seeds > 1) return x->sd * x->sd / x->n_seeds;
    *df = 0;
    if (x->n_seeds == 0) return 0;
    for (int k = 0; k < s->n_series; k++) {
        const lra_series *other = &s->series[k];
        if (other->n_seeds < 2) continue;
        *df += other->n_seeds - 1;
        sum += (other->n_seeds - 1) * other->sd * other->sd;
    }
    return *df > 0 ? sum / *df : 0;
}

static double example_variance(const lra_sample *s, const double *g)
{
    double mean = 0, sum = 0, n = (double)s->n;
    int used[LRA_MAX_SERIES], n_used = 0;
    for (int r = 0; r < s->n_series; r++)
        if (g[r] != 0) used[n_used++] = r, mean += g[r] * s->series[r].value;
    for (int64_t i = 0; i < s->n; i++) {
        double x = -mean;
        for (int k = 0; k < n_used; k++) x += g[used[k]] * s->series[used[k]].row[i];
        sum += x * x;
    }
    double variance = s->n > 1 ? sum / (n - 1) / n : 0;
    return variance < nothing ? 0 : variance;
}

/* Returns the variance over seeds of a contrast that is computed for each seed, because seeds are
 * paired. */
static lra_variance paired_seeds(const lra_sample *s, const double *g)
{
    double mean = 0, sum = 0;
    int n = 0, most = 0;
    for (int r = 0; r < s->n_series; r++)
        if (s->series[r].n_seeds > most) most = s->series[r].n_seeds;
    double *by_seed = lra_alloc_array((size_t)most + 1, sizeof *by_seed);
    for (int r = 0; r < s->n_series; r++) {
        if (g[r] == 0 || s->series[r].n_seeds == 0) continue;
        n = s->series[r].n_seeds;
        for (int k = 0; k < n; k++) by_seed[k] += g[r] * s->series[r].by_seed[k];
    }
    for (int k = 0; k < n; k++) mean += by_seed[k] / n;
    for (int k = 0; k < n; k++) sum += (by_seed[k] - mean) * (by_seed[k] - mean);
    lra_free(by_seed);
    return n < 2 ? (lra_variance){0, 0, 0} : (lra_variance){0, sum / (n - 1) / n, n - 1};
}

static lra_variance independent_seeds(const lra_sample *s, const double *g)
{
    lra_variance v = {0, 0, 0};
    double weighted = 0, known = 0;
    for (int r = 0; r < s->n_series; r++) {
        double df, part = g[r] == 0 ? 0 : g[r] * g[r] * seed_variance(s, r, &df);
        if (g[r] == 0 || df == 0) continue;
        known += df;
        v.seeds += part;
        weighted += part * part / df;
    }
    if (v.seeds < nothing) v.seeds = 0;
    v.df = v.seeds > 0 ? v.seeds * v.seeds / weighted : known;
    return v;
}

lra_variance lra_contrast_variance(const lra_sample *s, const double *g)
{
    lra_variance v = s->paired ? paired_seeds(s, g) : independent_seeds(s, g);
    v.examples = example_variance(s, g);
    return v;
}

/* ---- intervals ------------------------------------------------------------------------------- */

static double half_width(const lra_variance *v, double level)
{
    double p = (1 + level) / 2, z = lra_normal_quantile(p);
    double t = v->seeds > 0 ? lra_t_quantile(v->df, p) : 0;
    return sqrt(z * z * v->examples + t * t * v->seeds);
}

lra_estimate lra_contrast(const lra_sample *s, const double *g, double level)
{
    double value = 0, size = 0;
    for (int r = 0; r < s->n_series; r++)
        if (g[r] != 0) value += g[r] * s->series[r].value, size += fabs(g[r]);
    if (s->n == 0 || isnan(value)) return (lra_estimate){value, NAN, NAN};
    lra_variance v = lra_contrast_variance(s, g);
    double half = half_width(&v, level);
    if (half == 0) /* the difference of the predictions is the same for every example */
        half = s->shares ? size / 2 * lra_wilson(0, (double)s->n, level).hi : NAN;
    return (lra_estimate){value, value - half, value + half};
}

double lra_contrast_p(const lra_sample *s, const double *g)
{
    const double least = 1e-12;
    lra_estimate x = lra_contrast(s, g, 0.95);
    if (isnan(x.lo)) return NAN;
    if (x.value == 0) return 1;
    lra_variance v = lra_contrast_variance(s, g);
    if (v.examples + v.seeds == 0) return NAN;
    double lo = log(least), hi = 0; /* bisection over ln p: half widths decrease as p increases */
    for (int step = 0; step < 60; step++) {
        double p = (lo + hi) / 2;
        if (half_width(&v, 1 - exp(p)) > fabs(x.value))
            lo = p;
        else
            hi = p;
    }
    return exp(hi);
}

lra_estimate lra_sample_difference(const lra_sample *s, int a, int b, double level)
{
    double g[LRA_MAX_SERIES] = {0};
    g[a] += 1, g[b] -= 1;
    return lra_contrast(s, g, level);
}

lra_estimate lra_sample_value(const lra_sample *s, int r)
{
    double g[LRA_MAX_SERIES] = {0}, n = (double)s->n;
    const lra_series *x = &s->series[r];
    g[r] = 1;
    if (s->n == 0 || isnan(x->value)) return (lra_estimate){x->value, NAN, NAN};
    lra_variance v = lra_contrast_variance(s, g);
    if (s->shares && (x->n_seeds < 2 || v.examples + v.seeds == 0))
        return lra_wilson(x->value * n, n, 0.95);
    double half = half_width(&v, 0.95);
    if (half == 0) half = NAN;
    lra_estimate e = {x->value, x->value - half, x->value + half};
    if (s->shares) e.lo = fmax(e.lo, 0), e.hi = fmin(e.hi, 1);
    return e;
}

bool lra_sample_seeds_dominate(const lra_sample *s, int r)
{
    double g[LRA_MAX_SERIES] = {0};
    g[r] = 1;
    lra_variance v = lra_contrast_variance(s, g);
    int n = s->series[r].n_seeds;
    return n > 1 && n < 5 && v.seeds > v.examples;
}

lra_estimate lra_gap_difference(const lra_sample *train, const lra_sample *other)
{
    double g[LRA_MAX_SERIES] = {1, -1}, value = 0, weighted = 0;
    lra_variance all = {example_variance(train, g) + example_variance(other, g), 0, 0};
    for (int r = 0; r < 2; r++) {
        const lra_series *x = &train->series[r], *y = &other->series[r];
        double n = x->n_seeds, gap = x->value - y->value, sum = 0;
        value += g[r] * gap;
        for (int k = 0; k < x->n_seeds; k++) {
            double away = x->by_seed[k] - y->by_seed[k] - gap;
            sum += away * away;
        }
        if (x->n_seeds < 2) continue;
        double part = sum / (n - 1) / n;
        all.seeds += part;
        weighted += part * part / (n - 1);
    }
    all.df = weighted > 0 ? all.seeds * all.seeds / weighted : 0;
    if (weighted == 0) all.seeds = 0;
    double half = half_width(&all, 0.95);
    return (lra_estimate){value, value - half, value + half};
}

lra_estimate lra_mean_of_tasks(int m, const double *value, const lra_variance *v)
{
    double mean = 0, weighted = 0, square = (double)m * m;
    lra_variance all = {0, 0, 0};
    for (int k = 0; k < m; k++) {
        double seeds = v[k].seeds / square;
        mean += value[k] / m;
        all.examples += v[k].examples / square;
        all.seeds += seeds;
        if (v[k].df > 0) weighted += seeds * seeds / v[k].df;
    }
    all.df = weighted > 0 ? all.seeds * all.seeds / weighted : 0;
    double half = half_width(&all, 0.95);
    return (lra_estimate){mean, mean - half, mean + half};
}

/* ---- seeds that failed ----------------------------------------------------------------------- */

/* Returns true if the k lowest of ascending values are separated from the others by the required
 * gap (lra_seeds_learned()). */
static bool splits(int n, const double *sorted, int k, double chance, double full, double error)
{
    double mean = 0, sum = 0, m = n - k, gap = sorted[k] - sorted[k - 1];
    for (int i = k; i < n; i++) mean += sorted[i] / m;
    for (int i = k; i < n; i++) sum += (sorted[i] - mean) * (sorted[i] - mean);
    double whole = isnan(full) ? mean : full, half = chance + (whole - chance) / 2;
    return whole > chance && sorted[k - 1] < half && gap > 10 * sqrt(sum / (m - 1)) &&
           gap > 4 * error;
}

int lra_seeds_learned(int n, const double *value, double chance, double full, double error,
                      bool *learned)
{
    double *sorted = lra_alloc_array((size_t)n + 1, sizeof *sorted), least = -INFINITY;
    for (int i = 0; i < n; i++) {
        int at = i;
        for (; at > 0 && sorted[at - 1] > value[i]; at--) sorted[at] = sorted[at - 1];
        sorted[at] = value[i];
    }
    for (int k = 1; k <= n - 2; k++)
        if (splits(n, sorted, k, chance, full, error)) least = sorted[k];
    lra_free(sorted);
    int count = 0;
    for (int i = 0; i < n; i++) count += learned[i] = value[i] >= least;
    return count;
}
