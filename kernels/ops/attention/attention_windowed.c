/* Attention of each query to the tokens at most `limit` positions away (one limit per head), as if
 * the example ended at both ends of this window. Implements the cases that the attention op does
 * not:
 *   averaged weights    scores of the window, softmax, average over columns; the part of an average
 *                       outside of the window is lost, as it is before the first token (renorm,
 *                       remask: a row is divided by the remaining sum)
 *   products (no softmax)   y_i = sum over the window of q_i . k_j v_j
 * A limit of at least T-1 has no effect: the result is then a copy of source 0, the attention
 * without a limit, bit for bit. Below T-1 keys are processed one by one, in O(T limit). The op is
 * an intervention on trained models and has no gradient. */
#include <omp.h>
#include <stdio.h>

#include "kernels/ops/attention/attention_windowed.h"

typedef struct {
    const attention_windowed_args *a;
    attention_sizes s;
    int64_t n, limit;    /* n: tokens of the example */
    const real *k, *v;   /* rows of this head: (n,K), (n,V) */
    real *q, *score, *y; /* buffers of one query: (K), (n), (V) */
} near_head;

/* Copies n rows of one head to contiguous rows of reals. The rows are H width elements apart in
 * x. */
static inline void near_gather(const elem *x, int64_t n, int64_t H, int64_t width, real *to)
{
    for (int64_t t = 0; t < n; t++)
        for (int64_t d = 0; d < width; d++) to[t * width + d] = e_load(x[t * H * width + d]);
}

static inline real near_dot(const real *x, const real *y, int64_t n)
{
    real sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < n; i++) sum += x[i] * y[i];
    return sum;
}

/* Computes the output of query i of a head and stores it in h->y. */
static inline void near_row(const near_head *h, int64_t head, int64_t i)
{
    const attention_windowed_args *a = h->a;
    attention_range window = attention_windowed_window(a, i, h->n, h->limit);
    attention_range keys = attention_windowed_keys(a, window, i);
    int64_t K = h->s.K, V = h->s.V;
    real most = -INFINITY, sum = 0, kept = 0;
    for (int64_t d = 0; d < V; d++) h->y[d] = 0;
    for (int64_t k = keys.from; k < keys.to; k++) {
        h->score[k] = attention_windowed_score(a, head, near_dot(h->q, h->k + k * K, K), i, k);
        most = h->score[k] > most ? h->score[k] : most;
    }
    for (int64_t k = keys.from; k < keys.to; k++) {
        attention_range c = attention_windowed_columns(a, window, i, k);
        real w = a->product ? h->score[k] : r_exp(h->score[k] - most);
        sum += w, kept += w * (real)(c.to - c.from);
        for (int64_t at = c.from; at < c.to; at++)
#pragma omp simd
            for (int64_t d = 0; d < V; d++) h->y[d] += w * h->v[at * V + d];
    }
    real over = a->product ? 1 : a->a.renorm || a->remask ? kept : sum * (real)a->a.smooth;
    for (int64_t d = 0; d < V; d++) h->y[d] = over > 0 || a->product ? h->y[d] / over : 0;
}

/* Copies the rows of one head from source 0, which is the attention without a limit. first: index
 * of the head's first row. */
static inline void near_whole(const lra_call *c, const attention_sizes *s, int64_t first)
{
    for (int64_t i = 0; i < s->Tq && c->out != c->in[0]; i++) {
        int64_t at = (first + i * s->H) * s->V;
        memcpy((elem *)c->out + at, (const elem *)c->in[0] + at, (size_t)s->V * sizeof(elem));
    }
}

static inline int64_t near_scratch(const attention_sizes *s)
{
    return s->Tk * (s->K + s->V + 1) + s->K + s->V;
}

/* Sources: y without a limit, q, k, v, limit, [length]. Scratch: one segment per thread. */
LRA_BODY(attention_windowed)
{
    const attention_windowed_args *a = c->y->args;
    const int64_t *d = c->y->shape.d, K = lra_width(c->y->src[1]);
    const attention_sizes s = {.B = d[0], .Tq = d[1], .Tk = d[1], .H = d[2], .K = K, .V = d[3]};
#pragma omp parallel for num_threads(c->n_threads) schedule(static)
    for (int64_t at = 0; at < s.B * s.H; at++) {
        int64_t b = at / s.H, head = at % s.H, first = b * s.Tq * s.H + head;
        real *own = (real *)c->scratch + omp_get_thread_num() * near_scratch(&s);
        real *k = own, *v = k + s.Tk * s.K, *score = v + s.Tk * s.V, *q = score + s.Tk;
        int64_t limit = attention_windowed_limit(a, head, c->in[4]);
        near_head h = {a, s, s.Tq, limit, k, v, q, score, q + s.K};
        if (limit >= s.Tq - 1) {
            near_whole(c, &s, first);
            continue;
        }
        if (a->has_length) h.n = ((const int32_t *)c->in[5])[b];
        near_gather((const elem *)c->in[2] + first * s.K, h.n, s.H, s.K, k);
        near_gather((const elem *)c->in[3] + first * s.V, h.n, s.H, s.V, v);
        for (int64_t i = 0; i < s.Tq; i++) {
            int64_t row = first + i * s.H;
            elem *y = (elem *)c->out + row * s.V;
            for (int64_t e = 0; e < s.K; e++)
                q[e] = e_load(((const elem *)c->in[1])[row * s.K + e]);
            if (i < h.n) near_row(&h, head, i);
            for (int64_t e = 0; e < s.V; e++) y[e] = i < h.n ? e_store(h.y[e]) : 0;
        }
    }
}

#if LRA_RECORD
LRA_DECLARE(attention_windowed)

