/* Gradients of bf16 attention with AMX tiles or AVX512_BF16: 64 queries of a head against all keys
 * that they see, with the formulas of attention_backward_template.h. */
#ifndef LRA_OPS_ATTENTION_ATTENTION_TILES_BACKWARD_TEMPLATE_H
#define LRA_OPS_ATTENTION_ATTENTION_TILES_BACKWARD_TEMPLATE_H

#include "kernels/ops/attention/attention_backward_template.h"
#include "kernels/ops/attention/attention_tiles_template.h"

/* Scratch of a thread in float32 numbers, without the tables and the tile of the head. */
static inline int64_t attention_tiles_back_scratch(const attention_sizes *s)
{
    int64_t K = (s->K + 31) / 32 * 32, V = (s->V + 31) / 32 * 32;
    int64_t rows = (s->Tk + 2 * ATTENTION_KEYS - 1) / ATTENTION_KEYS * ATTENTION_KEYS;
    int64_t halves = rows * (K + V) + (rows + 32) * K + 2 * ATTENTION_QUERIES * (K + V) +
                     3 * ATTENTION_TILE;
    return halves / 2 + rows * (K + V) + ATTENTION_QUERIES * (K + 2) + ATTENTION_TILE +
           attention_offsets(s);
}

#if ATTENTION_TILES
typedef struct {
    /* of the float arrays of b, only dk, dv, dq_t, sum, dot, other and by_offset are used */
    attention_backward b;
    ax_sizes x;
    uint16_t *k, *v, *k_t;        /* k: (rows,K); v: (rows,V); k_t: k by channel, (k_out,row) */
    uint16_t *q, *dy;             /* right operands of products that sum over channels */
    uint16_t *q_pairs, *dy_pairs; /* right operands of products that sum over queries */
    /* p, g: (keys, queries); g_pairs: g as right operand of the product that sums over keys */
    uint16_t *p, *g, *g_pairs;
} ax_backward;

static inline void ax_take_back(ax_backward *a, real *own)
{
    attention_backward *b = &a->b;
    const attention_sizes *s = &b->h.s;
    const ax_sizes x = a->x = ax_sizes_of(s);
    b->K = x.k_out, b->V = x.v_out;
    b->dk = own, b->dv = b->dk + x.rows * x.k_out;
    b->dq_t = b->dv + x.rows * x.v_out;
    b->sum = b->dq_t + AX_Q * x.k_out;
    b->dot = b->sum + AX_Q;
    b->other = b->dot + AX_Q;
    b->by_offset = b->other + ATTENTION_TILE;
    a->k = (uint16_t *)(b->by_offset + attention_offsets(s));
    a->v = a->k + x.rows * x.K, a->k_t = a->v + x.rows * x.V;
    a->q = a->k_t + x.row * x.k_out, a->dy = a->q + AX_Q * x.K;
    a->q_pairs = a->dy + AX_Q * x.V, a->dy_pairs = a->q_pairs + AX_Q * x.k_out;
    a->p = a->dy_pairs + AX_Q * x.v_out;
    a->g = a->p + ATTENTION_TILE, a->g_pairs = a->g + ATTENTION_TILE;
    /* clears dk and dv, which are adjacent */
    for (int64_t i = 0; i < x.rows * (x.k_out + x.v_out); i++) b->dk[i] = 0;
    for (int64_t o = 0; o < attention_offsets(s) && s->R > 0; o++) b->by_offset[o] = 0;
}

/* Computes p and g of two keys and 32 queries, and rounds them to bf16 for the three products that
 * follow. They are computed from scores and products dy v. With `ready` (scores depend on distance,
 * or dropout) they exist already and are only rounded. */
static inline __attribute__((always_inline)) void
ax_differentiate_32(const bool ready, const ax_backward *a, int64_t r, int64_t l0)
{
    const float unit = a->b.h.unit, *sum = a->b.sum + l0, *dot = a->b.dot + l0;
    const float *s = a->b.h.tile + r * AX_Q + l0, *d = a->b.other + r * AX_Q + l0;
    uint32_t *p = (uint32_t *)(a->p + r * AX_Q + l0), *g = (uint32_t *)(a->g + r * AX_Q + l0);
    uint32_t *pairs = (uint32_t *)(a->g_pairs + l0 * AX_Q) + r / 2 * 16;
#pragma omp simd
    for (int w = 0; w < 16; w++) {
        float p0 = s[w], p1 = s[w + 16], p2 = s[w + AX_Q], p3 = s[w + AX_Q + 16];
        float g0 = d[w], g1 = d[w + 16], g2 = d[w + AX_Q], g3 = d[w + AX_Q + 16];
        if (!ready) {
            p0 = ax_exp2(p0 * unit - sum[w]), p1 = ax_exp2(p1 * unit - sum[w + 16]);
            p2 = ax_exp2(p2 * unit - sum[w]), p3 = ax_exp2(p3 * unit - sum[w + 16]);
            g0 = p0 * (g0 - dot[w]), g1 = p1 * (g1 - dot[w + 16]);
            g2 = p2 * (g2 - dot[w]), g3 = p3 * (g3 - dot[w + 16]);
        }
        p[w] = ax_pair(p0, p1), p[w + AX_Q / 2] = ax_pair(p2, p3);
        g[w] = ax_pair(g0, g1), g[w + AX_Q / 2] = ax_pair(g2, g3);
        pairs[w] = ax_pair(g0, g2), pairs[w + AX_Q * 8] = ax_pair(g1, g3);
    }
}

