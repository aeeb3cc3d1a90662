/* Weight gradient of a convolution of narrow groups (at most 16 channels in and out) in plain CUDA.
 * A block has 32 output channels of several groups, in lanes, and walks over tiles of 64 rows of a
 * part of the samples.  An item is two inputs by eight taps: a thread sums it for its channel, with
 * a window of x that moves over eight rows of dy.  Where there are fewer than eight items the rows
 * of a tile are split, and the splits are added in order. */
#ifndef LRA_OPS_CONV_CONV_DW_GROUPED_CUDA_H
#define LRA_OPS_CONV_CONV_DW_GROUPED_CUDA_H

#include "kernels/ops/conv/conv_dw_cuda.h"

/* Parameters that are constant within a launch. */
typedef struct {
    int n_groups, rows, width, chunks, items, block_items, dilation, tiles;
} gdw_cut;

static inline gdw_cut gdw_cut_of(const conv_dw_sizes *s)
{
    gdw_cut c = {(int)gdw_groups(s),
                 (int)gdw_rows(s),
                 0,
                 0,
                 (int)gdw_items(s),
                 (int)gdw_block_items(s),
                 (int)gdw_sequences(s),
                 (int)gdw_sequence_tiles(s)};
    c.width = c.n_groups * (int)s->n_in;
    c.chunks = (int)((s->K + GDW_TAPS - 1) / GDW_TAPS);
    return c;
}

/* Loads rows [t0 - half, ..) of x and rows [t0, t0 + 64) of dy, of a sequence; zeros outside the
 * sample and the groups. */
LRA_DEV void gdw_load(const dw_job *j, const gdw_cut *c, int64_t sequence, int64_t t0,
                      int64_t length, int64_t g0, real *xs, real *ds)
{
    const conv_dw_sizes *s = &j->s;
    int tid = (int)(threadIdx.y * LRA_WARP + threadIdx.x);
    int64_t D = s->groups * s->n_in, H = s->groups * s->n_out, half = (s->K - 1) / 2;
    int64_t b = sequence / c->dilation, phase = sequence % c->dilation;
    for (int e = tid; e < c->rows * c->width; e += LRA_BLOCK) {
        int64_t t = (t0 - half + e / c->width) * c->dilation + phase,
                d = g0 * s->n_in + e % c->width;
        bool inside = t >= 0 && t < length && d < D;
        xs[e] = inside ? e_load(j->x[(b * s->T + t) * D + d]) : R(0.0);
    }
    for (int r = threadIdx.y; r < GDW_ROWS; r += LRA_BLOCK_WARPS) {
        int64_t t = (t0 + r) * c->dilation + phase, h = g0 * s->n_out + threadIdx.x;
        bool inside = t < length && h < H && threadIdx.x < c->n_groups * s->n_out;
        ds[r * GDW_COLUMNS + threadIdx.x] = inside ? e_load(j->dy[(b * s->T + t) * H + h]) : R(0.0);
    }
}

/* sum[n][k] += sum over eight rows r of x[r + k][n] dy[r]; x: its first row and input, dy: of this
 * lane */
LRA_DEV void gdw_add(const real *x, int width, const real *dy, int n_inputs,
                     real sum[GDW_IN][GDW_TAPS])
{
    real d[GDW_TAPS];
    LRA_UNROLL for (int r = 0; r < GDW_TAPS; r++) d[r] = dy[r * GDW_COLUMNS];
    LRA_UNROLL for (int n = 0; n < GDW_IN; n++)
    {
        real w[2 * GDW_TAPS - 1];
        if (n >= n_inputs) break;
        LRA_UNROLL for (int r = 0; r < 2 * GDW_TAPS - 1; r++) w[r] = x[r * width + n];
        LRA_UNROLL for (int k = 0; k < GDW_TAPS; k++) LRA_UNROLL for (int r = 0; r < GDW_TAPS; r++)
            sum[n][k] += w[r + k] * d[r];
    }
}

/* block (32, 8): output channels; items by splits.  x: parts, sets of groups; y: blocks of items */
static __global__ void __launch_bounds__(LRA_BLOCK) dw_grouped_kernel(dw_job j, gdw_cut c)
{
    LRA_SHARED(real, xs);
    real *ds = xs + c.rows * c.width;
    const conv_dw_sizes *s = &j.s;
    int64_t part = blockIdx.x % j.n_parts, g0 = blockIdx.x / j.n_parts * c.n_groups;
    int64_t total = s->B * c.dilation * c.tiles;
    int own = (int)(threadIdx.x / s->n_out), row = (int)threadIdx.y;
    int item = (int)blockIdx.y * c.block_items + row % c.block_items, split = row / c.block_items;
    int per_split = GDW_ROWS * c.block_items / LRA_BLOCK_WARPS;
    int i0 = item / c.chunks * GDW_IN, k0 = item % c.chunks * GDW_TAPS;
    bool works = own < c.n_groups && g0 + own < s->groups && item < c.items;
    real sum[GDW_IN][GDW_TAPS] = {{0}};
    for (int64_t at = part * total / j.n_parts; at < (part + 1) * total / j.n_parts; at++) {
        int64_t sequence = at / c.tiles, t0 = at % c.tiles * GDW_ROWS, length = s->T;
        int64_t b = sequence / c.dilation;
        if (j.length && j.length[b] < length) length = j.length[b];
        if (t0 * c.dilation + sequence % c.dilation >= length) continue;
        __syncthreads();
        gdw_load(&j, &c, sequence, t0, length, g0, xs, ds);
        __syncthreads();
        for (int r = split * per_split; works && r < (split + 1) * per_split; r += GDW_TAPS)
            gdw_add(xs + (r + k0) * c.width + own * (int)s->n_in + i0, c.width,
                    ds + r * GDW_COLUMNS + threadIdx.x, (int)s->n_in - i0, sum);
    }
    __syncthreads();
    real *mine = xs + row * GDW_IN * GDW_TAPS * GDW_COLUMNS + threadIdx.x;
    for (int e = 0; e < GDW_IN * GDW_TAPS; e++)
        mine[e * GDW_COLUMNS] = sum[e / GDW_TAPS][e % GDW_TAPS];
    __syncthreads();
    int64_t H = s->groups * s->n_out, h = g0 * s->n_out + threadIdx.x;
    for (int e = 0; e < GDW_IN * GDW_TAPS && works && split == 0; e++) {
        int64_t i = i0 + e / GDW_TAPS, k = k0 + e % GDW_TAPS;
        real v = 0;
        for (int q = row; q < LRA_BLOCK_WARPS; q += c.block_items)
            v += xs[(q * GDW_IN * GDW_TAPS + e) * GDW_COLUMNS + threadIdx.x];
        if (i < s->n_in && k < s->K) j.part[((part * s->K + k) * s->n_in + i) * H + h] = v;
    }
}

static inline void dw_grouped_run(const dw_job *j, void *stream)
{
    gdw_cut c = gdw_cut_of(&j->s);
    int64_t sets = (j->s.groups + c.n_groups - 1) / c.n_groups;
    LRA_LAUNCH(dw_grouped_kernel,
               dim3((unsigned)(j->n_parts * sets),
                    (unsigned)((c.items + c.block_items - 1) / c.block_items)),
               ROW_BLOCK, (size_t)gdw_shared(&j->s), stream, *j, c);
}

#endif
