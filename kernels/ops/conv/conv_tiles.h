/* Division of a convolution into blocks of conv_wgmma_kernel: two tiles of 128 rows of a sample,
 * and 128 columns, or 64 columns if this leaves fewer multiprocessors idle. A block of 64 columns
 * takes 5/8 of the time of a block of 128, not half: it reads 128 bytes of shared memory per clock,
 * which is the peak, instead of 96, and its copies serve half as many products. These numbers are
 * calculated, not measured. */
#ifndef LRA_OPS_CONV_CONV_TILES_H
#define LRA_OPS_CONV_CONV_TILES_H

#include <stdint.h>

#ifndef LRA_MULTIPROCESSORS
#define LRA_MULTIPROCESSORS 132
#endif

enum { CONV_TILE_ROWS = 128, CONV_TILE_COLUMNS = 128, CONV_TILE_NARROW = 64 };

/* Sizes of a convolution of B samples of length T. n_out: columns of one group. */
typedef struct {
    int64_t B, T, groups, n_out;
} conv_tiles;

/* CONV_TILE_DEPTH: channels per step; CONV_TILE_SLAB: maximum rows of a TMA box. */
enum { CONV_TILE_DEPTH = 64, CONV_TILE_SLAB = 256 };

/* True if the sizes are supported. reach: distance in rows from the first tap to the last. */
static inline int conv_tile_fits(int64_t n_in, int64_t n_out, int64_t reach)
{
    return n_in % CONV_TILE_DEPTH == 0 && n_out % 8 == 0 &&
           (CONV_TILE_ROWS + reach + 7) / 8 * 8 <= CONV_TILE_SLAB;
}

static inline int64_t conv_tile_blocks(const conv_tiles *s, int64_t columns)
{
    int64_t rows = s->B * ((s->T + CONV_TILE_ROWS - 1) / CONV_TILE_ROWS);
    return (rows + 1) / 2 * ((s->n_out + columns - 1) / columns) * s->groups;
}

/* Number of waves: blocks that each multiprocessor runs, one after the other. */
static inline int64_t conv_tile_waves(const conv_tiles *s, int64_t columns)
{
    return (conv_tile_blocks(s, columns) + LRA_MULTIPROCESSORS - 1) / LRA_MULTIPROCESSORS;
}

static inline int64_t conv_tile_columns(const conv_tiles *s)
{
    int64_t wide = conv_tile_waves(s, CONV_TILE_COLUMNS);
    int64_t narrow = conv_tile_waves(s, CONV_TILE_NARROW);
    return 5 * narrow < 8 * wide ? CONV_TILE_NARROW : CONV_TILE_COLUMNS;
}

/* Utilisation: elements of y, divided by the elements that all multiprocessors could compute in the
 * same time. */
static inline double conv_tile_fill(const conv_tiles *s, int64_t columns)
{
    double most = (double)(2 * CONV_TILE_ROWS * columns) * LRA_MULTIPROCESSORS;
    return (double)(s->B * s->T * s->groups * s->n_out) /
           ((double)conv_tile_waves(s, columns) * most);
}

#endif
