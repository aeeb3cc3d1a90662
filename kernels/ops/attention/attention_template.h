/* One head of one example, tile by tile, on a CPU: code shared by the bodies of the attention ops.
 * No (T,T) array exists.
 *
 * A tile holds the scores of 64 keys, a row each, and 64 queries, which are the lanes: the maximum,
 * the sum and the statistics of a softmax row are numbers of a lane, no sum runs across a register,
 * and for one key the terms that depend on distance are a contiguous part of a table indexed by i -
 * j.  64 x 64 float32 are 16 KiB: a tile and the second one of the gradients stay in the L1 cache;
 * the rows of 64 keys and values, and of 64 queries, come from the L2 cache.
 *
 * Scores are kept to base 2: exp(s) = 2^(s log2 e); log2 e is part of the scale and costs nothing.
 * Without decay, slope and learned bias a score is its product times one number.
 * Scores of laplace attention are kept to base e. */
#ifndef LRA_OPS_ATTENTION_ATTENTION_TEMPLATE_H
#define LRA_OPS_ATTENTION_ATTENTION_TEMPLATE_H

#include <omp.h>

#include "kernels/ops/attention/attention.h"
#include "kernels/ops/attention/attention_product_template.h"
#include "kernels/ops/elementwise/dropout_template.h"
#include "kernels/ops/transpose_template.h"

enum { ATTENTION_QUERIES = 64, ATTENTION_KEYS = 64, ATTENTION_TILE = 64 * 64 };
#define ATTENTION_LOG2E R(1.4426950408889634)

/* A head, with the tables of the terms that depend on distance: entry i - j + Tk - 1. */
typedef struct {
    const attention_args *args;
    attention_mask mask;
    attention_sizes s;
    attention_list listed;
    bool distant; /* the tables are not empty */
    real unit;    /* factor from a product to a score, times log2 e */
    real *factor, *bias;
    real *tile; /* (keys, queries) */
    int64_t at; /* of all B H */
    real *kept; /* factors of its weights; NULL: nothing is dropped */
    dropout_draw draw;
    lra_step step;
} attention_head;

/* 16 channels are full registers for every instruction set. */
LRA_FN int64_t attention_padded(int64_t n)
{
    return (n + 15) / 16 * 16;
}
/* Entries of a table: the lanes of the last queries may reach beyond them. */
LRA_FN int64_t attention_offsets(const attention_sizes *s)
{
    return attention_padded(s->Tq + s->Tk) + ATTENTION_QUERIES; /* full cache lines */
}

/* p = 2^f of |f| <= 1/2, of numbers or lanes. */
#define ATTENTION_EXP2(p, f)                                                                       \
    ((p) = 1.53458116e-4f * (f) + 1.33999312e-3f, (p) = (p) * (f) + 9.61848896e-3f,                \
     (p) = (p) * (f) + 5.55032878e-2f, (p) = (p) * (f) + 2.40226469e-1f,                           \
     (p) = (p) * (f) + 6.93147206e-1f, (p) = (p) * (f) + 1.0f)

/* 2^x.  0 below 2^-126; x is not far above 0; NaN stays NaN.
 * 2^x = 2^n 2^f, |f| <= 1/2; 2^f by a polynomial of degree 6, with a relative error of 2e-9 before
 * rounding.  Adding 1.5 2^23 leaves n in the low bits, which become the exponent. */
static inline real attention_exp2(real x)
{
#if LRA_TYPE_f64
    return exp2(x);
#else
    const float shift = 12582912.0f + 127; /* n + 127 is the exponent, and 2^-127 that of 0 */
    float y = x < -127.0f ? -127.0f : x, shifted = y + shift, f = y - (shifted - shift), scale, p;
    uint32_t bits;
    memcpy(&bits, &shifted, sizeof bits);
    bits <<= 23;
    memcpy(&scale, &bits, sizeof scale);
    ATTENTION_EXP2(p, f);
    return p * scale;
#endif
}

