/* Convolution with kernels as long as the sequence, channel by channel, through Fourier transforms:
 *   y[t] = sum_(j >= 0) k[j] x[t-j]  (+ sum_(j >= 0) k'[j] x[t+1+j] with the second kernel of a
 *     bidirectional convolution)
 * x and y are zero for t >= length; a kernel of L values is zero after them.
 *   y = F^-1(F(x) F(k)),  dx = F^-1(F(dy) conj F(k)),  dk = F^-1(sum_b conj F(x_b) F(dy_b))
 * The transforms are long enough that nothing wraps around. In the transformed kernel, lag j is at
 * index j, and lag -(1+j) at index n-1-j.
 * Channels are SIMD lanes (fft_lanes_template.h), so that x (B,T,D) is read in place. Two examples
 * are the real and the imaginary part of one transform. They stay separate, because a kernel is
 * real; in dk the real part is the sum over both.
 * Source: S4 (Gu et al. 2022) combines its two directions in this way. */
#include <omp.h>
#include <stdio.h>

#include "kernels/ops/longconv/fft_lanes_template.h"
#include "kernels/ops/longconv/long_conv.h"
#include "kernels/ops/transpose_template.h"

/* MAX_LANES: lanes of the widest instruction set, so that the size of scratch is the same for all.
 * AHEAD: number of rows to prefetch. */
enum { MAX_LANES = 16, AHEAD = 32 };

/* points_of(): number of complex numbers of a transform. numbers_size(): scratch in reals for the
 * transforms of one block of lanes. */
static inline int64_t points_of(int64_t T, int64_t L)
{
    int64_t least = T + lags_of(T, L), n = FFT_LEAST;
    while (n < least) n *= 2;
    return n;
}
static inline int64_t numbers_size(int64_t n)
{
    return 2 * MAX_LANES * n;
}

/* Two examples that are read or written together: w channels from column d0 on. Tokens from
 * `length` on are zero. */
typedef struct {
    const elem *in[2];
    elem *out[2];
    int64_t length[2], T, D, w;
} pair;

static inline pair pair_of(const void *x, void *y, const int32_t *length, int64_t b, int64_t d0,
                           int64_t w, const lra_shape *s)
{
    pair p = {.T = s->d[1], .D = s->d[2], .w = w};
    for (int64_t k = 0; k < 2 && b + k < s->d[0]; k++) {
        int64_t from = (b + k) * p.T * p.D + d0;
        p.in[k] = x ? (const elem *)x + from : NULL;
        p.out[k] = y ? (elem *)y + from : NULL;
        p.length[k] = length ? length[b + k] : p.T;
    }
    return p;
}

/* Token t of both examples; zero after the end of each. */
LRA_ROW_FN fft_number read_token(const pair *p, int64_t t, int64_t w)
{
    fft_number z = {(lanes){0}, (lanes){0}};
    if (t < p->length[0]) z.re = lanes_load(p->in[0], LRA_ELEM, t * p->D, w);
    if (t < p->length[1]) z.im = lanes_load(p->in[1], LRA_ELEM, t * p->D, w);
    return z;
}
LRA_ROW_FN void write_one(const pair *p, int k, int64_t t, int64_t w, lanes v)
{
    if (t >= p->length[k]) v = (lanes){0};
    lanes_store(p->out[k], LRA_ELEM, t * p->D, w, v);
}
LRA_ROW_FN void write_token(const pair *p, int64_t t, int64_t w, fft_number z)
{
    if (t >= p->T) return;
    write_one(p, 0, t, w, z.re);
    if (p->out[1]) write_one(p, 1, t, w, z.im);
}

/* Prefetches token t into the L2 cache. The L1 cache is avoided, because rows that are a power of
 * two apart map to few of its sets. */
LRA_ROW_FN void ask_token(const pair *p, int64_t t)
{
    if (t < p->length[0]) __builtin_prefetch(p->in[0] + t * p->D, 0, 1);
    if (t < p->length[1]) __builtin_prefetch(p->in[1] + t * p->D, 0, 1);
}

/* read_places(): first stage of the transform, which reads the tokens. write_places(): last stage
 * of the inverse, which writes them. places: number of the 8 inputs of a butterfly that can contain
 * tokens; 4 if the tokens end before the middle of the transform. */
