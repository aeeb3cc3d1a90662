/* Convolution of narrow groups (fewer output channels than a register has lanes), forward and both
 * gradients, on full registers. Lane l of a block computes output channel h0 + l, of any group.
 *
 * The rows of x are spread: spread[i][t][l] = x[t][group(h0 + l) n_in + i], so that each lane has
 * the inputs of its own group. All three operations are then one correlation of sequences of
 * registers,
 *   sum[a] += sum_b spread[i][a + b] c[b].
 * Forward pass and gradient of x: a is a row of y, b a tap, c the weights. Gradient of w: a is a
 * tap, b a row, c is dy.
 * A spread row is loaded once for NARROW_STEPS values of b. */
#ifndef LRA_OPS_CONV_CONV_NARROW_TEMPLATE_H
#define LRA_OPS_CONV_CONV_NARROW_TEMPLATE_H

#include "kernels/ops/dense/tile_template.h"

#if defined(LRA_LEVEL_avx512)
enum { NARROW_SUMS = 16 };
#else
enum { NARROW_SUMS = 8 };
#endif
enum {
    NARROW_STEPS = 4,
    NARROW_ROWS = 256, /* rows of a block; their spread rows stay in the L2 cache */
    NARROW_MOST = 16,  /* maximum number of input channels of a group */
    /* lanes of the widest instruction set, so that sizes of scratch do not depend on the
     * instruction set */
    NARROW_LANES_MOST = 16
};

static inline bool conv_is_narrow(int64_t groups, int64_t n_in, int64_t n_out)
{
#ifdef LRA_WITHOUT_narrow /* disables this code to measure its gain: tests/bench/variants.sh */
    return false;
#endif
    return groups > 1 && n_out < TILE_PAD && n_in <= NARROW_MOST;
}

/* narrow_spread_rows(): rows of spread x that a block needs for K taps, rounded up to full groups
 * of sums. narrow_spread_size(): scratch of a thread in reals. */
static inline int64_t narrow_spread_rows(int64_t K)
{
    return NARROW_ROWS + K + 2 * 16;
}
static inline int64_t narrow_spread_size(int64_t n_in, int64_t K)
{
    return n_in * narrow_spread_rows(K) * NARROW_LANES_MOST;
}

/* sum[a] += sum over b in [0, n) of x[a + b] c[b]. x and c are rows of TILE_LANES numbers; rows of
 * c are `step` apart. */
static inline void narrow_correlate(const real *x, const real *c, int64_t step, int64_t n,
                                    tile_vector *sum)
{
    const tile_vector *row = (const tile_vector *)x;
    tile_vector s[NARROW_SUMS];
    for (int a = 0; a < NARROW_SUMS; a++) s[a] = sum[a];
    int64_t b = 0;
    for (; b + NARROW_STEPS <= n; b += NARROW_STEPS, row += NARROW_STEPS) {
        tile_vector f[NARROW_STEPS];
        TILE_UNROLL for (int k = 0; k < NARROW_STEPS; k++)
            f[k] = *(const tile_vector *)(c + (b + k) * step);
#pragma GCC unroll 20
        for (int j = 0; j < NARROW_SUMS + NARROW_STEPS - 1; j++) {
            const tile_vector at = row[j];
            TILE_UNROLL for (int k = 0; k < NARROW_STEPS;
                             k++) if (j - k >= 0 && j - k < NARROW_SUMS) s[j - k] += at * f[k];
        }
    }
    for (; b < n; b++, row++) {
        const tile_vector f = *(const tile_vector *)(c + b * step);
        for (int a = 0; a < NARROW_SUMS; a++) s[a] += row[a] * f;
    }
    for (int a = 0; a < NARROW_SUMS; a++) sum[a] = s[a];
}

/* Defines spread_row_N(): copies each input value to the n_out lanes of its group with one
 * store. */
#define SPREAD_ROW(n_out, ...)                                                                     \
    LRA_FN void spread_row_##n_out(const elem *from, int64_t n_in, int64_t n_rows, real *to)       \
    {                                                                                              \
        typedef real copies __attribute__((vector_size(n_out * sizeof(real)), may_alias));         \
        for (int64_t i = 0; i < n_in; i++, to += n_rows * TILE_LANES)                              \
            for (int g = 0; g < TILE_LANES / n_out; g++) {                                         \
                const real v = e_load(from[g * n_in + i]);                                         \
                *(copies *)(to + g * n_out) = (copies){__VA_ARGS__};                               \
            }                                                                                      \
    }
SPREAD_ROW(1, v)
SPREAD_ROW(2, v, v)
SPREAD_ROW(4, v, v, v, v)
SPREAD_ROW(8, v, v, v, v, v, v, v, v)

/* Spreads a row for any n_out: lane l reads its inputs from from[place[l]] on. */
static inline void spread_row_any(const int64_t *place, const elem *from, int64_t n_in,
                                  int64_t n_rows, real *to)
{
    for (int64_t i = 0; i < n_in; i++)
        for (int64_t l = 0; l < TILE_LANES; l++)
            to[i * n_rows * TILE_LANES + l] = e_load(from[place[l] + i]);
}

/* Spreads rows [lo, lo + n) of x for the lanes of output channels [h0, h0 + TILE_LANES). Rows
 * outside of [0, len) are zero. Lanes beyond the last channel repeat the last group. x: rows of a
 * sequence. */
