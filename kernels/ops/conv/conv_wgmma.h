/* Convolution in bf16 on compute capability 9.0, as an implicit matrix product over (channel block,
 * tap) that copies and multiplies concurrently. A block computes 2 x 128 rows by 128 columns, or by
 * 64 (conv_tiles.h). Each of two warpgroups computes 128 rows of a sample; one more warp starts all
 * copies.
 *
 * The slab of 128 + (K-1) dilation rows of x is copied once for each block of 64 channels, as eight
 * planes of eight channels, with 16 bytes per row. Within a plane, row r is at offset 16 r bytes
 * for every r, so that tap k reads the slab from row k dilation on by adding 16 k dilation to an
 * address. (In a swizzled slab the permutation would depend on k.) The copy replaces rows before
 * and after the sample by zeros. The warps that read a slab clear the rows beyond the sample's
 * length. The weights of a tap, 64 channels by the block's columns, are stored as swizzled rows and
 * are shared by both warpgroups; 96 KiB of them are in flight.
 *
 * Two layouts of the weights are supported: `out` = 1 (forward: the outputs of an input are
 * adjacent) and `in` = 1 (backward: the inputs of an output are adjacent, and the taps are
 * reversed). */
#ifndef LRA_OPS_CONV_CONV_WGMMA_H
#define LRA_OPS_CONV_CONV_WGMMA_H

#include "kernels/cuda/wgmma.h"
#include "kernels/ops/conv/conv_cuda.h"
#include "kernels/ops/conv/conv_tiles.h"

enum {
    WG_ROWS = CONV_TILE_ROWS, /* rows of a warpgroup */
    WG_DEPTH = CONV_TILE_DEPTH,
    WG_PLANES = WG_DEPTH / 8,
    WG_RING = 96 << 10, /* bytes of weights in flight */
    WG_SLABS = 2,
    WG_STAGES_MOST = WG_RING / (WG_DEPTH * CONV_TILE_NARROW * 2),
    WG_BLOCK = 2 * WG_THREADS + LRA_WARP
};

/* For blocks of COLUMNS columns: bytes of weights per step, and number of steps in flight. */
template <int COLUMNS> struct wg_size {
    enum { WEIGHTS = WG_DEPTH * COLUMNS * 2, STAGES = WG_RING / WEIGHTS };
};

typedef struct {
    uint64_t full[WG_STAGES_MOST], empty[WG_STAGES_MOST], slab_full[WG_SLABS], slab_empty[WG_SLABS],
        clear[2];
} wg_bars;

/* Rows [t0, t0 + 128) of sample b. Taps [k_first, k_end) read at least one of the sample's rows. If
 * no tap does, alive is false. */
typedef struct {
    int b, t0, length, k_first, k_end;
    bool alive;
} wg_tile;

/* Work of a block: the tiles of its two warpgroups, the taps that at least one of them needs,
 * columns from o0 on of group g, number of channel blocks, rows of a slab. */
typedef struct {
    wg_tile tile[2];
    int g, o0, k_first, n_taps, n_blocks, rows;
} wg_place;

/* Number of rows of a slab, a multiple of eight. */
LRA_FN int64_t wg_rows(const conv_job *j)
{
    return (WG_ROWS + 2 * conv_half(j) + 7) / 8 * 8;
}
/* Bytes of the slab of one warpgroup. */
LRA_FN int wg_slab(int rows)
{
    return WG_PLANES * rows * 16;
}
static inline size_t wg_shared(const conv_job *j)
{
    return 1024 + WG_RING + WG_SLABS * 2 * (size_t)wg_slab((int)wg_rows(j)) + sizeof(wg_bars);
}

LRA_DEV wg_tile wg_find_tile(const conv_job *j, int64_t at)
{
    wg_tile w = {0};
    int tiles = (int)((j->T + WG_ROWS - 1) / WG_ROWS);
    w.b = (int)(at / tiles), w.t0 = (int)(at % tiles) * WG_ROWS;
    if (w.b >= j->B) return w;
    w.length = (int)conv_length(j, w.b);
    w.k_first = (int)conv_first_tap(j, w.t0, WG_ROWS);
    w.k_end = (int)conv_end_tap(j, w.t0, w.length);
    w.alive = w.t0 < w.length;
    return w;
}

