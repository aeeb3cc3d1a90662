/* Breaks predictions down by group. */
#include "analysis/breakdown.h"

#include <math.h>
#include <string.h>

#include "kernels/base/core/mem.h"

/* The examples of one row of the table. */
typedef struct {
    const lra_breakdown_data *d;
    int64_t n, *index; /* number of examples; (n) their indices */
    /* (n) per seed, then for the rival predictor: 1 where the prediction is correct, else 0 */
    uint8_t *score[LRA_BREAKDOWN_MAX_SEEDS + 1];
} workspace;

static workspace open_workspace(const lra_breakdown_data *d)
{
    workspace w = {.d = d, .index = lra_alloc_array((size_t)d->n + 1, sizeof *w.index)};
    for (int s = 0; s <= d->n_seeds; s++) w.score[s] = lra_alloc((size_t)d->n + 1);
    return w;
}

static void close_workspace(workspace *w)
{
    lra_free(w->index);
    for (int s = 0; s <= w->d->n_seeds; s++) lra_free(w->score[s]);
}

/* ---- one row --------------------------------------------------------------------------------- */

static void take_group(workspace *w, const int32_t *group, int g)
{
    w->n = 0;
    for (int64_t i = 0; i < w->d->n; i++)
        if (g < 0 || group[i] == g) w->index[w->n++] = i;
}

/* Sets score[i] to 1 where the label of[i] equals the wanted one, else 0. */
static void set_score(const workspace *w, uint8_t *score, const int32_t *wanted, const int32_t *of)
{
    for (int64_t i = 0; i < w->n; i++) score[i] = of[w->index[i]] == wanted[w->index[i]];
}

/* Returns a sample whose series 0 is the share of predictions equal to `wanted`; the caller frees
 * it. */
static lra_sample *share_of(const workspace *w, const int32_t *wanted)
{
    lra_sample *s = lra_sample_new(w->n, true);
    for (int k = 0; k < w->d->n_seeds; k++) set_score(w, w->score[k], wanted, w->d->predicted[k]);
    lra_sample_add_correct(s, w->d->n_seeds, (const uint8_t *const *)w->score);
    return s;
}

static lra_estimate share(const workspace *w, const int32_t *wanted)
{
    lra_sample *s = share_of(w, wanted);
    lra_estimate x = lra_sample_value(s, 0);
    lra_sample_free(s);
    return x;
}

static double majority_of(const workspace *w)
{
    int64_t most = 0;
    for (int c = 0; c < w->d->n_classes; c++) {
        int64_t count = 0;
        for (int64_t i = 0; i < w->n; i++) count += w->d->label[w->index[i]] == c;
        if (count > most) most = count;
    }
    return (double)most / (double)w->n;
}

/* Returns the p-value of the difference: McNemar's exact test with one seed or without variation,
 * else the test that corresponds to the interval. */
static double p_of(const workspace *w, const lra_sample *s)
{
    const uint8_t *rival = w->score[w->d->n_seeds];
    int better = 0, worse = 0;
    const double g[LRA_MAX_SERIES] = {1, -1};
    lra_variance v = lra_contrast_variance(s, g);
    if (w->d->n_seeds > 1 && v.examples + v.seeds > 0) return lra_contrast_p(s, g);
    for (int64_t i = 0; i < w->n; i++) {
        better += w->score[0][i] > rival[i];
        worse += w->score[0][i] < rival[i];
    }
    return lra_mcnemar(better, worse);
}

static void fill_row(const workspace *w, const int32_t *rival, lra_breakdown_row *out)
{
    lra_estimate nothing = {NAN, NAN, NAN};
    *out = (lra_breakdown_row){w->n, NAN, nothing, NAN, nothing, NAN, false};
    if (w->n == 0) return;
    lra_sample *s = share_of(w, w->d->label);
    uint8_t *of_rival = w->score[w->d->n_seeds];
    set_score(w, of_rival, w->d->label, rival);
    lra_sample_add_fixed(s, of_rival);
    out->majority = majority_of(w);
    out->rival = s->series[1].value;
    out->accuracy = lra_sample_value(s, 0);
    out->difference = lra_sample_difference(s, 0, 1, 0.95);
    out->difference.lo = fmax(out->difference.lo, -1); /* a difference of shares is at least -1 */
    out->difference.hi = fmin(out->difference.hi, 1);
    out->p = p_of(w, s);
    out->seeds_dominate = lra_sample_seeds_dominate(s, 0);
    lra_sample_free(s);
}