static int shape(lra_tensor *y, lra_err *e)
{
    const attention_windowed_args *a = y->args;
    const lra_shape of_q = y->src[1]->shape, of_v = y->src[3]->shape;
    if (of_q.n != 4 || of_v.n != 4) return lra_fail(e, "q and v must be (B,T,H,..)");
    lra_shape out = of_q;
    out.d[3] = of_v.d[3];
    if (of_q.d[2] > LRA_MAX_HEADS) return lra_fail(e, "more than %d heads", LRA_MAX_HEADS);
    if (lra_expect_shape(y->src[0], out, "y without a distance limit", e) != 0 ||
        lra_expect_shape(y->src[2], of_q, "k", e) != 0 ||
        lra_expect_shape(y->src[3], out, "v", e) != 0)
        return LRA_FAILED;
    lra_shape limits = LRA_SHAPE(a->a.limits > 1 ? of_q.d[2] : 1);
    if (lra_expect_index(y->src[4], "the distance limit", e) != 0 ||
        lra_expect_shape(y->src[4], limits, "the distance limit", e) != 0)
        return LRA_FAILED;
    for (int i = 0; i < 4; i++)
        if (y->src[i]->type != lra_elem(y->graph)) return lra_fail(e, "source %d is not elem", i);
    y->shape = out;
    y->type = lra_elem(y->graph);
    return lra_expect_length(a->has_length ? y->src[5] : NULL, of_q.d[0], e);
}

/* Counts half of all pairs, because the limit is known only when the graph runs. */
static double flops(const lra_tensor *y)
{
    const int64_t *d = y->shape.d, K = lra_width(y->src[1]);
    const attention_windowed_args *a = y->args;
    return (double)(d[0] * d[2] * d[1]) * (double)d[1] * (double)(K + a->a.smooth * d[3]);
}

static int64_t scratch(const lra_tensor *y, int n_threads)
{
    const int64_t *d = y->shape.d;
    const attention_sizes s = {.Tk = d[1], .K = lra_width(y->src[1]), .V = d[3]};
    return n_threads * near_scratch(&s) * (int64_t)lra_type_size(lra_real(y->graph));
}

/* Accumulators of the output rows, which do not fit in registers: one float32 number per element of
 * y. */
static int64_t cuda_scratch(const lra_tensor *y)
{
    return lra_elements(y) * (int64_t)sizeof(float);
}

lra_tensor *attention_pairs_windowed(lra_tensor *whole, lra_tensor *q, lra_tensor *k, lra_tensor *v,
                                     lra_tensor *limit, lra_tensor *length,
                                     const attention_windowed_args *a)
{
    attention_windowed_args own = *a;
    lra_tensor *src[] = {whole, q, k, v, limit, length};
    own.has_length = length != NULL, own.a.limits = lra_elements(limit);
    return lra_node(&lra_op_attention_windowed, q->graph, 5 + own.has_length, src, &own,
                    sizeof own);
}

lra_tensor *lra_products_windowed(lra_tensor *whole, lra_tensor *q, lra_tensor *k, lra_tensor *v,
                                  lra_tensor *limit)
{
    const attention_windowed_args a = {.a = {.scale = 1, .smooth = 1, .stride = 1},
                                       .product = true};
    return attention_pairs_windowed(whole, q, k, v, limit, NULL, &a);
}

/* Test samples: limits below and above the length; every variant of averages, chunks and
 * products. */
static lra_tensor *sample(lra_graph *g, int i)
{
    static const struct {
        int64_t T, chunk;
        bool causal, past, renorm, remask, product, padded;
        int smooth, limits;
    } s[] = {{9, 0, true, true, false, false, false, true, 3, 1},
             {7, 0, true, true, false, false, false, false, 2, 2},
             {11, 4, true, true, false, false, false, true, 3, 2},
             {10, 0, true, false, false, false, false, true, 5, 1},
             {10, 5, true, false, true, false, false, false, 3, 1},
             {9, 0, true, false, false, true, false, false, 3, 2},
             {12, 0, false, false, true, false, false, true, 3, 1},
             {13, 0, false, false, false, false, true, false, 1, 2},
             {1, 0, true, true, false, false, false, false, 3, 1}};
    if (i >= (int)(sizeof s / sizeof *s)) return NULL;
    attention_windowed_args a = {.product = s[i].product, .remask = s[i].remask};
    a.a = (attention_args){.causal = s[i].causal,
                           .scale = 0.7,
                           .chunk = s[i].chunk,
                           .stride = 1,
                           .smooth = s[i].smooth,
                           .smooth_past = s[i].past,
                           .renorm = s[i].renorm,
                           .decay = {0, 0.3},
                           .slope = {0.25, 0}};
    lra_shape K = LRA_SHAPE(2, s[i].T, 2, 4), V = LRA_SHAPE(2, s[i].T, 2, 3);
    char fill[32];
    snprintf(fill, sizeof fill, "length:%d", (int)s[i].T);
    lra_tensor *length = s[i].padded ? lra_sample_input(g, "length", fill, LRA_SHAPE(2)) : NULL;
    return attention_pairs_windowed(
        lra_sample_input(g, "whole", "normal", V), lra_sample_input(g, "q", "normal", K),
        lra_sample_input(g, "k", "normal", K), lra_sample_input(g, "v", "normal", V),
        lra_sample_input(g, "limit", "index:9", LRA_SHAPE(s[i].limits)), length, &a);
}

const lra_op lra_op_attention_windowed = {.name = "attention_windowed",
                                          .flags = LRA_INPLACE | LRA_NOGRAD,
                                          .shape = shape,
                                          .flops = flops,
                                          .scratch = scratch,
                                          .cuda_scratch = cuda_scratch,
                                          .cpu = LRA_BODIES(attention_windowed),
                                          .sample = sample};
#endif
