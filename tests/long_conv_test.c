/* Long convolution against the sums that define it, for kernels shorter and longer than the
 * sequence, in one and in both directions, with padding; and the sizes of the transforms. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "kernels/base/mem.h"
#include "kernels/base/philox.h"
#include "kernels/cpu/fft.h"
#include "kernels/graph/ops.h"
#include "tests/run_once.h"

enum { B = 2, MAX_T = 300, D = 9, MAX_L = 300, N = B * MAX_T * D, K = 2 * D * MAX_L };

static double x[N], kernel[K], y[N], wanted[N];

static void fill(double *to, int n, uint32_t stream)
{
    lra_rng r = lra_rng_new(9, stream, 0);
    for (int i = 0; i < n; i++) to[i] = 2 * lra_rng_u01(&r) - 1;
}

static void sums(int T, int L, bool two_sided, const int32_t *length)
{
    for (int b = 0; b < B; b++)
        for (int t = 0; t < T; t++)
            for (int d = 0; d < D; d++) {
                double s = 0;
                for (int j = 0; j < L && t < length[b]; j++) {
                    if (t - j >= 0) s += kernel[d * L + j] * x[(b * T + t - j) * D + d];
                    if (two_sided && t + 1 + j < length[b])
                        s += kernel[(D + d) * L + j] * x[(b * T + t + 1 + j) * D + d];
                }
                wanted[(b * T + t) * D + d] = s;
            }
}

static void compute(int T, int L, bool two_sided, const int32_t *length)
{
    lra_graph *g = lra_graph_new(LRA_F64, LRA_EVAL);
    lra_tensor *in = lra_input(g, "x", LRA_F64, LRA_SHAPE(B, T, D));
    lra_tensor *k = lra_input(g, "k", LRA_F64, two_sided ? LRA_SHAPE(2, D, L) : LRA_SHAPE(D, L));
    lra_tensor *n = lra_input(g, "length", LRA_I32, LRA_SHAPE(B));
    lra_tensor *out = lra_long_conv(in, k, n);
    run_once(out, 2, 3, (run_input[]){{in, x}, {k, kernel}, {n, length}}, y);
}

static void transforms_give_the_sums(void **state)
{
    (void)state;
    static const int sizes[][2] = {{1, 1}, {1, 3},   {2, 1},   {7, 3},     {7, 7},
                                   {8, 9}, {64, 80}, {33, 12}, {300, 300}, {300, 40}};
    fill(x, N, 1);
    fill(kernel, K, 2);
    for (size_t i = 0; i < 2 * sizeof sizes / sizeof *sizes; i++) {
        int T = sizes[i / 2][0], L = sizes[i / 2][1];
        const int32_t length[B] = {T, (T + 1) / 2};
        sums(T, L, i % 2, length);
        compute(T, L, i % 2, length);
        for (int k = 0; k < B * T * D; k++)
            if (fabs(y[k] - wanted[k]) > 1e-12)
                fail_msg("T %d, L %d, %d directions, element %d: %.15g, expected %.15g", T, L,
                         1 + (int)(i % 2), k, y[k], wanted[k]);
    }
}

static bool is_smooth(int64_t n)
{
    for (int p = 2; p <= 5; p += p == 2 ? 1 : 2)
        while (n % p == 0) n /= p;
    return n == 1;
}

static void sizes_are_the_smallest_that_are_fast(void **state)
{
    (void)state;
    for (int64_t n = 1; n <= 3000; n++) {
        int64_t size = n < 2 ? 2 : n;
        while (size % 2 || !is_smooth(size)) size++;
        if (lra_fft_size(n) != size)
            fail_msg("%d: %d, expected %d", (int)n, (int)lra_fft_size(n), (int)size);
    }
    assert_true(lra_fft_row(30) >= 32 && lra_fft_row(30) % 16 == 0);
}

static void wrong_use_is_named(void **state)
{
    (void)state;
    lra_err e = {{0}};
    lra_graph *g = lra_graph_new(LRA_F32, LRA_EVAL);
    lra_tensor *in = lra_input(g, "x", LRA_F32, LRA_SHAPE(B, 7, D));
    lra_long_conv(in, lra_input(g, "k", LRA_F32, LRA_SHAPE(D + 1, 5)), NULL);
    assert_int_equal(lra_graph_check(g, &e), -1);
    assert_string_equal(e.msg, "long_conv: the kernel has shape (10,5), expected (9,5)");
    lra_graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(transforms_give_the_sums),
        cmocka_unit_test(sizes_are_the_smallest_that_are_fast),
        cmocka_unit_test(wrong_use_is_named),
    };
    return cmocka_run_group_tests_name("long_conv", tests, NULL, NULL);
}
