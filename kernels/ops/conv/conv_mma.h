/* Convolution in bf16 on tensor cores, as an implicit matrix product over (channel block, tap). A
 * block of 256 threads computes 128 rows of a sample by 128 columns. The slab of 128 + (K-1)
 * dilation rows of x is loaded once for each block of 32 channels, and tap k reads it from row k
 * dilation on. If the slab does not fit in shared memory, every tap loads its own 128 rows. The
 * weights of a tap are copied while the two taps before it are multiplied. The copy replaces rows
 * outside of the sample by zeros, so that no array needs padding.
 *
 * Two layouts of the weights are supported: `out` = 1 (forward: the outputs of an input are
 * adjacent) and `in` = 1 (backward: the inputs of an output are adjacent). */
#ifndef LRA_OPS_CONV_CONV_MMA_H
#define LRA_OPS_CONV_CONV_MMA_H

#include "kernels/cuda/tensor.h"
#include "kernels/ops/conv/conv_cuda.h"

enum {
    MMA_ROWS = 128,
    MMA_COLUMNS = 128,
    MMA_DEPTH = 32,             /* channels per step */
    MMA_PITCH = MMA_DEPTH + 8,  /* row stride; the padding avoids bank conflicts */
    MMA_WIDE = MMA_COLUMNS + 8, /* row stride of weights whose outputs are adjacent */
    MMA_STAGES = 3,
    MMA_WEIGHTS = MMA_COLUMNS * MMA_PITCH > MMA_DEPTH *MMA_WIDE ? MMA_COLUMNS *MMA_PITCH
                                                                : MMA_DEPTH *MMA_WIDE
};

/* Slabs of x in shared memory: their number and their size in elements. apart: every step has its
 * own slab; otherwise a slab is used for all taps of a channel block. */
typedef struct {
    int n, size;
    bool apart;
} mma_slabs;

/* Position of a block, and its number of steps. Steps run over channel blocks and, within each,
 * over the taps that read at least one row. */
typedef struct {
    int b, g, t0, o0, length, k_first, n_taps, n_steps;
    mma_slabs slabs;
} mma_place;

static inline size_t mma_shared(mma_slabs s)
{
    return ((size_t)s.n * (size_t)s.size + MMA_STAGES * MMA_WEIGHTS) * sizeof(uint16_t);
}
/* True if the slabs and the weights fit in the shared memory of the smallest GPUs of compute
 * capability 8. */
static inline bool mma_has_room(mma_slabs s)
{
    return mma_shared(s) <= (size_t)96 << 10;
}

/* Chooses the slabs. Each step has its own slab if there is one tap, or if the taps are so far
 * apart that a shared slab does not fit. */
static inline mma_slabs mma_slabs_of(const conv_job *j)
{
    int64_t rows = MMA_ROWS + 2 * conv_half(j);
    mma_slabs shared = {2, (int)(rows * MMA_PITCH), false}, own = {3, MMA_ROWS * MMA_PITCH, true};
    if (j->K == 1) return own;
    return j->dilation > 1 && (rows > 1 << 16 || !mma_has_room(shared)) ? own : shared;
}

LRA_DEV mma_place mma_find(const conv_job *j, mma_slabs slabs)
{
    mma_place p;
    int T = (int)j->T, groups = (int)j->groups;
    int tiles = (T + MMA_ROWS - 1) / MMA_ROWS, at = (int)blockIdx.x / tiles;
    p.t0 = (int)blockIdx.x % tiles * MMA_ROWS;
    p.g = at % groups, p.b = at / groups;
    p.o0 = (int)blockIdx.y * MMA_COLUMNS;
    p.length = (int)conv_length(j, p.b);
    int end = (int)conv_end_tap(j, p.t0, p.length);
    p.k_first = (int)conv_first_tap(j, p.t0, MMA_ROWS);
    p.n_taps = p.t0 < p.length && end > p.k_first ? end - p.k_first : 0;
    p.n_steps = p.n_taps * (int)((j->n_in + MMA_DEPTH - 1) / MMA_DEPTH);
    p.slabs = slabs;
    return p;
}

/* Loads the rows of x that the block reads for tap number `tap`, channels c0 .. c0 + 31. */
LRA_DEV void mma_load_slab(const conv_job *j, const mma_place *p, int tap, int c0, uint16_t *slab)
{
    int64_t D = j->groups * j->n_in;
    int from = p->t0 + (p->k_first + tap) * (int)j->dilation - (int)conv_half(j);
    int n = MMA_ROWS + (p->slabs.apart ? 0 : (p->n_taps - 1) * (int)j->dilation);
    for (int e = threadIdx.x; e < n * (MMA_DEPTH / 8); e += LRA_BLOCK) {
        int row = e / (MMA_DEPTH / 8), i = e % (MMA_DEPTH / 8) * 8, t = from + row;
        bool valid = t >= 0 && t < p->length && c0 + i < j->n_in;
        const elem *x = valid ? j->x + ((int64_t)p->b * j->T + t) * D + p->g * j->n_in + c0 + i
                              : j->x;
        tc_copy16(slab + row * MMA_PITCH + i, x, valid);
    }
}

