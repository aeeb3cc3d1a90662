/* Code shared by the bodies of matrix ops: conversion of elem to real, the bf16 product, and the
 * epilogue of a row, y = act(sum + bias) + residual. */
#ifndef LRA_OPS_DENSE_PRODUCT_TEMPLATE_H
#define LRA_OPS_DENSE_PRODUCT_TEMPLATE_H

#include "kernels/cpu/gemm.h"
#include "kernels/ops/elementwise/activation_lanes_template.h"

/* Number of rows of one call of the dense product. It is fixed, so that results do not depend on
 * the number of threads. */
enum { LRA_GEMM_ROWS = 256 };

/* Rows of n_columns elements as real: x itself if elem is real, otherwise a contiguous copy in
 * `copy`. Sets ld_copy to the row stride. */
LRA_FN const real *load_block(const elem *x, int64_t n_rows, int64_t n_columns, int64_t ld,
                              real *copy, int64_t *ld_copy)
{
#if LRA_TYPE_bf16
    for (int64_t i = 0; i < n_rows; i++)
        for (int64_t j = 0; j < n_columns; j++) copy[i * n_columns + j] = e_load(x[i * ld + j]);
    *ld_copy = n_columns;
    return copy;
#else
    (void)n_rows, (void)n_columns, (void)copy;
    *ld_copy = ld;
    return x;
#endif
}

/* y[i] = act(sum[i] + bias[i]) + residual[i] for one vector.  Nullable: bias, residual. */
#define FINISH(name, act)                                                                          \
    LRA_ROW_FN void name(int64_t i, int64_t w, const real *sum, const real *bias,                  \
                         const elem *residual, elem *y)                                            \
    {                                                                                              \
        const lra_type t = LRA_TYPE_bf16 ? LRA_BF16 : LRA_F32;                                     \
        lanes v = lanes_load(sum, LRA_F32, i, w);                                                  \
        if (bias) v += lanes_load(bias, LRA_F32, i, w);                                            \
        v = act(v);                                                                                \
        if (residual) v += lanes_load(residual, t, i, w);                                          \
        lanes_store(y, t, i, w, v);                                                                \
    }
FINISH(finish_none, )
FINISH(finish_relu, lanes_relu)
FINISH(finish_gelu, lanes_gelu)
FINISH(finish_gelu_tanh, lanes_gelu_tanh)
FINISH(finish_silu, lanes_silu)
#undef FINISH

/* Epilogue of a row of n elements; y may be the same array as sum. */
static inline void finish_row(int64_t n, const real *sum, const real *bias, lra_act act,
                              const elem *residual, elem *y)
{
    switch (act) {
    case LRA_ACT_NONE: LANES_EACH(n, finish_none, sum, bias, residual, y); break;
    case LRA_ACT_RELU: LANES_EACH(n, finish_relu, sum, bias, residual, y); break;
    case LRA_ACT_GELU: LANES_EACH(n, finish_gelu, sum, bias, residual, y); break;
    case LRA_ACT_GELU_TANH: LANES_EACH(n, finish_gelu_tanh, sum, bias, residual, y); break;
    case LRA_ACT_SILU: LANES_EACH(n, finish_silu, sum, bias, residual, y); break;
    }
}

#if LRA_TYPE_bf16
/* Epilogue of a block of sums of lra_gemm_bf16_to(), for activations that it does not implement
 * itself. */
#define LRA_FINISH_BLOCK(act)                                                                      \
    static inline void finish_block_##act(const lra_bf16_out *o, int64_t rows, int64_t columns,    \
                                          const real *sum, int64_t ld, int64_t m, int64_t n)       \
    {                                                                                              \
        for (int64_t r = 0; r < rows; r++) {                                                       \
            int64_t at = (m + r) * o->ld + n;                                                      \
            finish_row(columns, sum + r * ld, o->bias ? o->bias + n : NULL, act,                   \
                       o->residual ? o->residual + at : NULL, o->y + at);                          \
        }                                                                                          \
    }
LRA_FINISH_BLOCK(LRA_ACT_GELU)
LRA_FINISH_BLOCK(LRA_ACT_GELU_TANH)
LRA_FINISH_BLOCK(LRA_ACT_SILU)

/* Describes the result y = act(a b + bias) + residual of lra_gemm_bf16_to(); rows are `ld` apart.
 * Nullable: bias, residual */
static inline lra_bf16_out bf16_result(elem *y, int64_t ld, const real *bias, lra_act act,
                                       const elem *residual)
{
    lra_bf16_out out = {
        .y = y, .ld = ld, .bias = bias, .residual = residual, .relu = act == LRA_ACT_RELU};
    if (act == LRA_ACT_GELU) out.finish = finish_block_LRA_ACT_GELU;
    if (act == LRA_ACT_GELU_TANH) out.finish = finish_block_LRA_ACT_GELU_TANH;
    if (act == LRA_ACT_SILU) out.finish = finish_block_LRA_ACT_SILU;
    return out;
}

/* Packs w (K,N) as lra_pack_bf16() does, with all threads of a parallel region. Element (k,n) is
 * w[k * row + n * column]. */
static inline void pack_weights(int64_t K, int64_t N, const elem *w, int64_t row, int64_t column,
                                elem *packed)
{
#pragma omp for schedule(static)
    for (int64_t n = 0; n < N; n += 32)
        lra_pack_bf16(K, N - n < 32 ? N - n : 32, w + n * column, row, column, 16 * K,
                      packed + n * K);
}
#endif

/* out += part 0 + part 1 + .., in this order; each part has n elements. Called by all threads of a
 * parallel region. */
static inline void add_parts(int64_t n_parts, const real *parts, int64_t n, real *out)
{
    enum { CHUNK = 4096 };
#pragma omp for schedule(static)
    for (int64_t from = 0; from < n; from += CHUNK) {
        int64_t end = from + CHUNK < n ? from + CHUNK : n;
        for (int64_t p = 0; p < n_parts; p++)
            for (int64_t i = from; i < end; i++) out[i] += parts[p * n + i];
    }
}

#endif
