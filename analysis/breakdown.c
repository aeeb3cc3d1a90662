/* Predictions broken down by group. */
#include "analysis/breakdown.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include <gsl/gsl_block.h>

enum { MAX_SCORES = 2 };

/* What one row is computed from: scores -1, 0, 1 by seed and example, in the order of `index`. */
typedef struct {
    const lra_breakdown_data *d;
    int64_t n;
    gsl_block_long *index;             /* (n) examples of the row */
    gsl_block_char *score[MAX_SCORES]; /* (seeds, n) */
    gsl_block_uint *word;
    gsl_block *replicate[MAX_SCORES];
} workspace;

static void close_workspace(workspace *w)
{
    if (w->index) gsl_block_long_free(w->index);
    if (w->word) gsl_block_uint_free(w->word);
    for (int k = 0; k < MAX_SCORES; k++) {
        if (w->score[k]) gsl_block_char_free(w->score[k]);
        if (w->replicate[k]) gsl_block_free(w->replicate[k]);
    }
}

static int open_workspace(workspace *w, const lra_breakdown_data *d)
{
    size_t n = (size_t)d->n + 1, seeds = (size_t)d->n_seeds, B = (size_t)d->n_replicates;
    *w = (workspace){.d = d};
    w->index = gsl_block_long_alloc(n);
    w->word = gsl_block_uint_alloc(n + seeds);
    bool ok = w->index && w->word;
    for (int k = 0; k < MAX_SCORES; k++) {
        w->score[k] = gsl_block_char_alloc(n * seeds);
        w->replicate[k] = gsl_block_alloc(B);
        ok = ok && w->score[k] && w->replicate[k];
    }
    if (ok) return LRA_BREAKDOWN_OK;
    close_workspace(w);
    return LRA_BREAKDOWN_NO_MEMORY;
}

/* ---- one row ----------------------------------------------------------------------------------------- */

static void take_group(workspace *w, const int32_t *group, int g)
{
    w->n = 0;
    for (int64_t i = 0; i < w->d->n; i++)
        if (g < 0 || group[i] == g) w->index->data[w->n++] = i;
}

/* Score k: 1 where the prediction is `wanted`, less 1 where `rival` is.  Nullable: rival. */
static void set_score(workspace *w, int k, const int32_t *wanted, const int32_t *rival)
{
    for (int s = 0; s < w->d->n_seeds; s++)
        for (int64_t i = 0; i < w->n; i++) {
            long at = w->index->data[i];
            int score = w->d->predicted[s][at] == wanted[at];
            if (rival) score -= rival[at] == wanted[at];
            w->score[k]->data[s * w->n + i] = (char)score;
        }
}

static double mean_score(const workspace *w, int k)
{
    double sum = 0;
    for (int64_t i = 0; i < w->n * w->d->n_seeds; i++) sum += (signed char)w->score[k]->data[i];
    return sum / ((double)w->n * w->d->n_seeds);
}

/* Means of one draw of examples and, from three seeds on, of seeds. */
static void draw(workspace *w, uint64_t key, int b, int n_scores)
{
    const lra_breakdown_data *d = w->d;
    uint32_t *word = w->word->data;
    long sum[MAX_SCORES] = {0};
    d->words(key, (uint64_t)b, w->n + d->n_seeds, word);
    for (int64_t i = 0; i < w->n; i++)
        word[i] = (uint32_t)(((uint64_t)word[i] * (uint64_t)w->n) >> 32);
    for (int s = 0; s < d->n_seeds; s++) {
        uint64_t drawn = ((uint64_t)word[w->n + s] * (uint64_t)d->n_seeds) >> 32;
        int64_t seed = d->n_seeds >= 3 ? (int64_t)drawn : s;
        for (int k = 0; k < n_scores; k++) {
            const char *score = w->score[k]->data + seed * w->n;
            for (int64_t i = 0; i < w->n; i++) sum[k] += (signed char)score[word[i]];
        }
    }
    for (int k = 0; k < n_scores; k++)
        w->replicate[k]->data[b] = (double)sum[k] / ((double)w->n * d->n_seeds);
}

/* Estimates of the scores of the row; each row has random numbers of its own. */
static void estimate(workspace *w, int row, int n_scores, lra_estimate *out)
{
    const lra_breakdown_data *d = w->d;
    uint64_t key = d->key + 0x9E3779B97F4A7C15u * (uint64_t)(row + 1);
    for (int b = 0; b < d->n_replicates; b++) draw(w, key, b, n_scores);
    for (int k = 0; k < n_scores; k++)
        out[k] = lra_percentile(mean_score(w, k), d->n_replicates, w->replicate[k]->data, 0.95);
}

/* A share as the header says. */
static lra_estimate share_estimate(const workspace *w, lra_estimate bootstrap)
{
    bool varies = bootstrap.value > 0 && bootstrap.value < 1;
    if (w->d->n_seeds > 1 && varies) return bootstrap;
    return lra_wilson(bootstrap.value * (double)w->n, (double)w->n, 0.95);
}

static double share_of(const workspace *w, const int32_t *label, const int32_t *of)
{
    int64_t right = 0;
    for (int64_t i = 0; i < w->n; i++) right += of[w->index->data[i]] == label[w->index->data[i]];
    return (double)right / (double)w->n;
}

