/* One head of one example, tile by tile, on a CPU: code shared by the bodies of the attention ops.
 * No (T,T) array exists.
 *
 * A tile holds the scores of 64 keys (rows) and 64 queries (columns). The queries are the SIMD
 * lanes: the maximum, the sum and the statistics of a softmax row belong to one lane, so that no
 * sum runs across a register. For one key the terms that depend on distance are a contiguous part
 * of a table indexed by i - j. 64 x 64 float32 numbers are 16 KiB: a tile and the second tile of
 * the gradients stay in the L1 cache. The rows of 64 keys and values, and of 64 queries, come from
 * the L2 cache.
 *
 * Scores are stored in base-2 units: exp(s) = 2^(s log2 e), and log2 e is folded into the scale at
 * no cost. Without decay, slope and learned bias a score is its product times one number. Scores of
 * laplace attention are stored unscaled. */
#ifndef LRA_OPS_ATTENTION_ATTENTION_TEMPLATE_H
#define LRA_OPS_ATTENTION_ATTENTION_TEMPLATE_H

#include <omp.h>

#include "kernels/ops/attention/attention.h"
#include "kernels/ops/attention/attention_product_template.h"
#include "kernels/ops/elementwise/dropout_template.h"
#include "kernels/ops/transpose_template.h"

enum { ATTENTION_QUERIES = 64, ATTENTION_KEYS = 64, ATTENTION_TILE = 64 * 64 };
#define ATTENTION_LOG2E R(1.4426950408889634)

/* State of one head. The tables `factor` and `bias` hold the terms that depend on distance; the
 * index is i - j + Tk - 1. */
typedef struct {
    const attention_args *args;
    attention_mask mask;
    attention_sizes s;
    attention_list listed;
    /* the tables are filled: scores depend on distance, or are those of laplace attention */
    bool distant;
    real unit; /* factor from a product q k to a score in base-2 units, if not distant */
    real *factor, *bias;
    real *tile; /* tile of scores, (keys, queries) */
    int64_t at; /* index of the head, 0 .. B H - 1 */
    real *kept; /* dropout factors of a tile's weights; NULL: no dropout */
    dropout_draw draw;
    lra_step step;
} attention_head;

/* Rounds up to a multiple of 16 numbers, which is a multiple of the register width of every
 * instruction set. */
LRA_FN int64_t attention_padded(int64_t n)
{
    return (n + 15) / 16 * 16;
}
/* Size of a table that is indexed by the offset of query and key. The last lanes of a tile may read
 * beyond offset Tq + Tk, so the table has ATTENTION_QUERIES additional entries. */
LRA_FN int64_t attention_offsets(const attention_sizes *s)
{
    return attention_padded(s->Tq + s->Tk) + ATTENTION_QUERIES; /* a multiple of the cache line */
}

/* Polynomial p = 2^f for |f| <= 1/2; f and p are scalars or vectors. */
#define ATTENTION_EXP2(p, f)                                                                       \
    ((p) = 1.53458116e-4f * (f) + 1.33999312e-3f, (p) = (p) * (f) + 9.61848896e-3f,                \
     (p) = (p) * (f) + 5.55032878e-2f, (p) = (p) * (f) + 2.40226469e-1f,                           \
     (p) = (p) * (f) + 6.93147206e-1f, (p) = (p) * (f) + 1.0f)

/* 2^x. Returns 0 below 2^-126; x must not overflow; NaN stays NaN.
 * 2^x = 2^n 2^f with |f| <= 1/2. 2^f is a polynomial of degree 6 with a relative error of 2e-9
 * before rounding. Adding 1.5 2^23 leaves n in the low bits, which become the exponent. */
