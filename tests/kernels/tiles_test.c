/* Products with an operation's own tiles (tiles.c), using emulated tiles, which every machine can
 * run. Values are multiples of 1/8, so that sums are exact; infinities before and after operands
 * and results detect reads and writes outside of them. Then attention with the same emulated tiles
 * compared with float64: in this program the engine is linked with the emulated tiles. */
#include "tests/fixtures/test.h"

#include <math.h>
#include <stdlib.h>

#define LRA_AMX_EMULATED
#include "kernels/base/core/mem.h"
#include "kernels/cpu/tiles.c"
#include "tests/fixtures/exact_operands.h"
#include "tests/fixtures/op_sample.h"

/* Returns n infinities; the caller frees them. */
static uint16_t *infinities(int64_t n)
{
    uint16_t *x = lra_alloc_array((size_t)n, sizeof *x);
    for (int64_t i = 0; i < n; i++) x[i] = INFINITE;
    return x;
}

/* Checks a product; rows of a and of c, and panels of b, are `apart` elements longer than
 * necessary. */
static void check_product(int64_t M, int64_t N, int64_t K, int64_t apart, bool add)
{
    int64_t row = K + apart, panel = 16 * K + apart, ld = N + apart;
    uint16_t *a = infinities(M * row + 2 * GUARD), *b = infinities(N / 16 * panel + 2 * GUARD);
    float *c = lra_alloc_array((size_t)(M * ld), sizeof *c);
    uint32_t state = (uint32_t)(M + N + K);
    for (int64_t m = 0; m < M; m++)
        for (int64_t k = 0; k < K; k++) a[GUARD + m * row + k] = half(eighth(&state));
    for (int64_t n = 0; n < N; n++)
        for (int64_t k = 0; k < K; k++)
            b[GUARD + n / 16 * panel + k / 2 * 32 + n % 16 * 2 + k % 2] = half(eighth(&state));
    for (int64_t i = 0; i < M * ld; i++) c[i] = i % ld < N && add ? 2 : INFINITY;
    lra_tiles_job j = {a + GUARD, row, b + GUARD, panel, c, ld, add};
    lra_tiles_begin();
    lra_tiles_product(M, N, K, &j);
    lra_tiles_end();
    for (int64_t i = 0; i < M * ld; i++) {
        int64_t m = i / ld, n = i % ld;
        float want = n < N ? add ? 2 : 0 : INFINITY;
        for (int64_t k = 0; k < K && n < N; k++)
            want += whole(a[GUARD + m * row + k]) *
                    whole(b[GUARD + n / 16 * panel + k / 2 * 32 + n % 16 * 2 + k % 2]);
        if (c[i] != want)
            fail_msg("%d x %d x %d: (%d,%d) is %g, expected %g", (int)M, (int)N, (int)K, (int)m,
                     (int)n, (double)c[i], (double)want);
    }
    lra_free(a);
    lra_free(b);
    lra_free(c);
}

TEST(products_of_every_size)
{
    for (int64_t M = 16; M <= 80; M += 16)
        for (int64_t N = 16; N <= 80; N += 16)
            for (int64_t K = 32; K <= 96; K += 32)
                for (int way = 0; way < 4; way++) check_product(M, N, K, way / 2 * 6, way % 2);
}

/* Head widths of 16 to 150, lengths that end within a tile, masks, chunks, windows, limits, keys of
 * another sequence. */
TEST(attention_on_emulated_tiles)
{
    lra_err e;
    if (setenv("LRA_CPU", "avx512", 1) != 0 || lra_cpu_init(&e) != 0) {
        unsetenv("LRA_CPU");
        skip(); /* attention uses tiles at this level only */
    }
    const setting one = {.n_threads = 1}, two = {.n_threads = 2};
    for (int i = 0; i < count_samples(&op_sample_attention); i++) {
        result exactly = run_sample(&op_sample_attention, i, LRA_F64, one);
        result a = run_sample(&op_sample_attention, i, LRA_BF16, one);
        result b = run_sample(&op_sample_attention, i, LRA_BF16, two);
        expect_close(&op_sample_attention, i, "emulated tiles", &a, &exactly, 0.02);
        expect_same(&op_sample_attention, i, "a second thread", &a, &b);
        lra_free(exactly.v);
        lra_free(a.v);
        lra_free(b.v);
    }
    unsetenv("LRA_CPU");
}
