/* Gradients of 64 queries of a head against all keys that they see. With p the softmax and
 * g = p (dy v - dy y), the gradient of the scores:
 *   dv_j += p_ij dy_i,   dk_j += f g_ij q_i,   dq_i += f g_ij k_j,   dc_(j-i) += g_ij
 * f: the factor from the product q k to a score. p is recomputed from the scores and the row
 * statistics of the forward node, so that a pair costs five products and one exponential. Queries
 * are the outer loop: their four arrays and dq stay in the L1 cache, while k, v, dk and dv are
 * streamed.
 * In laplace attention p is the weight, and g = (dy v) times the derivative of the weight with
 * respect to the score. With dropout, dy v and the p that multiplies dy are multiplied by the
 * dropout factor of the weight.
 *
 * A softmax has sum_j g_ij = 0. Three corrections follow from this. Without them float32 loses
 * digits where keys and values are similar to each other, as they are at the start of training
 * (measured on a Luna model: 15 times the error).
 *   - The mean of all keys, or of all values, changes no gradient. It is subtracted from keys and
 *     values first, and from y. Otherwise g and dq would be small differences of large numbers.
 *   - The rows of dk sum to 0, so that a bias of the keys has gradient 0. The rounding errors of
 *     the rows, and of y, exceed this sum, so the computed sum is subtracted from the rows.
 *   - If scores decay with distance, the rows of dk sum to sum_ij (f_ij - f) g_ij q_i instead,
 *     which is close to 0 if the decay is small. This sum is accumulated separately. */
#ifndef LRA_OPS_ATTENTION_ATTENTION_BACKWARD_TEMPLATE_H
#define LRA_OPS_ATTENTION_ATTENTION_BACKWARD_TEMPLATE_H

#include "kernels/ops/attention/attention_strip_backward_template.h"

typedef struct {
    attention_head h;
    /* left: row statistics that the forward node stored; all: rows of this head, from its first
     * query on */
    const elem *q, *dy, *y, *left;
    /* number of rows of all heads, the stride between the parts of the row statistics */
    int64_t rows;
    int64_t K, V;                /* widths, padded to full registers */
    real *k, *v, *dk, *dv;       /* k, dk: (Tk,K); v, dv: (Tk,V) */
    real *queries, *dy_t, *dq_t; /* queries, dq_t: (K, queries); dy_t: (V, queries) */
    real *q_rows, *dy_rows;      /* rows of the queries: (queries,K), (queries,V) */
    real *sum, *dot;             /* numbers per lane: log2 of the sum of exponentials; dy y */
    real *other;                 /* second tile of scores: products dy v, then g */
    real *by_offset; /* sums of g by offset i - j, indexed like the tables of attention_head */
    attention_ahead next[2]; /* rows of k and v to prefetch: those of this thread's next head */
    bool settles;            /* the rows of dk are corrected, so that their sum is dk_sum */
    bool decays;             /* the scores decay with distance, so dk_sum is not 0 */
    /* less: table of f_ij - f; apart: sum of (f_ij - f) g per lane; dk_sum (K): required sum of
     * dk */
    real *less, *apart, *dk_sum;
    real *k_mean, *v_mean; /* (K), (V): means over all keys; NULL: not subtracted */
} attention_backward;

static inline int64_t attention_backward_scratch(const attention_sizes *s)
{
    int64_t K = attention_padded(s->K), V = attention_padded(s->V);
    return 2 * s->Tk * (K + V) + ATTENTION_QUERIES * (2 * s->K + s->V + K + V + 2) +
           ATTENTION_TILE + 2 * attention_offsets(s) + ATTENTION_QUERIES + 2 * K + V;
}

static inline double attention_decay(const attention_head *h)
{
    return h->args->decay[h->at % h->s.H % (h->s.H / h->args->stride)];
}

/* Initialises the fields of the dk correction. The tables of the head must be computed; own: the
 * remaining scratch. */
static inline void attention_take_settled(attention_backward *b, real *own)
{
    const attention_args *a = b->h.args;
    const attention_sizes *s = &b->h.s;
    const double decay = attention_decay(&b->h);
    /* In bf16 the rows of dk are not corrected, because their rounding errors far exceed their
     * sum. */
    b->settles = !LRA_TYPE_bf16 && !a->laplace;
    b->decays = b->settles && decay != 0;
    b->less = own, b->apart = b->less + attention_offsets(s);
    b->dk_sum = b->apart + ATTENTION_QUERIES;
    for (int64_t o = 0; o < attention_offsets(s) && b->decays; o++) {
        double apart = fabs((double)(o - (s->Tk - 1)));
        b->less[o] = (real)(1.4426950408889634 * a->scale * expm1(-decay * apart));
    }
    for (int64_t d = 0; d < b->K; d++) b->dk_sum[d] = 0;
}

