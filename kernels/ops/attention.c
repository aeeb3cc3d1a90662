/* Softmax attention, head by head, without a (T,T) array:
 *   y_i = sum_j a_ij v_j,  a_i = softmax over the keys j that i may see of  f(|i-j|) q_i k_j - m |i-j|
 *   f(d) = scale exp(-alpha d): 1/sqrt(K), with the exponential decay of LaS (Viewing Transformers Through the Lens
 *   of Long Convolution Layers, eq. 4);  m: the slope of ALiBi
 * Rotary positions turn q and k before (rotary.c); averaging the rows of a over P columns, the smoothing of LaS, is
 * averaging v over P positions instead, which is what is done (smooth.c).
 * A maximum and a sum per row are carried from tile to tile (Milakov & Gimelshein 2018, Dao et al. 2022). */
#include <omp.h>

#include "kernels/ops/attention_fn.h"

/* q, k, v, y of a head, its tables, its tile */
static inline int64_t thread_scratch(const lra_tensor *q)
{
    int64_t T = q->shape.d[1], K = q->shape.d[3];
    return 4 * T * K + 2 * T + ATTENTION_ROWS * ATTENTION_KEYS;
}

/* Rows [i0, i1) of y, zero so far. */
static void attend(const attention_head *h, int64_t i0, int64_t i1, const real *v, real *y)
{
    attention_sum sum[ATTENTION_ROWS];
    attention_keys span = attention_span(h, i0, i1);
    for (int64_t i = i0; i < i1; i++) sum[i - i0] = (attention_sum){-INFINITY, 0};
    for (int64_t j0 = span.from; j0 < span.to; j0 += ATTENTION_KEYS) {
        int64_t j1 = j0 + ATTENTION_KEYS < span.to ? j0 + ATTENTION_KEYS : span.to;
        attention_products(h, i0, i1, j0, j1);
        for (int64_t i = i0; i < i1; i++) {
            real *s = h->tile + (i - i0) * ATTENTION_KEYS, *row = y + i * h->K;
            attention_keys part = attention_part(h, i, j0, j1);
            if (part.from < part.to) {
                attention_scores(h, i, j0, part, s);
                real shrink = attention_exp(part, s, &sum[i - i0]);
                for (int64_t d = 0; d < h->K; d++) row[d] *= shrink;
            }
            attention_clear(part, j1 - j0, s);
        }
        r_gemm(false, false, i1 - i0, h->K, j1 - j0, h->tile, ATTENTION_KEYS, v + j0 * h->K, h->K,
               true, y + i0 * h->K, h->K);
    }
    for (int64_t i = i0; i < i1; i++)
        for (int64_t d = 0; d < h->K; d++) y[i * h->K + d] /= sum[i - i0].sum;
}

/* sources: q, k, v, [length]; scratch: of every thread */
LRA_BODY(attention)
{
    const attention_args *a = c->y->args;
    const lra_shape *s = &c->y->shape;
    int64_t B = s->d[0], T = s->d[1], H = s->d[2], K = s->d[3];
    const int32_t *length = a->has_length ? c->in[3] : NULL;
#pragma omp parallel for num_threads(c->n_threads) schedule(static)
    for (int64_t at = 0; at < B * H; at++) {
        int64_t n = length ? length[at / H] : T, from = at / H * T * H * K + at % H * K;
        real *own = (real *)c->scratch + omp_get_thread_num() * thread_scratch(c->y);
        real *q = own, *k = q + T * K, *v = k + T * K, *y = v + T * K, *factor = y + T * K;
        attention_head h = {a, T, K, n, q, k, factor, factor + T, factor + 2 * T};
        attention_gather((const elem *)c->in[0] + from, n, H, K, q);
        attention_gather((const elem *)c->in[1] + from, n, H, K, k);
        attention_gather((const elem *)c->in[2] + from, n, H, K, v);
        attention_tables(&h, (int)(at % H));
        for (int64_t i = 0; i < n * K; i++) y[i] = 0;
        for (int64_t i = 0; i < n; i += ATTENTION_ROWS)
            attend(&h, i, i + ATTENTION_ROWS < n ? i + ATTENTION_ROWS : n, v, y);
        attention_scatter(y, n, T, H, K, (elem *)c->out + from);
    }
}

#if LRA_RECORD
LRA_DECLARE(attention)

int attention_check(const lra_tensor *y, int n_like_q, lra_err *e)
{
    const attention_args *a = y->args;
    const lra_tensor *q = y->src[0];
    if (q->shape.n != 4) return lra_fail(e, "q has rank %d, expected (B,T,H,K)", q->shape.n);
    if (q->shape.d[2] > LRA_MAX_HEADS)
        return lra_fail(e, "%lld heads, at most %d", (long long)q->shape.d[2], LRA_MAX_HEADS);
    for (int i = 0; i < n_like_q; i++) {
        const lra_tensor *x = y->src[i];
        if (x->type != lra_elem(y->graph)) return lra_fail(e, "q, k and v must be elem");
        if (lra_expect_shape(x, q->shape, "a source", e) != 0) return LRA_FAILED;
    }
    if (a->chunk < 0 || a->window < 0) return lra_fail(e, "chunk and window must not be negative");
    return lra_expect_length(a->has_length ? y->src[n_like_q] : NULL, q->shape.d[0], e);
}

double attention_pairs(const attention_args *a, int64_t T)
{
    double pairs = 0;
    for (int64_t i = 0; i < T; i++) {
        attention_keys k = attention_keys_of(a, i, T);
        pairs += (double)(k.to - k.from);
    }
    return pairs;
}