/* ---- setting up a head ----------------------------------------------------------------------- */

/* Rows of one head, H width elements apart, as real, `pad` from one to the next. */
static inline void attention_gather(const elem *x, int64_t n, int64_t H, int64_t width, int64_t pad,
                                    real *to)
{
    for (int64_t t = 0; t < n; t++, x += H * width, to += pad) {
        int64_t d = 0;
        for (; d + LANES <= width; d += LANES)
            lanes_write(to + d, lanes_load(x, LRA_ELEM, d, LANES));
        for (; d < width; d++) to[d] = e_load(x[d]);
        for (; d < pad; d++) to[d] = 0;
    }
}

#if LANES_TRANSPOSED
/* Channels [d, d + w) of LANES rows, of which the first `rows` exist; w is a compile-time constant
 * at most calls. */
static inline __attribute__((always_inline)) void
attention_turn(const elem *x, int64_t rows, int64_t step, int64_t d, int64_t w, real *to)
{
    lanes r[LANES];
    for (int i = 0; i < LANES; i++)
        r[i] = i < rows ? lanes_load(x + i * step, LRA_ELEM, d, w) : (lanes){0};
    lanes_transpose(r);
    for (int i = 0; i < w; i++) lanes_write(to + (d + i) * ATTENTION_QUERIES, r[i]);
}
#endif

/* Columns (width, ATTENTION_QUERIES) of the n rows from x on, followed by zeros. */
static inline void attention_columns(const elem *x, int64_t n, int64_t H, int64_t width, real *to)
{
#if LANES_TRANSPOSED
    for (int64_t t = 0; t < ATTENTION_QUERIES; t += LANES, x += LANES * H * width) {
        int64_t d = 0;
        for (; d + LANES <= width; d += LANES)
            attention_turn(x, n - t, H * width, d, LANES, to + t);
        if (d < width) attention_turn(x, n - t, H * width, d, width - d, to + t);
    }
#else
    for (int64_t t = 0; t < ATTENTION_QUERIES; t++)
        for (int64_t d = 0; d < width; d++)
            to[d * ATTENTION_QUERIES + t] = t < n ? e_load(x[t * H * width + d]) : 0;
#endif
}

/* True if n rows of results, one of which starts at `to`, are written with streaming stores, for
 * the reasons in gemm_result_template.h: full cache lines, which must be full registers, of an
 * array larger than the caches. */
static inline bool attention_streams(int64_t n, int64_t width, const elem *to)
{
    const int64_t line = 64 / (int64_t)sizeof *to, stream = 1 << 21;
    return LRA_TYPE_f32 && LANES == line && width % line == 0 && (uintptr_t)to % 64 == 0 &&
           n * width * (int64_t)sizeof *to >= stream;
}
/* lanes_store() to a row */
static inline void attention_store(bool stream, elem *row, int64_t d, int64_t w, lanes v)
{
#if LRA_TYPE_f32
    if (stream) {
        lanes_stream(row + d, v);
        return;
    }
#endif
    (void)stream;
    lanes_store(row, LRA_ELEM, d, w, v);
}

/* The inverse: n rows, H width elements apart, of columns times the factor of each lane; zeros
 * where that is 0. */
static inline void attention_rows(const real *columns, int64_t n, int64_t H, int64_t width,
                                  const real *factor, bool stream, elem *to)
{
#if LANES_TRANSPOSED
    for (int64_t l = 0; l < n; l += LANES)
        for (int64_t d = 0; d < width; d += LANES) {
            const int64_t w = width - d < LANES ? width - d : LANES, live = n - l;
            const real *from = columns + d * ATTENTION_QUERIES + l;
            lanes r[LANES], by = lanes_read(factor + l);
            for (int i = 0; i < LANES; i++)
                r[i] = i < w ? lanes_read(from + i * ATTENTION_QUERIES) * by : (lanes){0};
            lanes_transpose(r);
            for (int i = 0; i < LANES && i < live; i++)
                attention_store(stream, to + (l + i) * H * width, d, w,
                                factor[l + i] == 0 ? (lanes){0} : r[i]);
        }
#else
    (void)stream;
    for (int64_t l = 0; l < n; l++)
#pragma omp simd
        for (int64_t d = 0; d < width; d++)
            to[l * H * width + d] = e_store(
                factor[l] == 0 ? 0 : columns[d * ATTENTION_QUERIES + l] * factor[l]);
#endif
}

