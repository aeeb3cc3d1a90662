/* Maximum over the last dimension: y = max_d x; the gradient flows to the first of equal values.
 * argmax is the index of this value. */
#include "kernels/ops/typed.h"

static inline int64_t first_largest(const void *x, lra_type t, int64_t D)
{
    int64_t best = 0;
    for (int64_t d = 1; d < D; d++)
        if (t_load(x, t, d) > t_load(x, t, best)) best = d;
    return best;
}

LRA_BODY(row_max)
{
    int64_t D = lra_width(c->y->src[0]), rows = lra_elements(c->y);
    lra_type t = c->y->type;
#pragma omp parallel for num_threads(c->n_threads) if (rows * D >= LRA_PARALLEL_MIN)
    for (int64_t i = 0; i < rows; i++) {
        const void *x = t_at(c->in[0], t, i * D);
        t_store(c->out, t, i, t_load(x, t, first_largest(x, t, D)));
    }
}

/* sources: dy (..), x (..,D) */
LRA_BODY(row_max_grad)
{
    int64_t D = lra_width(c->y), rows = lra_rows(c->y);
    lra_type t = c->y->type;
#pragma omp parallel for num_threads(c->n_threads) if (rows * D >= LRA_PARALLEL_MIN)
    for (int64_t i = 0; i < rows; i++) {
        int64_t best = first_largest(t_at(c->in[1], t, i * D), t, D);
        for (int64_t d = 0; d < D; d++)
            t_store(c->out, t, i * D + d, d == best ? t_load(c->in[0], t, i) : 0);
    }
}

LRA_BODY(argmax)
{
    int64_t D = lra_width(c->y->src[0]), rows = lra_elements(c->y);
    lra_type t = c->y->src[0]->type;
    int32_t *y = c->out;
#pragma omp parallel for num_threads(c->n_threads) if (rows * D >= LRA_PARALLEL_MIN)
    for (int64_t i = 0; i < rows; i++)
        y[i] = (int32_t)first_largest(t_at(c->in[0], t, i * D), t, D);
}

#if LRA_RECORD
LRA_DECLARE(row_max)
LRA_DECLARE(row_max_grad)
LRA_DECLARE(argmax)

static int row_shape(lra_tensor *y, lra_err *e)
{
    const lra_tensor *x = y->src[0];
    if (lra_expect_float(x, "the source", e) != 0) return LRA_FAILED;
    if (x->shape.n < 1) return lra_fail(e, "the source is a scalar");
    y->shape = x->shape;
    y->shape.n--;
    y->type = x->type;
    return 0;
}

static int argmax_shape(lra_tensor *y, lra_err *e)
{
    int rc = row_shape(y, e);
    y->type = LRA_I32;
    return rc;
}

static int grad_shape(lra_tensor *y, lra_err *e)
{
    (void)e;
    y->shape = y->src[1]->shape;
    y->type = y->src[1]->type;
    return 0;
}

static double flops(const lra_tensor *y)
{
    return (double)lra_elements(y->src[y->n_src - 1]);
}

static void grad(lra_tensor *y, lra_tensor *dy, lra_tensor **dx)
{
    lra_tensor *src[] = {lra_cast(dy, y->type), y->src[0]};
    dx[0] = lra_node(&lra_op_row_max_grad, y->graph, 2, src, NULL, 0);
}

lra_tensor *lra_row_max(lra_tensor *x)
{
    return lra_node(&lra_op_row_max, x->graph, 1, &x, NULL, 0);
}
lra_tensor *lra_argmax(lra_tensor *x)
{
    return lra_node(&lra_op_argmax, x->graph, 1, &x, NULL, 0);
}

static lra_tensor *sample_rows(lra_graph *g, int i)
{
    const lra_shape s[] = {LRA_SHAPE(3, 7), LRA_SHAPE(2, 3, 40), LRA_SHAPE(5, 1)};
    return i > 2 ? NULL : lra_sample_input(g, "x", "normal", s[i]);
}
static lra_tensor *sample(lra_graph *g, int i)
{
    lra_tensor *x = sample_rows(g, i);
    return x ? lra_row_max(x) : NULL;
}
static lra_tensor *argmax_sample(lra_graph *g, int i)
{
    lra_tensor *x = sample_rows(g, i);
    return x ? lra_argmax(x) : NULL;
}
static lra_tensor *grad_sample(lra_graph *g, int i)
{
    lra_tensor *x = sample_rows(g, i);
    if (!x) return NULL;
    lra_shape s = x->shape;
    s.n--;
    lra_tensor *src[] = {lra_sample_input(g, "dy", "normal", s), x};
    return lra_node(&lra_op_row_max_grad, g, 2, src, NULL, 0);
}

const lra_op lra_op_row_max = {.name = "row_max",
                               .shape = row_shape,
                               .grad = grad,
                               .flops = flops,
                               .cpu = LRA_BODIES(row_max),
                               .sample = sample};
const lra_op lra_op_row_max_grad = {.name = "row_max_grad",
                                    .flags = LRA_NOGRAD,
                                    .shape = grad_shape,
                                    .flops = flops,
                                    .cpu = LRA_BODIES(row_max_grad),
                                    .sample = grad_sample};
const lra_op lra_op_argmax = {.name = "argmax",
                              .flags = LRA_NOGRAD,
                              .shape = argmax_shape,
                              .flops = flops,
                              .cpu = LRA_BODIES(argmax),
                              .sample = argmax_sample};
#endif
