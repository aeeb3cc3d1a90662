/* Classifies rows by naive Bayes on their n-grams, without order. */
#include <math.h>
#include <string.h>

#include "analysis/pair_information.h"
#include "kernels/base/os/file.h"
#include "kernels/base/core/mem.h"

enum { CELLS = 1 << 18, WIDEST = 16 };

const int lra_ngram_widths[] = {1, 2, 3, 4, 5, 8};

static uint32_t cell_of(const uint8_t *symbol, int n)
{
    int32_t gram[WIDEST];
    for (int i = 0; i < n; i++) gram[i] = symbol[i];
    return (uint32_t)(lra_hash64(gram, (size_t)n * sizeof *gram) % CELLS);
}

struct lra_ngram {
    int n, n_classes;
    /* (cells, classes) log of the smoothed share of the cell among the class's n-grams */
    float *weight;
    double *prior; /* (classes) log of the class's share of the training rows */
    double *score; /* (classes) working memory */
};

lra_ngram *lra_ngram_new(int n, int n_classes, const lra_symbols *train, const int32_t *label)
{
    lra_ngram *g = lra_alloc(sizeof *g);
    double *total = lra_alloc_array((size_t)n_classes, sizeof *total);
    *g = (lra_ngram){.n = n, .n_classes = n_classes};
    g->weight = lra_alloc_array((size_t)n_classes * CELLS, sizeof *g->weight);
    g->prior = lra_alloc_array(2 * (size_t)n_classes, sizeof *g->prior);
    g->score = g->prior + n_classes;
    for (int64_t i = 0; i < train->n; i++) {
        g->prior[label[i]]++;
        for (int64_t at = train->start[i]; at + n <= train->start[i + 1]; at++) {
            g->weight[(int64_t)cell_of(train->symbol + at, n) * n_classes + label[i]]++;
            total[label[i]]++;
        }
    }
    for (int64_t c = 0; c < CELLS; c++)
        for (int k = 0; k < n_classes; k++) {
            float *w = &g->weight[c * n_classes + k];
            *w = (float)log(((double)*w + 1) / (total[k] + CELLS));
        }
    for (int k = 0; k < n_classes; k++)
        g->prior[k] = log((g->prior[k] + 1) / (double)(train->n + n_classes));
    lra_free(total);
    return g;
}

int32_t lra_ngram_predict(const lra_ngram *g, int64_t length, const uint8_t *symbol)
{
    int32_t best = 0;
    for (int k = 0; k < g->n_classes; k++) g->score[k] = g->prior[k];
    for (int64_t at = 0; at + g->n <= length; at++) {
        const float *w = g->weight + (int64_t)cell_of(symbol + at, g->n) * g->n_classes;
        for (int k = 0; k < g->n_classes; k++) g->score[k] += (double)w[k];
    }
    for (int k = 1; k < g->n_classes; k++)
        if (g->score[k] > g->score[best]) best = k;
    return best;
}

void lra_ngram_free(lra_ngram *g)
{
    if (!g) return;
    lra_free(g->weight);
    lra_free(g->prior);
    lra_free(g);
}
