/* Computes jackknife pseudo-values. */
#include "analysis/jackknife.h"

#include <math.h>

enum { MAX_COLUMNS = 16 };

void lra_jackknife(const lra_measure *m, const double *row, double *out)
{
    double sum[MAX_COLUMNS] = {0}, without[MAX_COLUMNS], mean = 0, n = (double)m->n;
    int k = m->n_columns;
    for (int64_t i = 0; i < m->n; i++)
        for (int c = 0; c < k; c++) sum[c] += row[i * k + c];
    double value = m->value(m->context, sum);
    for (int64_t i = 0; i < m->n; i++) {
        for (int c = 0; c < k; c++) without[c] = sum[c] - row[i * k + c];
        out[i] = m->n > 1 ? n * value - (n - 1) * m->value(m->context, without) : value;
        mean += out[i] / n;
    }
    for (int64_t i = 0; i < m->n; i++) out[i] += value - mean;
}
