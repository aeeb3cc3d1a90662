/* Gradients of attention, head by head (attention_backward_template.h). The result is one array of
 * elem: dq, dk, dv and, split into parts, the gradient of the learned bias. The latter is computed
 * for each head and example and then summed over examples in order. */
#include "kernels/ops/attention/attention_tiles_backward_template.h"

/* Numbers of elements of the concatenated arrays: dq, dk, dv, one part of the bias gradient. */
typedef struct {
    int64_t q, k, v, bias;
} lengths;

static inline lengths lengths_of(const attention_sizes *s)
{
    return (lengths){s->B * s->Tq * s->H * s->K, s->B * s->Tk * s->H * s->K,
                     s->B * s->Tk * s->H * s->V, s->H * s->R};
}

/* Offset of the first row of head `at` (0 .. B H - 1) in an array (B,T,H,width). */
static inline int64_t first(const attention_sizes *s, int64_t at, int64_t T, int64_t width)
{
    return (at / s->H * T * s->H + at % s->H) * width;
}

static inline int64_t thread_scratch(const attention_sizes *s)
{
    int64_t reals = attention_backward_scratch(s), tiles = attention_tiles_back_scratch(s);
    return attention_padded((reals > tiles ? reals : tiles) + 2 * attention_offsets(s)) +
           (s->dropped ? 2 : 1) * ATTENTION_TILE;
}

/* Gradients of one head: writes dq, accumulates dk and dv in b. k, v, dq: rows of this head. */
static void back_head(attention_backward *b, const elem *k, const elem *v, elem *dq, real *own)
{
    const attention_sizes *s = &b->h.s;
    int64_t n_q = b->h.mask.n_q, n_k = b->h.mask.n_k;
#if ATTENTION_TILES
    if (lra_tiles_usable()) {
        ax_backward a = {.b = *b};
        ax_take_back(&a, own);
        ax_back_head(&a, k, v, dq);
        *b = a.b;
        return;
    }
#endif
    attention_take_back(b, own);
    attention_gather(k, n_k, s->H, s->K, b->K, b->k);
    attention_gather(v, n_k, s->H, s->V, b->V, b->v);
    attention_center_keys(b, n_k);
    for (int64_t i = 0, n; i < n_q; i += n)
        attention_back(b, i, n = attention_queries_at(&b->h, i), dq);
}

/* Computes the gradients of head `at` (0 .. B H - 1). entries: bias gradients of all heads, (B
 * H,R). */
static void differentiate(const lra_call *c, int64_t at, real *own, real *entries)
{
    attention_backward b;
    own = attention_open_draws(&b.h, c, 5, attention_open(&b.h, c, 1, 5, at, own));
    const attention_sizes *s = &b.h.s;
    const elem *const *in = (const elem *const *)c->in;
    lengths n = lengths_of(s);
    elem *dq = (elem *)c->out + first(s, at, s->Tq, s->K);
    elem *dk = (elem *)c->out + n.q + first(s, at, s->Tk, s->K);
    elem *dv = (elem *)c->out + n.q + n.k + first(s, at, s->Tk, s->V);
    int64_t of_y = first(s, at, s->Tq, s->V), n_q = b.h.mask.n_q, n_k = b.h.mask.n_k;
    b.rows = s->B * s->H * s->Tq;
    b.dy = in[0] + of_y, b.y = in[4] + of_y, b.q = in[1] + first(s, at, s->Tq, s->K);
    b.k_mean = b.v_mean = NULL, b.settles = false;
    b.left = in[4] + b.rows * s->V + at * s->Tq;
    int64_t next = at + c->n_threads < s->B * s->H ? at + c->n_threads : at;
    b.next[0] = (attention_ahead){in[2] + first(s, next, s->Tk, s->K), s->H * s->K, s->K, 0, s->Tk};
    b.next[1] = (attention_ahead){in[3] + first(s, next, s->Tk, s->V), s->H * s->V, s->V, 0, s->Tk};
    back_head(&b, in[2] + first(s, at, s->Tk, s->K), in[3] + first(s, at, s->Tk, s->V), dq, own);
    for (int64_t i = n_q; i < s->Tq; i++)
        for (int64_t d = 0; d < s->K; d++) dq[i * s->H * s->K + d] = 0;
    const int64_t keys = s->B * s->H * s->Tk;
    if (b.settles) attention_settle(&b, n_k);
    attention_scatter(b.dk, n_k, s->Tk, s->H, s->K, b.K, b.settles ? 1 : attention_unscaled(&b.h),
                      attention_streams(keys, s->K, dk), dk);
    attention_scatter(b.dv, n_k, s->Tk, s->H, s->V, b.V, 1, attention_streams(keys, s->V, dv), dv);
    lanes_streamed();
    attention_entries(&b, entries + at * s->R);
}

