/* Weight gradient of a convolution in bf16 on compute capability 9.0. A block sums x^T dy for four
 * taps, 64 input and 128 output channels, over the rows of a part, 64 rows per step. Each of two
 * warpgroups computes two taps; one more warp starts all copies.
 *
 * A step copies 64 rows of dy in a swizzled layout, and the rows of x that the four taps read (64 +
 * 3 dilation, at most 72) as eight planes of eight channels, 16 bytes per row. A tap is then a
 * constant offset of the address (conv_wgmma.h). The copy replaces rows outside of the sample by
 * zeros. The warps that read a stage clear the rows beyond the sample's length. */
#ifndef LRA_OPS_CONV_CONV_DW_WGMMA_H
#define LRA_OPS_CONV_CONV_DW_WGMMA_H

#include "kernels/cuda/wgmma.h"
#include "kernels/ops/conv/conv_dw_cuda.h"

enum {
    DWG_ROWS = 64,
    DWG_IN = 64,
    DWG_OUT = 128,
    /* rows of x: 64 plus the reach of four taps, rounded up to a multiple of eight */
    DWG_SLAB = 72,
    DWG_STAGES = 8,
    DWG_PLANE = DWG_SLAB * 16,          /* bytes of a plane of x */
    DWG_DY = DWG_ROWS * DWG_OUT * 2,    /* bytes of dy: 64 output channels, then 64 more */
    DWG_STAGE = DWG_DY + 8 * DWG_PLANE, /* bytes of a stage: dy, then x */
    DWG_BLOCK = 2 * WG_THREADS + LRA_WARP
};

typedef struct {
    uint64_t full[DWG_STAGES], empty[DWG_STAGES], clear;
} dwg_bars;

/* Work of a block: taps [k0, k0 + 4) of group g, input channels from i0, output channels from o0,
 * tiles [first, end); per_sample: tiles per sample. */
typedef struct {
    /* shift: distance in rows of tap k0 from the middle tap */
    int part, g, k0, i0, o0, per_sample, first, end, shift;
} dwg_place;

static inline size_t dwg_shared(void)
{
    return 1024 + DWG_STAGES * DWG_STAGE + sizeof(dwg_bars);
}

/* Finds the work of this block. Grid: x = parts times tiles of input and output channels, y =
 * groups of four taps times groups. */
LRA_DEV dwg_place dwg_find(const dw_job *j)
{
    const conv_dw_sizes *s = &j->s;
    int columns = (int)((s->n_out + DWG_OUT - 1) / DWG_OUT), at = (int)(blockIdx.x / j->n_parts);
    dwg_place p;
    p.part = (int)(blockIdx.x % j->n_parts);
    p.o0 = at % columns * DWG_OUT, p.i0 = at / columns * DWG_IN;
    p.g = (int)(blockIdx.y % s->groups), p.k0 = (int)(blockIdx.y / s->groups) * CONV_DW_TAPS;
    p.per_sample = (int)((s->T + DWG_ROWS - 1) / DWG_ROWS);
    int64_t total = s->B * p.per_sample;
    p.first = (int)(p.part * total / j->n_parts), p.end = (int)((p.part + 1) * total / j->n_parts);
    p.shift = (int)dw_shift(j, p.k0);
    return p;
}

/* Length of the sample that contains a tile. All threads skip tiles that begin at or after it. */
LRA_DEV int dwg_length(const dw_job *j, const dwg_place *p, int tile)
{
    int n = j->length ? (int)j->length[tile / p->per_sample] : (int)j->s.T;
    return n < j->s.T ? n : (int)j->s.T;
}

