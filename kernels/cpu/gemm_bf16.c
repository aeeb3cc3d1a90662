/* bf16 products with float32 sums. gemm_amx.c computes them if the processor has tiles. This file
 * uses the dot-product instruction on registers, for processors without tiles. Each lane of a
 * register of sums adds a[2k] b[2k] + a[2k+1] b[2k+1] for one column, so b is packed in pairs of
 * rows,
 *   packed[n/16][k/2][n%16][k%2],
 * and a pair of a, read as one 32-bit word from any address, is broadcast to all lanes. Rows of a
 * may overlap. Tiles of 6 x 64 sums stay in registers; a panel of b with DEPTH rows stays in the
 * cache of the core. Sums over k follow memory order, independently of the sizes of tiles and
 * panels. */
#include "kernels/cpu/gemm.h"

#include <string.h>

#include "kernels/base/core/err.h"
#include "kernels/cpu/features.h"
#include "kernels/cpu/gemm_amx.h"

bool lra_gemm_bf16_fast(void)
{
    return lra_cpu_bf16() != LRA_BF16_NONE;
}

#if defined(__x86_64__)
#include <immintrin.h>

#define TARGET __attribute__((target("avx512f,avx512bw,avx512vl,avx512bf16")))
#define INLINE static inline __attribute__((always_inline))
#include "kernels/cpu/gemm_finish.h"
#if defined(__clang__)
#define UNROLL
#else
#define UNROLL _Pragma("GCC unroll 6")
#endif

enum { ROWS = 6, VECTORS = 4, DEPTH = 512 };

/* Operands of a tile. `last` masks the lanes of its last vector. */
typedef struct {
    int64_t pairs, row, step, panel, ldc;
    const uint16_t *a, *b;
    float *c;
    __mmask16 last;
    bool add;
} tile_job;

/* c (R, V vectors) = a b; c += a b if `add`. R and V are compile-time constants after inlining. */
TARGET INLINE void tile(const int R, const int V, const tile_job *t)
{
    __m512 sum[ROWS][VECTORS];
    UNROLL for (int i = 0; i < R; i++) UNROLL for (int j = 0; j < V; j++) sum[i][j] =
        t->add ? _mm512_maskz_loadu_ps(j == V - 1 ? t->last : 0xFFFF, t->c + i * t->ldc + 16 * j)
               : _mm512_setzero_ps();
    const uint16_t *a = t->a, *b = t->b;
    for (int64_t p = 0; p < t->pairs; p++, a += t->step, b += 32) {
        __m512bh row[VECTORS];
        UNROLL for (int j = 0; j < V; j++) row[j] = (__m512bh)_mm512_loadu_si512(b + j * t->panel);
        UNROLL for (int i = 0; i < R; i++)
        {
            int32_t pair;
            memcpy(&pair, a + i * t->row, sizeof pair);
            const __m512i x = _mm512_set1_epi32(pair);
            UNROLL for (int j = 0; j < V; j++)
                sum[i][j] = _mm512_dpbf16_ps(sum[i][j], (__m512bh)x, row[j]);
        }
    }
    UNROLL for (int i = 0; i < R; i++) UNROLL for (int j = 0; j < V; j++)
        _mm512_mask_storeu_ps(t->c + i * t->ldc + 16 * j, j == V - 1 ? t->last : 0xFFFF, sum[i][j]);
}

TARGET static void tile_any(int n_rows, int n_vectors, const tile_job *t)
{
#define CASE(R, V)                                                                                 \
    case V * 8 + R:                                                                                \
        tile(R, V, t);                                                                             \
        break;
#define CASES(V) CASE(1, V) CASE(2, V) CASE(3, V) CASE(4, V) CASE(5, V) CASE(6, V)
    switch (n_vectors * 8 + n_rows) {
        CASES(1)
        CASES(2)
        CASES(3)
        CASES(4)
    default: LRA_BUG("tile of %d rows and %d vectors", n_rows, n_vectors);
    }
#undef CASE
#undef CASES
}

static inline int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static void by_registers(int64_t M, int64_t N, int64_t K, lra_pairs_bf16 a, const uint16_t *b,
                         int64_t panel, bool add, float *c, int64_t ldc)
{
    for (int64_t k = 0; k == 0 || k < K; k += DEPTH) {
        tile_job t = {.pairs = smaller(DEPTH, K - k) / 2,
                      .row = a.row,
                      .step = a.step,
                      .panel = panel,
                      .ldc = ldc,
                      .add = add || k > 0};
        for (int64_t n = 0; n < N; n += 16 * VECTORS) {
            int64_t columns = smaller(16 * VECTORS, N - n);
            int64_t lanes = (columns - 1) % 16 + 1;
            t.last = (__mmask16)(0xFFFFu >> (16 - lanes));
            t.b = b + n / 16 * panel + k * 16;
            for (int64_t m = 0; m < M; m += ROWS) {
                t.a = a.a + m * a.row + k / 2 * a.step, t.c = c + m * ldc + n;
                tile_any((int)smaller(ROWS, M - m), (int)((columns + 15) / 16), &t);
            }
        }
    }
}