/* Turns the scores and the products dy v of a tile into bf16 operands p and g; keys: number of
 * keys, rounded up to the unit of products over keys. */
static inline void ax_differentiate(const ax_backward *a, const attention_place *p, int64_t keys)
{
    const attention_head *h = &a->b.h;
    bool ready = h->distant || h->kept;
    if (ready) {
        attention_place all = *p;
        all.keys = keys;
        if (h->kept) attention_draw(h, p), attention_drop(h, p, a->b.other);
        attention_differentiate(&a->b, &all);
        attention_back_distances(&a->b, p);
        if (h->kept) attention_drop(h, p, h->tile);
    }
    for (int64_t l0 = 0; l0 < p->lanes; l0 += AX_STEP)
        for (int64_t r = 0; r < keys; r += 2)
            if (ready)
                ax_differentiate_32(true, a, r, l0);
            else
                ax_differentiate_32(false, a, r, l0);
}

/* Loads queries i0 .. i0 + n - 1, their q and dy, as operands. */
static inline void ax_load_back(ax_backward *a, int64_t i0, int64_t n)
{
    attention_backward *b = &a->b;
    const attention_sizes *s = &b->h.s;
    const ax_sizes *x = &a->x;
    const elem *q = b->q + i0 * s->H * s->K, *dy = b->dy + i0 * s->H * s->V;
    ax_queries(q, n, s->H * s->K, s->K, x->K, a->q);
    ax_queries(dy, n, s->H * s->V, s->V, x->V, a->dy);
    ax_query_pairs(q, n, s->H * s->K, s->K, x->k_out, a->q_pairs);
    ax_query_pairs(dy, n, s->H * s->V, s->V, x->v_out, a->dy_pairs);
    attention_load_rows(b, i0, n);
    for (int64_t i = 0; i < x->k_out * AX_Q; i++) b->dq_t[i] = 0;
}

static inline void ax_back_tile(ax_backward *a, const attention_place *p)
{
    attention_backward *b = &a->b;
    const ax_sizes *x = &a->x;
    int64_t rows = ax_whole(p->keys, x->unit.rows);
    ax_scores(&b->h, p, x, a->k, a->q);
    lra_tiles_job dp = {a->v + p->j0 * x->V, x->V, a->dy, 16 * x->V, b->other, AX_Q, false};
    lra_tiles_product(rows, p->lanes, x->V, &dp);
    int64_t keys = ax_fill(p, x, b->h.tile);
    for (int64_t i = rows * AX_Q; i < keys * AX_Q; i++) b->other[i] = 0;
    ax_differentiate(a, p, keys);
    lra_tiles_job dv = {a->p,     AX_Q, a->dy_pairs, 16 * AX_Q, b->dv + p->j0 * x->v_out,
                        x->v_out, true};
    lra_tiles_product(rows, x->v_out, p->lanes, &dv);
    lra_tiles_job dk = {a->g,     AX_Q, a->q_pairs, 16 * AX_Q, b->dk + p->j0 * x->k_out,
                        x->k_out, true};
    lra_tiles_product(rows, x->k_out, p->lanes, &dk);
    lra_tiles_job dq = {a->k_t + p->j0, x->row, a->g_pairs, 16 * AX_Q, b->dq_t, AX_Q, true};
    lra_tiles_product(x->k_high, p->lanes, keys, &dq);
}

/* Gradients of all queries of a head; k, v, dq: rows of this head. */
static void ax_back_head(ax_backward *a, const elem *k, const elem *v, elem *dq)
{
    attention_backward *b = &a->b;
    const attention_sizes *s = &b->h.s;
    int64_t n_q = b->h.mask.n_q, n_k = b->h.mask.n_k;
    ax_rows(k, n_k, s->H * s->K, s->K, a->x.rows, a->x.K, a->k);
    ax_rows(v, n_k, s->H * s->V, s->V, a->x.rows, a->x.V, a->v);
    ax_channels(k, n_k, s->H * s->K, s->K, a->x.k_out, a->x.row, a->k_t);
    lra_tiles_begin();
    for (int64_t i = 0, n; i < n_q; i += n) {
        n = attention_queries_at(&b->h, i);
        attention_place p = {.i0 = i, .queries = n, .lanes = ax_lanes(n)};
        ax_load_back(a, i, n);
        attention_walk w = attention_walk_of(&b->h, &p);
        while (attention_next(&w, &p)) ax_back_tile(a, &p);
        attention_store_dq(b, i, n, dq);
    }
    lra_tiles_end();
}
#endif
#endif
