/* bf16 products on AMX tiles. A tile holds 16 rows of 64 bytes. One instruction (a tile product)
 * adds to a 16 x 16 tile of float32 sums the product of 16 rows of 32 bf16 numbers of a and 16
 * pairs of rows by 16 columns of b, in the layout of lra_pack_bf16().
 *
 * Costs: a tile product takes 16 cycles; a load of a tile from the L1 cache takes 8.
 *
 * Loop order. Four tiles of sums share two tiles of a and two of b. A step of 32 in k thus has 4
 * products (64 cycles) for 4 loads (32 cycles). b may come from the L2 cache, 2 KiB in 64 cycles,
 * while the rows of a stay in the L1 cache; b is loaded with a non-temporal hint. The outer loop
 * therefore runs over strips of 32 rows, the inner loop over all columns. If b is too large for the
 * L2 cache, its columns are processed in ranges that fit.
 *
 * Sums. They leave the tiles through a block of 32 x 32 floats in the L1 cache. They stay in the
 * tiles until the first step of the next block. There each tile is stored just before it is
 * cleared, between products of the other tiles. Stores at the end of a block would wait for its
 * last products and delay the next block, by 100 of 256 cycles with 128 in k.
 *
 * Epilogue (bias, relu, conversion to bf16). It is interleaved with the steps, a quarter of a block
 * at a time. Out-of-order execution runs about a hundred instructions ahead of the products, so
 * that the instructions between two steps cost nothing.
 *
 * Prefetching. The next rows of a, y and the residual are prefetched in memory order, a few lines
 * in every step. This order agrees with the hardware prefetcher, and the next strip finds its lines
 * in the caches of the core. For 128 to 256 this is 1.3 times as fast as without prefetching if
 * operands are in the L3 cache, and 2.4 times if they are in memory.
 *
 * Limits. The remaining cost is L2 traffic: with 128 in k a block of 32 x 32 reads 8 KiB of b and
 * writes 2 KiB of y in 256 cycles, so that a small k reaches a lower rate. Two changes gained
 * nothing: strips of 64 rows, which read b half as often, and non-temporal stores of y, which wait
 * in order. If the other hardware thread of the core is busy, products no longer hide tile loads:
 * 64 cycles of products and 32 of loads take 116 cycles, in any order.
 *
 * Edges have no kernel of their own. Rows of a are read in place (in_place()) if there are 32 of
 * them, if k consists of complete steps, and if the rows are complete cache lines that do not map
 * to few sets of the cache. Otherwise they are copied to tiles in scratch, padded with zeros.
 * Neighbouring data must not serve as padding: zero times an infinity would be NaN.
 *
 * The instructions, and the plain C functions that replace them in tests, are in amx.h. */
#include "kernels/cpu/gemm_amx.h"

#include <string.h>

#include "kernels/cpu/gemm_pack.h"

#if defined(__x86_64__)
#include <immintrin.h>

#include "kernels/cpu/amx.h"
#include "kernels/cpu/gemm_finish.h"

#define INLINE static inline __attribute__((always_inline))
#define COPY   __attribute__((target("avx512f,avx512bw")))

#if defined(LRA_AMX_EMULATED) /* the epilogue still uses AVX-512 instructions */
#undef AMX
#define AMX FINISH_TARGET
#endif

enum {
    STRIP = 32,
    QUARTER = STRIP / 4,
    DEPTH = 1024, /* maximum k of a pass; capacity of the scratch for a */
    /* maximum k of a pass if a must be transposed: its copy, b and the sums fit in the L1 cache */
    SHARE = 512,
    COLUMNS = 512, /* maximum columns of a range; capacity of the scratch for sums between passes */
    RANGE = 1 << 19 /* elements of b that fit in the L2 cache */
};

/* Scratch of a thread: a copied strip of a, the last step of b, sums between passes, sums of a
 * block, sums at the edge. */