#if LRA_HAS_WGMMA
LRA_DEV void dwg_copy(const dw_job *j, const lra_map *x, const lra_map *dy, const dwg_place *p,
                      unsigned char *stages, dwg_bars *bars)
{
    int step = 0;
    for (int tile = p->first; tile < p->end; tile++) {
        int b = tile / p->per_sample, t0 = tile % p->per_sample * DWG_ROWS;
        int stage = step % DWG_STAGES, o = p->g * (int)j->s.n_out + p->o0;
        unsigned char *to = stages + stage * DWG_STAGE;
        if (t0 >= dwg_length(j, p, tile)) continue;
        bar_wait(&bars->empty[stage], ~(step / DWG_STAGES) & 1);
        bar_expect(&bars->full[stage], DWG_STAGE);
        tm_load(to, dy, o, t0, b, &bars->full[stage]);
        tm_load(to + DWG_DY / 2, dy, o + 64, t0, b, &bars->full[stage]);
        for (int c = 0; c < 8; c++)
            tm_load(to + DWG_DY + c * DWG_PLANE, x, p->g * (int)j->s.n_in + p->i0 + 8 * c,
                    t0 + p->shift, b, &bars->full[stage]);
        step++;
    }
}

/* Clears the rows of a stage beyond the length of the sample. Returns false if the stage has
 * none. */
LRA_DEV bool dwg_clear(const dw_job *j, const dwg_place *p, int t0, int length,
                       unsigned char *stage, uint64_t *bar, int parity)
{
    int from_dy = length - t0, from_x = length - (t0 + p->shift);
    if (length == j->s.T || (from_dy >= DWG_ROWS && from_x >= DWG_SLAB)) return false;
    if (from_x < 0) from_x = 0;
    for (int e = (int)threadIdx.x; e < DWG_DY / 16; e += 2 * WG_THREADS)
        if (e / 8 % DWG_ROWS >= from_dy) ((uint4 *)stage)[e] = uint4{0, 0, 0, 0};
    for (int e = (int)threadIdx.x; e < 8 * DWG_SLAB; e += 2 * WG_THREADS)
        if (e % DWG_SLAB >= from_x) ((uint4 *)(stage + DWG_DY))[e] = uint4{0, 0, 0, 0};
    bar_fence();
    bar_arrive(bar);
    bar_wait(bar, parity);
    return true;
}

/* sum[m] (64,128) += x^T dy for tap k0 + tap + m, m = 0 and 1. */
LRA_DEV void dwg_multiply(uint32_t stage, int tap, int dilation, float sum[2][64])
{
    wg_fence();
    LRA_UNROLL for (int k = 0; k < DWG_ROWS / 16; k++)
    {
        uint64_t b = wg_matrix(stage + (uint32_t)(k * 16 * WG_ROW), DWG_DY / 2, WG_ATOM, true);
        LRA_UNROLL for (int m = 0; m < 2; m++)
        {
            uint32_t at = stage + DWG_DY + (uint32_t)((k * 16 + (tap + m) * dilation) * 16);
            wg_mma<1, 1>(sum[m], wg_matrix(at, 128, DWG_PLANE, false), b);
        }
    }
    wg_commit();
}

LRA_DEV void dwg_sum(const dw_job *j, const dwg_place *p, int tap, unsigned char *stages,
                     dwg_bars *bars, float sum[2][64])
{
    bool first = threadIdx.x % WG_THREADS == 0;
    int step = 0, cleared = 0;
    for (int tile = p->first; tile < p->end; tile++) {
        int t0 = tile % p->per_sample * DWG_ROWS, length = dwg_length(j, p, tile);
        int stage = step % DWG_STAGES;
        if (t0 >= length) continue;
        bar_wait(&bars->full[stage], step / DWG_STAGES & 1);
        cleared += dwg_clear(j, p, t0, length, stages + stage * DWG_STAGE, &bars->clear,
                             cleared & 1);
        dwg_multiply(tc_address(stages + stage * DWG_STAGE), tap, (int)j->s.dilation, sum);
        wg_wait<1>();
        if (first && step > 0) bar_arrive(&bars->empty[(step - 1) % DWG_STAGES]);
        step++;
    }
    wg_wait<0>();
}

