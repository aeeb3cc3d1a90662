/* Baselines of own data with classes: constant, by length, and naive Bayes on bags of tokens. */
#include <math.h>
#include <stdlib.h>

#include "datasets/own/own.h"
#include "kernels/base/core/mem.h"

enum { BINS = 16, BAG_CLASSES = 1000, BAG_CELLS = 1 << 24 };

static int classes_of(const lra_sequences *train)
{
    int n = 1;
    for (int64_t i = 0; i < train->n; i++)
        if (train->label[i] >= n) n = train->label[i] + 1;
    return n;
}

static int64_t length_of(const lra_sequences *r, int64_t i)
{
    return r->start[i + 1] - r->start[i];
}

static int ascending(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Predicts the most frequent label of the training rows in the same bin of lengths. There are at
 * most 16 bins, with about the same number of training rows each. */
static void by_length(const lra_sequences *train, const lra_sequences *of, int32_t *predicted)
{
    int64_t *all = lra_alloc_array((size_t)train->n + 1, sizeof *all), edge[BINS];
    int C = classes_of(train), n_edges = 0;
    for (int64_t i = 0; i < train->n; i++) all[i] = length_of(train, i);
    qsort(all, (size_t)train->n, sizeof *all, ascending);
    for (int b = 1; b < BINS && train->n; b++) {
        int64_t e = all[b * train->n / BINS];
        if (e > (n_edges ? edge[n_edges - 1] : all[0])) edge[n_edges++] = e;
    }
    int64_t *count = lra_alloc_array((size_t)(BINS * C), sizeof *count);
    int32_t best[BINS], usual;
    lra_sequences_majority(train, C, &usual);
#define BIN_OF(r, i, b)                                                                            \
    int b = 0;                                                                                     \
    while (b < n_edges && length_of(r, i) >= edge[b]) b++
    for (int64_t i = 0; i < train->n; i++) {
        BIN_OF(train, i, b);
        count[b * C + train->label[i]]++;
    }
    for (int b = 0; b <= n_edges; b++) {
        best[b] = usual;
        for (int k = 0; k < C; k++)
            if (count[b * C + k] > count[b * C + best[b]]) best[b] = k;
    }
    for (int64_t i = 0; i < of->n; i++) {
        BIN_OF(of, i, b);
        predicted[i] = best[b];
    }
#undef BIN_OF
    lra_free(count);
    lra_free(all);
}

static int64_t largest_token(const lra_sequences *r)
{
    int64_t most = 0, n = r->n ? r->start[r->n] : 0;
    for (int64_t i = 0; i < n; i++) {
        int64_t token = lra_token_at(r->token, r->width, i);
        if (token > most) most = token;
    }
    return most;
}

/* Predicts labels by multinomial naive Bayes with add-one smoothing. Tokens above the largest id of
 * the training rows are ignored. */
static void by_bag(const lra_sequences *train, const lra_sequences *of, int32_t *predicted)
{
    int64_t V = largest_token(train) + 1;
    int C = classes_of(train);
    float *weight = lra_alloc_array((size_t)(V * C), sizeof *weight);
    double *total = lra_alloc_array(3 * (size_t)C, sizeof *total), *prior = total + C,
           *score = prior + C;
    for (int64_t i = 0; i < train->n; i++) {
        prior[train->label[i]]++;
        for (int64_t k = train->start[i]; k < train->start[i + 1]; k++) {
            weight[lra_token_at(train->token, train->width, k) * C + train->label[i]]++;
            total[train->label[i]]++;
        }
    }
    for (int64_t v = 0; v < V; v++)
        for (int c = 0; c < C; c++)
            weight[v * C + c] = (float)log(((double)weight[v * C + c] + 1) /
                                           (total[c] + (double)V));
    for (int64_t i = 0; i < of->n; i++) {
        for (int c = 0; c < C; c++) score[c] = log((prior[c] + 1) / (double)(train->n + C));
        for (int64_t k = of->start[i]; k < of->start[i + 1]; k++) {
            int64_t token = lra_token_at(of->token, of->width, k);
            for (int c = 0; c < C && token < V; c++) score[c] += (double)weight[token * C + c];
        }
        int best = 0;
        for (int c = 1; c < C; c++)
            if (score[c] > score[best]) best = c;
        predicted[i] = best;
    }
    lra_free(weight);
    lra_free(total);
}

const char *lra_own_baseline(int b, const lra_sequences *train, const lra_sequences *of,
                             int32_t *predicted)
{
    if (b == 0) {
        int32_t label;
        lra_sequences_majority(train, classes_of(train), &label);
        for (int64_t i = 0; i < of->n; i++) predicted[i] = label;
        return "constant";
    }
    if (b == 1) {
        by_length(train, of, predicted);
        return "length";
    }
    bool bag = train->n && train->token && classes_of(train) <= BAG_CLASSES &&
               (largest_token(train) + 1) * classes_of(train) <= BAG_CELLS;
    if (b > 2 || !bag) return NULL;
    by_bag(train, of, predicted);
    return "bag";
}
