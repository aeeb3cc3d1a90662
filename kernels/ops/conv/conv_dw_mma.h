/* Weight gradient of a convolution in bf16 on tensor cores. For each tap and group it is a product
 * x^T dy over the rows of a part, in tiles of 128 x 128 channels, with 32 rows per step. The copy
 * to shared memory replaces rows that a tap cannot reach by zeros. Both operands are stored as rows
 * of channels and are transposed as they are read. */
#ifndef LRA_OPS_CONV_CONV_DW_MMA_H
#define LRA_OPS_CONV_CONV_DW_MMA_H

#include "kernels/cuda/tensor.h"
#include "kernels/ops/conv/conv_dw_cuda.h"

enum {
    DW_TILE = 128,
    DW_ROWS = 32,
    DW_PITCH = DW_TILE + 8, /* row stride; the padding avoids bank conflicts */
    DW_STAGES = 3,
    DW_STAGE = 2 * DW_ROWS * DW_PITCH /* elements of a stage: rows of x, rows of dy */
};

/* Work of a block: part, first input and output channel, tap, group, range of rows, shift of the
 * tap in rows. */
typedef struct {
    int64_t part, i0, o0, k, g, first, end;
    int shift;
} dw_place;

LRA_DEV dw_place dw_find(const dw_job *j, int tile)
{
    const conv_dw_sizes *s = &j->s;
    int64_t columns = (s->n_out + tile - 1) / tile, rows = s->B * s->T,
            at = blockIdx.x / j->n_parts;
    dw_place p;
    p.part = blockIdx.x % j->n_parts;
    p.o0 = at % columns * tile, p.i0 = at / columns * tile;
    p.k = blockIdx.y / s->groups, p.g = blockIdx.y % s->groups;
    int64_t shift = dw_shift(j, p.k); /* taps at a distance of T or more read no rows */
    p.shift = (int)(shift < -s->T ? -s->T : shift > s->T ? s->T : shift);
    p.first = p.part * rows / j->n_parts, p.end = (p.part + 1) * rows / j->n_parts;
    return p;
}

/* One of the rows that a thread copies in every step: time t of sample b, and its addresses in x
 * (shifted by the tap) and dy. It is advanced from step to step, so that only the first step needs
 * divisions. */
typedef struct {
    int b, t, left; /* left: remaining rows of the part, including this one */
    const elem *x, *dy;
} dw_cursor;

enum { DW_COPIES = DW_ROWS * (DW_TILE / 8) / LRA_BLOCK };

LRA_DEV void dw_start(const dw_job *j, const dw_place *p, dw_cursor c[DW_COPIES])
{
    const conv_dw_sizes *s = &j->s;
    int64_t D = s->groups * s->n_in, H = s->groups * s->n_out;
    int n = threadIdx.x % (DW_TILE / 8) * 8;
    LRA_UNROLL for (int i = 0; i < DW_COPIES; i++)
    {
        int r = (threadIdx.x + i * LRA_BLOCK) / (DW_TILE / 8);
        int64_t row = p->first + r;
        c[i].b = (int)(row / s->T), c[i].t = (int)(row % s->T);
        c[i].left = (int)(p->end - row);
        c[i].x = j->x + (row + p->shift) * D + p->g * s->n_in + p->i0 + n;
        c[i].dy = j->dy + row * H + p->g * s->n_out + p->o0 + n;
    }
}

LRA_DEV bool dw_seen(const dw_job *j, const dw_cursor *c, int shift)
{
    int length = (int)j->s.T;
    if (c->left <= 0) return false;
    if (j->length && j->length[c->b] < length) length = j->length[c->b];
    return c->t < length && c->t + shift >= 0 && c->t + shift < length;
}

/* Copies the next 32 rows of x, shifted by the tap, and of dy, as one cp.async group. */
LRA_DEV void dw_load(const dw_job *j, const dw_place *p, dw_cursor c[DW_COPIES], uint16_t *x,
                     uint16_t *dy)
{
    const conv_dw_sizes *s = &j->s;
    int64_t D = s->groups * s->n_in, H = s->groups * s->n_out;
    int n = threadIdx.x % (DW_TILE / 8) * 8, T = (int)s->T;
    bool in_x = p->i0 + n < s->n_in, in_dy = p->o0 + n < s->n_out;
    LRA_UNROLL for (int i = 0; i < DW_COPIES; i++)
    {
        int at = (threadIdx.x + i * LRA_BLOCK) / (DW_TILE / 8) * DW_PITCH + n;
        bool seen = dw_seen(j, &c[i], p->shift), has_x = seen && in_x, has_dy = seen && in_dy;
        tc_copy16(x + at, has_x ? c[i].x : j->x, has_x);
        tc_copy16(dy + at, has_dy ? c[i].dy : j->dy, has_dy);
        c[i].x += DW_ROWS * D, c[i].dy += DW_ROWS * H;
        c[i].left -= DW_ROWS;
        for (c[i].t += DW_ROWS; c[i].t >= T; c[i].b++) c[i].t -= T;
    }
    tc_commit();
}

