/* Division of the weight gradient of a convolution on a GPU. The result is divided into tiles of
 * channels for each tap or four taps or, if groups are narrow, into items. If this gives fewer
 * blocks than a large GPU can run at once, the B T rows are divided into parts. The division is the
 * same for every compute capability, so that the size of scratch is the same. */
#ifndef LRA_OPS_CONV_CONV_DW_PARTS_H
#define LRA_OPS_CONV_CONV_DW_PARTS_H

#include <stdint.h>

typedef struct {
    int64_t B, T, K, groups, n_in, n_out, dilation;
} conv_dw_sizes;

/* ---- narrow groups: conv_dw_grouped_cuda.h --------------------------------------------------- */

enum {
    GDW_ROWS = 64, /* rows of a tile */
    GDW_TAPS = 8,
    GDW_IN = 2,       /* input channels of a work item; a thread sums 8 taps x 2 inputs */
    GDW_COLUMNS = 32, /* output channels of a block, of one or several groups */
    GDW_ITEMS = 8,    /* maximum number of items of a block; one item per warp */
    GDW_SHARED = 48 << 10
};

/* True for narrow groups: several groups, each of which would use less than a quarter of the 64 x
 * 64 channel tiles of dw_tile_kernel. */
static inline int gdw_fits(const conv_dw_sizes *s)
{
    int64_t tiles = ((s->n_in + 63) / 64) * ((s->n_out + 63) / 64);
    return s->groups > 1 && 4 * s->n_in * s->n_out < tiles * 64 * 64;
}

/* gdw_groups(): groups of a block. gdw_sets(): sets of up to 32 output channels in total; a wider
 * group has several sets. */
static inline int64_t gdw_groups(const conv_dw_sizes *s)
{
    return s->n_out < GDW_COLUMNS ? GDW_COLUMNS / s->n_out : 1;
}
static inline int64_t gdw_sets(const conv_dw_sizes *s)
{
    int64_t columns = (s->n_out + GDW_COLUMNS - 1) / GDW_COLUMNS;
    return columns * ((s->groups + gdw_groups(s) - 1) / gdw_groups(s));
}

/* Number of items of a group along the taps (gdw_tap_items) and along the inputs (gdw_in_items). */
static inline int64_t gdw_tap_items(const conv_dw_sizes *s)
{
    return (s->K + GDW_TAPS - 1) / GDW_TAPS;
}
static inline int64_t gdw_in_items(const conv_dw_sizes *s)
{
    return (s->n_in + GDW_IN - 1) / GDW_IN;
}

/* The items of a block: `taps` times `inputs`, powers of two, at most 8 in total. It has as many
 * tap items as K needs, then as many input items as fit in shared memory with their slab of x
 * (`rows` rows of `width` channels). tap_blocks, in_blocks: number of blocks that cover all items
 * of a set. */
typedef struct {
    int64_t taps, inputs, rows, width, tap_blocks, in_blocks;
} gdw_block;

static inline int64_t gdw_tile_bytes(const gdw_block *b)
{
    return (b->rows * b->width + GDW_ROWS * GDW_COLUMNS) * (int64_t)sizeof(float);
}
static inline gdw_block gdw_block_of(const conv_dw_sizes *s)
{
    gdw_block b = {1, 1, 0, 0, 0, 0};
    int64_t groups = gdw_groups(s);
    while (b.taps < GDW_ITEMS && b.taps < gdw_tap_items(s)) b.taps *= 2;
    b.rows = GDW_ROWS + b.taps * GDW_TAPS;
    b.width = groups * (s->n_in < GDW_IN ? s->n_in : (int64_t)GDW_IN);
    while (b.taps * b.inputs < GDW_ITEMS && b.inputs < gdw_in_items(s)) {
        gdw_block next = b;
        next.inputs *= 2;
        next.width = groups * (s->n_in < next.inputs * GDW_IN ? s->n_in : next.inputs * GDW_IN);
        if (gdw_tile_bytes(&next) > GDW_SHARED) break;
        b = next;
    }
    b.tap_blocks = (gdw_tap_items(s) + b.taps - 1) / b.taps;
    b.in_blocks = (gdw_in_items(s) + b.inputs - 1) / b.inputs;
    return b;
}
static inline int64_t gdw_blocks(const conv_dw_sizes *s)
{
    gdw_block b = gdw_block_of(s);
    return gdw_sets(s) * b.tap_blocks * b.in_blocks;
}
/* Bytes of shared memory: the larger of a tile and the final sums. */
static inline int64_t gdw_shared(const conv_dw_sizes *s)
{
    gdw_block b = gdw_block_of(s);
    int64_t tile = gdw_tile_bytes(&b);
    int64_t sums = 8 * GDW_IN * GDW_TAPS * GDW_COLUMNS * (int64_t)sizeof(float);
    return tile > sums ? tile : sums;
}
/* Number of sequences of a sample: with dilation d a sample is d sequences of every d-th row. */
static inline int64_t gdw_sequences(const conv_dw_sizes *s)
{
    return s->dilation < s->T ? s->dilation : s->T;
}
/* Number of tiles of one sequence (gdw_sequence_tiles) and of all sequences (gdw_tiles). */
static inline int64_t gdw_sequence_tiles(const conv_dw_sizes *s)
{
    int64_t d = gdw_sequences(s);
    return ((s->T + d - 1) / d + GDW_ROWS - 1) / GDW_ROWS;
}
static inline int64_t gdw_tiles(const conv_dw_sizes *s)
{
    return s->B * gdw_sequences(s) * gdw_sequence_tiles(s);
}