/* Loads the weights of tap k, channels c0 .. c0 + 31: (32 inputs, 128 outputs), or transposed if
 * inputs are adjacent. */
template <bool ADJACENT_IN>
LRA_DEV void mma_load_weights(const conv_job *j, const mma_place *p, int64_t k, int c0,
                              uint16_t *to)
{
    enum { ALONG = (ADJACENT_IN ? MMA_DEPTH : MMA_COLUMNS) / 8 };
    const elem *w = j->w + j->start + p->g * j->group + k * j->tap;
    /* A row has adjacent weights: those of one input to all outputs, or with ADJACENT_IN those of
     * all inputs to one output. */
    int stride = (int)(ADJACENT_IN ? j->out : j->in), row0 = ADJACENT_IN ? p->o0 : c0;
    int at0 = ADJACENT_IN ? c0 : p->o0;
    int n_rows = (int)(ADJACENT_IN ? j->n_out : j->n_in),
        n = (int)(ADJACENT_IN ? j->n_in : j->n_out);
    for (int e = threadIdx.x; e < MMA_DEPTH * MMA_COLUMNS / 8; e += LRA_BLOCK) {
        int row = e / ALONG, at = e % ALONG * 8;
        bool valid = row0 + row < n_rows && at0 + at < n;
        tc_copy16(to + row * (ADJACENT_IN ? MMA_PITCH : MMA_WIDE) + at,
                  valid ? w + (row0 + row) * stride + at0 + at : j->w, valid);
    }
}

/* Slab that step s reads. */
LRA_DEV uint16_t *mma_slab(const mma_place *p, int s, uint16_t *slabs)
{
    return slabs + (p->slabs.apart ? s : s / p->n_taps) % p->slabs.n * p->slabs.size;
}

/* Starts the copies that step s needs, as one cp.async group. */
template <bool ADJACENT_IN>
LRA_DEV void mma_load(const conv_job *j, const mma_place *p, int s, uint16_t *slabs,
                      uint16_t *weights)
{
    if (s < p->n_steps) {
        int block = s / p->n_taps, tap = s % p->n_taps;
        if (tap == 0 || p->slabs.apart)
            mma_load_slab(j, p, tap, block * MMA_DEPTH, mma_slab(p, s, slabs));
        mma_load_weights<ADJACENT_IN>(j, p, p->k_first + tap, block * MMA_DEPTH,
                                      weights + s % MMA_STAGES * MMA_WEIGHTS);
    }
    tc_commit();
}

/* sum of a warp (32 rows, 64 columns) += rows of the slab times the weights of a tap. */
template <bool ADJACENT_IN>
LRA_DEV void mma_multiply(const uint16_t *x, const uint16_t *w, int row0, int column0, int lane,
                          float sum[2][8][4])
{
    for (int k = 0; k < MMA_DEPTH; k += 16) {
        uint32_t a[2][4], b[4];
        LRA_UNROLL for (int m = 0; m < 2; m++)
            tc_load4(a[m], x + (row0 + m * 16 + lane % 16) * MMA_PITCH + k + lane / 16 * 8);
        LRA_UNROLL for (int n = 0; n < 4; n++)
        {
            int column = column0 + n * 16;
            if (ADJACENT_IN)
                tc_load4(b, w + (column + lane % 8 + lane / 16 * 8) * MMA_PITCH + k +
                                lane / 8 % 2 * 8);
            else
                tc_load4_t(b, w + (k + lane % 16) * MMA_WIDE + column + lane / 16 * 8);
            LRA_UNROLL for (int m = 0; m < 2; m++)
            {
                tc_mma(sum[m][2 * n], a[m], b[0], b[1]);
                tc_mma(sum[m][2 * n + 1], a[m], b[2], b[3]);
            }
        }
    }
}

/* Writes the sums of a warp to y, two adjacent columns at a time, with bias, activation, residual
 * and gate. */
LRA_DEV void mma_finish(const conv_job *j, const mma_place *p, int row0, int column0, int lane,
                        float sum[2][8][4])
{
    int64_t H = j->groups * j->n_out;
    LRA_UNROLL for (int m = 0; m < 2; m++) LRA_UNROLL for (int n = 0; n < 8; n++)
        LRA_UNROLL for (int half = 0; half < 2; half++)
    {
        int64_t t = p->t0 + row0 + m * 16 + half * 8 + lane / 4;
        int64_t o = p->o0 + column0 + n * 8 + lane % 4 * 2, column = p->g * j->n_out + o;
        uint32_t word = 0, more = 0, gate = 0;
        float *own = &sum[m][n][2 * half];
        if (t >= j->T || o >= j->n_out) {
            own[0] = own[1] = 0;
            continue;
        }
        int64_t at = ((int64_t)p->b * j->T + t) * H + column;
        if (j->residual) more = *(const uint32_t *)(j->residual + at);
        if (j->gate) gate = *(const uint32_t *)(j->gate + at);
        LRA_UNROLL for (int k = 0; k < 2 && t < p->length; k++)
        {
            real bias = j->bias ? j->bias[column + k] : R(0.0);
            real v = act_value(j->act, own[k] + bias);
            if (j->gate) /* the sum is rounded to bf16 first, as if it had been stored */
                v = e_load(e_store(v)) *
                    act_slope(j->slope, bits_real(k ? gate & 0xFFFF0000u : gate << 16));
            v += bits_real(k ? more & 0xFFFF0000u : more << 16);
            word |= (uint32_t)e_store(v) << 16 * k;
        }
        *(uint32_t *)(j->y + at) = word;
        own[0] = bits_real(word << 16), own[1] = bits_real(word & 0xFFFF0000u);
    }
}

