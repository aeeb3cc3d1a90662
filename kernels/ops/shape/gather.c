/* y[b,m] = x[b, index[b,m]]. x: (B,T,D), index: (B,M), y: (B,M,D). The gradient, scatter, adds rows
 * in the order of m. Each sample is processed by one thread, so that the bits do not depend on the
 * number of threads. */
#include "kernels/ops/typed.h"

static inline void check_index(const int32_t *index, int64_t n, int64_t T)
{
    for (int64_t i = 0; i < n; i++)
        if (index[i] < 0 || index[i] >= T)
            LRA_BUG("index %d is not in [0,%lld)", (int)index[i], (long long)T);
}

LRA_BODY(gather)
{
    int64_t T = c->y->src[0]->shape.d[1];
    int64_t B = c->y->shape.d[0], M = c->y->shape.d[1], D = c->y->shape.d[2];
    lra_type t = c->y->type;
    const int32_t *index = c->in[1];
    check_index(index, B * M, T);
#pragma omp parallel for num_threads(c->n_threads) if (B * M * D >= LRA_PARALLEL_MIN)
    for (int64_t i = 0; i < B * M; i++)
        memcpy(t_to(c->out, t, i * D), t_at(c->in[0], t, (i / M * T + index[i]) * D),
               (size_t)D * lra_type_size(t));
}

/* sources: dy, index; scratch: (B,T,D) real, used if y is stored in bf16 */
LRA_BODY(scatter)
{
    int64_t B = c->y->shape.d[0], T = c->y->shape.d[1], D = c->y->shape.d[2];
    int64_t M = c->y->src[1]->shape.d[1];
    lra_type t = c->y->type;
    const int32_t *index = c->in[1];
    real *sum = c->scratch ? c->scratch : c->out;
    check_index(index, B * M, T);
#pragma omp parallel for num_threads(c->n_threads) if (B * (M + T) * D >= LRA_PARALLEL_MIN)
    for (int64_t b = 0; b < B; b++) {
        real *dx = sum + b * T * D;
        for (int64_t i = 0; i < T * D; i++) dx[i] = 0;
        for (int64_t m = 0; m < M; m++) {
            real *row = dx + index[b * M + m] * D;
            for (int64_t d = 0; d < D; d++) row[d] += t_load(c->in[0], t, (b * M + m) * D + d);
        }
        for (int64_t i = 0; i < T * D && c->scratch; i++) t_store(c->out, t, b * T * D + i, dx[i]);
    }
}

#if LRA_RECORD
LRA_DECLARE(gather)
LRA_DECLARE(scatter)

typedef struct {
    int64_t T;
} scatter_args;

static int shape(lra_tensor *y, lra_err *e)
{
    const lra_tensor *x = y->src[0], *index = y->src[1];
    if (lra_expect_float(x, "the source", e) != 0) return LRA_FAILED;
    if (lra_expect_index(index, "index", e) != 0) return LRA_FAILED;
    if (x->shape.n != 3) return lra_fail(e, "the source has rank %d, expected 3", x->shape.n);
    lra_shape s = LRA_SHAPE(x->shape.d[0], index->shape.n == 2 ? index->shape.d[1] : 1);
    if (lra_expect_shape(index, s, "index", e) != 0) return LRA_FAILED;
    y->shape = LRA_SHAPE(s.d[0], s.d[1], x->shape.d[2]);
    y->type = x->type;
    return 0;
}

static int scatter_shape(lra_tensor *y, lra_err *e)
{
    (void)e;
    const lra_shape *s = &y->src[0]->shape;
    y->shape = LRA_SHAPE(s->d[0], ((const scatter_args *)y->args)->T, s->d[2]);
    y->type = y->src[0]->type;
    return 0;
}

static int64_t scatter_scratch(const lra_tensor *y, int n_threads)
{
    (void)n_threads;
    return y->type == LRA_BF16 ? lra_elements(y) * (int64_t)sizeof(float) : 0;
}

static void grad(lra_tensor *y, lra_tensor *dy, lra_tensor **dx)
{
    scatter_args a = {y->src[0]->shape.d[1]};
    dx[0] = lra_node(&lra_op_scatter, y->graph, 2, (lra_tensor *[]){dy, y->src[1]}, &a, sizeof a);
}
static void scatter_grad(lra_tensor *y, lra_tensor *dy, lra_tensor **dx)
{
    dx[0] = lra_gather(dy, y->src[1]);
}

lra_tensor *lra_gather(lra_tensor *x, lra_tensor *index)
{
    return lra_node(&lra_op_gather, x->graph, 2, (lra_tensor *[]){x, index}, NULL, 0);
}

static lra_tensor *sample(lra_graph *g, int i)
{
    if (i > 1) return NULL;
    return lra_gather(lra_sample_input(g, "x", "normal", LRA_SHAPE(2, 5, i ? 33 : 3)),
                      lra_sample_input(g, "index", "index:5", LRA_SHAPE(2, 7)));
}
static lra_tensor *scatter_sample(lra_graph *g, int i)
{
    scatter_args a = {5};
    if (i > 1) return NULL;
    lra_tensor *src[] = {lra_sample_input(g, "x", "normal", LRA_SHAPE(2, 7, i ? 33 : 3)),
                         lra_sample_input(g, "index", "index:5", LRA_SHAPE(2, 7))};
    return lra_node(&lra_op_scatter, g, 2, src, &a, sizeof a);
}

const lra_op lra_op_gather = {
    .name = "gather", .shape = shape, .grad = grad, .cpu = LRA_BODIES(gather), .sample = sample};
const lra_op lra_op_scatter = {.name = "scatter",
                               .shape = scatter_shape,
                               .grad = scatter_grad,
                               .scratch = scatter_scratch,
                               .cpu = LRA_BODIES(scatter),
                               .sample = scatter_sample};
#endif
