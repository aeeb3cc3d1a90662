/* Reverses an axis: y[.., i, ..] = x[.., n-1-i, ..]. The gradient is the flip of dy. */
#include "kernels/ops/axis_view_body.h"
#include "kernels/ops/typed.h"

LRA_BODY(flip)
{
    const axis_view v = axis_of(c->y);
    size_t unit = (size_t)v.I * lra_type_size(c->y->type);
    const char *x = c->in[0];
    char *y = c->out;
#pragma omp parallel for num_threads(c->n_threads) if (v.O * v.R * v.I >= LRA_PARALLEL_MIN)
    for (int64_t i = 0; i < v.O * v.R; i++) {
        int64_t from = i / v.R * v.R + v.R - 1 - i % v.R;
        memcpy(y + (size_t)i * unit, x + (size_t)from * unit, unit);
    }
}

#if LRA_RECORD
LRA_DECLARE(flip)

static int shape(lra_tensor *y, lra_err *e)
{
    return axis_shape(y, ((const axis_args *)y->args)->axis, e);
}

static void grad(lra_tensor *y, lra_tensor *dy, lra_tensor **dx)
{
    dx[0] = lra_flip(dy, ((const axis_args *)y->args)->axis);
}

static double flops(const lra_tensor *y)
{
    (void)y;
    return 0;
}

lra_tensor *lra_flip(lra_tensor *x, int axis)
{
    axis_args a = {axis, false};
    return lra_node(&lra_op_flip, x->graph, 1, &x, &a, sizeof a);
}

static lra_tensor *sample(lra_graph *g, int i)
{
    if (i > 2) return NULL;
    return lra_flip(lra_sample_input(g, "x", "normal", LRA_SHAPE(2, 7, 5)), i);
}

const lra_op lra_op_flip = {.name = "flip",
                            .shape = shape,
                            .grad = grad,
                            .flops = flops,
                            .cpu = LRA_BODIES(flip),
                            .sample = sample};
#endif
