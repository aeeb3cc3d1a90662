/* Packing of the right operand of bf16 products, in pairs of rows:
 *   packed[n/16][k/2][n%16][k%2]
 * A register or a row of a tile then holds 16 columns of a pair. Operands are activations as often
 * as weights, so that every product includes the packing and it must be fast: contiguous rows are
 * interleaved, and contiguous columns are transposed, with full registers. Other layouts are packed
 * element by element. */
#include "kernels/cpu/gemm_pack.h"

#include <stdbool.h>
#include <string.h>

#include "kernels/cpu/features.h"
#include "kernels/cpu/gemm.h"

int64_t lra_packed_bf16(int64_t K, int64_t N)
{
    return (K + 1) / 2 * 2 * ((N + 15) / 16 * 16);
}

/* Packs one panel of n <= 16 columns, element by element. */
static void pack_panel(int64_t K, int64_t n, const uint16_t *b, int64_t row, int64_t column,
                       uint16_t *to)
{
    for (int64_t k = 0; k < K; k += 2, to += 32, b += 2 * row) {
        bool pair = k + 1 < K;
        if (n < 16 || !pair) memset(to, 0, 32 * sizeof *to);
        for (int64_t j = 0; j < n; j++) {
            to[2 * j] = b[j * column];
            if (pair) to[2 * j + 1] = b[j * column + row];
        }
    }
}

/* Interleaves one pair of rows; a row that is NULL counts as zeros. */
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

#define TARGET __attribute__((target("avx512f,avx512bw")))

static inline __mmask16 first_lanes(int64_t n)
{
    return (__mmask16)(n >= 16 ? 0xFFFFu : 0xFFFFu >> (16 - n));
}

TARGET void lra_transpose_words(int64_t n_columns, int64_t n_rows, const uint16_t *from,
                                int64_t step, uint16_t *to)
{
    const __mmask16 live = first_lanes(n_columns);
    __m512i r[16], t[16];
    for (int i = 0; i < 16; i++)
        r[i] = _mm512_maskz_loadu_epi32((__mmask16)(i < n_rows ? live : 0), from + i * step);
    for (int i = 0; i < 16; i += 2) {
        t[i] = _mm512_unpacklo_epi32(r[i], r[i + 1]);
        t[i + 1] = _mm512_unpackhi_epi32(r[i], r[i + 1]);
    }
    for (int i = 0; i < 16; i += 4)
        for (int k = 0; k < 2; k++) {
            r[i + 2 * k] = _mm512_unpacklo_epi64(t[i + k], t[i + k + 2]);
            r[i + 2 * k + 1] = _mm512_unpackhi_epi64(t[i + k], t[i + k + 2]);
        }
    for (int i = 0; i < 4; i++) { /* exchanges 4 x 4 blocks of 128 bits */
        __m512i a = _mm512_shuffle_i32x4(r[i], r[i + 4], 0x88);
        __m512i b = _mm512_shuffle_i32x4(r[i], r[i + 4], 0xDD);
        __m512i c = _mm512_shuffle_i32x4(r[i + 8], r[i + 12], 0x88);
        __m512i d = _mm512_shuffle_i32x4(r[i + 8], r[i + 12], 0xDD);
        t[i] = _mm512_shuffle_i32x4(a, c, 0x88), t[i + 8] = _mm512_shuffle_i32x4(a, c, 0xDD);
        t[i + 4] = _mm512_shuffle_i32x4(b, d, 0x88), t[i + 12] = _mm512_shuffle_i32x4(b, d, 0xDD);
    }
    for (int i = 0; i < 16; i++) _mm512_storeu_si512(to + 32 * i, t[i]);
}

/* Packs 32 columns (those in the mask `live`) of a pair of rows: a register of 16 column pairs for
 * each of two panels. Nullable: x1 (zeros), next (no second panel) */
TARGET static inline __attribute__((always_inline)) void
pack_pair(const uint16_t *x0, const uint16_t *x1, __mmask32 live, uint16_t *to, uint16_t *next)
{
    const __m512i low = _mm512_set_epi16(47, 15, 46, 14, 45, 13, 44, 12, 43, 11, 42, 10, 41, 9, 40,
                                         8, 39, 7, 38, 6, 37, 5, 36, 4, 35, 3, 34, 2, 33, 1, 32, 0);
    const __m512i high = _mm512_add_epi16(low, _mm512_set1_epi16(16));
    __m512i x = _mm512_maskz_loadu_epi16(live, x0);
    __m512i y = _mm512_maskz_loadu_epi16(x1 ? live : 0, x1);
    _mm512_storeu_si512(to, _mm512_permutex2var_epi16(x, low, y));
    if (next) _mm512_storeu_si512(next, _mm512_permutex2var_epi16(x, high, y));
}

static inline __mmask32 first_columns(int64_t n)
{
    return n >= 32 ? 0xFFFFFFFF : (__mmask32)(0xFFFFFFFFu >> (32 - n));
}

/* Packs panels of a b whose rows are contiguous. */
TARGET static void pack_rows(int64_t K, int64_t N, const uint16_t *b, int64_t row, int64_t panel,
                             uint16_t *packed)
{
    for (int64_t n = 0; n < N; n += 32) {
        uint16_t *to = packed + n / 16 * panel, *next = N - n > 16 ? to + panel : NULL;
        for (int64_t k = 0; k < K; k += 2) {
            const uint16_t *x = b + k * row + n;
            pack_pair(x, k + 1 < K ? x + row : NULL, first_columns(N - n), to + 16 * k,
                      next ? next + 16 * k : NULL);
        }
    }
}