/* Sums the values of the tile that were written to y, column by column. shared: 4 x MMA_COLUMNS
 * numbers */
LRA_DEV void mma_columns(const conv_job *j, const mma_place *p, int row, int column0, int lane,
                         float sum[2][8][4], float *shared)
{
    int tiles = ((int)j->T + MMA_ROWS - 1) / MMA_ROWS, tile = p->b * tiles + p->t0 / MMA_ROWS;
    LRA_UNROLL for (int n = 0; n < 8; n++) LRA_UNROLL for (int k = 0; k < 2; k++)
    {
        float v = sum[0][n][k] + sum[0][n][2 + k] + sum[1][n][k] + sum[1][n][2 + k];
        LRA_UNROLL for (int other = 4; other < LRA_WARP; other *= 2)
            v += __shfl_xor_sync(~0u, v, other);
        if (lane < 4) shared[row * MMA_COLUMNS + column0 + n * 8 + lane * 2 + k] = v;
    }
    __syncthreads();
    for (int i = threadIdx.x; i < MMA_COLUMNS && p->o0 + i < j->n_out; i += LRA_BLOCK) {
        float v = 0;
        LRA_UNROLL for (int r = 0; r < 4; r++) v += shared[r * MMA_COLUMNS + i];
        j->columns[(int64_t)tile * j->n_out + p->o0 + i] = v;
    }
}

/* Grid: x = tiles of rows times groups times samples, y = tiles of columns. */
template <bool ADJACENT_IN>
static __global__ void __launch_bounds__(LRA_BLOCK, 2) conv_mma_kernel(conv_job j, mma_slabs n)
{
    LRA_SHARED(uint16_t, slabs);
    mma_place p = mma_find(&j, n);
    uint16_t *weights = slabs + n.n * n.size;
    int lane = threadIdx.x % LRA_WARP, warp = threadIdx.x / LRA_WARP;
    int row0 = warp % 4 * 32, column0 = warp / 4 * 64;
    float sum[2][8][4] = {{{0}}};
    for (int s = 0; s < MMA_STAGES - 1; s++) mma_load<ADJACENT_IN>(&j, &p, s, slabs, weights);
    for (int s = 0; s < p.n_steps; s++) {
        tc_wait<MMA_STAGES - 2>();
        __syncthreads();
        mma_load<ADJACENT_IN>(&j, &p, s + MMA_STAGES - 1, slabs, weights);
        int row = n.apart ? 0 : s % p.n_taps * (int)j.dilation;
        mma_multiply<ADJACENT_IN>(mma_slab(&p, s, slabs) + row * MMA_PITCH,
                                  weights + s % MMA_STAGES * MMA_WEIGHTS, row0, column0, lane, sum);
    }
    mma_finish(&j, &p, row0, column0, lane, sum);
    if (!j.columns) return;
    tc_wait<0>();    /* equivalent without it: the last groups are empty */
    __syncthreads(); /* after this barrier no warp reads a slab */
    mma_columns(&j, &p, warp % 4, column0, lane, sum, (float *)slabs);
}

/* True if the kernel supports this call. Channels must be multiples of eight, the unit of a
 * copy. */
static inline bool mma_fits(const conv_job *j)
{
    bool aligned = is_aligned(j->x, j->w, j->y) && is_aligned(j->residual, j->gate, NULL);
    return LRA_TYPE_bf16 && aligned && j->n_in % 8 == 0 && j->n_out % 8 == 0 && j->n_in >= 16 &&
           j->n_out >= 16 && mma_has_room(mma_slabs_of(j));
}

static inline void conv_mma_run(const conv_job *j, void *stream)
{
    int64_t tiles = (j->T + MMA_ROWS - 1) / MMA_ROWS;
    int64_t columns = (j->n_out + MMA_COLUMNS - 1) / MMA_COLUMNS;
    dim3 grid((unsigned)(tiles * j->groups * j->B), (unsigned)columns);
    mma_slabs slabs = mma_slabs_of(j);
    size_t shared = mma_shared(slabs);
    if (j->in == 1) {
        LRA_ALLOW_SHARED(conv_mma_kernel<true>, shared);
        LRA_LAUNCH(conv_mma_kernel<true>, grid, LRA_BLOCK, shared, stream, *j, slabs);
    } else {
        LRA_ALLOW_SHARED(conv_mma_kernel<false>, shared);
        LRA_LAUNCH(conv_mma_kernel<false>, grid, LRA_BLOCK, shared, stream, *j, slabs);
    }
}

#endif
