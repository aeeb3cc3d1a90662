/* Sums over rows, column by column. Sums of float32 are accumulated in double, because the gradient
 * of a bias may be tiny compared with the rows that are summed. */
#ifndef LRA_OPS_DENSE_ROW_SUMS_TEMPLATE_H
#define LRA_OPS_DENSE_ROW_SUMS_TEMPLATE_H

#include "kernels/ops/lanes_template.h"

enum {
    SUM_LANES = LANES > 1 ? LANES / 2 : 1,
    SUM_VECTORS = LANES == 16 ? 16 : 8,
    SUM_LINE = LANES > 1 ? 16 / SUM_LANES : 8, /* registers per cache line */
    SUM_AHEAD = 8                              /* distance of the prefetch, in rows */
};
#if defined(__clang__)
#define SUM_UNROLL
#else
#define SUM_UNROLL _Pragma("GCC unroll 16")
#endif
#if LRA_TYPE_f64
typedef double sum_lanes;
#else
typedef double sum_lanes __attribute__((vector_size(SUM_LANES * 8))); /* a register of doubles */
typedef float sum_part __attribute__((vector_size(SUM_LANES * 4)));
#endif

/* Converts floats to doubles. It uses intrinsics, because the compiler generates more than one
 * instruction. */
LRA_ROW_FN sum_lanes sum_widen(const real *x)
{
#if LRA_TYPE_f64
    return *x;
#elif defined(LRA_LEVEL_avx512)
    return (sum_lanes)_mm512_cvtps_pd(_mm256_loadu_ps(x));
#elif defined(LRA_LEVEL_avx2)
    return (sum_lanes)_mm256_cvtps_pd(_mm_loadu_ps(x));
#else
    sum_part v;
    memcpy(&v, x, sizeof v);
    return __builtin_convertvector(v, sum_lanes);
#endif
}

LRA_ROW_FN void sum_narrow(real *y, sum_lanes v)
{
#if LRA_TYPE_f64
    *y = v;
#else
    sum_part narrow = __builtin_convertvector(v, sum_part);
    memcpy(y, &narrow, sizeof narrow);
#endif
}

/* Sums N registers of columns, from column i on, over all rows; the sums stay in registers. Rows
 * are prefetched, because the hardware prefetcher does not detect strips of wide rows. */
LRA_ROW_FN void sum_columns(int64_t i, const int N, const real *x, int64_t n, int64_t D, real *sum)
{
    sum_lanes s[SUM_VECTORS] = {0};
    for (int64_t r = 0; r < n; r++, x += D) {
        const real *ahead = x + SUM_AHEAD * D + i;
        SUM_UNROLL for (int k = 0; k < N; k += SUM_LINE) __builtin_prefetch(ahead + k * SUM_LANES);
        SUM_UNROLL for (int k = 0; k < N; k++) s[k] += sum_widen(x + i + k * SUM_LANES);
    }
    SUM_UNROLL for (int k = 0; k < N; k++) sum_narrow(sum + i + k * SUM_LANES, s[k]);
}

#if LRA_TYPE_bf16
/* Sums N vectors of columns, from column i on, over all rows; the sums stay in registers. */
LRA_ROW_FN void sum_half_columns(int64_t i, int64_t w, const int N, const void *x, int64_t n,
                                 int64_t D, real *sum)
{
    lanes s[8] = {0};
    for (int64_t r = 0; r < n; r++)
        LANES_UNROLL for (int k = 0; k < N; k++)
            s[k] += lanes_load(x, LRA_BF16, r * D + i + k * LANES, w);
    LANES_UNROLL for (int k = 0; k < N; k++) lanes_store(sum, LRA_F32, i + k * LANES, w, s[k]);
}
LRA_ROW_FN void sum_half_rows(const void *x, int64_t n, int64_t D, real *sum)
{
    int64_t i = 0;
    for (; i + 8 * LANES <= D; i += 8 * LANES) sum_half_columns(i, LANES, 8, x, n, D, sum);
    for (; i + LANES <= D; i += LANES) sum_half_columns(i, LANES, 1, x, n, D, sum);
    if (i < D) sum_half_columns(i, D - i, 1, x, n, D, sum);
}
#endif

/* sum (D) = sum of the n rows of x (n,D). */
LRA_ROW_FN void sum_rows(lra_type t, const void *x, int64_t n, int64_t D, real *sum)
{
    int64_t i = 0;
#if LRA_TYPE_bf16
    if (t == LRA_BF16) {
        sum_half_rows(x, n, D, sum);
        return;
    }
#endif
    (void)t;
    for (; i + SUM_VECTORS * SUM_LANES <= D; i += SUM_VECTORS * SUM_LANES)
        sum_columns(i, SUM_VECTORS, x, n, D, sum);
    for (; i + SUM_LANES <= D; i += SUM_LANES) sum_columns(i, 1, x, n, D, sum);
    for (; i < D; i++) {
        double s = 0;
        for (int64_t r = 0; r < n; r++) s += (double)((const real *)x)[r * D + i];
        sum[i] = (real)s;
    }
}

#endif
