/* Convolution with kernels as long as the sequence, channel by channel, through real Fourier transforms:
 *   y[t] = sum_(j >= 0) k[j] x[t-j]  (+ sum_(j >= 0) k'[j] x[t+1+j] with the second kernel of a bidirectional one)
 * x and y are zero for t >= length; a kernel of L values is zero beyond them.
 *   y = F^-1(F(x) F(k)),  dx = F^-1(F(dy) conj F(k)),  dk = F^-1(sum_b conj F(x_b) F(dy_b))
 * of a size at which nothing wraps around: lag j stands at j, lag -(1+j) at n-1-j.
 * Source: S4 (Gu et al. 2022) composes its two directions so. */
#include <omp.h>
#include <stdio.h>

#include "kernels/ops/long_conv.h"
#include "kernels/ops/typed.h"

#if LRA_PASS == 64
#define fft_forth lra_fft_f64
#define fft_back  lra_fft_back_f64
#else
#define fft_forth lra_fft_f32
#define fft_back  lra_fft_back_f32
#endif

enum { CHANNELS = 8 }; /* of a block, whose rows are read together */

/* Channels [d0, d0 + n) of one example as rows of reals, zero from `length` to n_fft. */
static inline void read_channels(const elem *x, int64_t length, int64_t D, int64_t n, int64_t n_fft,
                                 real *to)
{
    int64_t row = lra_fft_row(n_fft);
    for (int64_t t = 0; t < length; t++)
        for (int64_t d = 0; d < n; d++) to[d * row + t] = e_load(x[t * D + d]);
    for (int64_t d = 0; d < n; d++) {
        for (int64_t t = length; t < n_fft; t++) to[d * row + t] = 0;
        fft_forth(n_fft, to + d * row);
    }
}

/* The spectrum of a channel's kernels for T tokens, with the 1/n of the way back. */
static inline void read_kernel(const real *k, const real *behind, int64_t T, int64_t L, int64_t n,
                               real *to)
{
    const real one = 1 / (real)n;
    for (int64_t t = 0; t < n; t++) to[t] = 0;
    for (int64_t j = 0; j < lags_of(T, L); j++) to[j] = k[j] * one;
    for (int64_t j = 0; behind && j < behind_of(T, L); j++) to[n - 1 - j] = behind[j] * one;
    fft_forth(n, to);
}

/* x = x k, or x conj(k) */
static inline void multiply(int64_t n, real *x, const real *k, bool conjugate)
{
    const real sign = conjugate ? -1 : 1;
#pragma omp simd
    for (int64_t i = 0; i <= n / 2; i++) {
        real a = x[2 * i], b = x[2 * i + 1], c = k[2 * i], d = sign * k[2 * i + 1];
        x[2 * i] = a * c - b * d;
        x[2 * i + 1] = a * d + b * c;
    }
}

/* One block of channels of all examples.  own: 2 CHANNELS rows. */
static inline void convolve(const lra_call *c, int64_t d0, int64_t channels, int64_t n, real *own)
{
    const long_conv_args *a = c->y->args;
    int64_t B = c->y->shape.d[0], T = c->y->shape.d[1], D = c->y->shape.d[2];
    int64_t L = lra_width(c->y->src[1]), row = lra_fft_row(n);
    const int32_t *length = a->has_length ? c->in[2] : NULL;
    real *k = own, *x = own + CHANNELS * row;
    for (int64_t d = 0; d < channels; d++) {
        const real *kernel = (const real *)c->in[1] + (d0 + d) * L;
        read_kernel(kernel, a->two_sided ? kernel + D * L : NULL, T, L, n, k + d * row);
    }
    for (int64_t b = 0; b < B; b++) {
        int64_t tokens = length ? length[b] : T;
        elem *y = (elem *)c->out + b * T * D + d0;
        read_channels((const elem *)c->in[0] + b * T * D + d0, tokens, D, channels, n, x);
        for (int64_t d = 0; d < channels; d++) {
            multiply(n, x + d * row, k + d * row, a->back);
            fft_back(n, x + d * row);
        }
        for (int64_t t = 0; t < T; t++)
            for (int64_t d = 0; d < channels; d++)
                y[t * D + d] = t < tokens ? e_store(x[d * row + t]) : 0;
    }
}