/* Finds the work of this block. Grid: x = pairs of row tiles, y = tiles of columns times groups. */
template <int COLUMNS> LRA_DEV wg_place wg_find(const conv_job *j)
{
    wg_place p = {
        {wg_find_tile(j, 2 * (int64_t)blockIdx.x), wg_find_tile(j, 2 * (int64_t)blockIdx.x + 1)}};
    int columns = (int)((j->n_out + COLUMNS - 1) / COLUMNS), first = (int)j->K, end = 0;
    p.g = (int)blockIdx.y / columns, p.o0 = (int)blockIdx.y % columns * COLUMNS;
    LRA_UNROLL for (int i = 0; i < 2; i++)
    {
        if (!p.tile[i].alive) continue;
        if (p.tile[i].k_first < first) first = p.tile[i].k_first;
        if (p.tile[i].k_end > end) end = p.tile[i].k_end;
    }
    p.k_first = first, p.n_taps = end > first ? end - first : 0;
    p.n_blocks = p.n_taps ? (int)(j->n_in / WG_DEPTH) : 0;
    p.rows = (int)wg_rows(j);
    return p;
}

#if LRA_HAS_WGMMA
/* ---- the thread that copies ------------------------------------------------------------------ */

LRA_DEV void wg_load_slab(const conv_job *j, const lra_map *x, const wg_place *p, int block,
                          unsigned char *slabs, wg_bars *bars)
{
    int slot = block % WG_SLABS, alive = p->tile[0].alive + p->tile[1].alive;
    int channel = p->g * (int)j->n_in + block * WG_DEPTH, plane = p->rows * 16;
    bar_wait(&bars->slab_empty[slot], ~(block / WG_SLABS) & 1);
    bar_expect(&bars->slab_full[slot], alive * wg_slab(p->rows));
    LRA_UNROLL for (int i = 0; i < 2; i++)
    {
        unsigned char *to = slabs + (2 * slot + i) * wg_slab(p->rows);
        if (!p->tile[i].alive) continue;
        for (int c = 0; c < WG_PLANES; c++)
            tm_load(to + c * plane, x, channel + 8 * c, p->tile[i].t0 - (int)conv_half(j),
                    p->tile[i].b, &bars->slab_full[slot]);
    }
}

template <bool ADJACENT_IN, int COLUMNS>
LRA_DEV void wg_load_weights(const conv_job *j, const lra_map *w, const wg_place *p, int k,
                             int block, int step, unsigned char *weights, wg_bars *bars)
{
    enum { WEIGHTS = wg_size<COLUMNS>::WEIGHTS, STAGES = wg_size<COLUMNS>::STAGES };
    int stage = step % STAGES, c0 = block * WG_DEPTH;
    unsigned char *to = weights + stage * WEIGHTS;
    bar_wait(&bars->empty[stage], ~(step / STAGES) & 1);
    bar_expect(&bars->full[stage], WEIGHTS);
    if (ADJACENT_IN) { /* rows are output channels, and the taps are reversed */
        tm_load(to, w, p->g * (int)j->n_in + c0, p->o0, (int)j->K - 1 - k, &bars->full[stage]);
    } else { /* rows are input channels, with 64 output channels each; then the next 64 */
        int o = p->g * (int)j->n_out + p->o0;
        LRA_UNROLL for (int i = 0; i < COLUMNS; i += 64)
            tm_load(to + i * WG_ROW, w, o + i, c0, k, &bars->full[stage]);
    }
}

/* Starts all copies of a block. The copy of the next slab starts when its buffer is about to become
 * free, which is when all stages hold taps of the current channel block. */
template <bool ADJACENT_IN, int COLUMNS>
LRA_DEV void wg_copy(const conv_job *j, const lra_map *x, const lra_map *w, const wg_place *p,
                     unsigned char *weights, unsigned char *slabs, wg_bars *bars)
{
    enum { STAGES = wg_size<COLUMNS>::STAGES };
    int ahead = p->n_taps - 1 < STAGES ? p->n_taps - 1 : STAGES, step = 0;
    if (p->n_blocks) wg_load_slab(j, x, p, 0, slabs, bars);
    for (int block = 0; block < p->n_blocks; block++)
        for (int tap = 0; tap < p->n_taps; tap++, step++) {
            wg_load_weights<ADJACENT_IN, COLUMNS>(j, w, p, p->k_first + tap, block, step, weights,
                                                  bars);
            if (tap == ahead && block + 1 < p->n_blocks)
                wg_load_slab(j, x, p, block + 1, slabs, bars);
        }
}

/* ---- the groups that multiply ---------------------------------------------------------------- */

/* Clears the rows of the slab beyond the sample's length; rows beyond T are zeros already.
 * The wait orders these writes before the products of the other warps, as the memory model of PTX
 * requires. In practice no product would read a row too early without it, if the products of four
 * warps end together. k_first is 0, because half <= 64 < WG_ROWS. The first two taps of a block
 * thus read row t + shift with shift <= 0 for output row t, which is below the length wherever t
 * is. The third tap follows a wait for the first one, which each warp queues after it has cleared
 * its rows. */