/* bias: of the head, s.R entries; NULL: none */
static inline void attention_tables(attention_head *h, int head, const real *bias)
{
    const attention_args *a = h->args;
    const attention_sizes *s = &h->s;
    h->distant = a->decay[head] != 0 || a->slope[head] != 0 || bias || a->laplace;
    h->unit = h->distant ? 1 : (real)a->scale * ATTENTION_LOG2E;
    for (int64_t o = 0; o < attention_offsets(s) && h->distant; o++) {
        int64_t offset = o - (s->Tk - 1); /* i - j */
        double d = (double)(offset < 0 ? -offset : offset);
        double log2e = a->laplace ? 1 : 1.4426950408889634;
        double add = bias ? (double)bias[attention_entry(offset, 0, s->R)] : 0;
        double factor = exp(-a->decay[head] * d);
        h->factor[o] = factor > 1e-30 ? (real)(log2e * a->scale * factor)
                                      : 0; /* no subnormal numbers: they are slow */
        h->bias[o] = (real)(log2e * (add - a->slope[head] * d));
    }
}

/* Opens head `at` of all B H of a node whose options follow n sources; q is source number `q`.
 * Takes tables and a tile from `own` and returns the remaining scratch. */
static inline real *attention_open(attention_head *h, const lra_call *c, int q, int n, int64_t at,
                                   real *own)
{
    const attention_args *a = c->y->args;
    attention_sizes s = attention_sizes_of(c->y, q, n);
    const int32_t *option[ATTENTION_OPTIONS];
    for (int i = 0; i < ATTENTION_OPTIONS; i++) {
        int source = attention_source(a, i, n);
        option[i] = source < 0 ? NULL : c->in[source];
    }
    int64_t b = at / s.H, head = at % s.H;
    const int32_t *length = option[ATTENTION_LENGTH];
    const int32_t *key_length = option[a->cross ? ATTENTION_KEY_LENGTH : ATTENTION_LENGTH];
    const real *bias = (const real *)option[ATTENTION_BIAS];
    h->args = a, h->s = s, h->at = at, h->kept = NULL;
    h->mask = attention_mask_of(a, head, s.H, length ? length[b] : attention_steps(a, s.Tq),
                                key_length ? key_length[b] : attention_steps(a, s.Tk),
                                option[ATTENTION_LIMIT]);
    h->listed = attention_list_at(a, &s, at, option[ATTENTION_BLOCKS]);
    head %= s.H / a->stride;
    h->tile = own;
    h->factor = own + ATTENTION_TILE;
    h->bias = h->factor + attention_offsets(&s);
    attention_tables(h, (int)head, bias ? bias + head * s.R : NULL);
    return h->bias + attention_offsets(&s);
}

/* Prepares the dropout draws of an opened head, with a tile from `own`; returns the remaining
 * scratch. */
static inline real *attention_open_draws(attention_head *h, const lra_call *c, int n, real *own)
{
    if (!h->s.dropped) return own;
    const attention_args *a = h->args;
    memcpy(&h->step, c->in[attention_source(a, ATTENTION_STEP, n)], sizeof h->step);
    h->draw = dropout_draw_of(a->dropout, a->key, &h->step);
    h->kept = own;
    return own + ATTENTION_TILE;
}

/* Factor of the gradients of q and k, applied once at the end instead of to every pair. */
static inline real attention_unscaled(const attention_head *h)
{
    return h->args->laplace ? 1 : h->unit / ATTENTION_LOG2E;
}