static inline void attention_take_back(attention_backward *b, real *own)
{
    const attention_sizes *s = &b->h.s;
    b->K = attention_padded(s->K), b->V = attention_padded(s->V);
    b->k = own, b->v = b->k + s->Tk * b->K;
    b->dk = b->v + s->Tk * b->V, b->dv = b->dk + s->Tk * b->K;
    b->queries = b->dv + s->Tk * b->V;
    b->dy_t = b->queries + ATTENTION_QUERIES * s->K;
    b->dq_t = b->dy_t + ATTENTION_QUERIES * s->V;
    b->q_rows = b->dq_t + ATTENTION_QUERIES * s->K;
    b->dy_rows = b->q_rows + ATTENTION_QUERIES * b->K;
    b->sum = b->dy_rows + ATTENTION_QUERIES * b->V;
    b->dot = b->sum + ATTENTION_QUERIES;
    b->other = b->dot + ATTENTION_QUERIES;
    b->by_offset = b->other + ATTENTION_TILE;
    /* clears dk and dv, which are adjacent */
    for (int64_t i = 0; i < s->Tk * (b->K + b->V); i++) b->dk[i] = 0;
    for (int64_t o = 0; o < attention_offsets(s) && s->R > 0; o++) b->by_offset[o] = 0;
    attention_take_settled(b, b->by_offset + attention_offsets(s));
}

/* Subtracts from each of n rows of x (`width` wide) the mean of these rows, and stores it in
 * `mean`. */
static inline void attention_center(real *x, int64_t n, int64_t width, real *mean)
{
    for (int64_t d = 0; d < width; d += LANES) {
        lanes sum = {0};
        for (int64_t t = 0; t < n; t++) sum += lanes_read(x + t * width + d);
        sum /= (real)n;
        lanes_write(mean + d, sum);
        for (int64_t t = 0; t < n; t++) {
            real *row = x + t * width + d;
            lanes_write(row, lanes_read(row) - sum);
        }
    }
}

/* Centres the n keys and values in b if the weights are a softmax: keys if there is no distance
 * decay, values if there is no dropout. */
static inline void attention_center_keys(attention_backward *b, int64_t n)
{
    if (b->h.args->laplace || n < 1) return;
    if (attention_decay(&b->h) == 0) {
        b->k_mean = b->dk_sum + b->K;
        attention_center(b->k, n, b->K, b->k_mean);
    }
    if (b->h.kept) return; /* the weights do not sum to 1 after dropout */
    b->v_mean = b->dk_sum + 2 * b->K;
    attention_center(b->v, n, b->V, b->v_mean);
}

/* sum_d x_d (y_d - less_d). Nullable: less, which is padded to full registers */
static inline real attention_dot(const elem *x, const elem *y, const real *less, int64_t n)
{
    lanes some = {0};
    int64_t d = 0;
    for (; d + LANES <= n; d += LANES) {
        lanes off = less ? lanes_read(less + d) : (lanes){0};
        some += lanes_load(x, LRA_ELEM, d, LANES) * (lanes_load(y, LRA_ELEM, d, LANES) - off);
    }
    real dot = lanes_sum(some);
    for (; d < n; d++) dot += e_load(x[d]) * (e_load(y[d]) - (less ? less[d] : 0));
    return dot;
}

/* Contribution of the mean key to all scores of a query, in base-2 units; q: (K), real. */
static inline real attention_mean_score(const attention_backward *b, const real *q)
{
    lanes some = {0};
    for (int64_t d = 0; d < b->K; d += LANES) some += lanes_read(q + d) * lanes_read(b->k_mean + d);
    return (real)b->h.args->scale * ATTENTION_LOG2E * lanes_sum(some);
}

/* Loads the row statistics of queries i0 .. i0 + n - 1. The remaining lanes get a huge log-sum, so
 * that their weights are 0. */