static inline void narrow_spread(const conv_sizes *s, const elem *x, int64_t h0, int64_t lo,
                                 int64_t n, int64_t len, real *spread)
{
    int64_t groups = s->groups, n_in = s->n_in, n_out = s->n_out, place[TILE_LANES];
    bool whole = TILE_LANES % n_out == 0 && h0 + TILE_LANES <= groups * n_out;
    for (int64_t l = 0; l < TILE_LANES; l++) {
        int64_t g = (h0 + l) / n_out;
        place[l] = (g < groups ? g : groups - 1) * n_in;
    }
    for (int64_t t = 0; t < n; t++) {
        real *to = spread + t * TILE_LANES;
        const elem *from = x + (lo + t) * s->dilation * groups * n_in, *first = from + place[0];
        if (lo + t < 0 || lo + t >= len)
            for (int64_t i = 0; i < n_in; i++)
                memset(to + i * n * TILE_LANES, 0, TILE_LANES * sizeof *to);
        else if (whole && n_out == 1)
            spread_row_1(first, n_in, n, to);
        else if (whole && n_out == 2)
            spread_row_2(first, n_in, n, to);
        else if (whole && n_out == 4)
            spread_row_4(first, n_in, n, to);
        else if (whole && n_out == 8)
            spread_row_8(first, n_in, n, to);
        else
            spread_row_any(place, from, n_in, n, to);
    }
}

/* ---- forward, and the gradient of x ---------------------------------------------------------- */

/* Scratch in reals: packed weights (K, n_in, channels padded), and the spread rows of each
 * thread. */
static inline int64_t narrow_weight_size(const conv_sizes *s)
{
    return s->K * s->n_in * tile_padded(s->groups * s->n_out);
}
static inline int64_t narrow_scratch(const conv_sizes *s, int n_threads)
{
    return narrow_weight_size(s) + n_threads * narrow_spread_size(s->n_in, s->K);
}

static inline void narrow_pack(const conv_sizes *s, const conv_job *job, int64_t k, real *packed)
{
    int64_t padded = tile_padded(s->groups * s->n_out);
    for (int64_t i = 0; i < s->n_in; i++) {
        real *to = packed + (k * s->n_in + i) * padded;
        const elem *w = job->w + job->step.start + k * job->step.tap + i * job->step.in;
        for (int64_t h = 0; h < padded; h++) {
            int64_t g = h / s->n_out, o = h % s->n_out;
            to[h] = g < s->groups ? e_load(w[g * job->step.group + o * job->step.out]) : 0;
        }
    }
}

/* Computes a block of rows of a sequence, for channels [h0, h0+TILE_LANES). */
static inline void narrow_block(const conv_sizes *s, const conv_job *job, const conv_sequence *q,
                                const conv_block *b, int64_t h0, const real *packed, real *spread)
{
    int64_t H = s->groups * s->n_out, padded = tile_padded(H), P = (s->K - 1) / 2;
    int64_t rows = narrow_spread_rows(s->K), live = conv_min(TILE_LANES, H - h0);
    narrow_spread(s, job->x + q->first * s->groups * s->n_in, h0, b->t0 - P, rows, b->len, spread);
    for (int64_t r = 0; r < b->n; r += NARROW_SUMS) {
        tile_vector sum[NARROW_SUMS] = {{0}};
        int64_t t = b->t0 + r; /* taps outside [first, end) read only zeros */
        int64_t first = conv_max(0, P - (t + NARROW_SUMS - 1)),
                end = conv_min(s->K, P + b->len - t);
        for (int64_t i = 0; i < s->n_in; i++)
            narrow_correlate(spread + (i * rows + r + first) * TILE_LANES,
                             packed + (first * s->n_in + i) * padded + h0, s->n_in * padded,
                             end - first, sum);
        for (int64_t k = 0; k < conv_min(NARROW_SUMS, b->n - r); k++)
            finish_row(live, (const real *)&sum[k], job->bias ? job->bias + h0 : NULL, job->act,
                       NULL, job->y + (q->first + (t + k) * s->dilation) * H + h0);
    }
}

static inline void narrow_run(const conv_sizes *s, const conv_job *job, real *scratch,
                              int n_threads)
{
    int64_t H = s->groups * s->n_out, n_blocks = (s->T + NARROW_ROWS - 1) / NARROW_ROWS;
#pragma omp parallel num_threads(n_threads)
    {
        real *spread = scratch + narrow_weight_size(s) +
                       omp_get_thread_num() * narrow_spread_size(s->n_in, s->K);
#pragma omp for schedule(static)
        for (int64_t k = 0; k < s->K; k++) narrow_pack(s, job, k, scratch);
#pragma omp for schedule(dynamic)
        for (int64_t at = 0; at < s->B * n_blocks; at++) {
            conv_sequence q = conv_sequence_at(s, job->length, at / n_blocks);
            conv_block b = conv_block_at(s, job, &q, at % n_blocks, NARROW_ROWS);
            for (int64_t h0 = 0; h0 < H && b.n > 0; h0 += TILE_LANES)
                narrow_block(s, job, &q, &b, h0, scratch, spread);
        }
    }
}

#endif