void lra_breakdown_compute(const lra_breakdown_data *d, int n_groups, const int32_t *group,
                           const int32_t *rival, lra_breakdown_row *row)
{
    workspace w = open_workspace(d);
    for (int g = -1; g < n_groups; g++) {
        take_group(&w, group, g);
        fill_row(&w, rival, &row[g + 1]);
    }
    close_workspace(&w);
}

/* ---- agreement ------------------------------------------------------------------------------- */

/* Expected agreement of independent predictions: sum over strata of (share of the stratum) * sum
 * over classes of the product of the two marginal frequencies. */
static double chance_agreement(const workspace *w, int n_strata, const int32_t *stratum,
                               const int32_t *other)
{
    const lra_breakdown_data *d = w->d;
    double total = 0;
    for (int g = 0; g < n_strata; g++)
        for (int c = 0; c < d->n_classes; c++) {
            double n = 0, theirs = 0, ours = 0;
            for (int64_t i = 0; i < w->n; i++) {
                int64_t at = w->index[i];
                if (stratum[at] != g) continue;
                n++;
                theirs += other[at] == c;
                for (int s = 0; s < d->n_seeds; s++) ours += d->predicted[s][at] == c;
            }
            if (n > 0) total += theirs * (ours / d->n_seeds) / n;
        }
    return total / (double)w->n;
}

static void take_errors(workspace *w, const int32_t *heuristic)
{
    w->n = 0;
    for (int64_t i = 0; i < w->d->n; i++)
        if (heuristic[i] != w->d->label[i]) w->index[w->n++] = i;
}

void lra_breakdown_agreement(const lra_breakdown_data *d, int n_strata, const int32_t *stratum,
                             const int32_t *heuristic, lra_agreement *out)
{
    lra_estimate nothing = {NAN, NAN, NAN};
    workspace w = open_workspace(d);
    *out = (lra_agreement){nothing, NAN, 0, nothing, NAN, nothing, NAN};
    take_group(&w, NULL, -1);
    out->all = share(&w, heuristic);
    out->all_null = chance_agreement(&w, n_strata, stratum, heuristic);
    take_errors(&w, heuristic);
    out->n_errors = w.n;
    if (w.n > 0) {
        out->same = share(&w, heuristic);
        out->right = share(&w, d->label);
        out->same_null = chance_agreement(&w, n_strata, stratum, heuristic);
        out->right_null = chance_agreement(&w, n_strata, stratum, d->label);
    }
    close_workspace(&w);
}

/* ---- confusion, Holm ------------------------------------------------------------------------- */

void lra_breakdown_confusion(const lra_breakdown_data *d, int n_groups, const int32_t *group,
                             int64_t *count)
{
    int C = d->n_classes;
    memset(count, 0, (size_t)n_groups * (size_t)C * (size_t)C * sizeof *count);
    for (int s = 0; s < d->n_seeds; s++)
        for (int64_t i = 0; i < d->n; i++)
            if (group[i] >= 0 && group[i] < n_groups)
                count[((int64_t)group[i] * C + d->label[i]) * C + d->predicted[s][i]]++;
}

/* Holm's method: the k-th smallest (k from 0) of m values is multiplied by m - k, and no adjusted
 * value is below that of a smaller one. Takes quadratic time; tables have few rows. */
void lra_holm(int n, double *p)
{
    int m = 0;
    double least = 0;
    for (int i = 0; i < n; i++) m += !isnan(p[i]);
    bool *done = lra_alloc((size_t)n + 1);
    for (int k = 0; k < m; k++) {
        int next = -1;
        for (int i = 0; i < n; i++)
            if (!done[i] && !isnan(p[i]) && (next < 0 || p[i] < p[next])) next = i;
        done[next] = true;
        least = fmax(least, fmin(1, p[next] * (m - k)));
        p[next] = least;
    }
    lra_free(done);
}