static inline real attention_exp2(real x)
{
#if LRA_TYPE_f64
    return exp2(x);
#else
    /* the low bits of y + shift are n + 127, the biased exponent of 2^n; this exponent is 0 for x =
     * -127 */
    const float shift = 12582912.0f + 127;
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

/* Copies n rows of one head, H width elements apart in x, to contiguous rows of reals with a stride
 * of `pad`, filled with zeros. */
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
/* Transposes channels [d, d + w) of LANES rows, of which the first `rows` exist; the others are
 * zero. w is a compile-time constant in most calls. */
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

/* Transposes n rows of a head into columns (width, ATTENTION_QUERIES); the columns after the last
 * row are zero. */
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
 * the reasons in gemm_result_template.h. The rows must consist of full cache lines, and the array
 * must be larger than the caches. */
static inline bool attention_streams(int64_t n, int64_t width, const elem *to)
{
    const int64_t line = 64 / (int64_t)sizeof *to, stream = 1 << 21;
    return LRA_TYPE_f32 && LANES == line && width % line == 0 && (uintptr_t)to % 64 == 0 &&
           n * width * (int64_t)sizeof *to >= stream;
}
/* Stores w channels of a row, with a streaming store if `stream` is true. */
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

/* Inverse of attention_columns(): writes n rows, H width elements apart. Each column is multiplied
 * by the factor of its lane; a factor of 0 gives zeros, even for NaN. */
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

/* Fills the tables of a head. bias: learned bias of this head, s.R entries; NULL: none. */
static inline void attention_tables(attention_head *h, int head, const real *bias)
{
    const attention_args *a = h->args;
    const attention_sizes *s = &h->s;
    h->distant = a->decay[head] != 0 || a->slope[head] != 0 || bias || a->laplace;
    h->unit = h->distant ? 1 : (real)a->scale * ATTENTION_LOG2E;
    for (int64_t o = 0; o < attention_offsets(s) && h->distant; o++) {
        int64_t offset = o - (s->Tk - 1); /* query index i - key index j */
        double d = (double)(offset < 0 ? -offset : offset);
        double log2e = a->laplace ? 1 : 1.4426950408889634;
        double add = bias ? (double)bias[attention_entry(offset, 0, s->R)] : 0;
        double factor = exp(-a->decay[head] * d);
        h->factor[o] = factor > 1e-30 ? (real)(log2e * a->scale * factor)
                                      : 0; /* avoids subnormal numbers, which are slow */
        h->bias[o] = (real)(log2e * (add - a->slope[head] * d));
    }
}

/* Initialises the state of head `at` (0 .. B H - 1). Source number q of the node is the query
 * tensor; the optional sources follow n required ones. Takes the tables and a tile from the scratch
 * `own` and returns the remaining scratch. */
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

/* Initialises the dropout draws of a head. Takes a tile from the scratch `own` and returns the
 * remaining scratch. */
static inline real *attention_open_draws(attention_head *h, const lra_call *c, int n, real *own)
{
    if (!h->s.dropped) return own;
    const attention_args *a = h->args;
    memcpy(&h->step, c->in[attention_source(a, ATTENTION_STEP, n)], sizeof h->step);
    h->draw = dropout_draw_of(a->dropout, a->key, &h->step);
    h->kept = own;
    return own + ATTENTION_TILE;
}

/* Factor f of the gradients of q and k. It is applied once at the end instead of to every pair. */
static inline real attention_unscaled(const attention_head *h)
{
    return h->args->laplace ? 1 : h->unit / ATTENTION_LOG2E;
}

/* Number of lanes for n queries: n rounded up to full registers, at most ATTENTION_QUERIES. */
static inline int64_t attention_lanes(int64_t n)
{
    return attention_padded(n < ATTENTION_QUERIES ? n : ATTENTION_QUERIES);
}

/* Number of queries from i0 on that are processed together. If there is a block list, they all
 * belong to one block. */
static inline int64_t attention_queries_at(const attention_head *h, int64_t i0)
{
    int64_t n = h->mask.n_q - i0, block = h->listed.block;
    if (h->listed.list && block - i0 % block < n) n = block - i0 % block;
    return n < ATTENTION_QUERIES ? n : ATTENTION_QUERIES;
}

/* Range of the keys that at least one of the queries [i0, i1) sees. */
static inline attention_range attention_span(const attention_head *h, int64_t i0, int64_t i1)
{
    return (attention_range){attention_keys_of(&h->mask, i0).from,
                             attention_keys_of(&h->mask, i1 - 1).to};
}

/* ---- a tile: keys [j0, j0 + n), lanes [i0, i0 + lanes) --------------------------------------- */

typedef struct {
    int64_t i0, queries, lanes; /* lanes: number of queries, rounded up to full registers */
    int64_t j0, keys;
} attention_place;

/* Iterator over the visible keys of a group of queries, tile by tile, within the listed blocks. */
typedef struct {
    attention_range span, now; /* span: all keys; now: the remaining keys of the current block */
    const int32_t *next, *end; /* remaining entries of the block list */
    int64_t block;
    int64_t keys; /* maximum number of keys of a tile */
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

/* Moves to the next tile. Returns false after the last one. */
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

/* Rows of a head to prefetch into the L2 cache. A few rows are prefetched with each tile, while the
 * tile is multiplied. The hardware prefetcher does not detect rows that are H width elements apart
 * with two cache lines each. */
typedef struct {
    const elem *x; /* NULL: nothing to prefetch */
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
/* Number of rows to prefetch per tile, such that all tiles of a span together prefetch as many rows
 * as there are queries. */
static inline int64_t attention_fetched(const attention_walk *w, const attention_place *p)
{
    int64_t keys = w->span.to - w->span.from;
    return keys < 1 ? p->queries : (p->queries * w->keys + keys - 1) / keys;
}

#define ATTENTION_EACH_LANE(l, p) for (int64_t l = 0; l < ((p)->lanes & ~(int64_t)15); l++)

/* Laplace attention: 1 / number of visible keys, the factor of the scores of each lane. */
static inline void attention_shares(const attention_head *h, const attention_place *p, real *share)
{
    for (int64_t l = 0; l < p->lanes; l++) share[l] = attention_share(&h->mask, p->i0 + l);
}

/* Laplace attention: turns the products q k of a tile into scores. */
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

/* Turns products into scores, if scores depend on distance or belong to laplace attention. */
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

/* Sets the scores of masked pairs to `nothing`. */
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

/* Draws the dropout factors of a tile's weights, two keys at a time. The first query of the tile is
 * a multiple of 4. */
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
/* Multiplies s, the weights or the products dy v, by the dropout factors. */
static inline void attention_drop(const attention_head *h, const attention_place *p, real *s)
{
    for (int64_t r = 0; r < p->keys * ATTENTION_QUERIES; r += ATTENTION_QUERIES)
#pragma omp simd
        ATTENTION_EACH_LANE(l, p) s[r + l] *= h->kept[r + l];
}

/* Masks the keys of blocks that are not listed for these queries, which all belong to one block.
 * Needed by callers whose tile holds all keys. */
static inline void attention_unlisted(const attention_head *h, const attention_place *p, real *s)
{
    for (int64_t r = 0; r < p->keys; r++, s += ATTENTION_QUERIES)
        if (!attention_listed(&h->listed, p->i0, p->j0 + r))
            for (int l = 0; l < ATTENTION_QUERIES; l++) s[l] = -INFINITY;
}

#endif