/* Lanes that hold n queries: full registers. */
static inline int64_t attention_lanes(int64_t n)
{
    return attention_padded(n < ATTENTION_QUERIES ? n : ATTENTION_QUERIES);
}

/* Number of queries from i0 on that are processed together: those of one block if there is a block
 * list. */
static inline int64_t attention_queries_at(const attention_head *h, int64_t i0)
{
    int64_t n = h->mask.n_q - i0, block = h->listed.block;
    if (h->listed.list && block - i0 % block < n) n = block - i0 % block;
    return n < ATTENTION_QUERIES ? n : ATTENTION_QUERIES;
}

/* The keys that any of the queries [i0, i1) sees. */
static inline attention_range attention_span(const attention_head *h, int64_t i0, int64_t i1)
{
    return (attention_range){attention_keys_of(&h->mask, i0).from,
                             attention_keys_of(&h->mask, i1 - 1).to};
}

/* ---- a tile: keys [j0, j0 + n), lanes [i0, i0 + lanes) --------------------------------------- */

typedef struct {
    int64_t i0, queries, lanes; /* lanes: queries, rounded up */
    int64_t j0, keys;
} attention_place;

/* Iterates over the visible keys of some queries, tile by tile, within the listed blocks. */
typedef struct {
    attention_range span, now; /* all keys; the remaining ones of the current block */
    const int32_t *next, *end; /* remaining blocks */
    int64_t block;
    int64_t keys; /* of a tile, at most */
} attention_walk;

static inline attention_walk attention_walk_of(const attention_head *h, const attention_place *p)
{
    const attention_list *b = &h->listed;
    attention_walk w = {.span = attention_span(h, p->i0, p->i0 + p->queries),
                        .block = b->block,
                        .keys = ATTENTION_KEYS};
    const int32_t *own = b->list ? b->list + p->i0 / b->block * b->most : NULL;
    if (!own || own[0] == ATTENTION_ALL_BLOCKS)
        w.now = w.span;
    else
        w.next = own, w.end = own + b->most;
    return w;
}

/* Moves to the next tile; false after the last. */
static inline bool attention_next(attention_walk *w, attention_place *p)
{
    while (w->now.from >= w->now.to) {
        if (w->next == w->end || *w->next < 0) return false;
        int64_t first = *w->next++ * w->block, last = first + w->block;
        w->now.from = first > w->span.from ? first : w->span.from;
        w->now.to = last < w->span.to ? last : w->span.to;
    }
    int64_t left = w->now.to - w->now.from;
    p->j0 = w->now.from, p->keys = left < w->keys ? left : w->keys;
    w->now.from += p->keys;
    return true;
}

/* Rows of a head to prefetch: they are loaded into the L2 cache while tiles are multiplied, a few
 * for each tile.  The hardware prefetcher does not detect rows of H width elements, two lines of
 * each. */
typedef struct {
    const elem *x; /* NULL: none */
    int64_t step, width, at, end;
} attention_ahead;

static inline void attention_fetch(attention_ahead *a, int64_t rows)
{
    enum { LINE = 64 / (int)sizeof(elem) };
    int64_t end = a->at + rows < a->end ? a->at + rows : a->end;
    for (; a->x && a->at < end; a->at++)
        for (int64_t d = 0; d < a->width; d += LINE)
            __builtin_prefetch(a->x + a->at * a->step + d, 0, 2);
}
/* Number of rows to prefetch per tile, so that a walk through the span prefetches one row for each
 * of its queries. */
static inline int64_t attention_fetched(const attention_walk *w, const attention_place *p)
{
    int64_t keys = w->span.to - w->span.from;
    return keys < 1 ? p->queries : (p->queries * w->keys + keys - 1) / keys;
}

#define ATTENTION_EACH_LANE(l, p) for (int64_t l = 0; l < ((p)->lanes & ~(int64_t)15); l++)

