/* bf16 products on tiles (AMX).  A tile holds 16 rows of 64 bytes, and one instruction adds to a 16 x 16 tile of
 * float32 sums the product of 16 rows of 32 bf16 with 16 pairs of rows of 16 columns, which is how
 * lra_pack_bf16() packs b.
 *
 * What limits it: a product takes 16 cycles, a load of a tile 8 when it comes from the first cache.  Four tiles of
 * sums share two of a and two of b, so that a step of 32 in k has 4 products (64 cycles) for 4 loads (32 cycles),
 * and b may stream from the second cache, 2 KiB in 64 cycles, while the rows of a stay in the first: b is loaded with
 * the hint that it will not be wanted again soon.  Hence the order: strips of 32 rows outside, all columns inside.  When
 * b is too large for the second cache, columns are cut into ranges that are not.
 * Sums leave the tiles through a block of 32 x 32 floats in the first cache, and are finished (bias, relu, bf16) a
 * quarter at a time between the steps of the next block: the processor runs ahead of its products by some hundred
 * instructions, so that what stands between two steps costs nothing and what stands between two blocks does.
 * What remains beside the products is traffic of the second cache: with 128 in k a block of 32 x 32 reads 8 KiB of b
 * and writes 2 KiB of y in the time of 256 cycles, which is why few k reach less than many.  Where x and y come from
 * memory that is what counts: 4096 rows, 128 to 256, are 1.0 TFLOP/s in the second cache and 0.5 beyond the third.
 * Tried, without gain: asking for the next strip of a, writing y past the caches (whose stores then wait in order).
 *
 * Edges cost no kernel of their own.  Rows of a are read where they stand (in_place()) if 32 of them and whole steps
 * of k are there, in whole lines that do not fall on few sets of the cache; else they are copied into tiles of scratch
 * with zeros around them.  Zeros, not neighbours: zero times the infinity of somebody else would be NaN.
 *
 * The instructions, and plain C in their place, are in amx_fn.h. */
#include "kernels/cpu/gemm_amx.h"

#include <string.h>

#include "kernels/cpu/gemm_pack.h"

#if defined(__x86_64__)
#include <immintrin.h>

#include "kernels/cpu/amx_fn.h"

#define INLINE static inline __attribute__((always_inline))
#define COPY   __attribute__((target("avx512f,avx512bw")))

enum {
    STRIP = 32,
    DEPTH = 1024,  /* k of a pass at most: what scratch holds of a */
    SHARE = 512,   /* elements of a row of a strip that fit the first cache beside b and the sums */
    COLUMNS = 512, /* of a range at most: what scratch holds of sums between passes */
    RANGE = 1 << 19 /* elements of b that stay in the second cache */
};

/* Of a thread. */
static _Thread_local struct {
    uint16_t a[2][DEPTH / 32][512], b[2][512];
    float part[STRIP * COLUMNS], sum[2][STRIP * STRIP];
} own __attribute__((aligned(64)));

/* One call. */
typedef struct {
    int64_t M, N, K;
    lra_pairs_bf16 a;
    const uint16_t *b;
    int64_t panel;
    const lra_bf16_out *out;
    /* The block whose sums wait in own.sum[parity] to be finished, from row `done` on; n < 0: none. */
    int64_t m, n, parity, done;
} product;

/* A block of sums: a: tiles of rows `a_next` apart, steps of k `a_step` apart, rows `stride` bytes apart; b: panels.
 * The last step of b is `tail` where k ends within it. */
typedef struct {
    const uint16_t *a, *a_next, *b, *b_next;
    int64_t a_step, stride, steps;
    const uint16_t *tail;
    const float *from; /* Nullable: zero */
    float *to;
    int64_t ld_from, ld_to;
} tile_job;

static inline int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Finishes a quarter of the block that waits. */
static void finish_some(product *p)
{
    if (p->n < 0) return;
    int64_t rows = smaller(STRIP, p->M - p->m) - p->done, some = smaller(rows, STRIP / 4);
    lra_finish_bf16(some, smaller(STRIP, p->N - p->n), own.sum[p->parity] + p->done * STRIP, STRIP,
                    p->out, p->m + p->done, p->n);
    p->done += some;
    if (some == rows) p->n = -1;
}

static void finish(product *p)
{
    while (p->n >= 0) finish_some(p);
}