/* sources: x, or dy for the way back; kernel; [length].  scratch: of every thread */
LRA_BODY(long_conv)
{
    int64_t T = c->y->shape.d[1], D = c->y->shape.d[2];
    int64_t n = size_of(T, lra_width(c->y->src[1]));
#pragma omp parallel for num_threads(c->n_threads) schedule(static)
    for (int64_t d0 = 0; d0 < D; d0 += CHANNELS) {
        real *own = (real *)c->scratch + omp_get_thread_num() * 2 * CHANNELS * lra_fft_row(n);
        convolve(c, d0, D - d0 < CHANNELS ? D - d0 : CHANNELS, n, own);
    }
}

/* One block of channels: sum over the examples of conj F(x) F(dy).  own: 3 CHANNELS rows. */
static inline void correlate(const lra_call *c, int64_t d0, int64_t channels, int64_t n, real *own)
{
    const long_conv_args *a = c->y->args;
    const lra_shape *s = &c->y->src[0]->shape;
    int64_t B = s->d[0], T = s->d[1], D = s->d[2], L = a->L;
    int64_t row = lra_fft_row(n), from = d0;
    const int32_t *length = a->has_length ? c->in[2] : NULL;
    real *x = own, *dy = x + CHANNELS * row, *sum = dy + CHANNELS * row;
    for (int64_t i = 0; i < channels * row; i++) sum[i] = 0;
    for (int64_t b = 0; b < B; b++, from += T * D) {
        int64_t tokens = length ? length[b] : T;
        read_channels((const elem *)c->in[0] + from, tokens, D, channels, n, x);
        read_channels((const elem *)c->in[1] + from, tokens, D, channels, n, dy);
        for (int64_t d = 0; d < channels; d++) {
            multiply(n, dy + d * row, x + d * row, true);
            for (int64_t i = 0; i < n + 2; i++) sum[d * row + i] += dy[d * row + i];
        }
    }
    for (int64_t d = 0; d < channels; d++) {
        real *k = (real *)c->out + (d0 + d) * L, *behind = a->two_sided ? k + D * L : NULL;
        const real *at = sum + d * row, one = 1 / (real)n;
        fft_back(n, sum + d * row);
        for (int64_t j = 0; j < L; j++) k[j] = j < lags_of(T, L) ? at[j] * one : 0;
        for (int64_t j = 0; behind && j < L; j++)
            behind[j] = j < behind_of(T, L) ? at[n - 1 - j] * one : 0;
    }
}

/* sources: x, dy, [length]; scratch: of every thread */
LRA_BODY(long_conv_dk)
{
    const long_conv_args *a = c->y->args;
    int64_t T = c->y->src[0]->shape.d[1], D = c->y->src[0]->shape.d[2], n = size_of(T, a->L);
#pragma omp parallel for num_threads(c->n_threads) schedule(static)
    for (int64_t d0 = 0; d0 < D; d0 += CHANNELS) {
        real *own = (real *)c->scratch + omp_get_thread_num() * 3 * CHANNELS * lra_fft_row(n);
        correlate(c, d0, D - d0 < CHANNELS ? D - d0 : CHANNELS, n, own);
    }
}

#if LRA_RECORD
LRA_DECLARE(long_conv)
LRA_DECLARE(long_conv_dk)

static int check_x(const lra_tensor *y, const lra_tensor *x, lra_err *e)
{
    const long_conv_args *a = y->args;
    if (x->type != lra_elem(y->graph)) return lra_fail(e, "the source must be elem");
    if (x->shape.n != 3) return lra_fail(e, "the source has rank %d, expected (B,T,D)", x->shape.n);
    return lra_expect_length(a->has_length ? y->src[2] : NULL, x->shape.d[0], e);
}

