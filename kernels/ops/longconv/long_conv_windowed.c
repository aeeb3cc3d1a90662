/* Long convolution with a distance limit (long_conv.c, kernels masked by distance_mask.c):
 *   y[t] = sum_(0 <= j <= limit) k[j] x[t-j]  (+ sum_(0 <= j < limit) k'[j] x[t+1+j])
 * Every value of a Fourier transform contains rounding errors of all inputs, so that distant tokens
 * would still change the last bits of y. Here the lags are summed one by one instead. A limit of at
 * least T-1 has no effect: the result is then source 0, the convolution by transforms, bit for bit
 * and in place. Source 0 and these sums are equal up to rounding, so that the gradient flows to
 * source 0 only, whose gradient includes the mask of the kernels. */
#include <omp.h>
#include <stdio.h>

#include "kernels/ops/longconv/long_conv.h"
#include "kernels/ops/typed.h"

/* CHANNELS: channels of a block, a cache line of float32. ROWS: rows whose sums stay in registers;
 * more rows would spill with AVX2. */
enum { CHANNELS = 16, ROWS = 4 };

/* Scratch of a thread in reals: a row of kernel values for each lag from -limit to limit, and the
 * inputs with zeros before and after. */
static inline int64_t own_size(int64_t T)
{
    return CHANNELS * (2 * T + 3 * T + ROWS);
}

/* Copies the kernels of a block of channels: row limit + lag of `to` is the factor of x[t - lag].
 * Nullable: behind */
static inline void read_lags(const real *k, const real *behind, int64_t L, int64_t channels,
                             int64_t limit, real *to)
{
    for (int64_t i = 0; i < (2 * limit + 1) * CHANNELS; i++) to[i] = 0;
    for (int64_t d = 0; d < channels; d++) {
        for (int64_t j = 0; j <= limit && j < L; j++) to[(limit + j) * CHANNELS + d] = k[d * L + j];
        for (int64_t j = 0; behind && j < limit && j < L; j++)
            to[(limit - 1 - j) * CHANNELS + d] = behind[d * L + j];
    }
}

static inline void read_rows(const elem *x, int64_t tokens, int64_t T, int64_t D, int64_t channels,
                             int64_t limit, real *to)
{
    for (int64_t i = 0; i < (T + 2 * limit + ROWS) * CHANNELS; i++) to[i] = 0;
    for (int64_t t = 0; t < tokens; t++)
        for (int64_t d = 0; d < channels; d++)
            to[(limit + t) * CHANNELS + d] = e_load(x[t * D + d]);
}

/* Computes rows [t, t + ROWS). The terms of a sum are added in order of time. */
static inline void sum_rows(const real *lags, const real *x, int64_t from, int64_t to,
                            real sum[ROWS][CHANNELS])
{
    for (int q = 0; q < ROWS; q++)
        for (int d = 0; d < CHANNELS; d++) sum[q][d] = 0;
    for (int64_t i = to; i >= from; i--) {
        const real *k = lags + i * CHANNELS, *row = x + (to - i) * CHANNELS;
        for (int q = 0; q < ROWS; q++)
#pragma omp simd
            for (int d = 0; d < CHANNELS; d++) sum[q][d] += k[d] * row[q * CHANNELS + d];
    }
}

/* Convolves one block of channels of one example. */
static inline void convolve(const lra_call *c, int64_t b, int64_t d0, int64_t limit, real *own)
{
    const long_conv_args *a = c->y->args;
    int64_t T = c->y->shape.d[1], D = c->y->shape.d[2], L = lra_width(c->y->src[2]);
    int64_t channels = D - d0 < CHANNELS ? D - d0 : CHANNELS;
    int64_t tokens = a->has_length ? ((const int32_t *)c->in[4])[b] : T;
    const real *k = (const real *)c->in[2] + d0 * L;
    const elem *x = (const elem *)c->in[1] + b * T * D + d0;
    elem *y = (elem *)c->out + b * T * D + d0;
    real *lags = own, *rows = own + CHANNELS * 2 * T, sum[ROWS][CHANNELS];
    read_lags(k, a->two_sided ? k + D * L : NULL, L, channels, limit, lags);
    read_rows(x, tokens, T, D, channels, limit, rows);
    for (int64_t t0 = 0; t0 < T; t0 += ROWS) {
        sum_rows(lags, rows + t0 * CHANNELS, a->two_sided ? 0 : limit, 2 * limit, sum);
        for (int64_t t = t0; t < t0 + ROWS && t < T; t++)
            for (int64_t d = 0; d < channels; d++)
                y[t * D + d] = t < tokens ? e_store(sum[t - t0][d]) : 0;
    }
}

