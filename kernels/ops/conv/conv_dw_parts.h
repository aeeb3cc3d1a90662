/* How the weight gradient of a convolution is cut on a GPU: into tiles of channels for each tap or
 * four, or, where groups are narrow, into items; and into parts of the rows B T where that gives
 * fewer blocks than a large GPU can hold.  The same for every compute capability, so that the size
 * of scratch is the same. */
#ifndef LRA_OPS_CONV_CONV_DW_PARTS_H
#define LRA_OPS_CONV_CONV_DW_PARTS_H

#include <stdint.h>

typedef struct {
    int64_t B, T, K, groups, n_in, n_out, dilation;
} conv_dw_sizes;

/* ---- groups of at most 16 channels: conv_dw_grouped_cuda.h ----------------------------------- */

enum {
    GDW_ROWS = 64, /* of a tile */
    GDW_TAPS = 8,
    GDW_IN = 2,      /* inputs of an item: with eight taps, the sums of a thread */
    GDW_COLUMNS = 32 /* outputs of a block, of several groups */
};

/* Groups of a block; rows of its slab of x, a multiple of an item; items of a group. */
static inline int64_t gdw_groups(const conv_dw_sizes *s)
{
    return s->n_out < GDW_COLUMNS ? GDW_COLUMNS / s->n_out : 1;
}
static inline int64_t gdw_rows(const conv_dw_sizes *s)
{
    return GDW_ROWS + (s->K + GDW_TAPS - 1) / GDW_TAPS * GDW_TAPS;
}
static inline int64_t gdw_items(const conv_dw_sizes *s)
{
    return (s->n_in + GDW_IN - 1) / GDW_IN * ((s->K + GDW_TAPS - 1) / GDW_TAPS);
}
/* Number of items of a block: 1, 2, 4 or 8. */
static inline int64_t gdw_block_items(const conv_dw_sizes *s)
{
    int64_t n = 1;
    while (n < 8 && n < gdw_items(s)) n *= 2;
    return n;
}
static inline int64_t gdw_shared(const conv_dw_sizes *s)
{
    int64_t tile = gdw_rows(s) * gdw_groups(s) * s->n_in + GDW_ROWS * GDW_COLUMNS;
    int64_t sums = 8 * GDW_IN * GDW_TAPS * GDW_COLUMNS;
    return (tile > sums ? tile : sums) * (int64_t)sizeof(float);
}
static inline int gdw_fits(const conv_dw_sizes *s)
{
    return s->groups > 1 && s->n_in <= 16 && s->n_out <= 16 && gdw_shared(s) <= 48 << 10;
}
/* With dilation d a sample is d sequences of every d-th row. */
static inline int64_t gdw_sequences(const conv_dw_sizes *s)
{
    return s->dilation < s->T ? s->dilation : s->T;
}
/* Number of tiles of a sequence, and of all sequences. */
static inline int64_t gdw_sequence_tiles(const conv_dw_sizes *s)
{
    int64_t d = gdw_sequences(s);
    return ((s->T + d - 1) / d + GDW_ROWS - 1) / GDW_ROWS;
}
static inline int64_t gdw_tiles(const conv_dw_sizes *s)
{
    return s->B * gdw_sequences(s) * gdw_sequence_tiles(s);
}

/* ---- parts ----------------------------------------------------------------------------------- */

/* 132: number of multiprocessors of a large GPU, each with one block of dw_wgmma_kernel or several
 * of the others. */
enum { CONV_DW_TAPS = 4, CONV_DW_BLOCKS = 132 };

static inline int64_t conv_dw_parts(const conv_dw_sizes *s)
{
    int64_t fours = (s->K + CONV_DW_TAPS - 1) / CONV_DW_TAPS, most = (s->B * s->T + 511) / 512;
    int64_t blocks = fours * s->groups * ((s->n_in + 63) / 64) * ((s->n_out + 127) / 128);
    int64_t parts = CONV_DW_BLOCKS / blocks;
    if (gdw_fits(s)) {
        int64_t sets = (s->groups + gdw_groups(s) - 1) / gdw_groups(s);
        blocks = sets * ((gdw_items(s) + gdw_block_items(s) - 1) / gdw_block_items(s));
        most = (gdw_tiles(s) + 3) / 4;
        parts = (4 * CONV_DW_BLOCKS + blocks - 1) / blocks;
    }
    return parts < 1 ? 1 : parts < most ? parts : most;
}

/* Utilisation: sums of the gradient over the sums that all multiprocessors could compute in the
 * same time, in blocks of four taps, 64 inputs and 128 outputs. */
static inline double conv_dw_fill(const conv_dw_sizes *s)
{
    int64_t fours = (s->K + CONV_DW_TAPS - 1) / CONV_DW_TAPS;
    int64_t blocks = fours * s->groups * ((s->n_in + 63) / 64) * ((s->n_out + 127) / 128);
    int64_t parts = conv_dw_parts(s),
            waves = (blocks * parts + CONV_DW_BLOCKS - 1) / CONV_DW_BLOCKS;
    double made = (double)(s->K * s->groups * s->n_in * s->n_out * parts);
    return made / (double)(waves * CONV_DW_BLOCKS * CONV_DW_TAPS * 64 * 128);
}

/* Of a group, and of all. */
static inline int64_t conv_dw_size(const conv_dw_sizes *s)
{
    return s->K * s->n_in * s->n_out * s->groups;
}

#endif