static int shape(lra_tensor *y, lra_err *e)
{
    const long_conv_args *a = y->args;
    const lra_tensor *x = y->src[0], *k = y->src[1];
    if (check_x(y, x, e) != 0) return LRA_FAILED;
    int64_t D = x->shape.d[2], L = k->shape.n ? lra_width(k) : 0;
    if (k->type != lra_real(y->graph)) return lra_fail(e, "the kernel must be real");
    if (lra_expect_shape(k, a->two_sided ? LRA_SHAPE(2, D, L) : LRA_SHAPE(D, L), "the kernel", e) !=
        0)
        return LRA_FAILED;
    y->shape = x->shape;
    y->type = x->type;
    return 0;
}

static int dk_shape(lra_tensor *y, lra_err *e)
{
    const long_conv_args *a = y->args;
    if (check_x(y, y->src[0], e) != 0) return LRA_FAILED;
    int64_t D = y->src[0]->shape.d[2];
    if (lra_expect_shape(y->src[1], y->src[0]->shape, "dy", e) != 0) return LRA_FAILED;
    y->shape = a->two_sided ? LRA_SHAPE(2, D, a->L) : LRA_SHAPE(D, a->L);
    y->type = lra_real(y->graph);
    return 0;
}

static void grad(lra_tensor *y, lra_tensor *dy, lra_tensor **dx)
{
    long_conv_args a = *(const long_conv_args *)y->args;
    lra_tensor *length = a.has_length ? y->src[2] : NULL;
    lra_tensor *for_x[] = {dy, y->src[1], length}, *for_k[] = {y->src[0], dy, length};
    a.L = lra_width(y->src[1]);
    dx[1] = lra_node(&lra_op_long_conv_dk, y->graph, length ? 3 : 2, for_k, &a, sizeof a);
    a.back = true;
    dx[0] = lra_node(&lra_op_long_conv_dx, y->graph, length ? 3 : 2, for_x, &a, sizeof a);
}

/* 2.5 n log2 n for a real transform, 6 for a complex product. */
static double transforms(const lra_tensor *x, int64_t L)
{
    double n = (double)size_of(x->shape.d[1], L), rows = (double)(x->shape.d[0] * x->shape.d[2]);
    return (2 * rows + (double)x->shape.d[2]) * 2.5 * n * log2(n) + 3 * n * rows;
}
static double flops(const lra_tensor *y)
{
    return transforms(y, lra_width(y->src[1]));
}
static double dk_flops(const lra_tensor *y)
{
    return transforms(y->src[0], ((const long_conv_args *)y->args)->L);
}

static int64_t scratch(const lra_tensor *y, int n_threads)
{
    int64_t n = size_of(y->shape.d[1], lra_width(y->src[1]));
    return n_threads * 2 * CHANNELS * lra_fft_row(n) * (int64_t)lra_type_size(lra_real(y->graph));
}
static int64_t dk_scratch(const lra_tensor *y, int n_threads)
{
    const long_conv_args *a = y->args;
    int64_t n = size_of(y->src[0]->shape.d[1], a->L);
    return n_threads * 3 * CHANNELS * lra_fft_row(n) * (int64_t)lra_type_size(lra_real(y->graph));
}

/* On a GPU within shared memory: roots, spectra, some examples; else rows of the kernel and of some examples. */
static int64_t cuda_scratch_of(const lra_shape *x, int64_t L, int arrays)
{
    int64_t B = x->d[0], T = x->d[1], D = x->d[2], points = long_conv_points(T, L);
    int64_t n = size_of(T, L), parts = arrays == 2 ? long_conv_parts(B, D) : 1;
    int64_t rows = D * (1 + arrays * long_conv_examples(B, D, n, arrays)) * lra_fft_row(n);
    int64_t pairs = arrays * long_conv_pairs(B, D, T, arrays) * 2 * D * T;
    if (!points) return rows * (int64_t)sizeof(float);
    return long_conv_spectra(1 + parts * D, points) + pairs * (int64_t)sizeof(float);
}
static int64_t cuda_scratch(const lra_tensor *y)
{
    return cuda_scratch_of(&y->shape, lra_width(y->src[1]), 1);
}
static int64_t dk_cuda_scratch(const lra_tensor *y)
{
    return cuda_scratch_of(&y->src[0]->shape, ((const long_conv_args *)y->args)->L, 2);
}

