/* Linear upsampling along the last axis: y is `times` times as long as x. Each number of x is the
 * centre of a block of `times` numbers of y.
 *   y[.., j times + k] = (1 - |d|) x[.., j] + |d| x[.., j -+ 1],  d = (k + 1/2) / times - 1/2
 * The neighbour is j - 1 for d < 0 and j + 1 for d > 0; at the ends it is x[.., j] itself. The
 * gradient is the sum of dy with the same weights. */
#include "kernels/ops/longconv/upsample_body.h"

LRA_ROW_FN void upsample_row(lra_type t, const void *x, void *y, upsample_view v)
{
    for (int64_t j = 0; j < v.s; j++)
        for (int64_t k = 0; k < v.times; k++)
            t_store(y, t, j * v.times + k, upsample_value(x, t, v, j, k));
}

LRA_ROW_FN void sum_row(lra_type t, const void *dy, void *dx, upsample_view v)
{
    for (int64_t j = 0; j < v.s; j++) t_store(dx, t, j, upsample_sum(dy, t, v, j));
}

LRA_BODY(upsample)
{
    const upsample_view v = upsample_of(c->y);
    bool back = ((const upsample_args *)c->y->args)->back;
    lra_type t = c->y->type;
    int64_t in = back ? v.s * v.times : v.s, out = back ? v.s : v.s * v.times;
#pragma omp parallel for num_threads(c->n_threads) if (v.rows * v.s * v.times >= LRA_PARALLEL_MIN)
    for (int64_t i = 0; i < v.rows; i++) {
        const void *from = t_at(c->in[0], t, i * in);
        void *to = t_to(c->out, t, i * out);
        if (back)
            LRA_BY_TYPE(sum_row, t, from, to, v);
        else
            LRA_BY_TYPE(upsample_row, t, from, to, v);
    }
}

#if LRA_RECORD
LRA_DECLARE(upsample)

static int shape(lra_tensor *y, lra_err *e)
{
    const upsample_args *a = y->args;
    const lra_tensor *x = y->src[0];
    if (lra_expect_float(x, "the source", e) != 0) return LRA_FAILED;
    if (x->shape.n < 1 || a->times < 1)
        return lra_fail(e, "%lld times a rank of %d, expected 1 or more of both",
                        (long long)a->times, x->shape.n);
    int64_t n = lra_width(x);
    if (a->back && n % a->times != 0)
        return lra_fail(e, "%lld numbers, expected a multiple of %lld", (long long)n,
                        (long long)a->times);
    y->shape = x->shape;
    y->type = x->type;
    y->shape.d[x->shape.n - 1] = a->back ? n / a->times : n * a->times;
    return 0;
}

static lra_tensor *upsample_node(lra_tensor *x, int64_t times, bool back)
{
    upsample_args a = {times, back};
    return lra_node(&lra_op_upsample, x->graph, 1, &x, &a, sizeof a);
}

static void grad(lra_tensor *y, lra_tensor *dy, lra_tensor **dx)
{
    const upsample_args *a = y->args;
    dx[0] = upsample_node(dy, a->times, !a->back);
}

static double flops(const lra_tensor *y)
{
    const upsample_args *a = y->args;
    return 4.0 * (double)lra_elements(a->back ? y->src[0] : y);
}

lra_tensor *lra_upsample(lra_tensor *x, int64_t times)
{
    return times == 1 ? x : upsample_node(x, times, false);
}

static lra_tensor *sample(lra_graph *g, int i)
{
    const lra_shape of[] = {LRA_SHAPE(3, 7), LRA_SHAPE(2, 3, 1), LRA_SHAPE(2, 40, 33),
                            LRA_SHAPE(3, 28), LRA_SHAPE(15)};
    static const int64_t times[] = {4, 5, 2, 4, 3};
    if (i > 4) return NULL;
    lra_tensor *x = lra_sample_input(g, "x", "normal", of[i]);
    return upsample_node(x, times[i], i > 2);
}

const lra_op lra_op_upsample = {.name = "upsample",
                                .shape = shape,
                                .grad = grad,
                                .flops = flops,
                                .cpu = LRA_BODIES(upsample),
                                .sample = sample};
#endif