LRA_ROW_FN void read_places(const pair *p, const fft_plan *plan, int64_t w, const int places,
                            fft_number *z)
{
    const int64_t q = plan->n / 8;
    for (int64_t i = 0; i < q; i++) {
        fft_number v[8];
        LANES_UNROLL for (int k = 0; k < places; k++) v[k] = read_token(p, i + k * q, w);
        LANES_UNROLL for (int k = 0; k < places; k++) ask_token(p, i + AHEAD + k * q);
        fft_split(v, plan->root[0] + FFT_ROOTS * i, places < 8);
        fft_give(z + i, q, v);
    }
}
LRA_ROW_FN void write_places(const pair *p, const fft_plan *plan, int64_t w, const int places,
                             const fft_number *z)
{
    const int64_t q = plan->n / 8;
    for (int64_t i = 0; i < q; i++) {
        fft_number v[8];
        fft_take(z + i, q, v);
        fft_join(v, plan->root[0] + FFT_ROOTS * i, places < 8);
        LANES_UNROLL for (int k = 0; k < places; k++) write_token(p, i + k * q, w, v[k]);
    }
}
static inline void read_pair(const pair *p, const fft_plan *plan, fft_number *z)
{
    if (p->w == LANES && p->T <= plan->n / 2)
        read_places(p, plan, LANES, 4, z);
    else
        read_places(p, plan, p->w, 8, z);
}
static inline void write_pair(const pair *p, const fft_plan *plan, const fft_number *z)
{
    if (p->w == LANES && p->T <= plan->n / 2)
        write_places(p, plan, LANES, 4, z);
    else
        write_places(p, plan, p->w, 8, z);
}

/* Transposes kernel values: lane d of r[j] is lag j of channel d, x[d step + j], for n lags of w
 * channels; the other numbers are zero. */
static inline void read_lags(const real *x, int64_t step, int64_t w, int64_t n, lanes *r)
{
    real part[LANES][LANES] = {{0}};
#if LANES_TRANSPOSED
    if (w == LANES && n == LANES) {
        for (int64_t d = 0; d < LANES; d++) r[d] = lanes_read(x + d * step);
        lanes_transpose(r);
        return;
    }
#endif
    for (int64_t d = 0; d < w; d++)
        for (int64_t j = 0; j < n; j++) part[j][d] = x[d * step + j];
    for (int64_t j = 0; j < LANES; j++) r[j] = lanes_read(part[j]);
}
static inline void write_lags(real *x, int64_t step, int64_t w, int64_t n, lanes *r)
{
    real part[LANES][LANES];
#if LANES_TRANSPOSED
    if (w == LANES && n == LANES) {
        lanes_transpose(r);
        for (int64_t d = 0; d < LANES; d++) lanes_write(x + d * step, r[d]);
        return;
    }
#endif
    for (int64_t j = 0; j < LANES; j++) lanes_write(part[j], r[j]);
    for (int64_t d = 0; d < w; d++)
        for (int64_t j = 0; j < n; j++) x[d * step + j] = part[j][d];
}
static inline int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Transforms the kernels of w channels for T tokens, with the factor 1/n of the inverse included.
 * k: causal kernels; behind: anticausal kernels. Nullable: behind */
static inline void read_kernels(const real *k, const real *behind, int64_t w, int64_t T, int64_t L,
                                const fft_plan *plan, fft_number *z)
{
    const int64_t n = plan->n, lags = lags_of(T, L), others = behind ? back_lags_of(T, L) : 0;
    const real one = 1 / (real)n;
    lanes r[LANES];
    for (int64_t t = 0; t < n; t++) z[t] = (fft_number){(lanes){0}, (lanes){0}};
    for (int64_t j = 0; j < lags; j += LANES) {
        read_lags(k + j, L, w, smaller(LANES, lags - j), r);
        for (int64_t i = 0; i < smaller(LANES, lags - j); i++) z[j + i].re = r[i] * one;
    }
    for (int64_t j = 0; j < others; j += LANES) {
        read_lags(behind + j, L, w, smaller(LANES, others - j), r);
        for (int64_t i = 0; i < smaller(LANES, others - j); i++) z[n - 1 - j - i].re = r[i] * one;
    }
    fft_forth_from(plan, 0, n, z);
}
/* Computes the gradients of the causal kernels (k) and anticausal kernels (behind): the inverse
 * transform of the spectrum z, which is a product summed over examples. They are zero for lags that
 * have no effect at T tokens. Nullable: behind */