lra_tensor *lra_long_conv_whole(lra_tensor *x, lra_tensor *kernel, lra_tensor *length)
{
    long_conv_args a = {kernel->shape.n == 3, length != NULL, false, 0};
    lra_tensor *src[] = {x, kernel, length};
    return lra_node(&lra_op_long_conv, x->graph, length ? 3 : 2, src, &a, sizeof a);
}

lra_tensor *lra_long_conv(lra_tensor *x, lra_tensor *kernel, lra_tensor *length)
{
    lra_tensor *limit = lra_next_limit(x->graph);
    return limit ? lra_long_conv_near(x, kernel, limit, length)
                 : lra_long_conv_whole(x, kernel, length);
}

/* Kernels shorter than the sequence and longer, one and two directions, more channels than a block. */
static lra_tensor *sample(lra_graph *g, int i)
{
    static const int64_t size[][3] = {{7, 3, 5}, {7, 3, 9}, {6, 10, 6}, {1, 2, 3}};
    if (i > 7) return NULL;
    const int64_t *s = size[i / 2];
    lra_shape k = i % 2 ? LRA_SHAPE(2, s[1], s[2]) : LRA_SHAPE(s[1], s[2]);
    lra_tensor *x = lra_sample_input(g, "x", "normal", LRA_SHAPE(2, s[0], s[1]));
    lra_tensor *kernel = lra_cast(lra_sample_input(g, "kernel", "normal", k), lra_real(g));
    char fill[16];
    snprintf(fill, sizeof fill, "length:%d", (int)s[0]);
    lra_tensor *length = i / 2 % 2 ? lra_sample_input(g, "length", fill, LRA_SHAPE(2)) : NULL;
    return lra_long_conv(x, kernel, length);
}
static lra_tensor *dx_sample(lra_graph *g, int i)
{
    if (i > 1) return NULL;
    const long_conv_args a = {i == 1, false, true, 5};
    lra_shape k = i ? LRA_SHAPE(2, 3, 5) : LRA_SHAPE(3, 5);
    lra_tensor *src[] = {lra_sample_input(g, "dy", "normal", LRA_SHAPE(2, 7, 3)),
                         lra_cast(lra_sample_input(g, "kernel", "normal", k), lra_real(g))};
    return lra_node(&lra_op_long_conv_dx, g, 2, src, &a, sizeof a);
}
static lra_tensor *dk_sample(lra_graph *g, int i)
{
    if (i > 1) return NULL;
    const long_conv_args a = {i == 1, false, false, 5};
    lra_tensor *src[] = {lra_sample_input(g, "x", "normal", LRA_SHAPE(2, 7, 3)),
                         lra_sample_input(g, "dy", "normal", LRA_SHAPE(2, 7, 3))};
    return lra_node(&lra_op_long_conv_dk, g, 2, src, &a, sizeof a);
}

const lra_op lra_op_long_conv = {.name = "long_conv",
                                 .shape = shape,
                                 .grad = grad,
                                 .flops = flops,
                                 .scratch = scratch,
                                 .cuda_scratch = cuda_scratch,
                                 .cpu = LRA_BODIES(long_conv),
                                 .sample = sample};
const lra_op lra_op_long_conv_dx = {.name = "long_conv_dx",
                                    .flags = LRA_NOGRAD,
                                    .shape = shape,
                                    .flops = flops,
                                    .scratch = scratch,
                                    .cuda_scratch = cuda_scratch,
                                    .cpu = LRA_BODIES(long_conv),
                                    .sample = dx_sample};
const lra_op lra_op_long_conv_dk = {.name = "long_conv_dk",
                                    .flags = LRA_NOGRAD,
                                    .shape = dk_shape,
                                    .flops = dk_flops,
                                    .scratch = dk_scratch,
                                    .cuda_scratch = dk_cuda_scratch,
                                    .cpu = LRA_BODIES(long_conv_dk),
                                    .sample = dk_sample};
#endif
