/* Grouped convolution in plain CUDA, for at most 16 channels per group. A block loads the channels
 * of several groups for 64 rows and for all rows around them that the taps read. A thread computes
 * one output channel and eight rows; its window of inputs slides over eight taps at a time. Rows
 * here are those of a sequence (conv_template.h): with dilation d a sample is d sequences. */
#ifndef LRA_OPS_CONV_CONV_GROUPED_CUDA_H
#define LRA_OPS_CONV_CONV_GROUPED_CUDA_H

#include "kernels/ops/conv/conv_cuda.h"

enum { GROUPED_ROWS = 64, GROUPED_TAPS = 8, GROUPED_MOST = 16, GROUPED_SHARED = 48 << 10 };

/* Number of groups of a block. */
static inline int64_t grouped_groups(const conv_job *j)
{
    return j->n_out < LRA_WARP ? LRA_WARP / j->n_out : 1;
}
LRA_FN int64_t grouped_taps(int64_t K)
{
    return (K + GROUPED_TAPS - 1) / GROUPED_TAPS * GROUPED_TAPS;
}
static inline size_t grouped_shared(const conv_job *j)
{
    int64_t slab = (GROUPED_ROWS + grouped_taps(j->K)) * grouped_groups(j) * j->n_in;
    return (size_t)(slab + j->n_in * GROUPED_TAPS * LRA_WARP) * sizeof(real);
}
static inline bool grouped_fits(const conv_job *j)
{
    return j->groups > 1 && j->n_in <= GROUPED_MOST && j->n_out <= GROUPED_MOST &&
           grouped_shared(j) <= GROUPED_SHARED;
}

/* Number of rows of the longest sequence. */
LRA_FN int64_t grouped_length(const conv_job *j)
{
    return (j->T + j->dilation - 1) / j->dilation;
}

/* Thread (x,y) of a block of (32, 8): x = output channel, y = group of eight rows. Grid: x = tiles
 * of rows times sets of groups times sequences; tiles are the fastest index. */
static __global__ void __launch_bounds__(LRA_BLOCK)
    conv_grouped_kernel(conv_job j, int64_t n_groups)
{
    LRA_SHARED(real, xs); /* xs: (rows, channels of the groups), then ws: (n_in, taps, 32) */
    int64_t tiles = (grouped_length(&j) + GROUPED_ROWS - 1) / GROUPED_ROWS;
    int64_t t0 = blockIdx.x % tiles * GROUPED_ROWS;
    int64_t sets = (j.groups + n_groups - 1) / n_groups, sequence = blockIdx.x / tiles / sets;
    int64_t b = sequence / j.dilation, phase = sequence % j.dilation;
    int64_t g0 = blockIdx.x / tiles % sets * n_groups, half = (j.K - 1) / 2;
    int64_t length = conv_length(&j, b), rows = GROUPED_ROWS + grouped_taps(j.K);
    int tid = threadIdx.y * LRA_WARP + threadIdx.x, n_in = (int)j.n_in,
        width = (int)(n_groups * n_in);
    real *ws = xs + rows * width;
    for (int e = tid; e < rows * width; e += LRA_BLOCK) {
        int64_t t = (t0 + e / width - half) * j.dilation + phase, g = g0 + e % width / n_in;
        xs[e] = g < j.groups ? conv_x(&j, b, t, length, g, e % n_in) : 0;
    }
    int own = (int)(threadIdx.x / j.n_out); /* group of this thread within the block's set */
    int64_t g = g0 + own, o = threadIdx.x % j.n_out;
    bool works = own < n_groups && g < j.groups;
    real sum[GROUPED_TAPS] = {0};
    for (int64_t k0 = 0; k0 < j.K; k0 += GROUPED_TAPS) {
        __syncthreads();
        const elem *w = j.w + j.start + g * j.group + o * j.out;
        for (int e = threadIdx.y; e < n_in * GROUPED_TAPS; e += LRA_BLOCK_WARPS) {
            int64_t i = e / GROUPED_TAPS, k = k0 + e % GROUPED_TAPS;
            ws[e * LRA_WARP + threadIdx.x] = works && k < j.K ? e_load(w[k * j.tap + i * j.in]) : 0;
        }
        __syncthreads();
        for (int i = 0; i < n_in && works; i++) {
            real x[2 * GROUPED_TAPS];
            const real *from = xs + (threadIdx.y * GROUPED_TAPS + k0) * width + own * n_in + i;
            for (int r = 0; r < 2 * GROUPED_TAPS - 1; r++) x[r] = from[r * width];
            for (int k = 0; k < GROUPED_TAPS; k++) {
                real v = ws[(i * GROUPED_TAPS + k) * LRA_WARP + threadIdx.x];
                for (int r = 0; r < GROUPED_TAPS; r++) sum[r] += x[r + k] * v;
            }
        }
    }
    for (int r = 0; r < GROUPED_TAPS && works; r++) {
        int64_t t = (t0 + threadIdx.y * GROUPED_TAPS + r) * j.dilation + phase;
        if (t < j.T) conv_finish(&j, b, t, length, g, o, sum[r]);
    }
}

static inline void conv_grouped_run(const conv_job *j, void *stream)
{
    int64_t n_groups = grouped_groups(j), sets = (j->groups + n_groups - 1) / n_groups;
    int64_t tiles = (grouped_length(j) + GROUPED_ROWS - 1) / GROUPED_ROWS;
    LRA_LAUNCH(conv_grouped_kernel, (unsigned)(tiles * sets * j->B * j->dilation), ROW_BLOCK,
               grouped_shared(j), stream, *j, n_groups);
}

#endif