static _Thread_local struct {
    uint16_t a[2][DEPTH / 32][512], b[2][512];
    float part[STRIP * COLUMNS], sum[STRIP * STRIP], edge[STRIP * STRIP];
} own __attribute__((aligned(64)));

/* Memory to prefetch: its next address, and the number of bytes to prefetch per step of k. */
typedef struct {
    const char *at;
    int64_t some;
} wanted;

/* State of one call of lra_gemm_amx(). */
typedef struct {
    int64_t M, N, K;
    lra_pairs_bf16 a;
    const uint16_t *b;
    int64_t panel;
    const lra_bf16_out *out;
    wanted x, y, residual;
    /* Sums of the last block that are still in R x C tile registers: they will be stored at `held`,
     * with rows ld_held apart. Nullable: held */
    float *held;
    int64_t ld_held;
    int R, C;
    /* Position of the block whose epilogue is unfinished. Its sums are in own.sum or still in tile
     * registers, and its rows before `done` are finished. n < 0: there is no such block. */
    int64_t m, n, done;
} product;

/* Operands and result of one block of sums. a: tiles of 16 rows at a and a_next; a_step elements
 * from one step of k to the next, `stride` bytes from row to row. b: panels; `tail` replaces the
 * last step of b if K ends within that step. NULL: it does not. */
typedef struct {
    const uint16_t *a, *a_next, *b, *b_next;
    int64_t a_step, stride, steps;
    const uint16_t *tail;
    const float *from; /* initial sums of the block; NULL: zeros */
    float *to;
    int64_t ld_from, ld_to;
} tile_job;

static inline int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Prefetches `bytes` from `from` on, in equal parts in each of n_steps steps. */
static wanted want(const void *from, int64_t bytes, int64_t n_steps)
{
    return (wanted){from, ((bytes + 63) / 64 + n_steps - 1) / n_steps * 64};
}

#define ASK(w, ...)                                                                                \
    for (const char *end_ = (w).at + (w).some; (w).at < end_; (w).at += 64)                        \
        __builtin_prefetch((w).at, __VA_ARGS__);

/* Applies the epilogue to a quarter of the unfinished block. */
static void finish_some(product *p)
{
    if (p->n < 0) return;
    int64_t rows = smaller(STRIP, p->M - p->m) - p->done, some = smaller(rows, QUARTER);
    lra_finish_bf16(some, smaller(STRIP, p->N - p->n), own.sum + p->done * STRIP, STRIP, p->out,
                    p->m + p->done, p->n);
    p->done += some;
    if (some == rows) p->n = -1;
}

static void finish(product *p)
{
    while (p->n >= 0) finish_some(p);
}

/* In the first step of a block: stores tile t with the sums of the previous block, and initialises
 * it with the sums of row r and column c of this block. */
#define EXCHANGE(t, r, c)                                                                          \
    if (first) {                                                                                   \
        if (p->held) {                                                                             \
            TILE_STORE(t, p->held + 16 * (r)*p->ld_held + 16 * (c), 4 * p->ld_held);               \
        }                                                                                          \
        if (j->from) {                                                                             \
            TILE_LOAD(t, j->from + 16 * (r)*j->ld_from + 16 * (c), 4 * j->ld_from);                \
        } else {                                                                                   \
            TILE_ZERO(t);                                                                          \
        }                                                                                          \
    }

/* One step of 32 in k for R x C tiles of sums. R, C and `first` are compile-time constants after
 * inlining. */
