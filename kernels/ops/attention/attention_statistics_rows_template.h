/* Computes the weights of 64 queries for attention_statistics on a CPU, of one head or of all heads
 * together, and the statistics of each row. */
#ifndef LRA_OPS_ATTENTION_ATTENTION_STATISTICS_ROWS_TEMPLATE_H
#define LRA_OPS_ATTENTION_ATTENTION_STATISTICS_ROWS_TEMPLATE_H

#include "kernels/ops/attention/attention_forward_template.h"
#include "kernels/ops/attention/attention_statistics_body.h"

#define LN_2 R(0.69314718055994530942)

/* The n heads whose weights form one row of the result: one head, or all heads of an example and a
 * residue. */
typedef struct {
    const attention_args *args;
    statistics_sizes z;
    int n;
    int64_t residue, hole;
    const real *gram; /* (positions,H,H).  NULL: none */
    attention_forward f[LRA_MAX_HEADS];
} group;

/* Statistics of each lane (row): entropy in nats, effective number of keys, sum of the weights. */
typedef struct {
    real entropy[ATTENTION_QUERIES], support[ATTENTION_QUERIES], sum[ATTENTION_QUERIES];
} lane_sums;

/* log2 of a normal number x > 0. x = 2^n m with 0.7 < m < 1.42; log m is a series in t = (m - 1) /
 * (m + 1). Absolute error 1e-7. */
static inline real log2_of(real x)
{
#if LRA_TYPE_f64
    return log2(x);
#else
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    int32_t n = (int32_t)(bits - 0x3f3504f3u) >> 23;
    bits -= (uint32_t)n << 23;
    float m;
    memcpy(&m, &bits, sizeof m);
    float t = (m - 1) / (m + 1), u = t * t;
    float sum = 1 + u * (1 / 3.0f + u * (0.2f + u * (1 / 7.0f + u * (1 / 9.0f))));
    return (float)n + 2.885390082f * t * sum;
#endif
}

/* ---- weights of a block of queries ----------------------------------------------------------- */

static inline real *tile_of(const attention_forward *f)
{
    return f->sum + ATTENTION_QUERIES;
}

static inline void scores(const group *g, attention_forward *f, const attention_place *p)
{
    const attention_sizes *s = &f->h.s;
    attention_columns(f->q + p->i0 * s->H * s->K, p->queries, s->H, s->K, f->queries);
    for (int l = 0; l < ATTENTION_QUERIES; l++) f->max[l] = -INFINITY, f->sum[l] = 0;
    f->h.tile = tile_of(f);
    ap_product(p->keys, p->lanes, s->K, (ap_left){f->k + p->j0 * s->K, s->K, 1}, f->queries,
               ATTENTION_QUERIES, false, f->h.tile, ATTENTION_QUERIES);
    attention_distances(&f->h, p, f->h.tile);
    attention_hide(&f->h, p, -INFINITY, f->h.tile);
    attention_unlisted(&f->h, p, f->h.tile);
    int64_t hole = g->hole - p->j0;
    if (g->args->smooth > 1 || hole < 0 || hole >= p->keys) return;
    for (int l = 0; l < ATTENTION_QUERIES; l++) f->h.tile[hole * ATTENTION_QUERIES + l] = -INFINITY;
}

/* Turns the scores of a softmax into exponentials, as attention_weights() does, and also computes
 * the statistics of each lane. */
static inline void weigh(attention_forward *f, const attention_place *p, lane_sums *sums)
{
    const real unit = f->h.unit;
    real *s = f->h.tile, base[ATTENTION_QUERIES], dot[ATTENTION_QUERIES], square[ATTENTION_QUERIES];
    attention_grow(f, p);
    ATTENTION_EACH_LANE(l, p)
    {
        base[l] = f->max[l] > -INFINITY ? f->max[l] : 0;
        dot[l] = square[l] = 0;
    }
    for (int64_t r = 0; r < p->keys; r++, s += ATTENTION_QUERIES)
#pragma omp simd
        ATTENTION_EACH_LANE(l, p)
        {
            real x = s[l] * unit - base[l], e = attention_exp2(x);
            s[l] = e;
            f->sum[l] += e;
            dot[l] += e > 0 ? e * x : 0;
            square[l] += e * e;
        }
    ATTENTION_EACH_LANE(l, p)
    {
        real sum = sums->sum[l] = f->sum[l];
        sums->entropy[l] = sum > 0 ? LN_2 * (r_log2(sum) - dot[l] / sum) : 0;
        sums->support[l] = sum > 0 ? sum * sum / square[l] : 0;
    }
}

