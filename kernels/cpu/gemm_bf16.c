/* bf16 products summed in float32.  Whole tiles go to gemm_amx.c where the processor has tiles; here is the
 * dot-product instruction on registers, for the rest and for processors without tiles: each lane of a register of sums takes
 * a[2k] b[2k] + a[2k+1] b[2k+1] of one column, so b is packed in pairs of rows,
 *   packed[n/16][k/2][n%16][k%2],
 * and a pair of a, read as one 32-bit word at any address, goes to all lanes.  Rows of a may overlap.
 * Tiles of 6 x 64 sums stay in registers; a panel of b of DEPTH rows stays in the cache of the core.
 * The order of summation over k is that of memory, whatever the sizes of tiles and panels. */
#include "kernels/cpu/gemm.h"

#include <string.h>

#include "kernels/base/err.h"
#include "kernels/cpu/features.h"
#include "kernels/cpu/gemm_amx.h"

bool lra_gemm_bf16_fast(void)
{
    return lra_cpu_bf16() != LRA_BF16_NONE;
}

int64_t lra_packed_bf16(int64_t K, int64_t N)
{
    return (K + 1) / 2 * 2 * ((N + 15) / 16 * 16);
}

void lra_pack_bf16(int64_t K, int64_t N, const uint16_t *b, int64_t row, int64_t column,
                   int64_t panel, uint16_t *packed)
{
    for (int64_t n0 = 0; n0 < N; n0 += 16) {
        int64_t n = N - n0 < 16 ? N - n0 : 16;
        uint16_t *to = packed + n0 / 16 * panel;
        for (int64_t k = 0; k < K; k += 2, to += 32) {
            const uint16_t *from = b + k * row + n0 * column;
            bool pair = k + 1 < K;
            if (n < 16 || !pair) memset(to, 0, 32 * sizeof *to);
            for (int64_t j = 0; j < n; j++) {
                to[2 * j] = from[j * column];
                if (pair) to[2 * j + 1] = from[j * column + row];
            }
        }
    }
}

/* One pair of rows; NULL: zeros. */
static void pair_rows(int64_t width, const uint16_t *x0, const uint16_t *x1, uint16_t *pairs)
{
    for (int64_t j = 0; j < width; j++) {
        pairs[2 * j] = x0 ? x0[j] : 0;
        pairs[2 * j + 1] = x1 ? x1[j] : 0;
    }
}

void lra_pair_bf16(int64_t n, int64_t width, const uint16_t *x, int64_t ld, int first,
                   uint16_t *pairs)
{
    for (int64_t t = -first; t < n; t += 2, pairs += 2 * width)
        pair_rows(width, t >= 0 ? x + t * ld : NULL, t + 1 < n ? x + (t + 1) * ld : NULL, pairs);
}

#if defined(__x86_64__)
#include <immintrin.h>

#define TARGET __attribute__((target("avx512f,avx512bw,avx512vl,avx512bf16")))
#define INLINE static inline __attribute__((always_inline))
#if defined(__clang__)
#define UNROLL
#else
#define UNROLL _Pragma("GCC unroll 6")
#endif

enum { ROWS = 6, VECTORS = 4, DEPTH = 512 };

/* What a tile works on; `last` masks the lanes of its last vector. */
typedef struct {
    int64_t pairs, row, step, panel, ldc;
    const uint16_t *a, *b;
    float *c;
    __mmask16 last;
    bool add;
} tile_job;

/* c (R, V vectors) = a b, plus c where `add`; R and V are constants where this is inlined. */
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

void lra_gemm_bf16(int64_t M, int64_t N, int64_t K, lra_pairs_bf16 a, const uint16_t *b,
                   int64_t panel, bool add, float *c, int64_t ldc)
{
    if (K % 2 != 0) LRA_BUG("%lld products in pairs", (long long)K);
    int64_t m = M / 16 * 16, n = N / 16 * 16, k = K / 32 * 32;
    if (lra_cpu_bf16() != LRA_BF16_AMX || m == 0 || n == 0 || k == 0) {
        by_registers(M, N, K, a, b, panel, add, c, ldc);
        return;
    }
    lra_gemm_amx(m, n, k, a, b, panel, add, c, ldc);
    lra_pairs_bf16 rest = {a.a + k / 2 * a.step, a.row, a.step},
                   below = {a.a + m * a.row, a.row, a.step};
    if (k < K) by_registers(m, n, K - k, rest, b + k * 16, panel, true, c, ldc);
    if (n < N) by_registers(m, N - n, K, a, b + n / 16 * panel, panel, add, c + n, ldc);
    if (m < M) by_registers(M - m, N, K, below, b, panel, add, c + m * ldc, ldc);
}

#else

void lra_gemm_bf16(int64_t M, int64_t N, int64_t K, lra_pairs_bf16 a, const uint16_t *b,
                   int64_t panel, bool add, float *c, int64_t ldc)
{
    (void)M, (void)N, (void)K, (void)a, (void)b, (void)panel, (void)add, (void)c;
    LRA_BUG("no bf16 products on this processor (%lld)", (long long)ldc);
}

#endif
