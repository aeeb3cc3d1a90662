/* Gradients of attention, head by head.  With p the softmax of the scores s_ij = f(|i-j|) q_i k_j - m |i-j|:
 *   dv_j = sum_i p_ij dy_i,   ds_ij = p_ij (dy_i v_j - dy_i y_i),
 *   dq_i = sum_j f ds_ij k_j,   dk_j = sum_i f ds_ij q_i
 * Scores are computed again, once for the sum of each row and once for the gradients. */
#include <omp.h>

#include "kernels/ops/attention_fn.h"

/* A head with what its gradients need; all (T,K) but dot, which is (T). */
typedef struct {
    attention_head h;
    const real *v, *dy, *dot;   /* dot[i] = dy_i y_i */
    real *dq, *dk, *dv, *other; /* other: a second tile */
} attention_back;

enum { ARRAYS = 7 }; /* (T,K): q, k, v, dy, dq, dk, dv */

static inline int64_t thread_scratch(const lra_tensor *q)
{
    int64_t T = q->shape.d[1], K = q->shape.d[3];
    return ARRAYS * T * K + 3 * T + 2 * ATTENTION_ROWS * ATTENTION_KEYS;
}

/* Maxima and sums of rows [i0, i1). */
static void sum_rows(const attention_head *h, int64_t i0, int64_t i1, attention_keys span,
                     attention_sum *sum)
{
    for (int64_t i = i0; i < i1; i++) sum[i - i0] = (attention_sum){-INFINITY, 0};
    for (int64_t j0 = span.from; j0 < span.to; j0 += ATTENTION_KEYS) {
        int64_t j1 = j0 + ATTENTION_KEYS < span.to ? j0 + ATTENTION_KEYS : span.to;
        attention_products(h, i0, i1, j0, j1);
        for (int64_t i = i0; i < i1; i++) {
            real *s = h->tile + (i - i0) * ATTENTION_KEYS;
            attention_keys part = attention_part(h, i, j0, j1);
            attention_scores(h, i, j0, part, s);
            if (part.from < part.to) attention_exp(part, s, &sum[i - i0]);
        }
    }
}

/* The tile of scores becomes p, the tile of dy v becomes f ds. */
static void differentiate(const attention_back *b, int64_t i, int64_t j0, int64_t j1,
                          attention_sum sum, real *p, real *ds)
{
    const attention_head *h = &b->h;
    attention_keys part = attention_part(h, i, j0, j1);
    real one = 1 / sum.sum;
    attention_scores(h, i, j0, part, p);
    for (int64_t j = part.from; j < part.to; j++) {
        int64_t d = i > j0 + j ? i - j0 - j : j0 + j - i;
        p[j] = r_exp(p[j] - sum.max) * one;
        ds[j] = p[j] * (ds[j] - b->dot[i]) * h->factor[d];
    }
    attention_clear(part, j1 - j0, p);
    attention_clear(part, j1 - j0, ds);
}

/* What rows [i0, i1) give to all gradients. */
static void back(const attention_back *b, int64_t i0, int64_t i1)
{
    const attention_head *h = &b->h;
    int64_t K = h->K, n = i1 - i0;
    attention_sum sum[ATTENTION_ROWS];
    attention_keys span = attention_span(h, i0, i1);
    sum_rows(h, i0, i1, span, sum);
    for (int64_t j0 = span.from; j0 < span.to; j0 += ATTENTION_KEYS) {
        int64_t j1 = j0 + ATTENTION_KEYS < span.to ? j0 + ATTENTION_KEYS : span.to, m = j1 - j0;
        attention_products(h, i0, i1, j0, j1);
        r_gemm(false, true, n, m, K, b->dy + i0 * K, K, b->v + j0 * K, K, false, b->other,
               ATTENTION_KEYS);
        for (int64_t i = i0; i < i1; i++)
            differentiate(b, i, j0, j1, sum[i - i0], h->tile + (i - i0) * ATTENTION_KEYS,
                          b->other + (i - i0) * ATTENTION_KEYS);
        r_gemm(true, false, m, K, n, h->tile, ATTENTION_KEYS, b->dy + i0 * K, K, true,
               b->dv + j0 * K, K);
        r_gemm(true, false, m, K, n, b->other, ATTENTION_KEYS, h->q + i0 * K, K, true,
               b->dk + j0 * K, K);
        r_gemm(false, false, n, K, m, b->other, ATTENTION_KEYS, h->k + j0 * K, K, true,
               b->dq + i0 * K, K);
    }
}