/* Moving average of the tile over columns. to: n columns, the first of which is column j0. */
static inline void average(const group *g, const attention_forward *f, const attention_place *p,
                           int64_t j0, int64_t n, real *to)
{
    const real share = 1 / (real)g->args->smooth;
    for (int64_t i = 0; i < n * ATTENTION_QUERIES; i++) to[i] = 0;
    for (int64_t r = 0; r < p->keys; r++) {
        attention_range c = profile_columns(g->args, f->h.mask.n_k, p->j0 + r);
        const real *from = f->h.tile + r * ATTENTION_QUERIES;
        for (int64_t at = c.from; at < c.to; at++) {
            real *out = to + (at - j0) * ATTENTION_QUERIES;
#pragma omp simd
            ATTENTION_EACH_LANE(l, p) out[l] += from[l] * share;
        }
    }
    int64_t hole = g->hole - j0;
    if (hole < 0 || hole >= n) return;
    ATTENTION_EACH_LANE(l, p) to[hole * ATTENTION_QUERIES + l] = 0;
}

/* Statistics of each lane over n columns of weights w. */
static inline void describe(const attention_place *p, int64_t n, const real *w, lane_sums *sums)
{
    real dot[ATTENTION_QUERIES], square[ATTENTION_QUERIES];
    ATTENTION_EACH_LANE(l, p) sums->sum[l] = dot[l] = square[l] = 0;
    for (int64_t c = 0; c < n; c++, w += ATTENTION_QUERIES)
#pragma omp simd
        ATTENTION_EACH_LANE(l, p)
        {
            real x = w[l], safe = x > R(1e-30) ? x : R(1.0);
            sums->sum[l] += x;
            square[l] += x * x;
            dot[l] += safe * log2_of(safe);
        }
    ATTENTION_EACH_LANE(l, p)
    {
        real sum = sums->sum[l];
        dot[l] = sum > 0 ? dot[l] / sum : 0;
        sums->entropy[l] = sum > 0 ? LN_2 * (r_log2(sum) - dot[l]) : 0;
        sums->support[l] = sum > 0 && square[l] > 0 ? sum * sum / square[l] : 0;
    }
}

/* Normalises the weights of a head to those that multiply v. Softmax weights are divided by their
 * sum; with renorm, averaged weights are divided by theirs. */
static inline void whole(const group *g, const attention_forward *f, const attention_place *p,
                         int64_t n, real *w)
{
    real factor[ATTENTION_QUERIES];
    const attention_args *a = g->args;
    ATTENTION_EACH_LANE(l, p) factor[l] = a->renorm ? 0 : f->sum[l];
    for (int64_t c = 0; c < n && a->renorm; c++)
        ATTENTION_EACH_LANE(l, p) factor[l] += w[c * ATTENTION_QUERIES + l];
    ATTENTION_EACH_LANE(l, p)
    factor[l] = a->laplace && !a->renorm ? 1 : factor[l] > 0 ? 1 / factor[l] : 0;
    for (int64_t c = 0; c < n; c++)
        ATTENTION_EACH_LANE(l, p) w[c * ATTENTION_QUERIES + l] *= factor[l];
}

/* Replaces the weights of the first head, w[0], by the norms of the weighted sums over all heads.
 * w: weights of every head, n columns from j0 on. */
static inline void combine(const group *g, const attention_place *p, int64_t j0, int64_t n,
                           real *const *w)
{
    for (int64_t c = 0; c < n; c++) {
        const real *gram = g->gram + ((j0 + c) * g->z.stride + g->residue) * g->n * g->n;
        real sum[ATTENTION_QUERIES];
        ATTENTION_EACH_LANE(l, p) sum[l] = 0;
        for (int h = 0; h < g->n; h++)
            for (int k = 0; k <= h; k++) {
                const real *x = w[h] + c * ATTENTION_QUERIES, *y = w[k] + c * ATTENTION_QUERIES;
                real both = gram[h * g->n + k] * (h == k ? 1 : 2);
#pragma omp simd
                ATTENTION_EACH_LANE(l, p) sum[l] += both * x[l] * y[l];
            }
        ATTENTION_EACH_LANE(l, p)
        w[0][c * ATTENTION_QUERIES + l] = sum[l] > 0 ? r_sqrt(sum[l]) : 0;
    }
}

/* Weights of the queries and their statistics. Outputs: first column *j0, number of columns *n. */
static inline const real *weights(group *g, const attention_place *p, int64_t *j0, int64_t *n,
                                  lane_sums *sums)
{
    real *w[LRA_MAX_HEADS];
    const attention_head *h = &g->f[0].h;
    bool averaged = g->args->smooth > 1;
    attention_range span = {p->j0, p->j0 + p->keys}, from, to;
    from = statistics_spread(g->args, &h->mask, p->i0, span);
    to = statistics_spread(g->args, &h->mask, p->i0 + p->queries - 1, span);
    *j0 = from.from, *n = to.to - from.from;
    for (int k = 0; k < g->n; k++) {
        attention_forward *f = &g->f[k];
        scores(g, f, p);
        w[k] = f->h.tile;
        if (!g->gram && !averaged && !g->args->laplace) {
            weigh(f, p, sums);
            return w[0];
        }
        attention_weigh(f, p);
        if (averaged) average(g, f, p, *j0, *n, w[k] = f->h.tile + ATTENTION_QUERIES * f->h.s.Tk);
        if (g->gram) whole(g, f, p, *n, w[k]);
    }
    if (g->gram) combine(g, p, *j0, *n, w);
    describe(p, *n, w[0], sums);
    return w[0];
}

#endif
