/* Sums over rows, column by column, each from the first row to the last. */
#ifndef LRA_OPS_ROW_SUMS_FN_H
#define LRA_OPS_ROW_SUMS_FN_H

#include "kernels/ops/lanes_fn.h"

/* Columns [i, i + N vectors) of all rows; the sums stand in registers. */
LRA_ROW_FN void sum_columns(int64_t i, int64_t w, lra_type t, const int N, const void *x, int64_t n,
                            int64_t D, real *sum)
{
    lanes s[8] = {0};
    for (int64_t r = 0; r < n; r++)
        LANES_UNROLL for (int k = 0; k < N; k++) s[k] += lanes_load(x, t, r * D + i + k * LANES, w);
    LANES_UNROLL for (int k = 0; k < N; k++) lanes_store(sum, LRA_F32, i + k * LANES, w, s[k]);
}

/* sum (D) = the n rows of x (n,D) */
LRA_ROW_FN void sum_rows(lra_type t, const void *x, int64_t n, int64_t D, real *sum)
{
    int64_t i = 0;
    for (; i + 8 * LANES <= D; i += 8 * LANES) sum_columns(i, LANES, t, 8, x, n, D, sum);
    for (; i + LANES <= D; i += LANES) sum_columns(i, LANES, t, 1, x, n, D, sum);
    if (i < D) sum_columns(i, D - i, t, 1, x, n, D, sum);
}

#endif