LRA_DEV void dwg_finish(const dw_job *j, const dwg_place *p, int tap, float sum[2][64])
{
    const conv_dw_sizes *s = &j->s;
    int64_t H = s->groups * s->n_out;
    int lane = threadIdx.x % LRA_WARP, warp = (int)threadIdx.x / LRA_WARP % 4;
    LRA_UNROLL for (int m = 0; m < 2; m++) LRA_UNROLL for (int half = 0; half < 2; half++)
    {
        int64_t k = p->k0 + tap + m, i = p->i0 + warp * 16 + half * 8 + lane / 4;
        if (k >= s->K || i >= s->n_in) continue;
        real *to = j->part + ((p->part * s->K + k) * s->n_in + i) * H + p->g * s->n_out;
        LRA_UNROLL for (int n = 0; n < 16; n++) LRA_UNROLL for (int c = 0; c < 2; c++)
        {
            int o = p->o0 + n * 8 + lane % 4 * 2 + c;
            if (o < s->n_out) to[o] = sum[m][4 * n + 2 * half + c];
        }
    }
}
#endif

static __global__ void __launch_bounds__(DWG_BLOCK, 1)
    dw_wgmma_kernel(const __grid_constant__ lra_map x, const __grid_constant__ lra_map dy,
                    const __grid_constant__ dw_job j)
{
#if LRA_HAS_WGMMA
    LRA_SHARED(unsigned char, memory);
    unsigned char *stages = memory + (1024 - tc_address(memory) % 1024) % 1024;
    dwg_bars *bars = (dwg_bars *)(stages + DWG_STAGES * DWG_STAGE);
    dwg_place p = dwg_find(&j);
    int group = (int)threadIdx.x / WG_THREADS;
    if (threadIdx.x == 0) {
        for (int i = 0; i < DWG_STAGES; i++)
            bar_init(&bars->full[i], 1), bar_init(&bars->empty[i], 2);
        bar_init(&bars->clear, 2 * WG_THREADS);
        bar_fence();
    }
    __syncthreads();
    if (group == 2) {
        if (threadIdx.x == 2 * WG_THREADS) dwg_copy(&j, &x, &dy, &p, stages, bars);
        return;
    }
    float sum[2][64] = {{0}};
    dwg_sum(&j, &p, 2 * group, stages, bars, sum);
    dwg_finish(&j, &p, 2 * group, sum);
#endif
}

/* True if the wgmma kernel supports this call. The slab of x must cover four adjacent taps; if the
 * dilation is too large, dw_mma_kernel computes each tap separately. */
static inline bool dw_wgmma_fits(const dw_job *j)
{
    if (j->s.K * j->s.groups > LRA_MAX_GRID_Y) return false;
    if (DWG_ROWS + (CONV_DW_TAPS - 1) * j->s.dilation > DWG_SLAB) return false;
    return is_aligned(j->x, j->dy, NULL) && j->s.n_in % DWG_IN == 0 && j->s.n_out % 8 == 0;
}

static inline void dw_wgmma_run(const dw_job *j, void *stream)
{
    const conv_dw_sizes *s = &j->s;
    const int64_t x_size[3] = {s->groups * s->n_in, s->T, s->B};
    const int64_t dy_size[3] = {s->groups * s->n_out, s->T, s->B};
    const int x_box[3] = {8, DWG_SLAB, 1}, dy_box[3] = {64, DWG_ROWS, 1};
    int64_t tiles = s->n_in / DWG_IN * ((s->n_out + DWG_OUT - 1) / DWG_OUT);
    int64_t fours = (s->K + CONV_DW_TAPS - 1) / CONV_DW_TAPS;
    lra_map x, dy;
    if (!lra_cuda_map(&x, j->x, x_size, x_box, false)) return;
    if (!lra_cuda_map(&dy, j->dy, dy_size, dy_box, true)) return;
    LRA_ALLOW_SHARED(dw_wgmma_kernel, dwg_shared());
    LRA_LAUNCH(dw_wgmma_kernel, dim3((unsigned)(tiles * j->n_parts), (unsigned)(fours * s->groups)),
               DWG_BLOCK, dwg_shared(), stream, x, dy, *j);
}

#endif