AMX INLINE void step(const int R, const int C, const bool first, const product *p,
                     const tile_job *j, const uint16_t *a, const uint16_t *a_next,
                     const uint16_t *b, const uint16_t *b_next)
{
    TILE_STREAM(6, b, 64);
    TILE_LOAD(4, a, j->stride);
    EXCHANGE(0, 0, 0)
    TILE_PRODUCT(0, 4, 6);
    if (C == 2) {
        TILE_STREAM(7, b_next, 64);
        EXCHANGE(1, 0, 1)
        TILE_PRODUCT(1, 4, 7);
    }
    if (R == 2) {
        TILE_LOAD(5, a_next, j->stride);
        EXCHANGE(2, 1, 0)
        TILE_PRODUCT(2, 5, 6);
        if (C == 2) {
            EXCHANGE(3, 1, 1)
            TILE_PRODUCT(3, 5, 7);
        }
    }
}

/* Stores the sums that are still in tile registers. */
AMX static void release(product *p)
{
    if (!p->held) return;
    TILE_STORE(0, p->held, 4 * p->ld_held);
    if (p->C == 2) {
        TILE_STORE(1, p->held + 16, 4 * p->ld_held);
    }
    if (p->R == 2) {
        TILE_STORE(2, p->held + 16 * p->ld_held, 4 * p->ld_held);
        if (p->C == 2) {
            TILE_STORE(3, p->held + 16 * p->ld_held + 16, 4 * p->ld_held);
        }
    }
    p->held = NULL;
}

/* Computes one block of R x C tiles of sums. R and C are compile-time constants after inlining. */
AMX INLINE void block(const int R, const int C, product *p, const tile_job *j)
{
    const uint16_t *a = j->a, *a_next = j->a_next, *b = j->b, *b_next = j->b_next;
    const int64_t steps = j->steps + (j->tail != NULL), pause = steps > 4 ? steps / 4 : 1;
    wanted x = p->x, y = p->y, residual = p->residual;
    if (p->R != R || p->C != C) release(p);
    for (int64_t k = 0, next = pause; k < steps; k++) {
        if (k == j->steps) b = j->tail, b_next = j->tail + 512;
        if (k == 0)
            step(R, C, true, p, j, a, a_next, b, b_next);
        else
            step(R, C, false, p, j, a, a_next, b, b_next);
        a += j->a_step, a_next += j->a_step, b += 512, b_next += 512;
        ASK(x, 0, 3)
        ASK(y, 1)
        ASK(residual, 0, 2)
        if (k + 1 == next) finish_some(p), next += pause;
    }
    finish(p);
    p->x = x, p->y = y, p->residual = residual;
    p->held = j->to, p->ld_held = j->ld_to, p->R = R, p->C = C;
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

/* ---- a of a strip ---------------------------------------------------------------------------- */

/* Copies rows [0, rows) and columns k in [0, depth) of a to own.a, padded with zeros. */
COPY static void copy_rows(lra_pairs_bf16 a, int64_t rows, int64_t depth)
{
    for (int64_t r = 0; r < (rows + 15) / 16 * 16; r++)
        for (int64_t k = 0; k < depth; k += 32) {
            __mmask32 live = (__mmask32)(0xFFFFFFFFu >> (32 - smaller(32, depth - k)));
            _mm512_store_si512(own.a[r / 16][k / 32] + r % 16 * 32,
                               r < rows ? _mm512_maskz_loadu_epi16(live, a.a + r * a.row + k)
                                        : _mm512_setzero_si512());
        }
}

/* Like copy_rows() for a transposed a, whose pairs are `step` elements apart. */
static void copy_pairs(lra_pairs_bf16 a, int64_t rows, int64_t depth)
{
    for (int64_t k = 0; k < depth; k += 32)
        for (int64_t r = 0; r < rows; r += 16)
            lra_transpose_words(smaller(16, rows - r), smaller(16, (depth - k) / 2),
                                a.a + r * a.row + k / 2 * a.step, a.step, own.a[r / 16][k / 32]);
}

/* True if rows of a are read in place, without a copy. A copy helps if rows start within a cache
 * line, because each load would then touch two lines, and if the distance of rows is a multiple of
 * 1 KiB, because they then map to few sets of the L1 cache (unless they are contiguous). With few
 * columns a copy does not pay off. */
static bool in_place(const product *p, lra_pairs_bf16 a, int64_t rows, int64_t depth)
{
    bool aligned = ((uintptr_t)a.a | (uintptr_t)(2 * a.row)) % 64 == 0;
    return a.step == 2 && rows == STRIP && depth % 32 == 0 &&
           ((aligned && (a.row % 512 != 0 || a.row == depth)) || p->N <= 2 * STRIP);
}

/* ---- blocks of a strip ----------------------------------------------------------------------- */

/* Multiplies columns [n, n + 32) of a strip, or fewer at the edge, over the range of k of one
 * pass. */
AMX INLINE void strip_block(product *p, tile_job *j, int64_t m, int64_t n, int64_t part, bool first,
                            bool last)
{
    const lra_bf16_out *out = p->out;
    int64_t rows = smaller(STRIP, p->M - m), columns = smaller(STRIP, p->N - n);
    bool whole = rows % 16 == 0 && columns % 16 == 0, direct = out->c && whole;
    float *c = out->c + m * out->ld + n;
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
                memcpy(own.edge + r * STRIP, c + r * out->ld, (size_t)columns * sizeof *c);
            j->from = own.edge, j->ld_from = STRIP;
        }
    }
    j->to = !last ? own.part + part : direct ? c : own.sum;
    j->ld_to = !last ? COLUMNS : direct ? out->ld : STRIP;
    block_any(rows > 16 ? 2 : 1, columns > 16 ? 2 : 1, p, j);
    if (last && !direct) p->m = m, p->n = n, p->done = 0;
}