static inline void write_kernels(real *k, real *behind, int64_t w, int64_t T, int64_t L,
                                 const fft_plan *plan, fft_number *z)
{
    const int64_t n = plan->n, lags = lags_of(T, L), others = back_lags_of(T, L);
    const real one = 1 / (real)n;
    lanes r[LANES];
    fft_back_from(plan, 0, n, z);
    for (int64_t j = 0; j < L; j += LANES) {
        for (int64_t i = 0; i < LANES; i++) r[i] = j + i < lags ? z[j + i].re * one : (lanes){0};
        write_lags(k + j, L, w, smaller(LANES, L - j), r);
    }
    for (int64_t j = 0; j < L && behind; j += LANES) {
        for (int64_t i = 0; i < LANES; i++)
            r[i] = j + i < others ? z[n - 1 - j - i].re * one : (lanes){0};
        write_lags(behind + j, L, w, smaller(LANES, L - j), r);
    }
}

/* Transforms x, multiplies it by k (or conj k), and transforms it back: n numbers in registers.
 * multiply_from() does this for any n, with the stages of index `at` and higher. */
LRA_ROW_FN void multiply_leaf(const int n, fft_number *x, const fft_number *k, const bool conjugate)
{
    fft_number v[8];
    for (int i = 0; i < n; i++) v[i] = x[i];
    fft_leaf_forth(v, n);
    for (int i = 0; i < n; i++) v[i] = fft_product(v[i], k[i], conjugate);
    fft_leaf_back(v, n);
    for (int i = 0; i < n; i++) x[i] = v[i];
}
static void multiply_from(const fft_plan *p, int at, int64_t n, fft_number *x, const fft_number *k,
                          bool conjugate)
{
    int64_t q = n / 8;
    if (n <= 8 && conjugate) {
        FFT_LEAF(n, multiply_leaf, x, k, true);
    } else if (n <= 8) {
        FFT_LEAF(n, multiply_leaf, x, k, false);
    } else {
        fft_stage(x, q, p->root[at], false);
        for (int m = 0; m < 8; m++) multiply_from(p, at + 1, q, x + m * q, k + m * q, conjugate);
        fft_stage(x, q, p->root[at], true);
    }
}

/* Convolves one block of channels of all examples. */
static inline void convolve(const lra_call *c, int64_t d0, const fft_plan *plan, real *own)
{
    const long_conv_args *a = c->y->args;
    const lra_shape *s = &c->y->shape;
    int64_t T = s->d[1], D = s->d[2], L = lra_width(c->y->src[1]),
            w = D - d0 < LANES ? D - d0 : LANES;
    const int32_t *length = a->has_length ? c->in[2] : NULL;
    const real *kernel = (const real *)c->in[1] + d0 * L;
    fft_number *k = (fft_number *)(void *)own;
    fft_number *x = (fft_number *)(void *)(own + numbers_size(plan->n));
    read_kernels(kernel, a->two_sided ? kernel + D * L : NULL, w, T, L, plan, k);
    for (int64_t b = 0; b < s->d[0]; b += 2) {
        pair p = pair_of(c->in[0], c->out, length, b, d0, w, s);
        read_pair(&p, plan, x);
        for (int64_t i = 0; i < plan->n; i += plan->n / 8)
            multiply_from(plan, 1, plan->n / 8, x + i, k + i, a->back);
        write_pair(&p, plan, x);
    }
}

/* Sources: x (dy in the backward pass), kernel, [length]. Scratch: one segment per thread. */
LRA_BODY(long_conv)
{
    int64_t T = c->y->shape.d[1], D = c->y->shape.d[2];
    const fft_plan plan = fft_plan_of(points_of(T, lra_width(c->y->src[1])));
#pragma omp parallel for num_threads(c->n_threads) schedule(static)
    for (int64_t d0 = 0; d0 < D; d0 += LANES)
        convolve(c, d0, &plan,
                 (real *)c->scratch + omp_get_thread_num() * 2 * numbers_size(plan.n));
}

/* sum += F(dy) conj F(x); with `first`: sum = F(dy) conj F(x). add_from() transforms n numbers,
 * from the stage of index `at` on. */