static int shape(lra_tensor *y, lra_err *e)
{
    if (attention_check(y, 3, e) != 0) return LRA_FAILED;
    y->shape = y->src[0]->shape;
    y->type = y->src[0]->type;
    return 0;
}

/* Two products of 2 K operations for every pair. */
static double flops(const lra_tensor *y)
{
    const lra_shape *s = &y->shape;
    return 4.0 * (double)(s->d[0] * s->d[2] * s->d[3]) * attention_pairs(y->args, s->d[1]);
}

static int64_t scratch(const lra_tensor *y, int n_threads)
{
    return n_threads * thread_scratch(y) * (int64_t)lra_type_size(lra_real(y->graph));
}

static void grad(lra_tensor *y, lra_tensor *dy, lra_tensor **dx)
{
    lra_tensor *all = attention_grad_node(y, dy);
    for (int i = 0; i < 3; i++) dx[i] = lra_reshape(lra_slice(all, 0, i, 1), y->shape);
}

static attention_args args_of(const lra_attention_spec *s, int64_t H, int64_t K, bool has_length)
{
    attention_args a = {s->causal, has_length, s->scale > 0 ? s->scale : 1 / sqrt((double)K),
                        s->chunk,  s->window,  s->smooth > 1 ? s->smooth : 1,
                        {0},       {0}};
    for (int64_t h = 0; h < H && h < LRA_MAX_HEADS; h++) {
        a.decay[h] = s->decay ? s->decay[h] : 0;
        a.slope[h] = s->slope ? s->slope[h] : 0;
    }
    return a;
}

/* q and k turned, v averaged: what the core reads. */
static void prepare(const lra_attention_spec *s, lra_tensor *length, lra_tensor *qkv[3])
{
    for (int i = 0; i < 2 && s->rotary_base > 0; i++)
        qkv[i] = lra_rotary(qkv[i], s->rotary_base, s->rotary_half);
    if (s->smooth > 1 && qkv[2])
        qkv[2] = lra_smooth(qkv[2], length, s->smooth, s->causal, s->chunk);
}

lra_tensor *lra_attention(lra_tensor *q, lra_tensor *k, lra_tensor *v, lra_tensor *length,
                          const lra_attention_spec *s)
{
    lra_tensor *src[4] = {q, k, v, length};
    int64_t H = q->shape.n == 4 ? q->shape.d[2] : 1, K = q->shape.n == 4 ? q->shape.d[3] : 1;
    attention_args a = args_of(s, H, K, length != NULL);
    prepare(s, length, src);
    return lra_node(&lra_op_attention, q->graph, length ? 4 : 3, src, &a, sizeof a);
}

lra_tensor *lra_attention_profile(lra_tensor *q, lra_tensor *k, lra_tensor *length,
                                  const lra_attention_spec *s)
{
    lra_tensor *qkv[3] = {q, k, NULL};
    int64_t H = q->shape.n == 4 ? q->shape.d[2] : 1, K = q->shape.n == 4 ? q->shape.d[3] : 1;
    attention_args a = args_of(s, H, K, length != NULL);
    prepare(s, length, qkv);
    lra_tensor *src[3] = {qkv[0], qkv[1], length};
    return lra_node(&lra_op_attention_profile, q->graph, length ? 3 : 2, src, &a, sizeof a);
}

lra_tensor *lra_attention_profile_of(const lra_tensor *y)
{
    if (y->op != &lra_op_attention) LRA_BUG("the profile of a node that is no attention");
    const attention_args *a = y->args;
    lra_tensor *src[3] = {y->src[0], y->src[1], a->has_length ? y->src[3] : NULL};
    return lra_node(&lra_op_attention_profile, y->graph, a->has_length ? 3 : 2, src, a, sizeof *a);
}

/* Every field, alone and together; more keys than a tile holds. */
static lra_tensor *sample(lra_graph *g, int i)
{
    static const double decay[] = {0, 0.3, 0.05}, slope[] = {0.5, 0.25, 0.125};
    const lra_attention_spec s[] = {
        {.scale = 0},
        {.causal = true},
        {.causal = true, .rotary_base = 100, .rotary_half = true},
        {.slope = slope, .window = 3},
        {.causal = true, .decay = decay, .smooth = 3, .chunk = 4},
        {.decay = decay, .smooth = 5, .scale = 0.7},
        {.causal = true, .slope = slope},
    };
    if (i > 6) return NULL;
    bool padded = i % 2 == 1 || i == 4;
    lra_shape shape = i == 6 ? LRA_SHAPE(1, 300, 2, 2) : LRA_SHAPE(2, 11, 3, 4);
    lra_tensor *q = lra_sample_input(g, "q", "normal", shape);
    lra_tensor *k = lra_sample_input(g, "k", "normal", shape);
    lra_tensor *v = lra_sample_input(g, "v", "normal", shape);
    lra_tensor *length = padded ? lra_sample_input(g, "length", "length:11", LRA_SHAPE(2)) : NULL;
    return lra_attention(q, k, v, length, &s[i]);
}

const lra_op lra_op_attention = {.name = "attention",
                                 .shape = shape,
                                 .grad = grad,
                                 .flops = flops,
                                 .scratch = scratch,
                                 .cuda_scratch = lra_no_scratch,
                                 .cpu = LRA_BODIES(attention),
                                 .sample = sample};
#endif
