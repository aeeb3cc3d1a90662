/* The tile products with emulated tiles: every size, stored rows that overlap, and transposed pairs.
 * Values are multiples of 1/8, so that sums are exact. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#if defined(__x86_64__)
#define LRA_AMX_EMULATED
#include "kernels/base/mem.h"
#include "kernels/cpu/features.h"
#include "kernels/cpu/gemm_amx.c"
#include "kernels/graph/op.h"

static uint16_t small(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    float f = (float)((int)(*state >> 24) % 17 - 8) / 8;
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return (uint16_t)(bits >> 16);
}

static float widened(uint16_t x)
{
    uint32_t bits = (uint32_t)x << 16;
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

/* transposed: a is (K,M), given in pairs; else (M,K) with rows `row` apart. */
static void check(int64_t M, int64_t N, int64_t K, int64_t row, bool transposed, bool add)
{
    uint32_t state = (uint32_t)(M + N + K);
    int64_t n_a = transposed ? K * M : M * row + K, panel = 16 * K;
    uint16_t *a = lra_alloc_array((size_t)n_a, 2), *b = lra_alloc_array((size_t)(K * N), 2);
    uint16_t *packed = lra_alloc_array((size_t)lra_packed_bf16(K, N), 2);
    uint16_t *pairs = lra_alloc_array((size_t)(K * M), 2);
    float *c = lra_alloc_array((size_t)(M * N), sizeof *c);
    for (int64_t i = 0; i < n_a; i++) a[i] = small(&state);
    for (int64_t i = 0; i < K * N; i++) b[i] = small(&state);
    for (int64_t i = 0; i < M * N; i++) c[i] = 1;
    lra_pack_bf16(K, N, b, N, 1, panel, packed);
    if (transposed) lra_pair_bf16(K, M, a, M, 0, pairs);
    lra_pairs_bf16 left = transposed ? (lra_pairs_bf16){pairs, 2, 2 * M}
                                     : (lra_pairs_bf16){a, row, 2};
    lra_gemm_amx(M, N, K, left, packed, panel, add, c, N);
    for (int64_t m = 0; m < M; m++)
        for (int64_t n = 0; n < N; n++) {
            float want = add ? 1 : 0;
            for (int64_t k = 0; k < K; k++)
                want += widened(a[transposed ? k * M + m : m * row + k]) * widened(b[k * N + n]);
            if (c[m * N + n] != want)
                fail_msg("%d x %d x %d: (%d,%d) is %g, expected %g", (int)M, (int)N, (int)K, (int)m,
                         (int)n, (double)c[m * N + n], (double)want);
        }
    lra_free(a);
    lra_free(b);
    lra_free(c);
    lra_free(packed);
    lra_free(pairs);
}

static void tile_products(void **state)
{
    (void)state;
    lra_err e;
    if (lra_cpu_init(&e) != 0 || lra_cpu_level() < LRA_LEVEL_AVX512) skip();
    for (int64_t M = 16; M <= 48; M += 16)
        for (int64_t N = 16; N <= 64; N += 16)
            for (int k = 0; k < 4; k++) {
                const int64_t K[] = {32, 96, 512, 1056};
                check(M, N, K[k], K[k], false, k % 2);
                check(M, N, K[k], 4, false, false); /* overlapping rows */
                check(M, N, K[k], 0, true, k % 2);
            }
}
#else
static void tile_products(void **state)
{
    (void)state;
    skip();
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(tile_products)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
