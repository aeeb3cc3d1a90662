/* Long convolution on a GPU by transforms of rows in global memory, for any size. A few examples
 * are processed at a time, so that their rows stay in the L2 cache between the kernels: x is copied
 * to rows of reals, transformed, multiplied by the spectrum of the kernel, transformed back, and
 * copied to y.
 * FLOP: 5 n log2 n + 6 n for a row of n >= 2 T. Global memory: x and y once. L2 cache: 14 n values
 * per row. */
#ifndef LRA_OPS_LONGCONV_LONG_CONV_ROWS_CUDA_H
#define LRA_OPS_LONGCONV_LONG_CONV_ROWS_CUDA_H

#include "kernels/cuda/fft.h"
#include "kernels/ops/cuda_common.h"
#include "kernels/ops/longconv/long_conv.h"

enum { LC_TILE = 32, LC_PITCH = LC_TILE + 1 };

typedef struct {
    long_conv_args a;
    int64_t B, T, D, L, n, row;
    /* kernel values that have an effect at T tokens: causal ones, anticausal ones (behind) */
    int64_t lags, behind;
    const int32_t *length;
} long_conv_job;

static inline long_conv_job long_conv_job_of(const long_conv_args *a, const lra_shape *x, int64_t L,
                                             const void *length)
{
    int64_t T = x->d[1], n = size_of(T, L);
    long_conv_job j = {*a, x->d[0], T, x->d[2], L, n, lra_fft_row(n), lags_of(T, L), 0, NULL};
    if (a->two_sided) j.behind = back_lags_of(T, L);
    j.length = (const int32_t *)length;
    return j;
}

/* Number of tiles of 32 channels by 32 row values. */
static inline unsigned lc_tiles(const long_conv_job *j, int64_t width, int64_t examples)
{
    return (unsigned)((j->D + LC_TILE - 1) / LC_TILE * ((width + LC_TILE - 1) / LC_TILE) *
                      examples);
}

typedef struct {
    int64_t b, d0, t0;
} lc_place;

