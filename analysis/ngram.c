/* Bags of n-grams. */
#include <math.h>
#include <string.h>

#include "analysis/pair_information.h"
#include "kernels/base/file.h"
#include "kernels/base/mem.h"

enum { CELLS = 1 << 18, WIDEST = 16 };

const int lra_ngram_widths[] = {1, 2, 3, 4, 5, 8};

static uint32_t cell_of(const uint8_t *symbol, int n)
{
    int32_t gram[WIDEST];
    for (int i = 0; i < n; i++) gram[i] = symbol[i];
    return (uint32_t)(lra_hash64(gram, (size_t)n * sizeof *gram) % CELLS);
}

void lra_ngram_bayes(int n, int n_classes, const lra_symbols *train, const int32_t *train_label,
                     const lra_symbols *test, int32_t *says)
{
    float *weight = lra_alloc_array((size_t)n_classes * CELLS,
                                    sizeof *weight); /* (cells, classes) */
    double *score = lra_alloc_array(3 * (size_t)n_classes, sizeof *score);
    double *rows = score + n_classes, *total = rows + n_classes;
    for (int64_t i = 0; i < train->n; i++) {
        rows[train_label[i]]++;
        for (int64_t at = train->start[i]; at + n <= train->start[i + 1]; at++) {
            weight[(int64_t)cell_of(train->symbol + at, n) * n_classes + train_label[i]]++;
            total[train_label[i]]++;
        }
    }
    for (int64_t c = 0; c < CELLS; c++)
        for (int k = 0; k < n_classes; k++) {
            float *w = &weight[c * n_classes + k];
            *w = (float)log(((double)*w + 1) / (total[k] + CELLS));
        }
    for (int64_t i = 0; i < test->n; i++) {
        for (int k = 0; k < n_classes; k++)
            score[k] = log((rows[k] + 1) / (double)(train->n + n_classes));
        for (int64_t at = test->start[i]; at + n <= test->start[i + 1]; at++) {
            const float *w = weight + (int64_t)cell_of(test->symbol + at, n) * n_classes;
            for (int k = 0; k < n_classes; k++) score[k] += (double)w[k];
        }
        int best = 0;
        for (int k = 1; k < n_classes; k++)
            if (score[k] > score[best]) best = k;
        says[i] = best;
    }
    lra_free(score);
    lra_free(weight);
}
