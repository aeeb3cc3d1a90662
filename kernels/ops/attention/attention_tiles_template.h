/* Attention in bf16 on processors with bf16 instructions, on AMX tiles or on registers
 * (AVX512_BF16). Every product is computed by kernels/cpu/tiles.h; scores and statistics are
 * float32.
 *
 * The tile of scores, (keys, queries), is the product of the left operand k and the right operand
 * q. It is stored once and serves two purposes. Its rows, rounded, are left operands of the
 * products that sum over queries (dv, dk). Two adjacent rows form the pairs of a right operand of
 * the products that sum over keys (y, dq). No tile is ever transposed: the left operands of a
 * product over keys are v and k by channel, which are transposed once per head.
 * The summation order of a product is arbitrary as long as both operands use the same one. A word
 * of a left operand over queries therefore holds queries w and w + 16 of 32, from two adjacent full
 * registers, and rows of dy and q are paired in the same way.
 *
 * Cost per pair with K = 32 channels on AMX: the backward pass has 7 products of 16 cycles for 256
 * pairs, that is half a cycle; two exponentials and the code around them take at least one cycle.
 * The loops between the products thus limit the speed, and rounding is the cheapest kind: to
 * nearest, ties upwards. With AVX512_BF16 the products limit the speed. They take 7 cycles, half
 * the time of float32. */
#ifndef LRA_OPS_ATTENTION_ATTENTION_TILES_TEMPLATE_H
#define LRA_OPS_ATTENTION_ATTENTION_TILES_TEMPLATE_H

#include "kernels/cpu/tiles.h"
#include "kernels/ops/attention/attention_template.h"

#if LRA_TYPE_bf16 && defined(LRA_LEVEL_avx512)
#define ATTENTION_TILES 1

/* AX_BLOCK: bf16 numbers of an AMX tile (16 rows of 64 bytes) */
enum { AX_Q = ATTENTION_QUERIES, AX_STEP = 32, AX_BLOCK = 512 };

/* Sizes of a head, rounded up to full tiles. */
typedef struct {
    lra_tiles_unit unit;
    int64_t K, V;           /* channels that products sum over, rounded up to unit.depth */
    int64_t k_out, v_out;   /* channels that are columns of results, rounded up to panels of 16 */
    int64_t k_high, v_high; /* channels that are rows of results, rounded up to unit.rows */
    int64_t rows,
        /* rows: padded number of keys; row: stride of k and v by channel, in elements. The stride
         * is an odd number of cache lines, because otherwise the 16 rows of a tile would map to few
         * sets of the L1 cache */
        row;
} ax_sizes;

LRA_FN int64_t ax_whole(int64_t n, int64_t unit)
{
    return (n + unit - 1) / unit * unit;
}

LRA_FN ax_sizes ax_sizes_of(const attention_sizes *s)
{
    const lra_tiles_unit unit = lra_tiles_units();
    int64_t rows = (s->Tk + 2 * ATTENTION_KEYS - 1) / ATTENTION_KEYS * ATTENTION_KEYS;
    return (ax_sizes){.unit = unit,
                      .K = ax_whole(s->K, unit.depth),
                      .V = ax_whole(s->V, unit.depth),
                      .k_out = attention_padded(s->K),
                      .v_out = attention_padded(s->V),
                      .k_high = ax_whole(s->K, unit.rows),
                      .v_high = ax_whole(s->V, unit.rows),
                      .rows = rows,
                      .row = rows + AX_STEP};
}

LRA_FN uint32_t ax_bits(float v)
{
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits + 0x8000u;
}
/* Rounds two numbers to bf16 and packs them into one word. */
LRA_FN uint32_t ax_pair(float low, float high)
{
    return ax_bits(low) >> 16 | (ax_bits(high) & 0xFFFF0000u);
}

/* 2^x with a relative error of 3e-6, which is a thousandth of the rounding error of bf16. Range and
 * NaN as in attention_exp2(). */
LRA_FN float ax_exp2(float x)
{
    /* the low bits of y + shift are n + 127, the biased exponent of 2^n; this exponent is 0 for x =
     * -127 */
    const float shift = 12582912.0f + 127;
    float y = x < -127.0f ? -127.0f : x, shifted = y + shift, f = y - (shifted - shift), scale;
    uint32_t bits;
    memcpy(&bits, &shifted, sizeof bits);
    bits <<= 23;
    memcpy(&scale, &bits, sizeof scale);
    float p = 9.57010144e-3f;
    p = p * f + 5.59178603e-2f;
    p = p * f + 2.40247448e-1f;
    p = p * f + 6.93121815e-1f;
    p = p * f + 9.99999261e-1f;
    return p * scale;
}

