/* Convolution in plain CUDA, for any size: an implicit matrix product over (tap, channel) with
 * tiles of 64 rows, 64 columns and a depth of 16. Each of 256 threads computes 4 x 4 sums. This
 * kernel is the reference for the tensor-core kernels and the implementation for float32. */
#ifndef LRA_OPS_CONV_CONV_TILE_CUDA_H
#define LRA_OPS_CONV_CONV_TILE_CUDA_H

#include "kernels/ops/conv/conv_cuda.h"

enum { TILE = 64, TILE_DEPTH = 16, TILE_PITCH = TILE + 4, TILE_SUMS = 4 };

/* sum += x^T w over a tile in shared memory; x and w are (TILE_DEPTH, TILE_PITCH). */
LRA_DEV void tile_add(const real *x, const real *w, int row, int column,
                      real sum[TILE_SUMS][TILE_SUMS])
{
    LRA_UNROLL for (int q = 0; q < TILE_DEPTH; q++)
    {
        real a[TILE_SUMS], b[TILE_SUMS];
        LRA_UNROLL for (int k = 0; k < TILE_SUMS; k++) a[k] = x[q * TILE_PITCH + row + k];
        LRA_UNROLL for (int k = 0; k < TILE_SUMS; k++) b[k] = w[q * TILE_PITCH + column + k];
        LRA_UNROLL for (int i = 0; i < TILE_SUMS; i++)
            LRA_UNROLL for (int k = 0; k < TILE_SUMS; k++) sum[i][k] += a[i] * b[k];
    }
}

/* Grid: x = tiles of rows times groups times samples, y = tiles of columns. */
static __global__ void __launch_bounds__(LRA_BLOCK, 2) conv_tile_kernel(conv_job j)
{
    LRA_SHARED(real, xs);
    real *ws = xs + TILE_DEPTH * TILE_PITCH;
    int64_t tiles = (j.T + TILE - 1) / TILE, t0 = blockIdx.x % tiles * TILE;
    int64_t g = blockIdx.x / tiles % j.groups, b = blockIdx.x / tiles / j.groups;
    int64_t o0 = (int64_t)blockIdx.y * TILE, half = conv_half(&j), length = conv_length(&j, b);
    int tid = threadIdx.x, row = tid / 16 * TILE_SUMS, column = tid % 16 * TILE_SUMS;
    real sum[TILE_SUMS][TILE_SUMS] = {{0}};
    int64_t k_first = conv_first_tap(&j, t0, TILE), k_end = conv_end_tap(&j, t0, length);
    if (t0 >= length) k_end = k_first;
    const elem *w = j.w + j.start + g * j.group;
    for (int64_t at = k_first * j.n_in; at < k_end * j.n_in; at += TILE_DEPTH) {
        __syncthreads();
        for (int e = tid; e < TILE * TILE_DEPTH; e += LRA_BLOCK) {
            int q = e % TILE_DEPTH, m = e / TILE_DEPTH;
            int64_t k = (at + q) / j.n_in, i = (at + q) % j.n_in;
            bool inside = k < k_end;
            int64_t t = t0 + m + k * j.dilation - half;
            xs[q * TILE_PITCH + m] = inside ? conv_x(&j, b, t, length, g, i) : 0;
        }
        for (int e = tid; e < TILE * TILE_DEPTH; e += LRA_BLOCK) {
            int q = e / TILE, n = e % TILE;
            int64_t k = (at + q) / j.n_in, i = (at + q) % j.n_in, o = o0 + n;
            bool inside = k < k_end && o < j.n_out;
            ws[q * TILE_PITCH + n] = inside ? e_load(w[k * j.tap + i * j.in + o * j.out]) : 0;
        }
        __syncthreads();
        tile_add(xs, ws, row, column, sum);
    }
    LRA_UNROLL for (int r = 0; r < TILE_SUMS; r++) LRA_UNROLL for (int n = 0; n < TILE_SUMS; n++)
    {
        int64_t t = t0 + row + r, o = o0 + column + n;
        if (t < j.T && o < j.n_out) conv_finish(&j, b, t, length, g, o, sum[r][n]);
    }
}

static inline void conv_tile_run(const conv_job *j, void *stream)
{
    int64_t tiles = (j->T + TILE - 1) / TILE, columns = (j->n_out + TILE - 1) / TILE;
    LRA_LAUNCH(conv_tile_kernel, dim3((unsigned)(tiles * j->groups * j->B), (unsigned)columns),
               LRA_BLOCK, 2 * TILE_DEPTH * TILE_PITCH * sizeof(real), stream, *j);
}

#endif
