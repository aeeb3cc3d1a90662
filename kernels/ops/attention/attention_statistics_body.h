/* Code shared by the C and CUDA bodies of attention_statistics: sizes of the result, columns of a
 * moving average. */
#ifndef LRA_OPS_ATTENTION_ATTENTION_STATISTICS_BODY_H
#define LRA_OPS_ATTENTION_ATTENTION_STATISTICS_BODY_H

#include "kernels/ops/attention/attention_profile.h"
#include "kernels/ops/attention/attention_statistics.h"

typedef struct {
    /* H: number of heads per residue; heads: number of heads in the result */
    int64_t stride, H, heads;
    /* D: positions; columns, lines: width and height of the image in pixels */
    int64_t D, columns, lines;
    /* near: length of `near`; other: index of `other` in a row; all: length of a row */
    int64_t near, other, all;
} statistics_sizes;

LRA_FN statistics_sizes statistics_sizes_of(const attention_args *a, const attention_sizes *s)
{
    statistics_sizes z = {a->stride, s->H / a->stride, s->H / a->stride, 0, a->columns, 0, 0, 0, 0};
    z.D = a->stride > 1 ? a->T : s->Tq > s->Tk ? s->Tq : s->Tk;
    if (a->has >> ATTENTION_GRAM & 1u) z.heads = 1;
    if (z.columns > 0) z.lines = (z.D + z.columns - 1) / z.columns;
    z.near = z.lines > z.columns ? z.lines : z.columns;
    z.other = 3 * z.D - 1 + LRA_ATTENTION_NUMBERS + z.near;
    z.all = z.other + 2 * z.D + z.near;
    return z;
}

/* Scratch of the CUDA body, in float32 numbers: maps of STATISTICS_ROWS rows of every head,
 * averaged maps, numbers of each row, and two shares of each row (p_ii, 1 / (1 - p_ii)). */
enum { STATISTICS_ROWS = 64, STATISTICS_OWN = 2 };
/* Rows whose share of other keys is smaller than this are excluded from the statistics of
 * distances. */
#define STATISTICS_LONE R(1e-6)
LRA_FN int64_t statistics_cuda_scratch(const attention_args *a, const attention_sizes *s)
{
    statistics_sizes z = statistics_sizes_of(a, s);
    int64_t maps = (a->smooth > 1 ? 2 : 1) * s->H * s->Tk;
    return s->B * STATISTICS_ROWS *
           (maps + z.stride * z.heads * (LRA_ATTENTION_NUMBERS + STATISTICS_OWN));
}

/* Columns in which row i has weight after the moving average: its keys and their neighbours,
 * clipped to the row's chunk. */
LRA_FN attention_range statistics_spread(const attention_args *a, const attention_mask *m,
                                         int64_t i, attention_range keys)
{
    int64_t before = a->smooth_past ? a->smooth - 1 : (a->smooth - 1) / 2;
    int64_t behind = a->smooth_past ? 0 : (a->smooth - 1) / 2;
    if (keys.to <= keys.from || a->smooth <= 1) return keys;
    attention_range r = {keys.from - before, keys.to + behind};
    int64_t low = m->chunk > 0 ? i / m->chunk * m->chunk : 0;
    int64_t high = m->chunk > 0 && low + m->chunk < m->n_k ? low + m->chunk : m->n_k;
    if (r.from < low) r.from = low;
    if (r.to > high) r.to = high;
    return r;
}

/* Index of the excluded key (lra_attention_statistics_spec.without) within residue r; -1: none. */
LRA_FN int64_t statistics_hole(const statistics_sizes *z, const int32_t *without, int64_t r)
{
    if (!without || *without < 0 || *without % z->stride != r) return -1;
    return *without / z->stride;
}

#endif