/* Fast path for complete blocks with bf16 results and no finish function, which are most blocks. It
 * computes the same as block(), but one block after another, and its only writes to memory between
 * blocks are results. Other writes would be slow: every store waits for earlier stores, which wait
 * for their cache lines, and the processor stalls when its store buffer is full. */
AMX static void result_blocks(product *p, const tile_job *j, int64_t m, int64_t n0, int64_t n1)
{
    const lra_bf16_out *out = p->out;
    const int64_t steps = j->steps, pause = steps > 4 ? steps / 4 : 1;
    const bool relu = out->relu, residual = out->residual != NULL;
    if (p->held != own.sum || p->R != 2 || p->C != 2 || p->N - p->n < STRIP) {
        release(p);
        finish(p);
    }
    wanted x = p->x, y = p->y, z = p->residual;
    tile_job job = *j;
    product now = *p; /* a local copy, which the compiler keeps in registers */
    int64_t m_before = p->m, n_before = p->n;
    for (int64_t n = n0; n < n1; n += STRIP) {
        const uint16_t *a = job.a, *a_next = job.a_next;
        const uint16_t *b = job.b, *b_next = job.b_next;
        int64_t done = now.held ? 0 : STRIP;
        for (int64_t k = 0, next = pause + 1; k < steps; k++) {
            if (k == 0)
                step(2, 2, true, &now, &job, a, a_next, b, b_next);
            else
                step(2, 2, false, &now, &job, a, a_next, b, b_next);
            a += job.a_step, a_next += job.a_step, b += 512, b_next += 512;
            ASK(x, 0, 3)
            ASK(y, 1)
            ASK(z, 0, 2)
            if (k + 1 < next || done == STRIP) continue;
            finish_rows(true, relu, residual, QUARTER, STRIP, own.sum + done * STRIP, STRIP, out,
                        m_before + done, n_before);
            done += QUARTER, next += pause;
        }
        for (; done < STRIP; done += QUARTER)
            finish_rows(true, relu, residual, QUARTER, STRIP, own.sum + done * STRIP, STRIP, out,
                        m_before + done, n_before);
        now.held = own.sum, now.ld_held = STRIP, m_before = m, n_before = n;
        job.b += 2 * p->panel, job.b_next += 2 * p->panel;
        if (job.from) job.from += STRIP;
    }
    p->x = x, p->y = y, p->residual = z;
    p->held = own.sum, p->ld_held = STRIP, p->R = p->C = 2;
    p->m = m_before, p->n = n_before, p->done = 0;
}