/* Factors of the lanes' scores: means over keys in laplace attention. */
static inline void attention_shares(const attention_head *h, const attention_place *p, real *share)
{
    for (int64_t l = 0; l < p->lanes; l++) share[l] = attention_share(&h->mask, p->i0 + l);
}

/* Products become scores of laplace attention. */
static inline void attention_means(const attention_head *h, const attention_place *p, real *s)
{
    real share[ATTENTION_QUERIES];
    attention_shares(h, p, share);
    for (int64_t r = 0; r < p->keys; r++, s += ATTENTION_QUERIES) {
        int64_t at = p->i0 - (p->j0 + r) + h->s.Tk - 1;
        const real *factor = h->factor + at, *bias = h->bias + at;
#pragma omp simd
        ATTENTION_EACH_LANE(l, p) s[l] = s[l] * share[l] * factor[l] + bias[l];
    }
}

/* Turns products into scores, where scores depend on distance or are means (laplace). */
static inline void attention_distances(const attention_head *h, const attention_place *p, real *s)
{
    if (h->args->laplace) {
        attention_means(h, p, s);
        return;
    }
    for (int64_t r = 0; r < p->keys && h->distant; r++, s += ATTENTION_QUERIES) {
        int64_t at = p->i0 - (p->j0 + r) + h->s.Tk - 1;
        const real *factor = h->factor + at, *bias = h->bias + at;
#pragma omp simd
        ATTENTION_EACH_LANE(l, p) s[l] = s[l] * factor[l] + bias[l];
    }
}

/* True if a tile has a masked pair; most tiles have none. */
static inline bool attention_hides(const attention_head *h, const attention_place *p)
{
    attention_range first = attention_queries_of(&h->mask, p->j0);
    attention_range last = attention_queries_of(&h->mask, p->j0 + p->keys - 1);
    return last.from > p->i0 || first.to < p->i0 + p->queries;
}

/* Sets masked pairs to `nothing`. */
static inline void attention_hide(const attention_head *h, const attention_place *p, real nothing,
                                  real *s)
{
    if (!attention_hides(h, p)) return;
    for (int64_t r = 0; r < p->keys; r++, s += ATTENTION_QUERIES) {
        attention_range seen = attention_queries_of(&h->mask, p->j0 + r);
        int64_t from = seen.from - p->i0, to = seen.to - p->i0;
#pragma omp simd
        ATTENTION_EACH_LANE(l, p) s[l] = l >= from && l < to ? s[l] : nothing;
    }
}

/* The factors of a tile's weights, two keys at a time; its first query is a multiple of 4. */
static inline void attention_draw(const attention_head *h, const attention_place *p)
{
    real two[DROPOUT_BLOCK];
    for (int64_t r = 0; r < p->keys; r += 2) {
        uint64_t first[2];
        for (int k = 0; k < 2; k++)
            first[k] = (uint64_t)attention_draw_at(h->s.Tq, h->s.Tk, h->at, p->i0, p->j0 + r + k);
        dropout_factors(&h->draw, &h->step, first, two);
        memcpy(h->kept + r * ATTENTION_QUERIES, two, sizeof two);
    }
}
/* Multiplies weights, or products dy v, by these factors. */
static inline void attention_drop(const attention_head *h, const attention_place *p, real *s)
{
    for (int64_t r = 0; r < p->keys * ATTENTION_QUERIES; r += ATTENTION_QUERIES)
#pragma omp simd
        ATTENTION_EACH_LANE(l, p) s[r + l] *= h->kept[r + l];
}

/* Masks the keys of blocks that are not listed for these queries, which are all of one block; for
 * callers that have all keys in one tile. */
static inline void attention_unlisted(const attention_head *h, const attention_place *p, real *s)
{
    for (int64_t r = 0; r < p->keys; r++, s += ATTENTION_QUERIES)
        if (!attention_listed(&h->listed, p->i0, p->j0 + r))
            for (int l = 0; l < ATTENTION_QUERIES; l++) s[l] = -INFINITY;
}

#endif
