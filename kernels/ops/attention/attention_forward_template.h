/* Online softmax of 64 queries of a head over tiles of keys. */
#ifndef LRA_OPS_ATTENTION_ATTENTION_FORWARD_TEMPLATE_H
#define LRA_OPS_ATTENTION_ATTENTION_FORWARD_TEMPLATE_H

#include "kernels/ops/attention/attention_template.h"

typedef struct {
    attention_head h;
    const elem *q; /* q and y: rows of this head, starting at its first query */
    elem *y, *left;
    /* number of rows of all heads, the stride between the parts of the row statistics */
    int64_t rows;
    real *k, *v;             /* k: (Tk,K); v: (Tk,V) */
    real *queries, *y_t;     /* queries: (K, queries); y_t: (V, queries) */
    real *max, *sum;         /* maximum (in base-2 units) and sum of exponentials of each lane */
    attention_ahead next[2]; /* rows of k and v to prefetch: those of this thread's next head */
} attention_forward;

/* Scratch of a thread, in reals, that needs scores but no values: k, a block of queries with their
 * maxima and sums, `tiles` blocks of scores for all keys, and two tables by offset i - j. */
static inline int64_t attention_score_scratch(const attention_sizes *s, int64_t tiles)
{
    return s->Tk * s->K + ATTENTION_QUERIES * (s->K + tiles * s->Tk + 2) + ATTENTION_TILE +
           2 * attention_offsets(s);
}

static inline void attention_take(attention_forward *f, real *own)
{
    const attention_sizes *s = &f->h.s;
    f->k = own;
    f->v = f->k + s->Tk * s->K;
    f->queries = f->v + s->Tk * s->V;
    f->y_t = f->queries + ATTENTION_QUERIES * s->K;
    f->max = f->y_t + ATTENTION_QUERIES * s->V;
    f->sum = f->max + ATTENTION_QUERIES;
}

/* top[l] = largest score of lane l < n in a tile. n is a compile-time constant after inlining, so
 * that the maxima stay in registers. Consecutive maxima of a lane depend on each other; processing
 * all lanes together hides their latency. */
static inline __attribute__((always_inline)) void attention_top(const int n, const real *s,
                                                                int64_t keys, real *top)
{
    real most[ATTENTION_QUERIES];
    for (int l = 0; l < n; l++) most[l] = s[l];
    for (int64_t r = 1; r < keys; r++)
#pragma omp simd
        for (int l = 0; l < n; l++) {
            real v = s[r * ATTENTION_QUERIES + l];
            most[l] = v > most[l] ? v : most[l];
        }
    for (int l = 0; l < n; l++) top[l] = most[l];
}

/* Updates the running maximum of each lane with the scores of a tile and rescales the sums of
 * earlier tiles. A lane without any score keeps the maximum -infinity, and its sums are not
 * rescaled. */
static inline void attention_grow(attention_forward *f, const attention_place *p)
{
    const real unit = f->h.unit, *s = f->h.tile;
    real top[ATTENTION_QUERIES], shrink[ATTENTION_QUERIES], *max = f->max;
    int grown = 0;
    if (p->lanes == ATTENTION_QUERIES)
        attention_top(ATTENTION_QUERIES, s, p->keys, top);
    else
        for (int64_t l0 = 0; l0 < p->lanes; l0 += 16) attention_top(16, s + l0, p->keys, top + l0);
#pragma omp simd reduction(| : grown)
    ATTENTION_EACH_LANE(l, p)
    {
        real now = top[l] * unit, old = max[l], shrunk = attention_exp2(old - now);
        bool more = now > old;
        shrink[l] = more && old > -INFINITY ? shrunk : 1;
        max[l] = more ? now : old;
        grown |= more;
    }
    if (!grown) return;
    ATTENTION_EACH_LANE(l, p) f->sum[l] *= shrink[l];
    for (int64_t d = 0; d < f->h.s.V; d++)
#pragma omp simd
        ATTENTION_EACH_LANE(l, p) f->y_t[d * ATTENTION_QUERIES + l] *= shrink[l];
}

/* Turns the scores into exponentials and adds them to the sums of the lanes. Groups of 16 lanes
 * keep their sums in registers. */
static inline void attention_weights(attention_forward *f, const attention_place *p)
{
    const real unit = f->h.unit;
    for (int64_t l0 = 0; l0 < p->lanes; l0 += 16) {
        real *s = f->h.tile + l0, base[16], sum[16];
        for (int l = 0; l < 16; l++) {
            base[l] = f->max[l0 + l] > -INFINITY ? f->max[l0 + l] : 0;
            sum[l] = f->sum[l0 + l];
        }
        for (int64_t r = 0; r < p->keys; r++, s += ATTENTION_QUERIES)
#pragma omp simd
            for (int l = 0; l < 16; l++) {
                s[l] = attention_exp2(s[l] * unit - base[l]);
                sum[l] += s[l];
            }
        for (int l = 0; l < 16; l++) f->sum[l0 + l] = sum[l];
    }
}

/* Laplace attention: turns the scores into weights. Their sum is needed for the distance profile
 * only. */
static inline void attention_laplace_weights(attention_forward *f, const attention_place *p)
{
    real *s = f->h.tile, slope;
    for (int64_t r = 0; r < p->keys; r++, s += ATTENTION_QUERIES)
#pragma omp simd private(slope)
        ATTENTION_EACH_LANE(l, p)
        {
            s[l] = attention_laplace(s[l], &slope);
            f->sum[l] += s[l];
        }
}

/* Turns the scores into weights; those of a softmax are not yet divided by their sum. */
static inline void attention_weigh(attention_forward *f, const attention_place *p)
{
    if (f->h.args->laplace) {
        attention_laplace_weights(f, p);
        return;
    }
    attention_grow(f, p);
    attention_weights(f, p);
}

/* Writes n rows of y from query i0 on, and their softmax statistics. */
static inline void attention_finish(const attention_forward *f, int64_t i0, int64_t n)
{
    const attention_sizes *s = &f->h.s;
    real one[ATTENTION_QUERIES] = {0};
    for (int64_t l = 0; l < n; l++) {
        real sum = f->h.args->laplace ? 1 : f->sum[l];
        one[l] = sum == 0 ? 0 : 1 / sum;
        attention_put(f->left, f->rows, i0 + l,
                      sum == 0 || f->h.args->laplace ? 0 : f->max[l] + r_log2(sum));
    }
    attention_rows(f->y_t, n, s->H, s->V, one, attention_streams(f->rows, s->V, f->y),
                   f->y + i0 * s->H * s->V);
}

/* Writes zeros to the rows of padding in y and in the row statistics. */
static inline void attention_no_rows(const attention_forward *f)
{
    const attention_sizes *s = &f->h.s;
    for (int64_t i = f->h.mask.n_q; i < s->Tq; i++) {
        for (int64_t d = 0; d < s->V; d++) f->y[i * s->H * s->V + d] = 0;
        attention_put(f->left, f->rows, i, 0);
    }
}

#endif