static inline void attention_load_rows(attention_backward *b, int64_t i0, int64_t n)
{
    const attention_sizes *s = &b->h.s;
    const int64_t step = s->H * s->V;
    for (int64_t l = 0; l < ATTENTION_QUERIES; l++) {
        const int64_t i = i0 + l;
        b->sum[l] = R(1e30), b->dot[l] = 0;
        if (l >= n) continue;
        b->sum[l] = attention_get(b->left, b->rows, i);
        if (b->k_mean) b->sum[l] -= attention_mean_score(b, b->q_rows + l * b->K);
        b->dot[l] = attention_dot(b->dy + i * step, b->y + i * step, b->v_mean, s->V);
    }
}

/* Loads queries i0 .. i0 + n - 1, their q and dy, as columns and as rows. */
static inline void attention_load_back(attention_backward *b, int64_t i0, int64_t n)
{
    const attention_sizes *s = &b->h.s;
    const elem *q = b->q + i0 * s->H * s->K, *dy = b->dy + i0 * s->H * s->V;
    attention_columns(q, n, s->H, s->K, b->queries);
    attention_columns(dy, n, s->H, s->V, b->dy_t);
    attention_gather(q, n, s->H, s->K, b->K, b->q_rows);
    attention_gather(dy, n, s->H, s->V, b->V, b->dy_rows);
    for (int64_t i = n * b->K; i < ATTENTION_QUERIES * b->K; i++) b->q_rows[i] = 0;
    for (int64_t i = n * b->V; i < ATTENTION_QUERIES * b->V; i++) b->dy_rows[i] = 0;
    attention_load_rows(b, i0, n);
    for (int64_t i = 0; i < s->K * ATTENTION_QUERIES; i++) b->dq_t[i] = 0;
    for (int64_t l = 0; l < ATTENTION_QUERIES; l++) b->apart[l] = 0;
}

/* Laplace attention: turns the scores into weights and the products dy v into g. */
static inline void attention_differentiate_laplace(const attention_backward *b,
                                                   const attention_place *p)
{
    real *s = b->h.tile, *g = b->other, slope;
    for (int64_t r = 0; r < p->keys; r++, s += ATTENTION_QUERIES, g += ATTENTION_QUERIES)
#pragma omp simd private(slope)
        ATTENTION_EACH_LANE(l, p)
        {
            s[l] = attention_laplace(s[l], &slope);
            g[l] *= slope;
        }
}

/* Turns the scores into p and the products dy v into g. */
static inline void attention_differentiate(const attention_backward *b, const attention_place *p)
{
    const real unit = b->h.unit, *sum = b->sum, *dot = b->dot;
    real *s = b->h.tile, *g = b->other;
    if (b->h.args->laplace) {
        attention_differentiate_laplace(b, p);
        return;
    }
    for (int64_t r = 0; r < p->keys; r++, s += ATTENTION_QUERIES, g += ATTENTION_QUERIES)
#pragma omp simd
        ATTENTION_EACH_LANE(l, p)
        {
            s[l] = attention_exp2(s[l] * unit - sum[l]);
            g[l] = s[l] * (g[l] - dot[l]);
        }
}

/* Adds (f_ij - f) g of a tile to apart, one sum per lane. */
static inline void attention_part(const attention_backward *b, const attention_place *p)
{
    const real *g = b->other;
    if (!b->decays) return;
    for (int64_t r = 0; r < p->keys; r++, g += ATTENTION_QUERIES) {
        const real *less = b->less + p->i0 - (p->j0 + r) + b->h.s.Tk - 1;
#pragma omp simd
        ATTENTION_EACH_LANE(l, p) b->apart[l] += g[l] * less[l];
    }
}

/* Adds g to the sums by offset, then multiplies g by the distance factor f of each pair. */
static inline void attention_back_distances(const attention_backward *b, const attention_place *p)
{
    real *g = b->other, share[ATTENTION_QUERIES];
    if (!b->h.distant) return;
    if (b->h.args->laplace) attention_shares(&b->h, p, share);
    for (int64_t r = 0; r < p->keys; r++, g += ATTENTION_QUERIES) {
        int64_t at = p->i0 - (p->j0 + r) + b->h.s.Tk - 1;
        const real *factor = b->h.factor + at;
        real *by_offset = b->by_offset + at;
        if (b->h.s.R > 0)
#pragma omp simd
            ATTENTION_EACH_LANE(l, p) by_offset[l] += g[l];
#pragma omp simd
        ATTENTION_EACH_LANE(l, p) g[l] *= factor[l];
        if (b->h.args->laplace)
#pragma omp simd
            ATTENTION_EACH_LANE(l, p) g[l] *= share[l];
    }
}