LRA_ROW_FN void add_leaf(const int n, const fft_number *x, const fft_number *dy, fft_number *sum,
                         const bool first)
{
    fft_number v[8], w[8];
    for (int i = 0; i < n; i++) v[i] = x[i], w[i] = dy[i];
    fft_leaf_forth(v, n), fft_leaf_forth(w, n);
    for (int i = 0; i < n; i++) {
        fft_number z = fft_product(w[i], v[i], true);
        sum[i] = first ? z : fft_plus(sum[i], z);
    }
}
static void add_from(const fft_plan *p, int at, int64_t n, fft_number *x, fft_number *dy,
                     fft_number *sum, bool first)
{
    int64_t q = n / 8;
    if (n <= 8 && first) {
        FFT_LEAF(n, add_leaf, x, dy, sum, true);
    } else if (n <= 8) {
        FFT_LEAF(n, add_leaf, x, dy, sum, false);
    } else {
        fft_stage(x, q, p->root[at], false), fft_stage(dy, q, p->root[at], false);
        for (int m = 0; m < 8; m++)
            add_from(p, at + 1, q, x + m * q, dy + m * q, sum + m * q, first);
    }
}

/* Gradient of the kernels for one block of channels: the real part of the sum of conj F(x) F(dy)
 * over pairs of examples. */
static inline void correlate(const lra_call *c, int64_t d0, const fft_plan *plan, real *own)
{
    const long_conv_args *a = c->y->args;
    const lra_shape *s = &c->y->src[0]->shape;
    int64_t T = s->d[1], D = s->d[2], L = a->L, n = plan->n, w = D - d0 < LANES ? D - d0 : LANES;
    const int32_t *length = a->has_length ? c->in[2] : NULL;
    fft_number *x = (fft_number *)(void *)own;
    fft_number *dy = (fft_number *)(void *)(own + numbers_size(n));
    fft_number *sum = (fft_number *)(void *)(own + 2 * numbers_size(n));
    for (int64_t b = 0; b < s->d[0]; b += 2) {
        pair p = pair_of(c->in[0], NULL, length, b, d0, w, s);
        pair q = pair_of(c->in[1], NULL, length, b, d0, w, s);
        read_pair(&p, plan, x);
        read_pair(&q, plan, dy);
        for (int64_t i = 0; i < n; i += n / 8)
            add_from(plan, 1, n / 8, x + i, dy + i, sum + i, b == 0);
    }
    real *k = (real *)c->out + d0 * L;
    write_kernels(k, a->two_sided ? k + D * L : NULL, w, T, L, plan, sum);
}

/* Sources: x, dy, [length]. Scratch: one segment per thread. */
LRA_BODY(long_conv_dk)
{
    const long_conv_args *a = c->y->args;
    int64_t T = c->y->src[0]->shape.d[1], D = c->y->src[0]->shape.d[2];
    const fft_plan plan = fft_plan_of(points_of(T, a->L));
#pragma omp parallel for num_threads(c->n_threads) schedule(static)
    for (int64_t d0 = 0; d0 < D; d0 += LANES)
        correlate(c, d0, &plan,
                  (real *)c->scratch + omp_get_thread_num() * 3 * numbers_size(plan.n));
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

/* FLOP: 2.5 n log2 n for a real transform, 6 for a complex product. */
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
    int64_t n = points_of(y->shape.d[1], lra_width(y->src[1]));
    return n_threads * 2 * numbers_size(n) * (int64_t)lra_type_size(lra_real(y->graph));
}
static int64_t dk_scratch(const lra_tensor *y, int n_threads)
{
    const long_conv_args *a = y->args;
    int64_t n = points_of(y->src[0]->shape.d[1], a->L);
    return n_threads * 3 * numbers_size(n) * (int64_t)lra_type_size(lra_real(y->graph));
}

/* Scratch of the CUDA body in bytes. Transforms in shared memory need roots, spectra and the rows
 * of some examples. Otherwise: rows of the kernel and of some examples. */
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

lra_tensor *lra_long_conv_unlimited(lra_tensor *x, lra_tensor *kernel, lra_tensor *length)
{
    long_conv_args a = {kernel->shape.n == 3, length != NULL, false, 0};
    lra_tensor *src[] = {x, kernel, length};
    return lra_node(&lra_op_long_conv, x->graph, length ? 3 : 2, src, &a, sizeof a);
}

lra_tensor *lra_long_conv(lra_tensor *x, lra_tensor *kernel, lra_tensor *length)
{
    lra_tensor *limit = lra_next_limit(x->graph);
    return limit ? lra_long_conv_windowed(x, kernel, limit, length)
                 : lra_long_conv_unlimited(x, kernel, length);
}

/* Test samples: kernels that are shorter and longer than the sequence, one and two directions, more
 * channels than a block. */
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