#define STEP(b0, b1)                                                                               \
    TILE_STREAM(6, b0, 64);                                                                        \
    TILE_LOAD(4, a, j->stride);                                                                    \
    TILE_PRODUCT(0, 4, 6);                                                                         \
    if (C == 2) {                                                                                  \
        TILE_STREAM(7, b1, 64);                                                                    \
        TILE_PRODUCT(1, 4, 7);                                                                     \
    }                                                                                              \
    if (R == 2) {                                                                                  \
        TILE_LOAD(5, a_next, j->stride);                                                           \
        TILE_PRODUCT(2, 5, 6);                                                                     \
        if (C == 2) {                                                                              \
            TILE_PRODUCT(3, 5, 7);                                                                 \
        }                                                                                          \
    }

/* R x C tiles of sums; constants where this is inlined. */
AMX INLINE void block(const int R, const int C, product *p, const tile_job *j)
{
    const int64_t ld = 4 * j->ld_from, below = 16 * j->ld_from;
    if (j->from) {
        TILE_LOAD(0, j->from, ld);
        if (C == 2) TILE_LOAD(1, j->from + 16, ld);
        if (R == 2) TILE_LOAD(2, j->from + below, ld);
        if (R == 2 && C == 2) TILE_LOAD(3, j->from + below + 16, ld);
    } else {
        TILE_ZERO(0);
        if (C == 2) TILE_ZERO(1);
        if (R == 2) TILE_ZERO(2);
        if (R == 2 && C == 2) TILE_ZERO(3);
    }
    const uint16_t *a = j->a, *a_next = j->a_next, *b = j->b, *b_next = j->b_next;
    const int64_t pause = j->steps > 4 ? j->steps / 4 : 1;
    for (int64_t k = 0, next = pause; k < j->steps; k++) {
        STEP(b, b_next)
        a += j->a_step, a_next += j->a_step, b += 512, b_next += 512;
        if (k + 1 == next) finish_some(p), next += pause;
    }
    if (j->tail) {
        STEP(j->tail, j->tail + 512)
    }
    finish(p);
    float *to = j->to;
    TILE_STORE(0, to, 4 * j->ld_to);
    if (C == 2) TILE_STORE(1, to + 16, 4 * j->ld_to);
    if (R == 2) TILE_STORE(2, to + 16 * j->ld_to, 4 * j->ld_to);
    if (R == 2 && C == 2) TILE_STORE(3, to + 16 * j->ld_to + 16, 4 * j->ld_to);
}

AMX static void block_any(int R, int C, product *p, const tile_job *j)
{
    if (R == 2 && C == 2)
        block(2, 2, p, j);
    else if (R == 2)
        block(2, 1, p, j);
    else if (C == 2)
        block(1, 2, p, j);
    else
        block(1, 1, p, j);
}

/* ---- a of a strip ------------------------------------------------------------------------------------- */

/* Rows [0, rows) and k of [0, depth) into own.a, zeros around them. */
COPY static void copy_rows(lra_pairs_bf16 a, int64_t rows, int64_t depth)
{
    for (int64_t k = 0; k < depth; k += 32) {
        __mmask32 live = (__mmask32)(0xFFFFFFFFu >> (32 - smaller(32, depth - k)));
        for (int64_t r = 0; r < (rows + 15) / 16 * 16; r++)
            _mm512_store_si512(own.a[r / 16][k / 32] + r % 16 * 32,
                               r < rows ? _mm512_maskz_loadu_epi16(live, a.a + r * a.row + k)
                                        : _mm512_setzero_si512());
    }
}

/* The same of pairs that stand `step` apart. */
static void copy_pairs(lra_pairs_bf16 a, int64_t rows, int64_t depth)
{
    for (int64_t k = 0; k < depth; k += 32)
        for (int64_t r = 0; r < rows; r += 16)
            lra_transpose_words(smaller(16, rows - r), smaller(16, (depth - k) / 2),
                                a.a + r * a.row + k / 2 * a.step, a.step, own.a[r / 16][k / 32]);
}

/* Rows that start within a line would be read as two; rows whose distance is a multiple of 1 KiB fall on few sets
 * of the first cache.  Few columns do not repay a copy. */
static bool in_place(const product *p, lra_pairs_bf16 a, int64_t rows, int64_t depth)
{
    bool aligned = ((uintptr_t)a.a | (uintptr_t)(2 * a.row)) % 64 == 0;
    return a.step == 2 && rows == STRIP && depth % 32 == 0 &&
           ((aligned && a.row % 512 != 0) || p->N <= 2 * STRIP);
}

/* ---- blocks of a strip -------------------------------------------------------------------------------- */