/* Sources: dy, q, k, v, result of the forward node, optional sources. Scratch: one segment per
 * thread, then the bias gradients of all heads. */
LRA_BODY(attention_grad)
{
    attention_sizes s = attention_sizes_of(c->y, 1, 5);
    lengths n = lengths_of(&s);
    real *entries = (real *)c->scratch + c->n_threads * thread_scratch(&s);
    elem *bias = (elem *)c->out + n.q + n.k + n.v;
#pragma omp parallel for num_threads(c->n_threads) schedule(dynamic)
    for (int64_t at = 0; at < s.B * s.H; at++)
        differentiate(c, at, (real *)c->scratch + omp_get_thread_num() * thread_scratch(&s),
                      entries);
    for (int64_t i = 0; i < n.bias; i++) {
        real sum = 0;
        for (int64_t b = 0; b < s.B; b++) sum += entries[b * n.bias + i];
        attention_put(bias, n.bias, i, sum);
    }
}

#if LRA_RECORD
LRA_DECLARE(attention_grad)

static int shape(lra_tensor *y, lra_err *e)
{
    if (attention_check(y, 1, 5, e) != 0) return LRA_FAILED;
    attention_sizes s = attention_sizes_of(y, 1, 5);
    lengths n = lengths_of(&s);
    if (lra_expect_shape(y->src[0], LRA_SHAPE(s.B, s.Tq, s.H, s.V), "dy", e) != 0)
        return LRA_FAILED;
    y->shape = LRA_SHAPE(n.q + n.k + n.v + n.bias * attention_parts(y->graph));
    y->type = y->src[1]->type;
    return 0;
}

/* Five products per pair: the scores, dy v, and the gradients of q, k and v. */
static double flops(const lra_tensor *y)
{
    attention_sizes s = attention_sizes_of(y, 1, 5);
    return 2.0 * (double)(s.B * s.H * (3 * s.K + 2 * s.V)) * attention_pairs(y, &s);
}

static int64_t scratch(const lra_tensor *y, int n_threads)
{
    attention_sizes s = attention_sizes_of(y, 1, 5);
    int64_t own = n_threads * thread_scratch(&s);
    return (own + s.B * s.H * s.R) * (int64_t)lra_type_size(lra_real(y->graph));
}

static int64_t cuda_scratch(const lra_tensor *y)
{
    attention_sizes s = attention_sizes_of(y, 1, 5);
    return attention_cuda_scratch(&s) * (int64_t)sizeof(float);
}

static lra_tensor *sample(lra_graph *g, int i)
{
    if (i > 1) return NULL;
    const lra_attention_spec s = {
        .causal = i == 1,
        .bias = i ? NULL
                  : lra_cast(lra_sample_input(g, "bias", "normal", LRA_SHAPE(2, 7)), lra_real(g))};
    const char *name[] = {"q", "k", "v", "dy"};
    lra_tensor *x[4];
    for (int k = 0; k < 4; k++)
        x[k] = lra_sample_input(g, name[k], "normal", LRA_SHAPE(2, 9, 2, 4));
    lra_tensor *length = i ? lra_sample_input(g, "length", "length:9", LRA_SHAPE(2)) : NULL;
    lra_tensor *y = lra_attention(x[0], x[1], x[2], length, &s);
    while (y->op != &lra_op_attention) y = y->src[0];
    return lra_slice(attention_grad_node(y, x[3]), 0, 0, 3 * 2 * 9 * 2 * 4);
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
