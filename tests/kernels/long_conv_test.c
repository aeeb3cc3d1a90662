/* Long convolution and its gradients compared with the defining sums, in double and at every
 * instruction level, for kernels shorter and longer than the sequence, in one and in both
 * directions, with padding; sizes of the transforms. */
#include "tests/fixtures/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "kernels/base/core/philox.h"
#include "kernels/cpu/features.h"
#include "kernels/ops/longconv/long_conv.h"
#include "tests/fixtures/run_once.h"

/* The number of channels is two blocks of the widest vector level and some more. */
enum { B = 3, MAX_T = 300, D = 37, MAX_L = 300, N = B * MAX_T * D, K = 2 * D * MAX_L };

static double x[N], dy[N], kernel[K], wanted[N], wanted_dx[N], wanted_dk[K];

static void fill(double *to, int n, uint32_t stream)
{
    lra_rng r = lra_rng_new(9, stream, 0);
    for (int i = 0; i < n; i++) to[i] = (float)(2 * lra_rng_u01(&r) - 1);
}

/* Adds the product of token `from` and kernel element k to the output at token `to`, and the
 * corresponding terms of the gradients. */
static void add_term(int from, int to, int k)
{
    wanted[to] += kernel[k] * x[from];
    wanted_dx[from] += kernel[k] * dy[to];
    wanted_dk[k] += dy[to] * x[from];
}
static void sums(int T, int L, bool two_sided, const int32_t *length)
{
    memset(wanted, 0, sizeof wanted);
    memset(wanted_dx, 0, sizeof wanted_dx);
    memset(wanted_dk, 0, sizeof wanted_dk);
    for (int b = 0; b < B; b++)
        for (int t = 0; t < length[b]; t++)
            for (int d = 0; d < D; d++)
                for (int j = 0, to = (b * T + t) * D + d; j < L; j++) {
                    if (t - j >= 0) add_term(to - j * D, to, d * L + j);
                    if (two_sided && t + 1 + j < length[b])
                        add_term(to + (1 + j) * D, to, (D + d) * L + j);
                }
}

static lra_tensor *source(lra_graph *g, const char *name, lra_shape shape)
{
    return lra_input(g, name, lra_real(g), shape);
}
static void *in_type(lra_type type, const double *from, int n)
{
    static union {
        float f32[K > N ? K : N];
        double f64[K > N ? K : N];
    } typed[3];
    static int next;
    next = (next + 1) % 3;
    for (int i = 0; i < n; i++)
        if (type == LRA_F32)
            typed[next].f32[i] = (float)from[i];
        else
            typed[next].f64[i] = from[i];
    return &typed[next];
}
static void check(const char *what, lra_tensor *y, int n, const run_input *in, int size,
                  const double *expected)
{
    static char out[8 * (K > N ? K : N)];
    const bool f32 = lra_graph_type(y->graph) == LRA_F32;
    const char *name = y->op->name, *level = getenv("LRA_CPU");
    run_once(y, 2, n, in, out);
    for (int i = 0; i < size; i++) {
        double v = f32 ? ((float *)(void *)out)[i] : ((double *)(void *)out)[i];
        if (!(fabs(v - expected[i]) <= (f32 ? 2e-5 : 1e-12)))
            fail_msg("%s: %s, level %s, element %d: %.15g, expected %.15g", what, name,
                     level ? level : "portable", i, v, expected[i]);
    }
}

/* Compares y, dx and dk for one size in one type. */
static void compare(lra_type type, int T, int L, bool two_sided, const int32_t *length)
{
    char what[64];
    snprintf(what, sizeof what, "T %d, L %d, %d directions", T, L, 1 + two_sided);
    const lra_shape tokens = LRA_SHAPE(B, T, D);
    const lra_shape lags = two_sided ? LRA_SHAPE(2, D, L) : LRA_SHAPE(D, L);
    const int n = B * T * D, k = (1 + two_sided) * D * L;
    long_conv_args a = {.two_sided = two_sided, .has_length = true, .back = true, .L = L};
    for (int i = 0; i < 3; i++) { /* result i: y, dx, dk */
        lra_graph *g = lra_graph_new(type, LRA_EVAL);
        lra_tensor *src[] = {source(g, "a", tokens), source(g, "b", i == 2 ? tokens : lags),
                             lra_input(g, "length", LRA_I32, LRA_SHAPE(B))};
        const run_input in[] = {{src[0], in_type(type, i == 1 ? dy : x, n)},
                                {src[1], in_type(type, i == 2 ? dy : kernel, i == 2 ? n : k)},
                                {src[2], length}};
        a.back = i == 1;
        if (i == 0) check(what, lra_long_conv(src[0], src[1], src[2]), 3, in, n, wanted);
        if (i == 1)
            check(what, lra_node(&lra_op_long_conv_dx, g, 3, src, &a, sizeof a), 3, in, n,
                  wanted_dx);
        if (i == 2)
            check(what, lra_node(&lra_op_long_conv_dk, g, 3, src, &a, sizeof a), 3, in, k,
                  wanted_dk);
    }
}

/* Transforms of 16 to 1024 numbers, of which tokens occupy half or more. */
TEST(transforms_give_the_sums)
{
    static const int sizes[][2] = {{1, 1}, {1, 3},   {2, 1},   {7, 3},     {7, 7},
                                   {8, 9}, {64, 80}, {33, 12}, {300, 300}, {300, 40}};
    fill(x, N, 1);
    fill(dy, N, 3);
    fill(kernel, K, 2);
    for (size_t i = 0; i < 2 * sizeof sizes / sizeof *sizes; i++) {
        int T = sizes[i / 2][0], L = sizes[i / 2][1];
        const int32_t length[B] = {T, (T + 1) / 2, T};
        sums(T, L, i % 2, length);
        compare(LRA_F64, T, L, i % 2, length);
        for (int level = 0; lra_cpu_usable(level); level++) {
            setenv("LRA_CPU", lra_cpu_usable(level), 1);
            compare(LRA_F32, T, L, i % 2, length);
        }
        unsetenv("LRA_CPU");
    }
}

static bool is_smooth(int64_t n)
{
    for (int p = 2; p <= 5; p += p == 2 ? 1 : 2)
        while (n % p == 0) n /= p;
    return n == 1;
}

TEST(sizes_are_the_smallest_that_are_fast)
{
    for (int64_t n = 1; n <= 3000; n++) {
        int64_t size = n < 2 ? 2 : n;
        while (size % 2 || !is_smooth(size)) size++;
        if (lra_fft_size(n) != size)
            fail_msg("%d: %d, expected %d", (int)n, (int)lra_fft_size(n), (int)size);
    }
    assert_true(lra_fft_row(30) >= 32 && lra_fft_row(30) % 16 == 0);
}

TEST(wrong_use_is_named)
{
    lra_err e = {{0}};
    lra_graph *g = lra_graph_new(LRA_F32, LRA_EVAL);
    lra_tensor *in = lra_input(g, "x", LRA_F32, LRA_SHAPE(B, 7, D));
    lra_long_conv(in, lra_input(g, "k", LRA_F32, LRA_SHAPE(D + 1, 5)), NULL);
    assert_int_equal(lra_graph_check(g, &e), -1);
    assert_string_equal(e.msg, "long_conv: the kernel has shape (38,5), expected (37,5)");
    lra_graph_free(g);
}