/* Computes p and g of a tile from its keys k and values v. */
static inline void attention_back_pairs(const attention_backward *b, const attention_place *p,
                                        const real *k, const real *v)
{
    const attention_sizes *s = &b->h.s;
    enum { Q = ATTENTION_QUERIES };
    ap_product(p->keys, p->lanes, s->K, (ap_left){k, b->K, 1}, b->queries, Q, false, b->h.tile, Q);
    ap_product(p->keys, p->lanes, s->V, (ap_left){v, b->V, 1}, b->dy_t, Q, false, b->other, Q);
    attention_distances(&b->h, p, b->h.tile);
    attention_hide(&b->h, p, -INFINITY, b->h.tile);
    if (b->h.kept) attention_draw(&b->h, p), attention_drop(&b->h, p, b->other);
    attention_differentiate(b, p);
    attention_part(b, p);
    attention_back_distances(b, p);
    if (b->h.kept) attention_drop(&b->h, p, b->h.tile);
}

static inline void attention_back_tile(const attention_backward *b, const attention_place *p)
{
    const attention_sizes *s = &b->h.s;
    const real *k = b->k + p->j0 * b->K, *v = b->v + p->j0 * b->V;
    real *dk = b->dk + p->j0 * b->K, *dv = b->dv + p->j0 * b->V;
    enum { Q = ATTENTION_QUERIES };
#if ATTENTION_WHOLE
    if (AW_STRIPS && attention_plain(&b->h) && !attention_whole(&b->h, p)) {
        const as_pairs pairs = {{k, b->K, s->K, b->queries},
                                {v, b->V, s->V, b->dy_t},
                                b->h.unit,
                                b->sum,
                                b->dot,
                                b->h.tile,
                                b->other};
        as_view view;
        as_visible(&b->h, p, &view);
        as_differentiate(&pairs, &view, p);
        as_add_rows(&view, p, b->V, b->h.tile, b->dy_rows, dv);
        as_add_rows(&view, p, b->K, b->other, b->q_rows, dk);
        as_add_columns(&view, p, s->K, k, b->K, b->other, b->dq_t);
        return;
    }
#endif
    attention_back_pairs(b, p, k, v);
    ap_add_product(Q, p->keys, b->V, p->lanes, b->h.tile, b->dy_rows, b->V, dv, b->V);
    ap_add_product(Q, p->keys, b->K, p->lanes, b->other, b->q_rows, b->K, dk, b->K);
    ap_product(s->K, p->lanes, p->keys, (ap_left){k, 1, b->K}, b->other, Q, true, b->dq_t, Q);
}

/* Writes n rows of dq from query i0 on; dq: the rows of this head. */
static inline void attention_store_dq(const attention_backward *b, int64_t i0, int64_t n, elem *dq)
{
    const attention_sizes *s = &b->h.s;
    real unscaled[ATTENTION_QUERIES];
    for (int l = 0; l < ATTENTION_QUERIES; l++) unscaled[l] = attention_unscaled(&b->h);
    attention_rows(b->dq_t, n, s->H, s->K, unscaled, attention_streams(b->rows, s->K, dq),
                   dq + i0 * s->H * s->K);
}

/* Computes dq of queries i0 .. i0 + n - 1, and adds their contributions to dk and dv. */
static void attention_back(attention_backward *b, int64_t i0, int64_t n, elem *dq)
{
    attention_place p = {.i0 = i0, .queries = n, .lanes = attention_lanes(n)};
    attention_load_back(b, i0, n);
    attention_walk w = attention_walk_of(&b->h, &p);
    const attention_sizes *s = &b->h.s;
    const int64_t K = s->H * s->K, V = s->H * s->V, n_q = b->h.mask.n_q;
    const int64_t rows = attention_fetched(&w, &p);
    attention_ahead ahead[] = {
        {b->q, K, s->K, i0 + n, n_q}, {b->dy, V, s->V, i0 + n, n_q}, {b->y, V, s->V, i0 + n, n_q}};
    while (attention_next(&w, &p)) {
        for (int i = 0; i < 3; i++) attention_fetch(&ahead[i], rows);
        for (int i = 0; i < 2; i++) attention_fetch(&b->next[i], rows);
        attention_back_tile(b, &p);
    }
    for (int64_t l = 0; l < n && b->decays; l++)
        for (int64_t d = 0; d < b->K; d++) b->dk_sum[d] += b->apart[l] * b->q_rows[l * b->K + d];
    attention_store_dq(b, i0, n, dq);
}