/* Number of steps of 32 in k per pass. */
static int64_t pass_steps(const product *p)
{
    int64_t all = (p->K + 31) / 32;
    int64_t depth = p->a.step == 2 ? DEPTH : SHARE;
    int64_t n_passes = (32 * all + depth - 1) / depth;
    return (all + n_passes - 1) / n_passes;
}

/* Selects the memory that is prefetched during the strip at row m: operands and results of the next
 * strip, as far as they are contiguous. If rows of a overlap, only those that are not part of this
 * strip are prefetched. */
static void want_next(product *p, int64_t m, int64_t n0, int64_t n1)
{
    const lra_bf16_out *out = p->out;
    int64_t next = m + STRIP, rows = smaller(STRIP, p->M + out->follow - next);
    int64_t n_steps = (n1 - n0 + STRIP - 1) / STRIP * ((p->K + 31) / 32);
    int64_t a = 2 * rows * p->a.row, y = 2 * rows * out->ld;
    p->x = p->y = p->residual = (wanted){0};
    int64_t strip = m / STRIP, strips = (p->M + STRIP - 1) / STRIP;
    const lra_ahead *ahead = &out->ahead[strip % 2];
    if (ahead->bytes > 0) { /* the strips share this memory in equal parts */
        int64_t share = ahead->bytes / ((strips + 1 - strip % 2) / 2);
        p->residual = want((const char *)ahead->at + strip / 2 * share, share, n_steps);
    }
    if (rows <= 0) return;
    if (p->a.step == 2 && p->a.row <= p->K)
        p->x = want(p->a.a + m * p->a.row + (STRIP - 1) * p->a.row + p->K, a, n_steps);
    if (n0 > 0 || n1 < out->ld) return;
    if (out->y) p->y = want(out->y + next * out->ld, y, n_steps);
    if (out->residual) p->residual = want(out->residual + next * out->ld, y, n_steps);
}

/* Multiplies rows [m, m + 32) by columns [n0, n1), or fewer at the edge, in passes over k. */
AMX static void strip(product *p, int64_t m, int64_t n0, int64_t n1)
{
    int64_t rows = smaller(STRIP, p->M - m), all = (p->K + 31) / 32, steps = pass_steps(p);
    want_next(p, m, n0, n1);
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
        int64_t n = n0, whole = n0 + (n1 - n0) / STRIP * STRIP;
        if (rows == STRIP && !j.tail && whole > n0 && end == all && p->out->y && !p->out->finish) {
            j.b = p->b + n / 16 * p->panel + k * 16, j.b_next = j.b + p->panel;
            j.from = s == 0 ? NULL : own.part, j.ld_from = COLUMNS;
            result_blocks(p, &j, m, n0, whole);
            n = whole;
        }
        for (; n < n1; n += STRIP) {
            j.b = p->b + n / 16 * p->panel + k * 16, j.b_next = j.b + p->panel;
            strip_block(p, &j, m, n, n - n0, s == 0, end == all);
        }
    }
}

void lra_gemm_amx(int64_t M, int64_t N, int64_t K, lra_pairs_bf16 a, const uint16_t *b,
                  int64_t panel, const lra_bf16_out *out)
{
    product p = {.M = M, .N = N, .K = K, .a = a, .b = b, .panel = panel, .out = out, .n = -1};
    int64_t range = RANGE / K / STRIP * STRIP;
    if (32 * pass_steps(&p) < K) range = smaller(range, COLUMNS);
    if (range < 2 * STRIP) range = 2 * STRIP;
    tile_start();
    for (int64_t n = 0; n < N; n += range)
        for (int64_t m = 0; m < M; m += STRIP) strip(&p, m, n, smaller(N, n + range));
    release(&p);
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
