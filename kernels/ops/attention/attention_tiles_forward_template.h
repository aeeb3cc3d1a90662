/* Forward pass of bf16 attention with AMX tiles or AVX512_BF16: 64 queries of a head against all
 * keys that they see. */
#ifndef LRA_OPS_ATTENTION_ATTENTION_TILES_FORWARD_TEMPLATE_H
#define LRA_OPS_ATTENTION_ATTENTION_TILES_FORWARD_TEMPLATE_H

#include "kernels/ops/attention/attention_forward_template.h"
#include "kernels/ops/attention/attention_tiles_template.h"

/* Scratch of a thread in float32 numbers, without the tables and the tile of the head. */
static inline int64_t attention_tiles_scratch(const attention_sizes *s)
{
    int64_t K = (s->K + 31) / 32 * 32, V = attention_padded(s->V);
    int64_t rows = (s->Tk + 2 * ATTENTION_KEYS - 1) / ATTENTION_KEYS * ATTENTION_KEYS;
    int64_t halves = rows * K + (rows + 32) * V + ATTENTION_QUERIES * K + ATTENTION_TILE;
    return halves / 2 + ATTENTION_QUERIES * (V + 2);
}

#if ATTENTION_TILES
typedef struct {
    attention_forward f; /* the float arrays k, v and queries of f are not used */
    ax_sizes x;
    /* k: (rows,K); v: by channel, (v_out,row); q: 64 queries; p: weights, the right operand of the
     * product that sums over keys */
    uint16_t *k, *v, *q, *p;
} ax_forward;

static inline void ax_take(ax_forward *a, real *own)
{
    attention_forward *f = &a->f;
    a->x = ax_sizes_of(&f->h.s);
    f->y_t = own;
    f->max = f->y_t + AX_Q * a->x.v_out;
    f->sum = f->max + AX_Q;
    a->k = (uint16_t *)(f->sum + AX_Q);
    a->v = a->k + a->x.rows * a->x.K;
    a->q = a->v + a->x.row * a->x.v_out;
    a->p = a->q + AX_Q * a->x.K;
}

/* Rounds the weights of a tile to bf16. A word holds a pair of adjacent keys. */
static inline void ax_round(ax_forward *a, const attention_place *p, int64_t keys)
{
    for (int64_t l0 = 0; l0 < p->lanes; l0 += 16) {
        uint32_t *to = (uint32_t *)a->p + l0 / 16 * (AX_Q / 2 * 16);
        const float *s = a->f.h.tile + l0;
        for (int64_t r = 0; r < keys; r += 2, s += 2 * AX_Q, to += 16)
#pragma omp simd
            for (int l = 0; l < 16; l++) to[l] = ax_pair(s[l], s[AX_Q + l]);
    }
}

/* Turns the scores of a tile into exponentials, adds them to the sums of the lanes, and rounds them
 * as ax_round() does. */
static inline void ax_weights(ax_forward *a, const attention_place *p, int64_t keys)
{
    const float unit = a->f.h.unit;
    float base[AX_Q], sum[AX_Q];
    for (int64_t l = 0; l < AX_Q; l++) {
        base[l] = a->f.max[l] > -INFINITY ? a->f.max[l] : 0;
        sum[l] = a->f.sum[l];
    }
    for (int64_t l0 = 0; l0 < p->lanes; l0 += 16) {
        uint32_t *to = (uint32_t *)a->p + l0 / 16 * (AX_Q / 2 * 16);
        const float *s = a->f.h.tile + l0;
        float total[16];
        for (int l = 0; l < 16; l++) total[l] = 0;
        for (int64_t r = 0; r < keys; r += 2, s += 2 * AX_Q, to += 16)
#pragma omp simd
            for (int l = 0; l < 16; l++) {
                float low = ax_exp2(s[l] * unit - base[l0 + l]);
                float high = ax_exp2(s[AX_Q + l] * unit - base[l0 + l]);
                total[l] += low + high;
                to[l] = ax_pair(low, high);
            }
        for (int l = 0; l < 16; l++) a->f.sum[l0 + l] = sum[l0 + l] + total[l];
    }
}

/* Computes the outputs of queries i0 .. i0 + n - 1. */
static void ax_attend(ax_forward *a, int64_t i0, int64_t n)
{
    attention_forward *f = &a->f;
    const attention_head *h = &f->h;
    const attention_sizes *s = &h->s;
    attention_place p = {.i0 = i0, .queries = n, .lanes = ax_lanes(n)};
    ax_queries(f->q + i0 * s->H * s->K, n, s->H * s->K, s->K, a->x.K, a->q);
    for (int64_t i = 0; i < a->x.v_out * AX_Q; i++) f->y_t[i] = 0;
    for (int l = 0; l < AX_Q; l++) f->max[l] = -INFINITY, f->sum[l] = 0;
    attention_walk w = attention_walk_of(h, &p);
    /* larger tiles would let the AMX unit idle (tiles.c) */
    if (a->x.unit.rows > 1) w.keys = AX_STEP;
    while (attention_next(&w, &p)) {
        ax_scores(h, &p, &a->x, a->k, a->q);
        int64_t keys = ax_fill(&p, &a->x, h->tile);
        if (h->args->laplace || h->kept) {
            attention_place all = p;
            all.keys = keys;
            attention_weigh(f, &all);
            if (h->kept) attention_draw(h, &p), attention_drop(h, &p, h->tile);
            ax_round(a, &p, keys);
        } else {
            attention_grow(f, &p);
            ax_weights(a, &p, keys);
        }
        lra_tiles_job j = {a->v + p.j0, a->x.row, a->p, 16 * AX_Q, f->y_t, AX_Q, true};
        lra_tiles_product(a->x.v_high, p.lanes, keys, &j);
    }
}

/* Computes the outputs of all queries of a head; k, v: rows of this head. */
static void ax_head(ax_forward *a, const elem *k, const elem *v)
{
    const attention_sizes *s = &a->f.h.s;
    const attention_mask *m = &a->f.h.mask;
    ax_rows(k, m->n_k, s->H * s->K, s->K, a->x.rows, a->x.K, a->k);
    ax_channels(v, m->n_k, s->H * s->V, s->V, a->x.v_out, a->x.row, a->v);
    lra_tiles_begin();
    for (int64_t i = 0, n; i < m->n_q; i += n) {
        n = attention_queries_at(&a->f.h, i);
        ax_attend(a, i, n);
        attention_finish(&a->f, i, n);
    }
    lra_tiles_end();
}
#endif
#endif