/* Writes n rows of x times `factor`, followed by T - n rows of zeros. */
static inline void attention_scatter(const real *x, int64_t n, int64_t T, int64_t H, int64_t width,
                                     int64_t pad, real factor, bool stream, elem *to)
{
    for (int64_t t = 0; t < T; t++, x += pad, to += H * width)
        for (int64_t d = 0; d < width; d += LANES)
            attention_store(stream, to, d, width - d < LANES ? width - d : LANES,
                            t < n ? lanes_read(x + d) * factor : (lanes){0});
}

enum { SETTLED = 16 }; /* channels processed together */

/* Adds v to a sum, and the rounding error to `rest` (Knuth's two-sum). */
static inline void attention_add(real v, real *sum, real *rest)
{
    real both = *sum + v, part = both - *sum;
    *rest += (*sum - (both - part)) + (v - part);
    *sum = both;
}

/* Multiplies the rows of dk by `factor` and subtracts share times the magnitude of each element,
 * for channels from d0 on. Outputs: excess of the rows' sum over the required sum, and sum of
 * magnitudes (size). */
static inline void attention_resize(const attention_backward *b, int64_t n, int64_t d0, real factor,
                                    const real *share, real *excess, real *size)
{
    real sum[SETTLED], rest[SETTLED];
    for (int64_t d = 0; d < SETTLED; d++) {
        sum[d] = -b->dk_sum[d0 + d] * attention_unscaled(&b->h);
        rest[d] = size[d] = 0;
    }
    for (int64_t t = 0; t < n; t++) {
        real *row = b->dk + t * b->K + d0;
#pragma omp simd
        for (int64_t d = 0; d < SETTLED; d++) {
            real v = row[d] * factor, a = v < 0 ? -v : v;
            row[d] = v -= share[d] * a;
            size[d] += a;
            attention_add(v, &sum[d], &rest[d]);
        }
    }
    for (int64_t d = 0; d < SETTLED; d++) excess[d] = sum[d] + rest[d];
}

/* Scales n rows of dk and corrects their sum. The excess of the sum is subtracted from the rows in
 * proportion to their magnitudes, so that small rows stay exact. The remaining rounding error is
 * subtracted from the smallest element that is at least 1024 times as large. */
static inline void attention_settle(const attention_backward *b, int64_t n)
{
    for (int64_t d0 = 0; d0 < b->K; d0 += SETTLED) {
        real share[SETTLED] = {0}, excess[SETTLED], size[SETTLED], least[SETTLED] = {0};
        attention_resize(b, n, d0, attention_unscaled(&b->h), share, excess, size);
        for (int64_t d = 0; d < SETTLED; d++) share[d] = size[d] > 0 ? excess[d] / size[d] : 0;
        attention_resize(b, n, d0, 1, share, excess, size);
        for (int64_t d = 0; d < SETTLED; d++) {
            share[d] = 1024 * (excess[d] < 0 ? -excess[d] : excess[d]);
            size[d] = INFINITY;
        }
        for (int64_t t = 0; t < n; t++) {
            const real *row = b->dk + t * b->K + d0, at = (real)t;
#pragma omp simd
            for (int64_t d = 0; d < SETTLED; d++) {
                real a = row[d] < 0 ? -row[d] : row[d], v = a > share[d] ? a : INFINITY;
                least[d] = v < size[d] ? at : least[d];
                size[d] = v < size[d] ? v : size[d];
            }
        }
        for (int64_t d = 0; d < SETTLED; d++)
            if (size[d] < INFINITY) b->dk[(int64_t)least[d] * b->K + d0 + d] -= excess[d];
    }
}

/* Converts the sums of g by offset to gradients of the head's learned bias; to: (R). */
static inline void attention_entries(const attention_backward *b, real *to)
{
    const attention_sizes *s = &b->h.s;
    for (int64_t r = 0; r < s->R; r++) to[r] = 0;
    for (int64_t o = 0; o < s->Tq + s->Tk - 1 && s->R > 0; o++)
        to[attention_entry(o - (s->Tk - 1), 0, s->R)] += b->by_offset[o];
}

#endif
