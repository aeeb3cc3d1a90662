/* What the bodies of matrix ops share: loading elem as real, the dense product of the pass, and the
 * last step of a row: y = act(sum + bias) + residual. */
#ifndef LRA_OPS_PRODUCT_FN_H
#define LRA_OPS_PRODUCT_FN_H

#include "kernels/cpu/gemm.h"
#include "kernels/ops/activation.h"
#include "kernels/ops/real.h"

/* Rows of one call of the dense product; fixed, so that results do not depend on the threads. */
enum { LRA_GEMM_ROWS = 256 };

/* Rows of n_columns elements as real: x itself when elem is real, else a packed copy in `copy`. */
LRA_FN const real *load_block(const elem *x, int64_t n_rows, int64_t n_columns, int64_t ld,
                              real *copy, int64_t *ld_copy)
{
#if LRA_PASS == 16
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

#define LRA_FINISH(f)                                                                              \
    for (int64_t j = 0; j < n; j++) {                                                              \
        real v = f(sum[j] + (bias ? bias[j] : 0));                                                 \
        y[j] = e_store(residual ? v + e_load(residual[j]) : v);                                    \
    }

/* y[j] = act(sum[j] + bias[j]) + residual[j]; y may be sum.  Nullable: bias, residual. */
LRA_FN void finish_row(int64_t n, const real *sum, const real *bias, lra_act act,
                       const elem *residual, elem *y)
{
    switch (act) {
    case LRA_ACT_NONE:
#pragma omp simd
        LRA_FINISH()
        break;
    case LRA_ACT_RELU:
#pragma omp simd
        LRA_FINISH(act_relu)
        break;
    case LRA_ACT_GELU: LRA_FINISH(act_gelu) break;
    case LRA_ACT_GELU_TANH: LRA_FINISH(act_gelu_tanh) break;
    case LRA_ACT_SILU: LRA_FINISH(act_silu) break;
    }
}

#if LRA_PASS == 16
/* The same for a block of sums of lra_gemm_bf16_to(), for activations that it does not know. */
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

/* y = act(a b + bias) + residual, rows `ld` apart.  Nullable: bias, residual. */
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

/* w (K,N), element (k,n) at w[k * row + n * column], packed as lra_pack_bf16() does, by all threads of a parallel
 * region. */
static inline void pack_weights(int64_t K, int64_t N, const elem *w, int64_t row, int64_t column,
                                elem *packed)
{
#pragma omp for schedule(static)
    for (int64_t n = 0; n < N; n += 32)
        lra_pack_bf16(K, N - n < 32 ? N - n : 32, w + n * column, row, column, 16 * K,
                      packed + n * K);
}
#endif

/* out += part 0 + part 1 + .., in this order; each part has n elements.  Called by all threads of a
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