/* Work of the kernel for samples without padding, and the minimum that any kernel needs:
 *   flops    of all lanes, including idle ones (minimum: 2 B T K n_in H, in float32);
 *   bytes    of global memory: x and dy in elements of `size` bytes, assuming that no block finds
 *            them in a cache, and the partial sums (minimum: x and dy once, dw once);
 *   shared   wavefronts of shared memory, 128 bytes each, for the products.
 * A tile of a block costs 64 rows x 8 taps x 2 inputs x 32 lanes x 8 items x 2 = 524,288 FLOP, 2432
 * wavefronts (38 for 128 multiply-adds of a thread: 8 loads of dy and 2 x 15 of x per step), and 64
 * x 32 elements of dy with at most 128 rows of x. With 16 groups of n_in 2 and n_out 2 that is 24
 * KiB in float32, 21 FLOP per byte. Taps from K on are neither read nor multiplied.
 * conv_dw_count_test.c compares the resulting times for the sizes of all presets. */
typedef struct {
    double flops, bytes, shared;
} gdw_count;

static inline gdw_count gdw_least(const conv_dw_sizes *s, int64_t size)
{
    double rows = (double)(s->B * s->T), per_row = (double)(s->groups * (s->n_in + s->n_out));
    double dw = (double)(s->K * s->n_in * s->n_out * s->groups);
    gdw_count c = {2 * rows * dw, rows * per_row * (double)size + 4 * dw, 0};
    return c;
}
static inline int64_t conv_dw_parts(const conv_dw_sizes *s);
static inline gdw_count gdw_count_of(const conv_dw_sizes *s, int64_t size)
{
    gdw_block b = gdw_block_of(s);
    double tiles = (double)(gdw_tiles(s) * gdw_sets(s)), parts = (double)conv_dw_parts(s);
    double dw = (double)(s->K * s->n_in * s->n_out * s->groups);
    double steps = GDW_ROWS / GDW_TAPS, warps = tiles * steps * (double)gdw_in_items(s);
    double inputs = s->n_in < GDW_IN ? (double)s->n_in : (double)GDW_IN; /* inputs of an item */
    double taps = (double)gdw_tap_items(s);
    double x = (double)(b.rows * s->groups * s->n_in);
    double dy = (double)(GDW_ROWS * s->groups * s->n_out * b.in_blocks);
    gdw_count c;
    c.flops = 2 * warps * inputs * GDW_TAPS * (double)s->K * GDW_COLUMNS;
    c.bytes = (double)(gdw_tiles(s) * b.tap_blocks) * (x + dy) * (double)size;
    c.bytes += 4 * dw * (parts > 1 ? 2 * parts + 1 : 1);
    c.shared = warps * (taps * (GDW_TAPS + inputs * (GDW_TAPS - 1)) + inputs * (double)s->K);
    return c;
}

/* ---- parts ----------------------------------------------------------------------------------- */

/* CONV_DW_BLOCKS: number of multiprocessors of a large GPU; each of them runs one block of
 * dw_wgmma_kernel or several blocks of the other kernels. */
enum { CONV_DW_TAPS = 4, CONV_DW_BLOCKS = 132 };

static inline int64_t conv_dw_parts(const conv_dw_sizes *s)
{
    int64_t fours = (s->K + CONV_DW_TAPS - 1) / CONV_DW_TAPS, most = (s->B * s->T + 511) / 512;
    int64_t blocks = fours * s->groups * ((s->n_in + 63) / 64) * ((s->n_out + 127) / 128);
    int64_t parts = CONV_DW_BLOCKS / blocks;
    if (gdw_fits(s)) {
        blocks = gdw_blocks(s);
        most = (gdw_tiles(s) + 3) / 4;
        parts = (4 * CONV_DW_BLOCKS + blocks - 1) / blocks;
    }
    return parts < 1 ? 1 : parts < most ? parts : most;
}

/* Utilisation: computed sums of the gradient, divided by the sums that all multiprocessors could
 * compute in the same time with blocks of four taps, 64 inputs and 128 outputs. */
static inline double conv_dw_fill(const conv_dw_sizes *s)
{
    int64_t fours = (s->K + CONV_DW_TAPS - 1) / CONV_DW_TAPS;
    int64_t blocks = fours * s->groups * ((s->n_in + 63) / 64) * ((s->n_out + 127) / 128);
    int64_t parts = conv_dw_parts(s),
            waves = (blocks * parts + CONV_DW_BLOCKS - 1) / CONV_DW_BLOCKS;
    double made = (double)(s->K * s->groups * s->n_in * s->n_out * parts);
    return made / (double)(waves * CONV_DW_BLOCKS * CONV_DW_TAPS * 64 * 128);
}

/* Number of elements of the gradient, all groups together. */
static inline int64_t conv_dw_size(const conv_dw_sizes *s)
{
    return s->K * s->n_in * s->n_out * s->groups;
}

#endif
