/* Long convolution on a GPU in shared memory, for transforms of 1024 to 8192 points. Two examples
 * of a channel are the real and the imaginary part of one complex signal z. Kernels are real, so
 * that the convolution z * k contains both results. A block transforms z (fft_cuda.h), multiplies
 * it by the kernel's spectrum, which has the same bit-reversed order, and transforms it back:
 *   y = F^-1(F(z) F(k)),  dx with conj F(k),  dk = real part of F^-1(sum of F(dz) conj F(z) over
 *     the pairs)
 * FLOP: 10 n log2 n + 6 n for two examples. Global memory: 2 bytes in and 2 bytes out per bf16
 * number (rows between the kernels stay in the L2 cache). Shared memory: 64 bytes per point (96 at
 * 8192), which takes about as long as the arithmetic. */
#ifndef LRA_OPS_LONGCONV_LONG_CONV_FFT_CUDA_H
#define LRA_OPS_LONGCONV_LONG_CONV_FFT_CUDA_H

#include "kernels/ops/longconv/fft_cuda.h"
#include "kernels/ops/longconv/long_conv_rows_cuda.h"

/* ---- kernels --------------------------------------------------------------------------------- */

/* Buffers of a call: rows of elem, (examples, D, T), and spectra, (.., D, n). */
typedef struct {
    long_conv_job j;
    int64_t examples;
    const lf_complex *root;
    lf_complex *spectrum;
    elem *x, *dy;
    /* number of parts into which the pairs are divided, for the gradient of the kernels */
    int64_t parts;
} lf_job;

static __global__ void lf_root_kernel(int64_t n, lf_complex *root)
{
    for (LC_EACH(i, n)) {
        double angle = -6.283185307179586 * (double)i / (double)n;
        root[i] = lf_complex{(float)cos(angle), (float)sin(angle)};
    }
}

/* Transposes the examples from b0 on to (examples, D, T), with zeros after their last token. BACK:
 * the inverse, from (examples, D, T) to (B,T,D). */
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

/* Rows of channel d of examples 2 pair and 2 pair + 1. */
LRA_DEV lf_rows lf_pair(const lf_job *e, int64_t pair, int64_t d, elem *x)
{
    elem *a = x + (2 * pair * e->j.D + d) * e->j.T;
    return lf_rows{e->j.T, a, 2 * pair + 1 < e->examples ? a + e->j.D * e->j.T : NULL};
}

/* Spectrum of the kernels of a channel, including the factor 1/n of the inverse FFT. One block per
 * channel. */
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
    lf_forth_but_last(&s, NULL);
    lf_take(&s, v);
    LRA_UNROLL for (int i = 0; i < LF_OWN; i++)
        e.spectrum[d * s.n + threadIdx.x * LF_OWN + i] = v[i];
}

/* Replaces the rows of x by those of y. One block per (pair of examples, channel); channels are the
 * fastest index. */
static __global__ void __launch_bounds__(512, 1) lf_conv_kernel(lf_job e)
{
    LRA_SHARED(float, shared);
    lf_space s = lf_open(e.j.n, shared, e.root);
    int64_t d = blockIdx.x % e.j.D;
    lf_rows rows = lf_pair(&e, blockIdx.x / e.j.D, d, e.x);
    lf_complex v[LF_OWN];
    lf_forth_but_last(&s, &rows);
    lf_take(&s, v);
    LRA_UNROLL for (int i = 0; i < LF_OWN; i++)
    {
        lf_complex k = e.spectrum[d * s.n + threadIdx.x * LF_OWN + i];
        if (e.j.a.back) k.im = -k.im;
        v[i] = lf_times(v[i], k);
    }
    lf_give(&s, v);
    lf_back_but_last(&s, &rows);
}

/* Adds the sum of F(dz) conj F(z) over a part of the example pairs to the spectra. One block per
 * (part, channel); channels are the fastest index. first: the spectra are uninitialised and are
 * overwritten. SPARE: shared memory has space for two spectra, and F(z) is kept there while F(dz)
 * is computed; otherwise F(z) is kept in registers, some of which spill. */
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
        lf_rows rows = lf_pair(&e, pair, d, e.x);
        lf_forth_but_last(&s, &rows);
        lf_take(&s, x);
        LRA_UNROLL for (int i = 0; i < LF_OWN && SPARE; i++) lf_put(&other, own + i, x[i]);
        rows = lf_pair(&e, pair, d, e.dy);
        lf_forth_but_last(&s, &rows);
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

/* Gradient of the kernels of a channel. One block per channel. */
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
    lf_back_but_last(&s, NULL);
    for (int64_t t = threadIdx.x; t < j->L; t += blockDim.x) {
        kernel[d * j->L + t] = t < j->lags ? lf_get(&s, (int)t).re / (float)s.n : 0;
        if (j->a.two_sided)
            kernel[(j->D + d) * j->L + t] = t < j->behind
                                                ? lf_get(&s, s.n - 1 - (int)t).re / (float)s.n
                                                : 0;
    }
}

/* ---- the ops --------------------------------------------------------------------------------- */

/* Divides the scratch into roots, spectra, rows of x, rows of dy. */
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