/* Packs panels from rows at arbitrary addresses. It proceeds by a few rows, so that the hardware
 * prefetcher follows them. */
TARGET static void pack_pointed_rows(int64_t K, int64_t N, const uint16_t *const *b, int64_t panel,
                                     uint16_t *packed)
{
    enum { SOME = 16 };
    for (int64_t k0 = 0; k0 < K; k0 += SOME) {
        const int64_t end = K - k0 < SOME ? K : k0 + SOME;
        for (int64_t n = 0; n < N; n += 32) {
            uint16_t *to = packed + n / 16 * panel, *next = N - n > 16 ? to + panel : NULL;
            for (int64_t k = k0; k < end; k += 2)
                pack_pair(b[k] + n, k + 1 < K ? b[k + 1] + n : NULL, first_columns(N - n),
                          to + 16 * k, next ? next + 16 * k : NULL);
        }
    }
}

/* Transposes 32 rows of 8 columns. Four rows that are eight apart share a register. Its 128-bit
 * lanes are transposed in parallel, so that the lanes of a column end up in order. Loads into lanes
 * need no shuffle. */
TARGET static void transpose_32_8(const uint16_t *const *x, int64_t column, int64_t ld,
                                  uint16_t *to)
{
    __m512i r[8], t[8];
    for (int i = 0; i < 8; i++) {
        __m512i v = _mm512_castsi128_si512(_mm_loadu_si128((const void *)(x[i] + column)));
        v = _mm512_inserti32x4(v, _mm_loadu_si128((const void *)(x[i + 8] + column)), 1);
        v = _mm512_inserti32x4(v, _mm_loadu_si128((const void *)(x[i + 16] + column)), 2);
        r[i] = _mm512_inserti32x4(v, _mm_loadu_si128((const void *)(x[i + 24] + column)), 3);
    }
    for (int i = 0; i < 8; i += 2) {
        t[i] = _mm512_unpacklo_epi16(r[i], r[i + 1]);
        t[i + 1] = _mm512_unpackhi_epi16(r[i], r[i + 1]);
    }
    for (int i = 0; i < 8; i += 4)
        for (int k = 0; k < 2; k++) {
            r[i + 2 * k] = _mm512_unpacklo_epi32(t[i + k], t[i + k + 2]);
            r[i + 2 * k + 1] = _mm512_unpackhi_epi32(t[i + k], t[i + k + 2]);
        }
    for (int i = 0; i < 4; i++) {
        _mm512_storeu_si512(to + 2 * i * ld, _mm512_unpacklo_epi64(r[i], r[i + 4]));
        _mm512_storeu_si512(to + (2 * i + 1) * ld, _mm512_unpackhi_epi64(r[i], r[i + 4]));
    }
}

void lra_transpose_bf16(int64_t n, int64_t width, const uint16_t *const *x, int64_t ld,
                        uint16_t *to)
{
    for (int64_t i = 0; i < n; i += 32) {
        int64_t at = 0;
        for (; at + 8 <= width; at += 8) transpose_32_8(x + i, at, ld, to + at * ld + i);
        for (; at < width; at++)
            for (int64_t r = 0; r < 32; r++) to[at * ld + i + r] = x[i + r][at];
    }
}

void lra_pack_rows_bf16(int64_t K, int64_t N, const uint16_t *const *b, int64_t panel,
                        uint16_t *packed)
{
    pack_pointed_rows(K, N, b, panel, packed);
}

/* Packs panels of a b whose columns are contiguous: a pair is one 32-bit word. */
TARGET static void pack_columns(int64_t K, int64_t N, const uint16_t *b, int64_t column,
                                int64_t panel, uint16_t *packed)
{
    uint16_t tile[512];
    for (int64_t n = 0; n < N; n += 16)
        for (int64_t k = 0; k < K; k += 32) {
            uint16_t *to = packed + n / 16 * panel + k * 16;
            bool whole = K - k >= 32;
            lra_transpose_words((K - k) / 2, N - n, b + n * column + k, column, whole ? to : tile);
            if (!whole) memcpy(to, tile, (size_t)(K - k) * 16 * sizeof *to);
        }
}
#else
#include "kernels/base/core/err.h"

void lra_transpose_bf16(int64_t n, int64_t width, const uint16_t *const *x, int64_t ld,
                        uint16_t *to)
{
    (void)n, (void)width, (void)x, (void)to;
    LRA_BUG("no bf16 products on this processor (%lld)", (long long)ld);
}

void lra_pack_rows_bf16(int64_t K, int64_t N, const uint16_t *const *b, int64_t panel,
                        uint16_t *packed)
{
    (void)K, (void)N, (void)b, (void)packed;
    LRA_BUG("no bf16 products on this processor (%lld)", (long long)panel);
}
#endif

void lra_pack_bf16(int64_t K, int64_t N, const uint16_t *b, int64_t row, int64_t column,
                   int64_t panel, uint16_t *packed)
{
#if defined(__x86_64__)
    if (lra_cpu_bf16() != LRA_BF16_NONE && column == 1) {
        pack_rows(K, N, b, row, panel, packed);
        return;
    }
    if (lra_cpu_bf16() != LRA_BF16_NONE && row == 1 && K % 2 == 0) {
        pack_columns(K, N, b, column, panel, packed);
        return;
    }
#endif
    for (int64_t n = 0; n < N; n += 16)
        pack_panel(K, N - n < 16 ? N - n : 16, b + n * column, row, column,
                   packed + n / 16 * panel);
}
