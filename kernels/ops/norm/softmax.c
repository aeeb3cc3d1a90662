/* y = exp(x - max x) / sum exp(x - max x) over the last dimension; dx = y (dy - sum dy y). */
#include "kernels/ops/lanes_template.h"

LRA_ROW_FN void find_max(int64_t i, int64_t w, lra_type t, const void *x, lanes *m)
{
    *m = lanes_max(lanes_keep(lanes_load(x, t, i, w), w, -INFINITY), *m);
}
/* Computes exponentials and adds them to s. If y is real they are stored in y; otherwise (bf16)
 * they are recomputed from x later. */
LRA_ROW_FN void add_exp(int64_t i, int64_t w, lra_type t, const void *x, real m, void *y, lanes *s)
{
    lanes e = lanes_keep(lanes_exp(lanes_load(x, t, i, w) - m), w, 0);
    if (t != LRA_BF16) lanes_store(y, t, i, w, e);
    *s += e;
}
LRA_ROW_FN void divide(int64_t i, int64_t w, lra_type t, const void *x, real m, real r, void *y)
{
    lanes e = t != LRA_BF16 ? lanes_load(y, t, i, w) : lanes_exp(lanes_load(x, t, i, w) - m);
    lanes_store(y, t, i, w, e * r);
}
LRA_ROW_FN void softmax_row(lra_type t, const void *x, int64_t D, void *y)
{
    lanes most = lanes_of(-INFINITY), s = {0};
    LANES_EACH(D, find_max, t, x, &most);
    real m = lanes_largest(most);
    LANES_EACH(D, add_exp, t, x, m, y, &s);
    real r = 1 / lanes_sum(s);
    LANES_EACH(D, divide, t, x, m, r, y);
}

LRA_BODY(softmax)
{
    int64_t D = lra_width(c->y), rows = lra_rows(c->y);
    lra_type t = c->y->type;
#pragma omp parallel for num_threads(c->n_threads) if (rows * D >= LRA_PARALLEL_MIN)
    for (int64_t i = 0; i < rows; i++)
        LRA_BY_TYPE(softmax_row, t, t_at(c->in[0], t, i * D), D, t_to(c->out, t, i * D));
}

LRA_ROW_FN void add_product(int64_t i, int64_t w, lra_type t, const void *a, const void *b,
                            lanes *s)
{
    *s += lanes_load(a, t, i, w) * lanes_load(b, t, i, w);
}
LRA_ROW_FN void back(int64_t i, int64_t w, lra_type t, const void *dy, const void *y, real s,
                     void *dx)
{
    lanes_store(dx, t, i, w, lanes_load(y, t, i, w) * (lanes_load(dy, t, i, w) - s));
}
LRA_ROW_FN void grad_row(lra_type t, const void *dy, const void *y, int64_t D, void *dx)
{
    lanes s = {0};
    LANES_EACH(D, add_product, t, dy, y, &s);
    real total = lanes_sum(s);
    LANES_EACH(D, back, t, dy, y, total, dx);
}

/* sources: dy, y */
LRA_BODY(softmax_grad)
{
    int64_t D = lra_width(c->y), rows = lra_rows(c->y);
    lra_type t = c->y->type;
#pragma omp parallel for num_threads(c->n_threads) if (rows * D >= LRA_PARALLEL_MIN)
    for (int64_t i = 0; i < rows; i++)
        LRA_BY_TYPE(grad_row, t, t_at(c->in[0], t, i * D), t_at(c->in[1], t, i * D), D,
                    t_to(c->out, t, i * D));
}

#if LRA_RECORD
LRA_DECLARE(softmax)
LRA_DECLARE(softmax_grad)

static int shape(lra_tensor *y, lra_err *e)
{
    const lra_tensor *x = y->src[0];
    if (lra_expect_float(x, "the source", e) != 0) return LRA_FAILED;
    y->shape = x->shape;
    y->type = x->type;
    return 0;
}

static void grad(lra_tensor *y, lra_tensor *dy, lra_tensor **dx)
{
    dx[0] = lra_node(&lra_op_softmax_grad, y->graph, 2, (lra_tensor *[]){dy, y}, NULL, 0);
}

static double flops(const lra_tensor *y)
{
    return 5 * (double)lra_elements(y);
}

lra_tensor *lra_softmax(lra_tensor *x)
{
    return lra_node(&lra_op_softmax, x->graph, 1, &x, NULL, 0);
}

static lra_shape sample_shape(int i)
{
    return i == 0 ? LRA_SHAPE(3, 7) : i == 1 ? LRA_SHAPE(2, 3, 33) : LRA_SHAPE(5, 1);
}
static lra_tensor *sample(lra_graph *g, int i)
{
    return i > 2 ? NULL : lra_softmax(lra_sample_input(g, "x", "normal", sample_shape(i)));
}
static lra_tensor *grad_sample(lra_graph *g, int i)
{
    if (i > 2) return NULL;
    lra_tensor *src[] = {lra_sample_input(g, "dy", "normal", sample_shape(i)),
                         lra_sample_input(g, "y", "positive", sample_shape(i))};
    return lra_node(&lra_op_softmax_grad, g, 2, src, NULL, 0);
}

const lra_op lra_op_softmax = {.name = "softmax",
                               .flags = LRA_INPLACE,
                               .shape = shape,
                               .grad = grad,
                               .flops = flops,
                               .cpu = LRA_BODIES(softmax),
                               .sample = sample};
const lra_op lra_op_softmax_grad = {.name = "softmax_grad",
                                    .flags = LRA_INPLACE | LRA_NOGRAD,
                                    .shape = shape,
                                    .flops = flops,
                                    .cpu = LRA_BODIES(softmax_grad),
                                    .sample = grad_sample};
#endif
