/* Computes the Toeplitz share of a position table (position_table.h). */
#include "probes/attention/position_table.h"

#include <string.h>

#include "kernels/base/core/mem.h"

enum { LONGEST = 2048 };

/* Finds the table: returns its path, its number of rows and of channels D, or NULL if the model has
 * none. */
static const char *find_table(const lra_params *p, int64_t *rows, int64_t *D)
{
    static const char name[] = "positions/table";
    for (int i = 0; i < lra_params_count(p); i++) {
        const char *path = lra_params_path(p, i);
        size_t n = strlen(path), own = sizeof name - 1;
        lra_shape s = lra_params_shape(p, i);
        if (n < own || strcmp(path + n - own, name) != 0 || s.n != 2) continue;
        *rows = s.d[0], *D = s.d[1];
        return lra_params_trained(p, i) ? path : NULL;
    }
    return NULL;
}

bool lra_position_table_share(const lra_params *p, int64_t T, lra_toeplitz *out, lra_err *e)
{
    int64_t rows = 0, D = 0;
    const char *path = find_table(p, &rows, &D);
    if (T > rows) T = rows;
    if (T > LONGEST) T = LONGEST;
    if (!path || T < 3) return false;
    float *table = lra_alloc_array((size_t)(rows * D), sizeof *table);
    double *x = lra_alloc_array((size_t)(T * T), sizeof *x);
    bool read = lra_params_get(p, path, table, e) == 0;
    for (int64_t i = 0; i < T && read; i++)
        for (int64_t j = 0; j < T; j++)
            for (int64_t d = 0; d < D; d++)
                x[i * T + j] += (double)table[i * D + d] * (double)table[j * D + d];
    if (read) *out = lra_toeplitz_share(T, x);
    lra_free(table);
    lra_free(x);
    return read;
}