/* ---- operands -------------------------------------------------------------------------------- */

/* Copies n rows of a head as left operand of products over channels: (rows,pad), filled with
 * zeros. */
static inline void ax_rows(const uint16_t *x, int64_t n, int64_t step, int64_t width, int64_t rows,
                           int64_t pad, uint16_t *to)
{
    for (int64_t t = 0; t < rows; t++, to += pad) {
        const uint16_t *from = x + t * step;
        int64_t filled = t < n ? width : 0, d = 0;
        for (; d + 8 <= filled; d += 8)
            /* inlined by the compiler: a call of memcpy() would cost as much as the row */
            memcpy(to + d, from + d, 16);
        for (; d < filled; d++) to[d] = from[d];
        for (; d < pad; d++) to[d] = 0;
    }
}

/* Transposes n rows of a head into (channels,row), a left operand of products over keys. Two keys
 * at a time are written as one word. */
static inline void ax_channels(const uint16_t *x, int64_t n, int64_t step, int64_t width,
                               int64_t channels, int64_t row, uint16_t *to)
{
    memset(to, 0, (size_t)(channels * row) * sizeof *to);
    for (int64_t t = 0; t + 2 <= n; t += 2, x += 2 * step) {
        uint32_t *pair = (uint32_t *)(to + t);
        for (int64_t d = 0; d < width; d++) pair[d * row / 2] = x[d] | (uint32_t)x[step + d] << 16;
    }
    for (int64_t d = 0; d < width && n % 2; d++) to[d * row + n - 1] = x[d];
}

/* Copies n queries as right operand of products over channels: panels of 16 queries, with `pad`
 * channels in pairs. */
static inline void ax_queries(const uint16_t *x, int64_t n, int64_t step, int64_t width,
                              int64_t pad, uint16_t *to)
{
    if (n < AX_Q || width < pad) memset(to, 0, (size_t)(AX_Q * pad) * sizeof *to);
    for (int64_t t = 0; t < n; t++, x += step) {
        uint32_t *at = (uint32_t *)(to + t / 16 * 16 * pad) + t % 16;
        for (int64_t d = 0; d < width / 2; d++)
            at[d * 16] = x[2 * d] | (uint32_t)x[2 * d + 1] << 16;
        if (width % 2) at[width / 2 * 16] = x[width - 1];
    }
}

/* Copies n queries as right operand of products over queries: panels of 16 channels. A word holds
 * queries w and w + 16 of 32. */
static inline void ax_query_pairs(const uint16_t *x, int64_t n, int64_t step, int64_t width,
                                  int64_t channels, uint16_t *to)
{
    if (n < AX_Q || width < channels) memset(to, 0, (size_t)(AX_Q * channels) * sizeof *to);
    for (int64_t t = 0; t < n; t++) {
        if (t / 16 % 2) continue;
        bool both = t + 16 < n;
        const uint16_t *low = x + t * step, *high = both ? low + 16 * step : low;
        uint32_t mask = both ? 0xFFFFFFFFu : 0xFFFFu;
        for (int64_t d = 0; d < width; d += 16) {
            uint32_t *at = (uint32_t *)(to + d * AX_Q + t / 32 * AX_BLOCK) + t % 16 * 16;
            int64_t end = width - d < 16 ? width - d : 16;
#pragma omp simd
            for (int64_t c = 0; c < end; c++)
                at[c] = (low[d + c] | (uint32_t)high[d + c] << 16) & mask;
        }
    }
}

/* Rounds the number of keys of a score tile up to unit.depth and fills the added rows with
 * -infinity. Returns the rounded number. */
static inline int64_t ax_fill(const attention_place *p, const ax_sizes *x, float *s)
{
    int64_t keys = ax_whole(p->keys, x->unit.depth);
    for (int64_t i = p->keys * AX_Q; i < keys * AX_Q; i++) s[i] = -INFINITY;
    return keys;
}

/* Number of lanes for n queries, rounded up to the step of products over queries. */
static inline int64_t ax_lanes(int64_t n)
{
    return ax_whole(n, AX_STEP);
}

/* Scores of a tile. k: left operand over channels, q: right operand over channels. */
static inline void ax_scores(const attention_head *h, const attention_place *p, const ax_sizes *x,
                             const uint16_t *k, const uint16_t *q)
{
    lra_tiles_job j = {k + p->j0 * x->K, x->K, q, 16 * x->K, h->tile, AX_Q, false};
    lra_tiles_product(ax_whole(p->keys, x->unit.rows), p->lanes, x->K, &j);
    attention_distances(h, p, h->tile);
    attention_hide(h, p, -INFINITY, h->tile);
}

#else
#define ATTENTION_TILES 0
#endif
#endif
