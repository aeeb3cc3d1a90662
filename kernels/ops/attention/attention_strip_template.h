/* Softmax tiles that have masked pairs, or fewer than 64 keys or queries, or that are the first of
 * their queries. They are processed in strips of queries (one register wide if registers have 16
 * lanes), and each strip skips keys that none of its queries sees. The two ends of a band of
 * visible keys are such tiles (two of three tiles if the band is two tiles wide), and so is the
 * diagonal of causal attention. As in attention_whole_template.h, exponentials are computed while
 * the sums of the products are in registers. */
#ifndef LRA_OPS_ATTENTION_ATTENTION_STRIP_TEMPLATE_H
#define LRA_OPS_ATTENTION_ATTENTION_STRIP_TEMPLATE_H

#include "kernels/ops/attention/attention_whole_template.h"

#if ATTENTION_WHOLE
enum {
    AS_VECTORS = AP_VECTORS > 2 ? 1 : AP_VECTORS,
    AS_COLUMNS = AS_VECTORS * AP_LANES,
    AS_ROWS = 8 / AS_VECTORS
};

/* For each key of a tile, the lanes [from, to) that see it. Both ends are non-decreasing in the
 * key. Empty for keys after the last. */
typedef struct {
    int from[ATTENTION_KEYS], to[ATTENTION_KEYS];
} as_view;

static inline int as_lane(int64_t l)
{
    return (int)(l < 0 ? 0 : l < ATTENTION_QUERIES ? l : ATTENTION_QUERIES);
}

static inline void as_visible(const attention_head *h, const attention_place *p, as_view *v)
{
    const bool hides = attention_hides(h, p);
    for (int64_t r = 0; r < ATTENTION_KEYS; r++) {
        v->from[r] = r < p->keys ? 0 : ATTENTION_QUERIES;
        v->to[r] = r < p->keys ? (int)p->queries : ATTENTION_QUERIES;
    }
    for (int64_t r = 0; r < p->keys && hides; r++) {
        attention_range seen = attention_queries_of(&h->mask, p->j0 + r);
        v->from[r] = as_lane(seen.from - p->i0);
        v->to[r] = as_lane(seen.to - p->i0);
    }
}

/* Range [from, to) of keys of a tile that a strip sees, rounded to multiples of AS_ROWS. */
typedef struct {
    int from, to;
} as_keys;

static inline as_keys as_keys_of(const as_view *v, int64_t l0)
{
    as_keys k = {0, 0};
    while (k.from < ATTENTION_KEYS && v->to[k.from + AS_ROWS - 1] <= l0) k.from += AS_ROWS;
    k.to = k.from;
    while (k.to < ATTENTION_KEYS && v->from[k.to] < l0 + AS_COLUMNS) k.to += AS_ROWS;
    return k;
}

LRA_ROW_FN lanes as_choose(lanes_int which, lanes yes, lanes no)
{
    return (lanes)(((lanes_int)yes & which) | ((lanes_int)no & ~which));
}

/* Products of keys r .. r + AS_ROWS - 1 with the queries of a strip. */
static inline __attribute__((always_inline)) void
as_sums(const aw_product *x, int64_t r, int64_t l0, ap_vector sum[AP_ROWS][AP_VECTORS])
{
    ap_sums(AS_ROWS, AS_VECTORS, (ap_left){x->left + r * x->row, x->row, 1}, x->depth,
            x->right + l0, ATTENTION_QUERIES, sum);
}

/* Sets masked pairs to -infinity. */
static inline __attribute__((always_inline)) void as_hide(const as_view *v, int64_t r, int64_t l0,
                                                          ap_vector sum[AP_ROWS][AP_VECTORS])
{
    static const int32_t number[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    const int last = (int)r + AS_ROWS - 1;
    if (v->from[last] <= l0 && v->to[r] >= l0 + AS_COLUMNS) return;
    AW_EACH(j, AS_VECTORS)
    {
        lanes_int lane;
        memcpy(&lane, number, sizeof lane);
        lane += (int)l0 + j * AP_LANES;
        AW_EACH(i, AS_ROWS)
        sum[i][j] = (ap_vector)as_choose((lane >= v->from[r + i]) & (lane < v->to[r + i]),
                                         (lanes)sum[i][j], lanes_of(-INFINITY));
    }
}

/* Adds the contribution of a tile's keys to their queries, by strips: to (width, queries) += x
 * (width, keys) tile. Channel d of key r is x[r row + d]. */
static __attribute__((noinline)) void as_add_columns(const as_view *v, const attention_place *p,
                                                     int64_t width, const real *x, int64_t row,
                                                     const real *tile, real *to)
{
    enum { Q = ATTENTION_QUERIES };
    for (int64_t l0 = 0; l0 < p->lanes; l0 += AS_COLUMNS) {
        as_keys k = as_keys_of(v, l0);
        int64_t end = k.to < p->keys ? k.to : p->keys;
        if (k.from < end)
            ap_panel(AS_VECTORS, width, (ap_left){x + k.from * row, 1, row}, end - k.from,
                     tile + k.from * Q + l0, Q, true, to + l0, Q);
    }
}
#endif
#endif