/* sum of a warp (32 input channels, 64 output channels) += x^T dy for one step. */
LRA_DEV void dw_multiply(const uint16_t *x, const uint16_t *dy, int row0, int column0, int lane,
                         float sum[2][8][4])
{
    LRA_UNROLL for (int k = 0; k < DW_ROWS; k += 16)
    {
        uint32_t a[2][4], b[4];
        LRA_UNROLL for (int m = 0; m < 2; m++) tc_load4_t(
            a[m], x + (k + lane % 8 + lane / 16 * 8) * DW_PITCH + row0 + m * 16 + lane / 8 % 2 * 8);
        LRA_UNROLL for (int n = 0; n < 4; n++)
        {
            tc_load4_t(b, dy + (k + lane % 16) * DW_PITCH + column0 + n * 16 + lane / 16 * 8);
            LRA_UNROLL for (int m = 0; m < 2; m++)
            {
                tc_mma(sum[m][2 * n], a[m], b[0], b[1]);
                tc_mma(sum[m][2 * n + 1], a[m], b[2], b[3]);
            }
        }
    }
}

/* Grid: x = parts times tiles of input and output channels, y = taps times groups. */
static __global__ void __launch_bounds__(LRA_BLOCK, 2) dw_mma_kernel(dw_job j)
{
    LRA_SHARED(uint16_t, stages);
    const conv_dw_sizes *s = &j.s;
    dw_place p = dw_find(&j, DW_TILE);
    int lane = threadIdx.x % LRA_WARP, warp = threadIdx.x / LRA_WARP;
    int row0 = warp % 4 * 32, column0 = warp / 4 * 64;
    int n_steps = (int)((p.end - p.first + DW_ROWS - 1) / DW_ROWS);
    float sum[2][8][4] = {{{0}}};
    dw_cursor at[DW_COPIES];
    dw_start(&j, &p, at);
    for (int i = 0; i < DW_STAGES - 1; i++)
        dw_load(&j, &p, at, stages + i * DW_STAGE, stages + i * DW_STAGE + DW_STAGE / 2);
    for (int i = 0; i < n_steps; i++) {
        uint16_t *now = stages + i % DW_STAGES * DW_STAGE;
        uint16_t *next = stages + (i + DW_STAGES - 1) % DW_STAGES * DW_STAGE;
        tc_wait<DW_STAGES - 2>();
        __syncthreads();
        dw_load(&j, &p, at, next, next + DW_STAGE / 2);
        dw_multiply(now, now + DW_STAGE / 2, row0, column0, lane, sum);
    }
    int64_t H = s->groups * s->n_out;
    real *to = j.part + (p.part * s->K + p.k) * s->n_in * H + p.g * s->n_out;
    LRA_UNROLL for (int m = 0; m < 2; m++) LRA_UNROLL for (int n = 0; n < 8; n++)
        LRA_UNROLL for (int k = 0; k < 4; k++)
    {
        int64_t i = p.i0 + row0 + m * 16 + k / 2 * 8 + lane / 4;
        int64_t o = p.o0 + column0 + n * 8 + lane % 4 * 2 + k % 2;
        if (i < s->n_in && o < s->n_out) to[i * H + o] = sum[m][n][k];
    }
}

static inline bool dw_mma_fits(const dw_job *j)
{
    if (j->s.K * j->s.groups > LRA_MAX_GRID_Y) return false;
    return is_aligned(j->x, j->dy, NULL) && j->s.n_in % 8 == 0 && j->s.n_out % 8 == 0 &&
           j->s.n_in >= 16 && j->s.n_out >= 16;
}

static inline void dw_mma_run(const dw_job *j, void *stream)
{
    const conv_dw_sizes *s = &j->s;
    int64_t tiles = (s->n_in + DW_TILE - 1) / DW_TILE * ((s->n_out + DW_TILE - 1) / DW_TILE);
    size_t shared = (size_t)DW_STAGES * DW_STAGE * sizeof(uint16_t);
    LRA_ALLOW_SHARED(dw_mma_kernel, shared);
    LRA_LAUNCH(dw_mma_kernel, dim3((unsigned)(tiles * j->n_parts), (unsigned)(s->K * s->groups)),
               LRA_BLOCK, shared, stream, *j);
}

#endif
