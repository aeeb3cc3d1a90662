/* Weight gradient of a convolution with narrow groups (conv_dw_parts.h) in plain CUDA. A block
 * computes 32 output channels, one per lane: those of several groups or a part of a wide group. It
 * loops over tiles of 64 rows of a part of the samples. An item is two inputs by eight taps. A
 * thread sums one item for its channel, with a window of x that slides over eight rows of dy. A
 * block has at most eight items of adjacent taps, so that its slab of x has at most 128 rows for
 * any K. With fewer items the rows of a tile are split among the warps, and the splits are added in
 * order. conv_dw_parts.h counts bytes and FLOP. */
#ifndef LRA_OPS_CONV_CONV_DW_GROUPED_CUDA_H
#define LRA_OPS_CONV_CONV_DW_GROUPED_CUDA_H

#include "kernels/ops/conv/conv_dw_cuda.h"

/* Parameters that are constant within a launch. */
typedef struct {
    gdw_block block;
    /* columns: number of sets of 32 output channels per group */
    int n_groups, columns, dilation, tiles;
    int64_t sets;
} gdw_cut;

static inline gdw_cut gdw_cut_of(const conv_dw_sizes *s)
{
    gdw_cut c = {gdw_block_of(s),
                 (int)gdw_groups(s),
                 (int)((s->n_out + GDW_COLUMNS - 1) / GDW_COLUMNS),
                 (int)gdw_sequences(s),
                 (int)gdw_sequence_tiles(s),
                 gdw_sets(s)};
    return c;
}

/* Work of a block: part of the rows, first group, its first output channel, first tap, first input,
 * inputs per group in the slab. */
typedef struct {
    int64_t part, g0, o0, k0, i0;
    int inputs;
} gdw_place;

/* Finds the work of this block. Grid: x = parts times sets of columns times blocks of inputs times
 * blocks of taps; parts are the fastest index. */
LRA_DEV gdw_place gdw_find(const dw_job *j, const gdw_cut *c)
{
    gdw_place p;
    int64_t at = blockIdx.x / j->n_parts, set = at % c->sets;
    p.part = blockIdx.x % j->n_parts, at /= c->sets;
    p.g0 = set / c->columns * c->n_groups, p.o0 = set % c->columns * GDW_COLUMNS;
    p.i0 = at % c->block.in_blocks * c->block.inputs * GDW_IN;
    p.k0 = at / c->block.in_blocks * c->block.taps * GDW_TAPS;
    p.inputs = (int)(c->block.width / c->n_groups);
    return p;
}

/* Number of output channels of a group that a block computes. */
LRA_DEV int gdw_width(const conv_dw_sizes *s)
{
    return s->n_out < GDW_COLUMNS ? (int)s->n_out : GDW_COLUMNS;
}

/* Loads rows [t0 + k0 - half, ..) of x and rows [t0, t0 + 64) of dy of one sequence. Elements
 * outside of the sample, the groups or their inputs become zeros. */
LRA_DEV void gdw_load(const dw_job *j, const gdw_cut *c, const gdw_place *p, int64_t sequence,
                      int64_t t0, int64_t length, real *xs, real *ds)
{
    const conv_dw_sizes *s = &j->s;
    int tid = (int)(threadIdx.y * LRA_WARP + threadIdx.x), width = (int)c->block.width;
    int64_t D = s->groups * s->n_in, H = s->groups * s->n_out, half = (s->K - 1) / 2;
    int64_t b = sequence / c->dilation, phase = sequence % c->dilation;
    for (int e = tid; e < (int)c->block.rows * width; e += LRA_BLOCK) {
        int64_t t = (t0 + p->k0 - half + e / width) * c->dilation + phase;
        int64_t g = p->g0 + e % width / p->inputs, i = p->i0 + e % width % p->inputs;
        bool inside = t >= 0 && t < length && g < s->groups && i < s->n_in;
        xs[e] = inside ? e_load(j->x[(b * s->T + t) * D + g * s->n_in + i]) : R(0.0);
    }
    for (int r = threadIdx.y; r < GDW_ROWS; r += LRA_BLOCK_WARPS) {
        int64_t t = (t0 + r) * c->dilation + phase, own = threadIdx.x / gdw_width(s);
        int64_t o = p->o0 + threadIdx.x % gdw_width(s), g = p->g0 + own;
        bool inside = t < length && own < c->n_groups && g < s->groups && o < s->n_out;
        ds[r * GDW_COLUMNS + threadIdx.x] =
            inside ? e_load(j->dy[(b * s->T + t) * H + g * s->n_out + o]) : R(0.0);
    }
}

/* sum[n][k] += sum over eight rows r of x[r + k][n] dy[r], for the inputs n and taps k of an item.
 * x: at the item's first row and input; dy: at the channel of this lane. */