/* Sources: y without a limit, x, kernel, limit, [length]. Scratch: one segment per thread. */
LRA_BODY(long_conv_windowed)
{
    int64_t B = c->y->shape.d[0], T = c->y->shape.d[1], D = c->y->shape.d[2];
    int64_t limit = *(const int32_t *)c->in[3], blocks = (D + CHANNELS - 1) / CHANNELS;
    if (limit >= T - 1) {
        if (c->out != c->in[0]) memcpy(c->out, c->in[0], (size_t)(B * T * D) * sizeof(elem));
        return;
    }
    if (limit < 0) limit = 0;
#pragma omp parallel for num_threads(c->n_threads) schedule(static)
    for (int64_t i = 0; i < B * blocks; i++)
        convolve(c, i / blocks, i % blocks * CHANNELS, limit,
                 (real *)c->scratch + omp_get_thread_num() * own_size(T));
}

#if LRA_RECORD
LRA_DECLARE(long_conv_windowed)

static int shape(lra_tensor *y, lra_err *e)
{
    const long_conv_args *a = y->args;
    const lra_tensor *x = y->src[1];
    if (lra_expect_shape(y->src[0], x->shape, "y without a distance limit", e) != 0)
        return LRA_FAILED;
    if (y->src[0]->type != x->type) return lra_fail(e, "y without a distance limit is not elem");
    if (lra_expect_limit(y->src[3], e) != 0) return LRA_FAILED;
    y->shape = x->shape;
    y->type = x->type;
    return lra_expect_length(a->has_length ? y->src[4] : NULL, x->shape.d[0], e);
}

static void grad(lra_tensor *y, lra_tensor *dy, lra_tensor **dx)
{
    (void)y;
    dx[0] = dy;
}

/* Counts half of all lags, because the limit is known only when the graph runs. */
static double flops(const lra_tensor *y)
{
    const long_conv_args *a = y->args;
    return (double)lra_elements(y) * (double)y->shape.d[1] * (a->two_sided ? 2 : 1);
}

static int64_t scratch(const lra_tensor *y, int n_threads)
{
    return n_threads * own_size(y->shape.d[1]) * (int64_t)lra_type_size(lra_real(y->graph));
}

/* Applies the distance mask to both directions of a kernel (D,L) or (2,D,L). */
static lra_tensor *cut(lra_tensor *kernel, lra_tensor *limit)
{
    if (kernel->shape.n != 3) return lra_distance_mask(kernel, limit, 1, 0, 1);
    lra_tensor *side[] = {lra_distance_mask(lra_slice(kernel, 0, 0, 1), limit, 2, 0, 1),
                          lra_distance_mask(lra_slice(kernel, 0, 1, 1), limit, 2, -1, 1)};
    return lra_concat(2, side, 0);
}

lra_tensor *lra_long_conv_windowed(lra_tensor *x, lra_tensor *kernel, lra_tensor *limit,
                                   lra_tensor *length)
{
    const long_conv_args a = {kernel->shape.n == 3, length != NULL, false, 0};
    kernel = cut(kernel, limit);
    lra_tensor *src[] = {lra_long_conv_unlimited(x, kernel, length), x, kernel, limit, length};
    return lra_node(&lra_op_long_conv_windowed, x->graph, length ? 5 : 4, src, &a, sizeof a);
}

/* Test samples: limits below and above the length; one and two directions; kernels that are shorter
 * and longer than the sequence; more channels than a block. */
static lra_tensor *sample(lra_graph *g, int i)
{
    static const int64_t size[][3] = {{9, 3, 5}, {7, 3, 11}, {6, 19, 6}, {1, 2, 3}, {14, 2, 14}};
    if (i > 9) return NULL;
    const int64_t *s = size[i / 2];
    lra_shape k = i % 2 ? LRA_SHAPE(2, s[1], s[2]) : LRA_SHAPE(s[1], s[2]);
    lra_tensor *x = lra_sample_input(g, "x", "normal", LRA_SHAPE(2, s[0], s[1]));
    lra_tensor *kernel = lra_cast(lra_sample_input(g, "kernel", "normal", k), lra_real(g));
    lra_tensor *limit = lra_sample_input(g, "limit", "index:9", LRA_SHAPE(1));
    char fill[16];
    snprintf(fill, sizeof fill, "length:%d", (int)s[0]);
    lra_tensor *length = i / 2 % 2 ? lra_sample_input(g, "length", fill, LRA_SHAPE(2)) : NULL;
    return lra_long_conv_windowed(x, kernel, limit, length);
}

const lra_op lra_op_long_conv_windowed = {.name = "long_conv_windowed",
                                          .flags = LRA_INPLACE,
                                          .shape = shape,
                                          .grad = grad,
                                          .flops = flops,
                                          .scratch = scratch,
                                          .cuda_scratch = lra_no_scratch,
                                          .cpu = LRA_BODIES(long_conv_windowed),
                                          .sample = sample};
#endif
