/* Long convolution on a GPU within shared memory, for transforms of 1024 to 8192 points.  Two examples of a channel are
 * the real and the imaginary part of one complex signal z: as kernels are real, z * k holds both results.  A block
 * transforms it in place by stages of radix 16 and 8 that leave the spectrum in a shuffled order, multiplies by the
 * kernel's spectrum in the same order, and goes the same way back, so that nothing is ever reordered:
 *   y = F^-1(F(z) F(k)),  dx with conj F(k),  dk = real part of F^-1(sum of F(dz) conj F(z) over the pairs)
 * FLOP: 10 n log2 n + 6 n for two examples; over the bus 2 bytes in and out for a bf16 (rows between the steps stay in
 * the L2 cache); in shared memory 96 bytes a point, which limits it.
 * Source: Cooley & Tukey 1965, decimation in frequency and back (Gentleman & Sande 1966). */
#ifndef LRA_OPS_LONG_CONV_FFT_FN_H
#define LRA_OPS_LONG_CONV_FFT_FN_H

#include "kernels/ops/long_conv_rows_fn.h"

enum { LF_OWN = 16 }; /* numbers of a thread */

typedef struct {
    float re, im;
} lf_complex;

/* ---- transforms of R numbers in registers -------------------------------------------------------------- */

LRA_DEV lf_complex lf_times(lf_complex a, lf_complex b)
{
    return lf_complex{a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

/* v exp(-2 pi i k/16), 0 <= k < 8; of the opposite sign on the way back.  k is known when this is compiled. */
LRA_DEV lf_complex lf_turn(lf_complex v, int k, bool back)
{
    const float cosine[8] = {1, 0.92387953f,  0.70710678f,  0.38268343f,
                             0, -0.38268343f, -0.70710678f, -0.92387953f};
    const float sine[8] = {0, 0.38268343f, 0.70710678f, 0.92387953f,
                           1, 0.92387953f, 0.70710678f, 0.38268343f};
    float s = back ? -sine[k] : sine[k];
    if (k == 0) return v;
    if (k == 4) return back ? lf_complex{-v.im, v.re} : lf_complex{v.im, -v.re};
    return lf_complex{v.re * cosine[k] + v.im * s, v.im * cosine[k] - v.re * s};
}

/* log2 R: stages of radix 2 */
#define LF_BITS(R) ((R) == 16 ? 4 : 3)

/* Frequencies come out in bit-reversed order. */
template <int R> LRA_DEV void lf_forth(lf_complex v[R])
{
    LRA_UNROLL for (int bit = LF_BITS(R) - 1; bit >= 0; bit--)
        LRA_UNROLL for (int n = 0; n < R / 2; n++)
    {
        int half = 1 << bit, i = n & (half - 1), at = 2 * n - i;
        lf_complex a = v[at], b = v[at + half];
        v[at] = lf_complex{a.re + b.re, a.im + b.im};
        v[at + half] = lf_turn(lf_complex{a.re - b.re, a.im - b.im}, 8 * i >> bit, false);
    }
}

/* The way back, R times the numbers. */
template <int R> LRA_DEV void lf_back(lf_complex v[R])
{
    LRA_UNROLL for (int bit = 0; bit < LF_BITS(R); bit++) LRA_UNROLL for (int n = 0; n < R / 2; n++)
    {
        int half = 1 << bit, i = n & (half - 1), at = 2 * n - i;
        lf_complex a = v[at], b = lf_turn(v[at + half], 8 * i >> bit, true);
        v[at] = lf_complex{a.re + b.re, a.im + b.im};
        v[at + half] = lf_complex{a.re - b.re, a.im - b.im};
    }
}

/* Number i, which is frequency k in bit-reversed order, times root^k: bit by bit, for want of registers. */
template <int R> LRA_DEV void lf_twist(lf_complex v[R], lf_complex root)
{
    LRA_UNROLL for (int bit = LF_BITS(R) - 1; bit >= 0; bit--)
    {
        LRA_UNROLL for (int i = 0; i < R; i++) if (i >> bit & 1) v[i] = lf_times(v[i], root);
        root = lf_times(root, root);
    }
}

/* ---- transforms of n numbers in shared memory ----------------------------------------------------------- */

/* A block of n / LF_OWN threads; re and im stand apart, with a gap behind every 32 numbers. */
typedef struct {
    int n;
    float *re, *im;
    const lf_complex *root; /* (n): exp(-2 pi i k/n) */
} lf_space;

static inline size_t lf_shared(int64_t n)
{
    return (size_t)(n + n / 32) * 2 * sizeof(float);
}
LRA_DEV lf_space lf_open(int64_t n, float *shared, const lf_complex *root)
{
    return lf_space{(int)n, shared, shared + n + n / 32, root};
}
LRA_DEV void lf_put(const lf_space *s, int i, lf_complex v)
{
    s->re[i + i / 32] = v.re, s->im[i + i / 32] = v.im;
}
LRA_DEV lf_complex lf_get(const lf_space *s, int i)
{
    return lf_complex{s->re[i + i / 32], s->im[i + i / 32]};
}

/* One stage: R numbers `step` apart, in blocks of R step. */
template <int R, bool BACK> LRA_DEV void lf_stage(const lf_space *s, int step)
{
    __syncthreads();
    for (int g = threadIdx.x; g < s->n / R; g += blockDim.x) {
        int j = g & (step - 1), first = (g - j) * R + j;
        lf_complex v[R], root = s->root[j * (s->n / (R * step))];
        LRA_UNROLL for (int i = 0; i < R; i++) v[i] = lf_get(s, first + i * step);
        if (BACK) {
            root.im = -root.im;
            lf_twist<R>(v, root);
            lf_back<R>(v);
        } else {
            lf_forth<R>(v);
            lf_twist<R>(v, root);
        }
        LRA_UNROLL for (int i = 0; i < R; i++) lf_put(s, first + i * step, v[i]);
    }
}

/* Stages but the last, which has radix 16 and neighbours: radix 16 where their number allows it, then 8. */
LRA_DEV int lf_sixteens(int n)
{
    int bits = 0;
    while (LF_OWN << bits < n) bits++;
    return bits - 3 * ((bits + 3) / 4);
}
LRA_DEV void lf_forth_but_last(const lf_space *s)
{
    int sixteens = lf_sixteens(s->n);
    for (int size = s->n; size > LF_OWN; sixteens--) {
        size /= sixteens > 0 ? 16 : 8;
        if (sixteens > 0)
            lf_stage<16, false>(s, size);
        else
            lf_stage<8, false>(s, size);
    }
    __syncthreads();
}
LRA_DEV void lf_back_but_last(const lf_space *s)
{
    int size = LF_OWN, eights = s->n >> 4 * lf_sixteens(s->n); /* sizes up to this by eights */
    while (size < s->n) {
        bool eight = size < eights;
        if (eight)
            lf_stage<8, true>(s, size);
        else
            lf_stage<16, true>(s, size);
        size *= eight ? 8 : 16;
    }
    __syncthreads();
}

/* The last stage: every thread has 16 neighbours. */
LRA_DEV void lf_take(const lf_space *s, lf_complex v[LF_OWN])
{
    LRA_UNROLL for (int i = 0; i < LF_OWN; i++) v[i] = lf_get(s, threadIdx.x * LF_OWN + i);
    lf_forth<LF_OWN>(v);
}
LRA_DEV void lf_give(const lf_space *s, lf_complex v[LF_OWN])
{
    lf_back<LF_OWN>(v);
    LRA_UNROLL for (int i = 0; i < LF_OWN; i++) lf_put(s, threadIdx.x * LF_OWN + i, v[i]);
}

/* ---- kernels --------------------------------------------------------------------------------------------- */

/* Rows of elem, (examples, D, T), and where spectra stand: (.., D, n). */
typedef struct {
    long_conv_job j;
    int64_t examples;
    const lf_complex *root;
    lf_complex *spectrum;
    elem *x, *dy;
    int64_t parts; /* of the pairs, for the gradient of the kernels */
} lf_job;

static __global__ void lf_root_kernel(int64_t n, lf_complex *root)
{
    for (LC_EACH(i, n)) {
        double angle = -6.283185307179586 * (double)i / (double)n;
        root[i] = lf_complex{(float)cos(angle), (float)sin(angle)};
    }
}

/* Examples from b0 on as rows of channels, zero behind the tokens; and back. */
template <bool BACK>
static __global__ void lf_rows_kernel(long_conv_job j, int64_t b0, const elem *from, elem *to)
{
    LRA_SHARED(elem, tile);
    lc_place p = lc_find(&j, j.T);
    int64_t length = j.length ? j.length[b0 + p.b] : j.T, rows = BACK ? j.D : j.T;
    int64_t columns = BACK ? j.T : j.D, row0 = BACK ? p.d0 : p.t0, column0 = BACK ? p.t0 : p.d0;
    int64_t in = (BACK ? p.b : b0 + p.b) * j.T * j.D, out = (BACK ? b0 + p.b : p.b) * j.T * j.D;
    for (int r = threadIdx.y; r < LC_TILE; r += LRA_BLOCK_WARPS) {
        int64_t row = row0 + r, column = column0 + threadIdx.x, t = BACK ? column : row;
        bool inside = row < rows && column < columns && t < length;
        tile[r * LC_PITCH + threadIdx.x] = inside ? from[in + row * columns + column] : (elem)0;
    }
    __syncthreads();
    for (int r = threadIdx.y; r < LC_TILE; r += LRA_BLOCK_WARPS) {
        int64_t row = column0 + r, column = row0 + threadIdx.x;
        if (row < columns && column < rows)
            to[out + row * rows + column] = tile[threadIdx.x * LC_PITCH + r];
    }
}

/* Puts channel d of examples 2 pair and 2 pair + 1 into shared memory. */
LRA_DEV void lf_fill(const lf_job *e, const lf_space *s, int64_t pair, int64_t d, const elem *x)
{
    int64_t T = e->j.T;
    const elem *a = x + (2 * pair * e->j.D + d) * T, *b = a + e->j.D * T;
    bool both = 2 * pair + 1 < e->examples;
    __syncthreads();
    for (int t = threadIdx.x; t < s->n; t += blockDim.x) {
        lf_complex v = {0, 0};
        if (t < T) v.re = e_load(a[t]);
        if (t < T && both) v.im = e_load(b[t]);
        lf_put(s, t, v);
    }
}

/* A block for each channel: the spectrum of its kernels, with the 1/n of the way back. */
static __global__ void lf_kernel_kernel(lf_job e, const real *kernel)
{
    LRA_SHARED(float, shared);
    const long_conv_job *j = &e.j;
    lf_space s = lf_open(j->n, shared, e.root);
    int64_t d = blockIdx.x;
    for (int t = threadIdx.x; t < s.n; t += blockDim.x) {
        int back = s.n - 1 - t;
        float v = 0;
        if (t < j->lags) v = kernel[d * j->L + t];
        if (back < j->behind) v = kernel[(j->D + d) * j->L + back];
        lf_put(&s, t, lf_complex{v / (float)s.n, 0});
    }
    lf_complex v[LF_OWN];
    lf_forth_but_last(&s);
    lf_take(&s, v);
    LRA_UNROLL for (int i = 0; i < LF_OWN; i++)
        e.spectrum[d * s.n + threadIdx.x * LF_OWN + i] = v[i];
}

/* x: channels, then pairs of examples; rows of x become those of y */
static __global__ void __launch_bounds__(512, 1) lf_conv_kernel(lf_job e)
{
    LRA_SHARED(float, shared);
    lf_space s = lf_open(e.j.n, shared, e.root);
    int64_t d = blockIdx.x % e.j.D, pair = blockIdx.x / e.j.D, T = e.j.T;
    lf_complex v[LF_OWN];
    lf_fill(&e, &s, pair, d, e.x);
    lf_forth_but_last(&s);
    lf_take(&s, v);
    LRA_UNROLL for (int i = 0; i < LF_OWN; i++)
    {
        lf_complex k = e.spectrum[d * s.n + threadIdx.x * LF_OWN + i];
        if (e.j.a.back) k.im = -k.im;
        v[i] = lf_times(v[i], k);
    }
    lf_give(&s, v);
    lf_back_but_last(&s);
    elem *a = e.x + (2 * pair * e.j.D + d) * T, *b = a + e.j.D * T;
    bool both = 2 * pair + 1 < e.examples;
    for (int t = threadIdx.x; t < T; t += blockDim.x) {
        lf_complex y = lf_get(&s, t);
        a[t] = e_store(y.re);
        if (both) b[t] = e_store(y.im);
    }
}

/* x: channels, then parts of the pairs: sum of F(dz) conj F(z); first: nothing is in the spectra yet.  F(z) waits for
 * F(dz) in shared memory where there is room for two (SPARE), else in registers, not all of which there are. */
template <bool SPARE>
static __global__ void __launch_bounds__(SPARE ? 256 : 512, SPARE ? 2 : 1)
    lf_sum_kernel(lf_job e, bool first)
{
    LRA_SHARED(float, shared);
    lf_space s = lf_open(e.j.n, shared, e.root);
    lf_space other = lf_open(e.j.n, shared + 2 * (e.j.n + e.j.n / 32), e.root);
    int64_t d = blockIdx.x % e.j.D, part = blockIdx.x / e.j.D, pairs = (e.examples + 1) / 2;
    int own = threadIdx.x * LF_OWN;
    lf_complex *to = e.spectrum + (part * e.j.D + d) * s.n + own, sum[LF_OWN];
    LRA_UNROLL for (int i = 0; i < LF_OWN; i++) sum[i] = first ? lf_complex{0, 0} : to[i];
    for (int64_t pair = part * pairs / e.parts; pair < (part + 1) * pairs / e.parts; pair++) {
        lf_complex x[LF_OWN], dy[LF_OWN];
        lf_fill(&e, &s, pair, d, e.x);
        lf_forth_but_last(&s);
        lf_take(&s, x);
        LRA_UNROLL for (int i = 0; i < LF_OWN && SPARE; i++) lf_put(&other, own + i, x[i]);
        lf_fill(&e, &s, pair, d, e.dy);
        lf_forth_but_last(&s);
        lf_take(&s, dy);
        LRA_UNROLL for (int i = 0; i < LF_OWN; i++)
        {
            lf_complex z = SPARE ? lf_get(&other, own + i) : x[i];
            sum[i].re += dy[i].re * z.re + dy[i].im * z.im;
            sum[i].im += dy[i].im * z.re - dy[i].re * z.im;
        }
    }
    LRA_UNROLL for (int i = 0; i < LF_OWN; i++) to[i] = sum[i];
}

/* A block for each channel: the gradient of its kernels. */
static __global__ void lf_gradient_kernel(lf_job e, real *kernel)
{
    LRA_SHARED(float, shared);
    const long_conv_job *j = &e.j;
    lf_space s = lf_open(j->n, shared, e.root);
    int64_t d = blockIdx.x;
    lf_complex v[LF_OWN];
    LRA_UNROLL for (int i = 0; i < LF_OWN; i++)
    {
        int64_t at = d * s.n + threadIdx.x * LF_OWN + i;
        v[i] = e.spectrum[at];
        for (int64_t part = 1; part < e.parts; part++) {
            lf_complex other = e.spectrum[part * j->D * s.n + at];
            v[i].re += other.re, v[i].im += other.im;
        }
    }
    lf_give(&s, v);
    lf_back_but_last(&s);
    for (int64_t t = threadIdx.x; t < j->L; t += blockDim.x) {
        kernel[d * j->L + t] = t < j->lags ? lf_get(&s, (int)t).re / (float)s.n : 0;
        if (j->a.two_sided)
            kernel[(j->D + d) * j->L + t] = t < j->behind
                                                ? lf_get(&s, s.n - 1 - (int)t).re / (float)s.n
                                                : 0;
    }
}

/* ---- the ops --------------------------------------------------------------------------------------------- */

/* Scratch: roots, spectra, rows of x, rows of dy. */
static inline lf_job lf_job_of(const long_conv_job *j, int arrays, real *scratch, void *stream)
{
    lf_job e = {*j, 0, NULL, NULL, NULL, NULL, 1};
    e.j.n = long_conv_points(j->T, j->L);
    if (arrays == 2) e.parts = long_conv_parts(j->B, j->D);
    int64_t rows = long_conv_pairs(j->B, j->D, j->T, arrays) * 2 * j->D * j->T;
    lf_complex *root = (lf_complex *)scratch;
    e.root = root, e.spectrum = root + e.j.n;
    e.x = (elem *)(e.spectrum + e.parts * j->D * e.j.n), e.dy = e.x + rows;
    LRA_LAUNCH(lf_root_kernel, lra_grid(e.j.n, LRA_BLOCK), LRA_BLOCK, 0, stream, e.j.n, root);
    return e;
}

static inline void lf_lay(const lf_job *e, int64_t b0, const elem *x, elem *rows, void *stream)
{
    LRA_LAUNCH(lf_rows_kernel<false>, lc_tiles(&e->j, e->j.T, e->examples), ROW_BLOCK,
               LC_TILE * LC_PITCH * sizeof(elem), stream, e->j, b0, x, rows);
}

static inline void long_conv_fft(const long_conv_job *j, const elem *x, const real *kernel, elem *y,
                                 real *scratch, void *stream)
{
    lf_job e = lf_job_of(j, 1, scratch, stream);
    int64_t step = 2 * long_conv_pairs(j->B, j->D, j->T, 1);
    unsigned threads = (unsigned)(e.j.n / LF_OWN);
    LRA_ALLOW_SHARED(lf_kernel_kernel, lf_shared(e.j.n));
    LRA_LAUNCH(lf_kernel_kernel, (unsigned)j->D, threads, lf_shared(e.j.n), stream, e, kernel);
    LRA_ALLOW_SHARED(lf_conv_kernel, lf_shared(e.j.n));
    for (int64_t b0 = 0; b0 < j->B; b0 += step) {
        e.examples = smaller(step, j->B - b0);
        lf_lay(&e, b0, x, e.x, stream);
        LRA_LAUNCH(lf_conv_kernel, (unsigned)((e.examples + 1) / 2 * j->D), threads,
                   lf_shared(e.j.n), stream, e);
        LRA_LAUNCH(lf_rows_kernel<true>, lc_tiles(&e.j, j->T, e.examples), ROW_BLOCK,
                   LC_TILE * LC_PITCH * sizeof(elem), stream, e.j, b0, e.x, y);
    }
}

static inline void long_conv_dk_fft(const long_conv_job *j, const elem *x, const elem *dy,
                                    real *kernel, real *scratch, void *stream)
{
    lf_job e = lf_job_of(j, 2, scratch, stream);
    int64_t step = 2 * long_conv_pairs(j->B, j->D, j->T, 2);
    unsigned threads = (unsigned)(e.j.n / LF_OWN);
    bool spare = threads <= 256;
    auto add = spare ? lf_sum_kernel<true> : lf_sum_kernel<false>;
    size_t shared = (spare ? 2 : 1) * lf_shared(e.j.n);
    LRA_ALLOW_SHARED(add, shared);
    for (int64_t b0 = 0; b0 < j->B; b0 += step) {
        e.examples = smaller(step, j->B - b0);
        lf_lay(&e, b0, x, e.x, stream);
        lf_lay(&e, b0, dy, e.dy, stream);
        LRA_LAUNCH(add, (unsigned)(e.parts * j->D), threads, shared, stream, e, b0 == 0);
    }
    LRA_ALLOW_SHARED(lf_gradient_kernel, lf_shared(e.j.n));
    LRA_LAUNCH(lf_gradient_kernel, (unsigned)j->D, threads, lf_shared(e.j.n), stream, e, kernel);
}

#endif