LRA_DEV void wg_clear(const conv_job *j, const wg_tile *w, int rows, unsigned char *slab,
                      uint64_t *bar, int parity)
{
    int from = w->length - w->t0 + (int)conv_half(j), tid = (int)threadIdx.x % WG_THREADS;
    if (w->length == j->T || from >= rows) return;
    for (int e = tid; e < WG_PLANES * (rows - from); e += WG_THREADS) {
        int plane = e / (rows - from), row = from + e % (rows - from);
        *(uint4 *)(slab + (plane * rows + row) * 16) = uint4{0, 0, 0, 0};
    }
    bar_fence();
    bar_arrive(bar);
    bar_wait(bar, parity); /* equivalent without it, but the memory model requires it */
}

/* sum (128, COLUMNS) += rows of the slab from `row` on, times the weights of a tap. */
template <bool ADJACENT_IN, int COLUMNS>
LRA_DEV void wg_multiply(uint32_t slab, int rows, int row, uint32_t weights,
                         float sum[2][COLUMNS / 2])
{
    wg_fence();
    LRA_UNROLL for (int k = 0; k < WG_DEPTH / 16; k++)
    {
        uint64_t b = ADJACENT_IN ? wg_matrix(weights + k * 32, 16, WG_ATOM, true)
                                 : wg_matrix(weights + k * 16 * WG_ROW, 64 * WG_ROW, WG_ATOM, true);
        LRA_UNROLL for (int m = 0; m < 2; m++)
        {
            uint32_t at = slab + (uint32_t)((2 * k * rows + row + m * 64) * 16);
            uint64_t a = wg_matrix(at, (uint32_t)rows * 16, 128, false);
            if constexpr (COLUMNS == CONV_TILE_COLUMNS)
                wg_mma<0, !ADJACENT_IN>(sum[m], a, b);
            else
                wg_mma_narrow<0, !ADJACENT_IN>(sum[m], a, b);
        }
    }
    wg_commit();
}

/* Sums all steps of a warpgroup. slabs: those of this warpgroup. The buffer of a step is released
 * after the products of the next step are queued and its own products are complete. */
template <bool ADJACENT_IN, int COLUMNS>
LRA_DEV void wg_sum(const conv_job *j, const wg_place *p, const wg_tile *own,
                    unsigned char *weights, unsigned char *slabs, wg_bars *bars, uint64_t *clear,
                    float sum[2][COLUMNS / 2])
{
    enum { WEIGHTS = wg_size<COLUMNS>::WEIGHTS, STAGES = wg_size<COLUMNS>::STAGES };
    bool first = threadIdx.x % WG_THREADS == 0;
    int step = 0;
    for (int block = 0; block < p->n_blocks; block++) {
        int slot = block % WG_SLABS;
        unsigned char *slab = slabs + 2 * slot * wg_slab(p->rows);
        bar_wait(&bars->slab_full[slot], block / WG_SLABS & 1);
        wg_clear(j, own, p->rows, slab, clear, block & 1);
        for (int tap = 0; tap < p->n_taps; tap++, step++) {
            int stage = step % STAGES;
            bar_wait(&bars->full[stage], step / STAGES & 1);
            wg_multiply<ADJACENT_IN, COLUMNS>(tc_address(slab), p->rows,
                                              (p->k_first + tap) * (int)j->dilation,
                                              tc_address(weights + stage * WEIGHTS), sum);
            wg_wait<1>();
            if (first && step > 0) bar_arrive(&bars->empty[(step - 1) % STAGES]);
            if (first && tap == 0 && block > 0)
                bar_arrive(&bars->slab_empty[(block - 1) % WG_SLABS]);
        }
    }
    wg_wait<0>();
}

/* Writes the sums of a warpgroup to y, two adjacent columns at a time. */
template <int COLUMNS>
LRA_DEV void wg_finish(const conv_job *j, const wg_place *p, const wg_tile *w,
                       float sum[2][COLUMNS / 2])
{
    int64_t H = j->groups * j->n_out;
    int lane = threadIdx.x % LRA_WARP, warp = (int)threadIdx.x / LRA_WARP % 4;
    LRA_UNROLL for (int m = 0; m < 2; m++) LRA_UNROLL for (int half = 0; half < 2; half++)
    {
        int t = w->t0 + m * 64 + warp * 16 + half * 8 + lane / 4;
        if (w->b >= j->B || t >= j->T) continue;
        elem *row = j->y + ((int64_t)w->b * j->T + t) * H + p->g * j->n_out;
        LRA_UNROLL for (int n = 0; n < COLUMNS / 8; n++)
        {
            int o = p->o0 + n * 8 + lane % 4 * 2;
            uint32_t word = 0;
            if (o >= j->n_out) continue;
            LRA_UNROLL for (int i = 0; i < 2 && t < w->length; i++)
            {
                real bias = j->bias ? j->bias[p->g * j->n_out + o + i] : R(0.0);
                real v = act_value(j->act, sum[m][4 * n + 2 * half + i] + bias);
                word |= (uint32_t)e_store(v) << 16 * i;
            }
            *(uint32_t *)(row + o) = word;
        }
    }
}
#endif