LRA_DEV lc_place lc_find(const long_conv_job *j, int64_t width)
{
    int64_t along = (j->D + LC_TILE - 1) / LC_TILE, down = (width + LC_TILE - 1) / LC_TILE;
    int64_t at = blockIdx.x / along;
    return lc_place{at / down, blockIdx.x % along * LC_TILE, at % down * LC_TILE};
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* Copies the examples from b0 on to rows (examples, D, n), with zeros after the tokens. */
static __global__ void lc_lay_kernel(long_conv_job j, int64_t b0, const elem *x, real *rows)
{
    LRA_SHARED(real, tile);
    lc_place p = lc_find(&j, j.row);
    int64_t b = b0 + p.b, length = j.length ? j.length[b] : j.T;
    for (int r = threadIdx.y; r < LC_TILE; r += LRA_BLOCK_WARPS) {
        int64_t t = p.t0 + r, d = p.d0 + threadIdx.x;
        tile[r * LC_PITCH + threadIdx.x] = t < length && d < j.D
                                               ? e_load(x[(b * j.T + t) * j.D + d])
                                               : R(0.0);
    }
    __syncthreads();
    for (int r = threadIdx.y; r < LC_TILE; r += LRA_BLOCK_WARPS) {
        int64_t t = p.t0 + threadIdx.x, d = p.d0 + r;
        if (t < j.row && d < j.D)
            rows[(p.b * j.D + d) * j.row + t] = tile[threadIdx.x * LC_PITCH + r];
    }
}

/* Copies rows back to y, for the examples from b0 on. */
static __global__ void lc_take_kernel(long_conv_job j, int64_t b0, const real *rows, elem *y)
{
    LRA_SHARED(real, tile);
    lc_place p = lc_find(&j, j.T);
    int64_t b = b0 + p.b, length = j.length ? j.length[b] : j.T;
    for (int r = threadIdx.y; r < LC_TILE; r += LRA_BLOCK_WARPS) {
        int64_t t = p.t0 + threadIdx.x, d = p.d0 + r;
        tile[r * LC_PITCH + threadIdx.x] = t < length && d < j.D ? rows[(p.b * j.D + d) * j.row + t]
                                                                 : R(0.0);
    }
    __syncthreads();
    for (int r = threadIdx.y; r < LC_TILE; r += LRA_BLOCK_WARPS) {
        int64_t t = p.t0 + r, d = p.d0 + threadIdx.x;
        if (t < j.T && d < j.D)
            y[(b * j.T + t) * j.D + d] = e_store(tile[threadIdx.x * LC_PITCH + r]);
    }
}

/* Loop over i < n with all threads of the grid: for (LC_EACH(i, n)). */
#define LC_EACH(i, n)                                                                              \
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;                                    \
    i < (n);                                                                                       \
    i += (int64_t)gridDim.x * blockDim.x

/* Copies the kernels to rows, with the factor 1/n of the inverse: lag j at index j, lag -(1+j) at
 * index n-1-j. */
static __global__ void lc_kernel_kernel(long_conv_job j, const real *kernel, real *rows)
{
    const real one = 1 / (real)j.n;
    for (LC_EACH(i, j.D * j.row)) {
        int64_t d = i / j.row, t = i % j.row, back = j.n - 1 - t;
        real v = 0;
        if (t < j.lags) v = kernel[d * j.L + t];
        if (back >= 0 && back < j.behind) v = kernel[(j.D + d) * j.L + back];
        rows[i] = v * one;
    }
}

/* Gradient of the kernels, from the inverse transform of the summed spectra. */
static __global__ void lc_gradient_kernel(long_conv_job j, const real *rows, real *kernel)
{
    const real one = 1 / (real)j.n;
    int64_t n = (j.a.two_sided ? 2 : 1) * j.D * j.L;
    for (LC_EACH(i, n)) {
        int64_t d = i / j.L % j.D, t = i % j.L;
        bool behind = i >= j.D * j.L;
        const real *row = rows + d * j.row;
        if (behind)
            kernel[i] = t < j.behind ? row[j.n - 1 - t] * one : R(0.0);
        else
            kernel[i] = t < j.lags ? row[t] * one : R(0.0);
    }
}

/* ---- spectra: two complex numbers at a time -------------------------------------------------- */

/* Two complex products: a b for sign = 1, a conj(b) for sign = -1. */
LRA_DEV float4 lc_product(float4 a, float4 b, real sign)
{
    b.y *= sign, b.w *= sign;
    return float4{a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x, a.z * b.z - a.w * b.w,
                  a.z * b.w + a.w * b.z};
}

/* Multiplies the spectra of rows (examples, D) by those of the kernel (D), which are conjugated in
 * the backward pass. */
static __global__ void lc_multiply_kernel(long_conv_job j, int64_t examples, const float4 *kernel,
                                          float4 *rows)
{
    int64_t width = j.row / 4;
    for (LC_EACH(i, examples * j.D * width))
        rows[i] = lc_product(rows[i], kernel[i % (j.D * width)], j.a.back ? R(-1.0) : R(1.0));
}

/* sum (D) += sum of dy conj(x) over the examples, all spectra. first: sum is overwritten. */
static __global__ void lc_sum_kernel(long_conv_job j, int64_t examples, bool first, const float4 *x,
                                     const float4 *dy, float4 *sum)
{
    int64_t n = j.D * j.row / 4;
    for (LC_EACH(i, n)) {
        float4 s = first ? float4{0, 0, 0, 0} : sum[i];
        for (int64_t b = 0; b < examples; b++) {
            float4 p = lc_product(dy[b * n + i], x[b * n + i], R(-1.0));
            s.x += p.x, s.y += p.y, s.z += p.z, s.w += p.w;
        }
        sum[i] = s;
    }
}

/* ---- the ops --------------------------------------------------------------------------------- */

static inline void lc_lay(const long_conv_job *j, int64_t b0, int64_t examples, const elem *x,
                          real *rows, void *stream)
{
    LRA_LAUNCH(lc_lay_kernel, lc_tiles(j, j->row, examples), ROW_BLOCK,
               LC_TILE * LC_PITCH * sizeof(real), stream, *j, b0, x, rows);
    lra_cuda_fft(j->n, j->row, examples * j->D, rows, false, stream);
}

/* Runs the convolution. scratch: rows of the kernel, then rows of some examples. */
static inline void long_conv_rows(const long_conv_job *j, const elem *x, const real *kernel,
                                  elem *y, real *scratch, void *stream)
{
    real *rows = scratch + j->D * j->row;
    int64_t step = long_conv_examples(j->B, j->D, j->n, 1), of_kernel = j->D * j->row;
    LRA_LAUNCH(lc_kernel_kernel, lra_grid(of_kernel, LRA_BLOCK), LRA_BLOCK, 0, stream, *j, kernel,
               scratch);
    lra_cuda_fft(j->n, j->row, j->D, scratch, false, stream);
    for (int64_t b0 = 0; b0 < j->B; b0 += step) {
        int64_t examples = smaller(step, j->B - b0);
        lc_lay(j, b0, examples, x, rows, stream);
        LRA_LAUNCH(lc_multiply_kernel, lra_grid(examples * of_kernel / 4, LRA_BLOCK), LRA_BLOCK, 0,
                   stream, *j, examples, (const float4 *)scratch, (float4 *)rows);
        lra_cuda_fft(j->n, j->row, examples * j->D, rows, true, stream);
        LRA_LAUNCH(lc_take_kernel, lc_tiles(j, j->T, examples), ROW_BLOCK,
                   LC_TILE * LC_PITCH * sizeof(real), stream, *j, b0, rows, y);
    }
}

/* Runs the gradient of the kernel. scratch: rows of the sum, then of x and of dy of some
 * examples. */
static inline void long_conv_dk_rows(const long_conv_job *j, const elem *x, const elem *dy,
                                     real *kernel, real *scratch, void *stream)
{
    int64_t step = long_conv_examples(j->B, j->D, j->n, 2), of_kernel = j->D * j->row;
    real *rows = scratch + of_kernel, *other = rows + step * of_kernel;
    for (int64_t b0 = 0; b0 < j->B; b0 += step) {
        int64_t examples = smaller(step, j->B - b0);
        lc_lay(j, b0, examples, x, rows, stream);
        lc_lay(j, b0, examples, dy, other, stream);
        LRA_LAUNCH(lc_sum_kernel, lra_grid(of_kernel / 4, LRA_BLOCK), LRA_BLOCK, 0, stream, *j,
                   examples, b0 == 0, (const float4 *)rows, (const float4 *)other,
                   (float4 *)scratch);
    }
    lra_cuda_fft(j->n, j->row, j->D, scratch, true, stream);
    LRA_LAUNCH(lc_gradient_kernel, lra_grid(2 * j->D * j->L, LRA_BLOCK), LRA_BLOCK, 0, stream, *j,
               scratch, kernel);
}

#endif