static double majority_of(const workspace *w)
{
    int64_t most = 0;
    for (int c = 0; c < w->d->n_classes; c++) {
        int64_t count = 0;
        for (int64_t i = 0; i < w->n; i++) count += w->d->label[w->index->data[i]] == c;
        if (count > most) most = count;
    }
    return (double)most / (double)w->n;
}

/* Scores of the difference are -1 where only the rival is right, 1 where only the prediction is. */
static double largest_p(const workspace *w, int k)
{
    double largest = 0;
    for (int s = 0; s < w->d->n_seeds; s++) {
        int better = 0, worse = 0;
        for (int64_t i = 0; i < w->n; i++) {
            signed char score = (signed char)w->score[k]->data[s * w->n + i];
            better += score > 0;
            worse += score < 0;
        }
        largest = fmax(largest, lra_mcnemar(better, worse));
    }
    return largest;
}

static void fill_row(workspace *w, int row, const int32_t *rival, lra_breakdown_row *out)
{
    lra_estimate nothing = {NAN, NAN, NAN}, both[2];
    *out = (lra_breakdown_row){w->n, NAN, nothing, NAN, nothing, NAN};
    if (w->n == 0) return;
    set_score(w, 0, w->d->label, NULL);
    set_score(w, 1, w->d->label, rival);
    estimate(w, row, 2, both);
    out->majority = majority_of(w);
    out->rival = share_of(w, w->d->label, rival);
    out->accuracy = share_estimate(w, both[0]);
    out->difference = both[1];
    if (both[1].lo == both[1].hi) out->difference.lo = out->difference.hi = NAN;
    out->p = largest_p(w, 1);
}

int lra_breakdown_compute(const lra_breakdown_data *d, int n_groups, const int32_t *group,
                          const int32_t *rival, lra_breakdown_row *row)
{
    workspace w;
    if (open_workspace(&w, d) != LRA_BREAKDOWN_OK) return LRA_BREAKDOWN_NO_MEMORY;
    for (int g = -1; g < n_groups; g++) {
        take_group(&w, group, g);
        fill_row(&w, g + 1, rival, &row[g + 1]);
    }
    close_workspace(&w);
    return LRA_BREAKDOWN_OK;
}

/* ---- agreement --------------------------------------------------------------------------------------- */

/* Sum over strata of (share of the stratum) * sum over classes of the product of both marginals. */
static double chance_agreement(const workspace *w, int n_strata, const int32_t *stratum,
                               const int32_t *other)
{
    const lra_breakdown_data *d = w->d;
    double total = 0;
    for (int g = 0; g < n_strata; g++)
        for (int c = 0; c < d->n_classes; c++) {
            double n = 0, theirs = 0, ours = 0;
            for (int64_t i = 0; i < w->n; i++) {
                long at = w->index->data[i];
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
        if (heuristic[i] != w->d->label[i]) w->index->data[w->n++] = i;
}

int lra_breakdown_agreement(const lra_breakdown_data *d, int n_strata, const int32_t *stratum,
                            const int32_t *heuristic, lra_agreement *out)
{
    workspace w;
    lra_estimate nothing = {NAN, NAN, NAN}, both[2];
    *out = (lra_agreement){nothing, NAN, 0, nothing, NAN, nothing, NAN};
    if (open_workspace(&w, d) != LRA_BREAKDOWN_OK) return LRA_BREAKDOWN_NO_MEMORY;
    take_group(&w, NULL, -1);
    set_score(&w, 0, heuristic, NULL);
    estimate(&w, 0, 1, both);
    out->all = share_estimate(&w, both[0]);
    out->all_null = chance_agreement(&w, n_strata, stratum, heuristic);
    take_errors(&w, heuristic);
    out->n_errors = w.n;
    if (w.n > 0) {
        set_score(&w, 0, heuristic, NULL);
        set_score(&w, 1, d->label, NULL);
        estimate(&w, 1, 2, both);
        out->same = share_estimate(&w, both[0]);
        out->right = share_estimate(&w, both[1]);
        out->same_null = chance_agreement(&w, n_strata, stratum, heuristic);
        out->right_null = chance_agreement(&w, n_strata, stratum, d->label);
    }
    close_workspace(&w);
    return LRA_BREAKDOWN_OK;
}

/* ---- confusion, Holm --------------------------------------------------------------------------------- */

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

/* Quadratic: tables have few rows.  The k-th smallest of m values is multiplied by m - k, and no adjusted
 * value is below that of a smaller one. */
void lra_holm(int n, double *p)
{
    int m = 0;
    double least = 0;
    for (int i = 0; i < n; i++) m += !isnan(p[i]);
    gsl_block_int *done = gsl_block_int_calloc((size_t)n + 1);
    for (int k = 0; k < m && done; k++) {
        int next = -1;
        for (int i = 0; i < n; i++)
            if (!done->data[i] && !isnan(p[i]) && (next < 0 || p[i] < p[next])) next = i;
        done->data[next] = 1;
        least = fmax(least, fmin(1, p[next] * (m - k)));
        p[next] = least;
    }
    if (done) gsl_block_int_free(done);
}