template <bool ADJACENT_IN, int COLUMNS>
static __global__ void __launch_bounds__(WG_BLOCK, 1)
    conv_wgmma_kernel(const __grid_constant__ lra_map x, const __grid_constant__ lra_map w,
                      const __grid_constant__ conv_job j)
{
#if LRA_HAS_WGMMA
    LRA_SHARED(unsigned char, memory);
    unsigned char *weights = memory + (1024 - tc_address(memory) % 1024) % 1024;
    unsigned char *slabs = weights + WG_RING;
    wg_place p = wg_find<COLUMNS>(&j);
    wg_bars *bars = (wg_bars *)(slabs + WG_SLABS * 2 * wg_slab(p.rows));
    int group = (int)threadIdx.x / WG_THREADS, alive = p.tile[0].alive && p.tile[1].alive ? 2 : 1;
    if (threadIdx.x == 0) {
        for (int i = 0; i < wg_size<COLUMNS>::STAGES; i++)
            bar_init(&bars->full[i], 1), bar_init(&bars->empty[i], alive);
        for (int i = 0; i < WG_SLABS; i++)
            bar_init(&bars->slab_full[i], 1), bar_init(&bars->slab_empty[i], alive);
        for (int i = 0; i < 2; i++) bar_init(&bars->clear[i], WG_THREADS);
        bar_fence();
    }
    __syncthreads();
    if (group == 2) {
        if (threadIdx.x == 2 * WG_THREADS)
            wg_copy<ADJACENT_IN, COLUMNS>(&j, &x, &w, &p, weights, slabs, bars);
        return;
    }
    float sum[2][COLUMNS / 2] = {{0}};
    wg_tile own = group ? p.tile[1] : p.tile[0];
    slabs += group * wg_slab(p.rows);
    if (own.alive)
        wg_sum<ADJACENT_IN, COLUMNS>(&j, &p, &own, weights, slabs, bars, &bars->clear[group], sum);
    wg_finish<COLUMNS>(&j, &p, &own, sum);
#endif
}

/* True if the kernel supports this call: full steps of 64 channels, and TMA boxes of at most 256
 * rows. */
static inline bool wgmma_fits(const conv_job *j)
{
    bool aligned = is_aligned(j->x, j->w, j->y);
    return LRA_TYPE_bf16 && aligned && conv_tile_fits(j->n_in, j->n_out, 2 * conv_half(j));
}

template <bool ADJACENT_IN, int COLUMNS>
static inline void wgmma_start(const conv_job *j, void *stream)
{
    int64_t D = j->groups * j->n_in, H = j->groups * j->n_out;
    int64_t tiles = j->B * ((j->T + WG_ROWS - 1) / WG_ROWS);
    int64_t columns = (j->n_out + COLUMNS - 1) / COLUMNS;
    const int64_t x_size[3] = {D, j->T, j->B};
    const int64_t w_size[3] = {ADJACENT_IN ? D : H, ADJACENT_IN ? j->n_out : j->n_in, j->K};
    const int x_box[3] = {8, (int)wg_rows(j), 1},
              w_box[3] = {64, ADJACENT_IN ? COLUMNS : WG_DEPTH, 1};
    lra_map x, w;
    if (!lra_cuda_map(&x, j->x, x_size, x_box, false)) return;
    if (!lra_cuda_map(&w, j->w, w_size, w_box, true)) return;
    auto kernel = conv_wgmma_kernel<ADJACENT_IN, COLUMNS>;
    LRA_ALLOW_SHARED(kernel, wg_shared(j));
    LRA_LAUNCH(kernel, dim3((unsigned)((tiles + 1) / 2), (unsigned)(columns * j->groups)), WG_BLOCK,
               wg_shared(j), stream, x, w, *j);
}

static inline void conv_wgmma_run(const conv_job *j, void *stream)
{
    conv_tiles s = {j->B, j->T, j->groups, j->n_out};
    int requested = lra_cuda_columns();
    bool wide = (requested ? requested : conv_tile_columns(&s)) == CONV_TILE_COLUMNS;
    if (j->in == 1 && wide)
        wgmma_start<true, CONV_TILE_COLUMNS>(j, stream);
    else if (j->in == 1)
        wgmma_start<true, CONV_TILE_NARROW>(j, stream);
    else if (wide)
        wgmma_start<false, CONV_TILE_COLUMNS>(j, stream);
    else
        wgmma_start<false, CONV_TILE_NARROW>(j, stream);
}

#endif