/* ---- epilogue of sums ------------------------------------------------------------------------ */

TARGET static void finish_bf16(int64_t rows, int64_t columns, const float *sum, int64_t ld,
                               const lra_bf16_out *out, int64_t m, int64_t n)
{
    if (columns < 32 && out->residual)
        finish_rows(false, out->relu, true, rows, columns, sum, ld, out, m, n);
    else if (columns < 32)
        finish_rows(false, out->relu, false, rows, columns, sum, ld, out, m, n);
    else if (out->residual)
        finish_rows(true, out->relu, true, rows, columns, sum, ld, out, m, n);
    else if (out->relu)
        finish_rows(true, true, false, rows, columns, sum, ld, out, m, n);
    else
        finish_rows(true, false, false, rows, columns, sum, ld, out, m, n);
}

void lra_finish_bf16(int64_t rows, int64_t columns, const float *sum, int64_t ld,
                     const lra_bf16_out *out, int64_t m, int64_t n)
{
    if (out->finish) {
        out->finish(out, rows, columns, sum, ld, m, n);
    } else if (out->y) {
        finish_bf16(rows, columns, sum, ld, out, m, n);
    } else
        for (int64_t r = 0; r < rows; r++)
            memcpy(out->c + (m + r) * out->ld + n, sum + r * ld, (size_t)columns * sizeof *sum);
}

/* Computes the product in blocks whose sums stay in the L1 cache, and applies the epilogue to each
 * block. */
static void result_by_registers(int64_t M, int64_t N, int64_t K, lra_pairs_bf16 a,
                                const uint16_t *b, int64_t panel, const lra_bf16_out *out)
{
    enum { BLOCK = 48, COLUMNS = 16 * VECTORS };
    float sum[BLOCK * COLUMNS];
    for (int64_t n = 0; n < N; n += COLUMNS)
        for (int64_t m = 0; m < M; m += BLOCK) {
            int64_t rows = smaller(BLOCK, M - m), columns = smaller(COLUMNS, N - n);
            /* prefetches the cache lines of y, because the stores would wait for them */
            for (int64_t r = 0; out->y && r < rows; r++)
                for (int64_t j = 0; j < columns; j += 32)
                    __builtin_prefetch(out->y + (m + r) * out->ld + n + j, 1);
            by_registers(rows, columns, K, (lra_pairs_bf16){a.a + m * a.row, a.row, a.step},
                         b + n / 16 * panel, panel, false, sum, COLUMNS);
            for (int64_t j = 0; j < columns; j += 32)
                lra_finish_bf16(rows, smaller(32, columns - j), sum + j, COLUMNS, out, m, n + j);
        }
}

void lra_gemm_bf16_to(int64_t M, int64_t N, int64_t K, lra_pairs_bf16 a, const uint16_t *b,
                      int64_t panel, const lra_bf16_out *out)
{
    if (K % 2 != 0) LRA_BUG("%lld products in pairs", (long long)K);
    if (lra_cpu_bf16() == LRA_BF16_AMX && K > 0)
        lra_gemm_amx(M, N, K, a, b, panel, out);
    else if (out->c)
        by_registers(M, N, K, a, b, panel, out->add, out->c, out->ld);
    else
        result_by_registers(M, N, K, a, b, panel, out);
}

#else

void lra_finish_bf16(int64_t rows, int64_t columns, const float *sum, int64_t ld,
                     const lra_bf16_out *out, int64_t m, int64_t n)
{
    (void)columns, (void)sum, (void)ld, (void)out, (void)m, (void)n;
    LRA_BUG("no bf16 products on this processor (%lld)", (long long)rows);
}

void lra_gemm_bf16_to(int64_t M, int64_t N, int64_t K, lra_pairs_bf16 a, const uint16_t *b,
                      int64_t panel, const lra_bf16_out *out)
{
    (void)M, (void)N, (void)K, (void)a, (void)b, (void)out;
    LRA_BUG("no bf16 products on this processor (%lld)", (long long)panel);
}

#endif

void lra_gemm_bf16(int64_t M, int64_t N, int64_t K, lra_pairs_bf16 a, const uint16_t *b,
                   int64_t panel, bool add, float *c, int64_t ldc)
{
    lra_gemm_bf16_to(M, N, K, a, b, panel, &(lra_bf16_out){.c = c, .add = add, .ld = ldc});
}