/* Sets up one head in the scratch of a thread; in: dy, q, k, v, y from this head on. */
static attention_back open_head(const attention_args *a, const elem *const in[5], int64_t T,
                                int64_t H, int64_t K, int64_t n, real *own)
{
    real *array[ARRAYS], *dot = own + ARRAYS * T * K;
    for (int i = 0; i < ARRAYS; i++) array[i] = own + i * T * K;
    for (int i = 0; i < 4; i++) attention_gather(in[i], n, H, K, array[i]);
    for (int64_t i = 0; i < 3 * T * K; i++) array[4][i] = 0;
    for (int64_t t = 0; t < n; t++) {
        dot[t] = 0;
        for (int64_t d = 0; d < K; d++)
            dot[t] += array[0][t * K + d] * e_load(in[4][t * H * K + d]);
    }
    real *factor = dot + T, *tile = dot + 3 * T;
    return (attention_back){.h = {a, T, K, n, array[1], array[2], factor, factor + T, tile},
                            .v = array[3],
                            .dy = array[0],
                            .dot = dot,
                            .dq = array[4],
                            .dk = array[5],
                            .dv = array[6],
                            .other = tile + ATTENTION_ROWS * ATTENTION_KEYS};
}

/* sources: dy, q, k, v, y, [length]; scratch: of every thread */
LRA_BODY(attention_grad)
{
    const attention_args *a = c->y->args;
    const lra_tensor *q = c->y->src[1];
    int64_t B = q->shape.d[0], T = q->shape.d[1], H = q->shape.d[2], K = q->shape.d[3];
    const int32_t *length = a->has_length ? c->in[5] : NULL;
#pragma omp parallel for num_threads(c->n_threads) schedule(static)
    for (int64_t at = 0; at < B * H; at++) {
        int64_t n = length ? length[at / H] : T, from = at / H * T * H * K + at % H * K;
        const elem *in[5];
        for (int i = 0; i < 5; i++) in[i] = (const elem *)c->in[i] + from;
        real *own = (real *)c->scratch + omp_get_thread_num() * thread_scratch(q);
        attention_back b = open_head(a, in, T, H, K, n, own);
        attention_tables(&b.h, (int)(at % H));
        for (int64_t i = 0; i < n; i += ATTENTION_ROWS)
            back(&b, i, i + ATTENTION_ROWS < n ? i + ATTENTION_ROWS : n);
        const real *gradient[] = {b.dq, b.dk, b.dv};
        for (int i = 0; i < 3; i++)
            attention_scatter(gradient[i], n, T, H, K, (elem *)c->out + i * B * T * H * K + from);
    }
}

#if LRA_RECORD
LRA_DECLARE(attention_grad)

lra_tensor *attention_grad_node(lra_tensor *y, lra_tensor *dy)
{
    const attention_args *a = y->args;
    lra_tensor *src[] = {dy, y->src[0], y->src[1], y->src[2], y, a->has_length ? y->src[3] : NULL};
    return lra_node(&lra_op_attention_grad, y->graph, a->has_length ? 6 : 5, src, a, sizeof *a);
}

static int shape(lra_tensor *y, lra_err *e)
{
    if (attention_check(y, 5, e) != 0) return LRA_FAILED;
    const lra_shape *s = &y->src[0]->shape;
    y->shape = LRA_SHAPE(3, s->d[0], s->d[1], s->d[2], s->d[3]);
    y->type = y->src[0]->type;
    return 0;
}

/* Six products: scores twice, dy v, and the three gradients. */
static double flops(const lra_tensor *y)
{
    const lra_shape *s = &y->src[0]->shape;
    return 12.0 * (double)(s->d[0] * s->d[2] * s->d[3]) * attention_pairs(y->args, s->d[1]);
}

static int64_t scratch(const lra_tensor *y, int n_threads)
{
    return n_threads * thread_scratch(y->src[0]) * (int64_t)lra_type_size(lra_real(y->graph));
}

static int64_t cuda_scratch(const lra_tensor *y)
{
    return lra_rows(y->src[0]) * ATTENTION_LEFT * (int64_t)sizeof(float);
}

static lra_tensor *sample(lra_graph *g, int i)
{
    const lra_attention_spec s = {.causal = i == 1};
    const char *name[] = {"q", "k", "v", "dy"};
    lra_tensor *x[4];
    if (i > 1) return NULL;
    for (int k = 0; k < 4; k++)
        x[k] = lra_sample_input(g, name[k], "normal", LRA_SHAPE(2, 9, 2, 4));
    lra_tensor *length = i ? lra_sample_input(g, "length", "length:9", LRA_SHAPE(2)) : NULL;
    return attention_grad_node(lra_attention(x[0], x[1], x[2], length, &s), x[3]);
}

const lra_op lra_op_attention_grad = {.name = "attention_grad",
                                      .flags = LRA_NOGRAD,
                                      .shape = shape,
                                      .flops = flops,
                                      .scratch = scratch,
                                      .cuda_scratch = cuda_scratch,
                                      .cpu = LRA_BODIES(attention_grad),
                                      .sample = sample};
#endif