/* Columns [n, n + 32) of a strip, as far as there are any: k of one pass. */
AMX INLINE void strip_block(product *p, tile_job *j, int64_t m, int64_t n, int64_t part, bool first,
                            bool last)
{
    const lra_bf16_out *out = p->out;
    int64_t rows = smaller(STRIP, p->M - m), columns = smaller(STRIP, p->N - n);
    bool whole = rows % 16 == 0 && columns % 16 == 0, direct = out->c && whole;
    float *c = out->c + m * out->ld + n, *sum = own.sum[p->parity ^ 1];
    if (j->tail) {
        memset(own.b, 0, sizeof own.b);
        int64_t size = p->K % 32 * 16 * (int64_t)sizeof *own.b[0], at = j->steps * 512;
        memcpy(own.b[0], j->b + at, (size_t)size);
        if (columns > 16) memcpy(own.b[1], j->b_next + at, (size_t)size);
    }
    j->from = first ? NULL : own.part + part, j->ld_from = COLUMNS;
    if (first && out->c && out->add) {
        j->from = c, j->ld_from = out->ld;
        if (!whole) {
            for (int64_t r = 0; r < rows; r++)
                memcpy(sum + r * STRIP, c + r * out->ld, (size_t)columns * sizeof *c);
            j->from = sum, j->ld_from = STRIP;
        }
    }
    j->to = !last ? own.part + part : direct ? c : sum;
    j->ld_to = !last ? COLUMNS : direct ? out->ld : STRIP;
    block_any(rows > 16 ? 2 : 1, columns > 16 ? 2 : 1, p, j);
    if (!last || direct) return;
    p->m = m, p->n = n, p->parity ^= 1, p->done = 0;
}

/* Rows [m, m + 32) and columns [n0, n1), as far as there are any, in passes over k. */
AMX static void strip(product *p, int64_t m, int64_t n0, int64_t n1)
{
    int64_t rows = smaller(STRIP, p->M - m), all = (p->K + 31) / 32;
    int64_t depth = p->a.step == 2 && p->a.row <= SHARE ? DEPTH : SHARE;
    int64_t n_passes = (32 * all + depth - 1) / depth, steps = (all + n_passes - 1) / n_passes;
    for (int64_t s = 0; s < all; s += steps) {
        int64_t k = 32 * s, end = smaller(all, s + steps), live = smaller(p->K, 32 * end) - k;
        lra_pairs_bf16 a = {p->a.a + m * p->a.row + k / 2 * p->a.step, p->a.row, p->a.step};
        tile_job j = {.steps = live / 32, .tail = live % 32 ? own.b[0] : NULL};
        if (in_place(p, a, rows, live)) {
            j.a = a.a, j.a_next = a.a + 16 * a.row, j.a_step = 32, j.stride = 2 * a.row;
        } else {
            (a.step == 2 ? copy_rows : copy_pairs)(a, rows, live);
            j.a = own.a[0][0], j.a_next = own.a[1][0], j.a_step = 512, j.stride = 64;
        }
        for (int64_t n = n0; n < n1; n += STRIP) {
            j.b = p->b + n / 16 * p->panel + k * 16, j.b_next = j.b + p->panel;
            strip_block(p, &j, m, n, n - n0, s == 0, end == all);
        }
    }
}

void lra_gemm_amx(int64_t M, int64_t N, int64_t K, lra_pairs_bf16 a, const uint16_t *b,
                  int64_t panel, const lra_bf16_out *out)
{
    product p = {M, N, K, a, b, panel, out, .n = -1};
    int64_t range = smaller(COLUMNS, RANGE / K / STRIP * STRIP);
    if (range < 2 * STRIP) range = 2 * STRIP;
    tile_start();
    for (int64_t n = 0; n < N; n += range)
        for (int64_t m = 0; m < M; m += STRIP) strip(&p, m, n, smaller(N, n + range));
    finish(&p);
    tile_end();
}

AMX float lra_amx_burst(void)
{
    float sum[16][16], zero[16][16] = {{0}};
    tile_start();
    TILE_LOAD(4, zero, 64);
    TILE_LOAD(6, zero, 64);
    TILE_ZERO(0);
    TILE_ZERO(1);
    TILE_ZERO(2);
    TILE_ZERO(3);
    for (int i = 0; i < LRA_AMX_BURST / 4; i++) {
        TILE_PRODUCT(0, 4, 6);
        TILE_PRODUCT(1, 4, 6);
        TILE_PRODUCT(2, 4, 6);
        TILE_PRODUCT(3, 4, 6);
    }
    TILE_STORE(0, sum, 64);
    tile_end();
    return sum[0][0];
}

#endif
