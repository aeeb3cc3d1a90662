/* The bootstrap of rows. */
#include "analysis/bootstrap.h"

#include <math.h>
#include <string.h>

#include <gsl/gsl_block.h>

enum { MAX_COLUMNS = 16 };

double lra_measure_rows(const lra_measure *m, const double *row, const uint32_t *word)
{
    double sum[MAX_COLUMNS] = {0};
    int k = m->n_columns;
    for (int64_t i = 0; i < m->n; i++) {
        int64_t at = word ? (int64_t)(((uint64_t)word[i] * (uint64_t)m->n) >> 32) : i;
        for (int c = 0; c < k; c++) sum[c] += row[at * k + c];
    }
    return m->value(m->context, sum);
}

static double replicate(const lra_rows_data *d, int number, uint32_t *word)
{
    double total = 0;
    int64_t n = d->measure.n;
    d->words(d->key, (uint64_t)number, n + d->n_seeds, word);
    for (int s = 0; s < d->n_seeds; s++) {
        uint64_t drawn = ((uint64_t)word[n + s] * (uint64_t)d->n_seeds) >> 32;
        const double *row = d->row[d->n_seeds >= 3 ? drawn : (uint64_t)s];
        total += lra_measure_rows(&d->measure, row, word);
    }
    return total / d->n_seeds;
}

lra_estimate lra_rows_bootstrap(const lra_rows_data *d)
{
    lra_estimate out = {0, NAN, NAN};
    gsl_block_uint *word = gsl_block_uint_alloc((size_t)(d->measure.n + d->n_seeds));
    gsl_block *table = gsl_block_alloc((size_t)d->n_replicates);
    for (int s = 0; s < d->n_seeds; s++)
        out.value += lra_measure_rows(&d->measure, d->row[s], NULL) / d->n_seeds;
    int kept = 0;
    for (int b = 0; word && table && b < d->n_replicates; b++) {
        double x = replicate(d, b, word->data);
        if (!isnan(x)) table->data[kept++] = x;
    }
    if (kept > 0) out = lra_percentile(out.value, kept, table->data, 0.95);
    if (word) gsl_block_uint_free(word);
    if (table) gsl_block_free(table);
    return out;
}