LRA_DEV void gdw_add(const real *x, int width, const real *dy, int n_inputs, int n_taps,
                     real sum[GDW_IN][GDW_TAPS])
{
    real d[GDW_TAPS];
    LRA_UNROLL for (int r = 0; r < GDW_TAPS; r++) d[r] = dy[r * GDW_COLUMNS];
    LRA_UNROLL for (int n = 0; n < GDW_IN; n++)
    {
        real w[2 * GDW_TAPS - 1];
        if (n >= n_inputs) break;
        LRA_UNROLL for (int r = 0; r < 2 * GDW_TAPS - 1; r++)
            w[r] = r < n_taps + GDW_TAPS - 1 ? x[r * width + n] : R(0.0);
        LRA_UNROLL for (int k = 0; k < GDW_TAPS; k++)
        {
            if (k >= n_taps) break;
            LRA_UNROLL for (int r = 0; r < GDW_TAPS; r++) sum[n][k] += w[r + k] * d[r];
        }
    }
}

/* True if at least one tap of the block reads a row of the sample. */
LRA_DEV bool gdw_reaches(const dw_job *j, const gdw_cut *c, const gdw_place *p, int64_t t0,
                         int64_t phase, int64_t length)
{
    int64_t first = t0 + p->k0 - (j->s.K - 1) / 2, last = first + c->block.rows - 1;
    return t0 * c->dilation + phase < length && last >= 0 && first * c->dilation + phase < length;
}

/* Thread (x,y) of a block of (32, 8): x = output channel, y = item and split of the rows. */
static __global__ void __launch_bounds__(LRA_BLOCK) dw_grouped_kernel(dw_job j, gdw_cut c)
{
    LRA_SHARED(real, xs);
    real *ds = xs + c.block.rows * c.block.width;
    const conv_dw_sizes *s = &j.s;
    gdw_place p = gdw_find(&j, &c);
    int64_t total = s->B * c.dilation * c.tiles;
    int own = (int)threadIdx.x / gdw_width(s), row = (int)threadIdx.y;
    int taps = (int)c.block.taps, items = taps * (int)c.block.inputs, width = (int)c.block.width;
    int item = row % items, split = row / items, per_split = GDW_ROWS * items / LRA_BLOCK_WARPS;
    /* first input and first tap of the item, relative to those of the block */
    int in = item / taps * GDW_IN, tap = item % taps * GDW_TAPS;
    int64_t i0 = p.i0 + in, k0 = p.k0 + tap, o = p.o0 + threadIdx.x % gdw_width(s);
    bool works = own < c.n_groups && p.g0 + own < s->groups && o < s->n_out && i0 < s->n_in &&
                 k0 < s->K;
    int n_inputs = s->n_in - i0 < GDW_IN ? (int)(s->n_in - i0) : GDW_IN;
    int n_taps = s->K - k0 < GDW_TAPS ? (int)(s->K - k0) : GDW_TAPS;
    real sum[GDW_IN][GDW_TAPS] = {{0}};
    for (int64_t at = p.part * total / j.n_parts; at < (p.part + 1) * total / j.n_parts; at++) {
        int64_t sequence = at / c.tiles, t0 = at % c.tiles * GDW_ROWS, length = s->T;
        int64_t b = sequence / c.dilation;
        if (j.length && j.length[b] < length) length = j.length[b];
        if (!gdw_reaches(&j, &c, &p, t0, sequence % c.dilation, length)) continue;
        __syncthreads();
        gdw_load(&j, &c, &p, sequence, t0, length, xs, ds);
        __syncthreads();
        for (int r = split * per_split; works && r < (split + 1) * per_split; r += GDW_TAPS)
            gdw_add(xs + (r + tap) * width + own * p.inputs + in, width,
                    ds + r * GDW_COLUMNS + threadIdx.x, n_inputs, n_taps, sum);
    }
    __syncthreads();
    real *mine = xs + row * GDW_IN * GDW_TAPS * GDW_COLUMNS + threadIdx.x;
    for (int e = 0; e < GDW_IN * GDW_TAPS; e++)
        mine[e * GDW_COLUMNS] = sum[e / GDW_TAPS][e % GDW_TAPS];
    __syncthreads();
    int64_t H = s->groups * s->n_out, h = (p.g0 + own) * s->n_out + o;
    for (int e = 0; e < GDW_IN * GDW_TAPS && works && split == 0; e++) {
        int64_t i = i0 + e / GDW_TAPS, k = k0 + e % GDW_TAPS;
        real v = 0;
        for (int q = row; q < LRA_BLOCK_WARPS; q += items)
            v += xs[(q * GDW_IN * GDW_TAPS + e) * GDW_COLUMNS + threadIdx.x];
        if (i < s->n_in && k < s->K) j.part[((p.part * s->K + k) * s->n_in + i) * H + h] = v;
    }
}

static inline void dw_grouped_run(const dw_job *j, void *stream)
{
    LRA_LAUNCH(dw_grouped_kernel, (unsigned)(j->n_parts * gdw_blocks(&j->s)), ROW_BLOCK,
               (size_t)gdw_shared(&j->s), stream, *j, gdw_cut_of(&j->s));
}

#endif
