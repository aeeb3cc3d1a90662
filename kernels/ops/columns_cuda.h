/* Sums over rows, column by column, on a GPU. The first kernel computes partial sums of blocks of
 * LRA_ROW_BLOCK rows, a second one adds them, each in a fixed order and in double, as on the CPU:
 * the gradient of a bias can be much smaller than the rows that are summed.
 *
 * COLUMN_KERNEL(name, args, N, add) defines the first kernel. It views x as (O,R,D) and writes N
 * sums over the rows of each block to part (O, blocks of R, N, D), of real or double. add(a, row,
 * d, s) adds the terms of a row to the doubles s[N]; row is an index into (O,R). */
#ifndef LRA_OPS_COLUMNS_CUDA_H
#define LRA_OPS_COLUMNS_CUDA_H

#include "kernels/ops/cuda_common.h"

static inline int64_t row_blocks(int64_t R)
{
    return (R + LRA_ROW_BLOCK - 1) / LRA_ROW_BLOCK;
}

/* Number of blocks along the columns; each block has LRA_WARP columns. */
LRA_FN int64_t column_chunks(int64_t D)
{
    return (D + LRA_WARP - 1) / LRA_WARP;
}

/* part[(block, j, d)] = sum of s[j] over the thread rows of a block. shared: N x LRA_BLOCK
 * doubles */
template <int N, class SUM>
LRA_DEV void column_finish(double *shared, const double s[N], int64_t block, int64_t d, int64_t D,
                           SUM *part)
{
    for (int j = 0; j < N; j++) shared[(threadIdx.y * N + j) * LRA_WARP + threadIdx.x] = s[j];
    __syncthreads();
    for (int j = 0; j < N && threadIdx.y == 0 && d < D; j++) {
        double total = 0;
        for (int g = 0; g < LRA_BLOCK_WARPS; g++)
            total += shared[(g * N + j) * LRA_WARP + threadIdx.x];
        part[(block * N + j) * D + d] = (SUM)total;
    }
}

#define COLUMN_KERNEL(name, args, N, add)                                                          \
    template <class SUM>                                                                           \
    static __global__ void name(args a, int64_t R, int64_t n_blocks, int64_t D, SUM *part)         \
    {                                                                                              \
        LRA_SHARED(double, shared);                                                                \
        int64_t chunks = column_chunks(D), block = blockIdx.x / chunks;                            \
        int64_t d = blockIdx.x % chunks * LRA_WARP + threadIdx.x;                                  \
        int64_t o = block / n_blocks, first = block % n_blocks * LRA_ROW_BLOCK;                    \
        int64_t end = first + LRA_ROW_BLOCK < R ? first + LRA_ROW_BLOCK : R;                       \
        double s[N] = {0};                                                                         \
        for (int64_t r = first + threadIdx.y; d < D && r < end; r += LRA_BLOCK_WARPS)              \
            add(&a, o *R + r, d, s);                                                               \
        column_finish<N>(shared, s, block, d, D, part);                                            \
    }
#define COLUMN_LAUNCH(name, a, N, O, R, D, part, stream)                                           \
    LRA_LAUNCH(name, (unsigned)((O)*row_blocks(R) * column_chunks(D)), ROW_BLOCK,                  \
               (N)*LRA_BLOCK * sizeof(double), stream, a, R, row_blocks(R), D, part)

/* y (O,n) = sum over blocks of part (O, n_blocks, n). Each of eight thread rows sums a run of
 * adjacent blocks; then the runs are added. */
template <class SUM>
static __global__ void add_blocks_kernel(const SUM *part, int64_t n_blocks, int64_t n, real *y)
{
    LRA_SHARED(double, shared);
    int64_t chunks = column_chunks(n), o = blockIdx.x / chunks;
    int64_t i = blockIdx.x % chunks * LRA_WARP + threadIdx.x;
    int64_t run = (n_blocks + LRA_BLOCK_WARPS - 1) / LRA_BLOCK_WARPS, first = threadIdx.y * run;
    int64_t end = first + run < n_blocks ? first + run : n_blocks;
    double s = 0;
    for (int64_t b = first; i < n && b < end; b++) s += (double)part[(o * n_blocks + b) * n + i];
    shared[threadIdx.y * LRA_WARP + threadIdx.x] = s;
    __syncthreads();
    if (threadIdx.y != 0 || i >= n) return;
    for (int g = 1; g < LRA_BLOCK_WARPS; g++) s += shared[g * LRA_WARP + threadIdx.x];
    y[o * n + i] = (real)s;
}

template <class SUM>
static inline void add_blocks_any(const SUM *part, int64_t O, int64_t n_blocks, int64_t n, real *y,
                                  void *stream)
{
    LRA_LAUNCH(add_blocks_kernel, (unsigned)(O * column_chunks(n)), ROW_BLOCK,
               LRA_BLOCK * sizeof(double), stream, part, n_blocks, n, y);
}

/* Like add_blocks_kernel() for at most LRA_BLOCK_WARPS blocks and O = 1: a thread computes eight
 * adjacent sums. */
static __global__ void add_few_kernel(const real *part, int64_t n_blocks, int64_t n, bool wide,
                                      real *y)
{
    for (EACH8(i, n)) {
        double s[LRA_LANES] = {0};
        real v[LRA_LANES];
        for (int64_t b = 0; b < n_blocks; b++) {
            load8(part + b * n, LRA_F32, i, n - i, wide, v);
            for (int k = 0; k < LRA_LANES; k++) s[k] += (double)v[k];
        }
        for (int k = 0; k < LRA_LANES; k++) v[k] = (real)s[k];
        store8(y, LRA_F32, i, n - i, wide, v);
    }
}

static inline void add_blocks(const real *part, int64_t O, int64_t n_blocks, int64_t n, real *y,
                              void *stream)
{
    if (O == 1 && n_blocks > 0 && n_blocks <= LRA_BLOCK_WARPS) {
        bool wide = n % LRA_LANES == 0 && is_aligned(part, y, NULL);
        LRA_LAUNCH(add_few_kernel, lra_grid(n, LRA_BLOCK * LRA_LANES), LRA_BLOCK, 0, stream, part,
                   n_blocks, n, wide, y);
        return;
    }
    add_blocks_any(part, O, n_blocks, n, y, stream);
}

#endif
