/* Distance mask of a kernel: y[.., i, ..] = x[.., i, ..] where |i - zero| step <= limit, else 0,
 * along one axis.
 * The limit is read when the op runs, so that one plan serves all limits. The unmasked elements are
 * those of x bit for bit; a convolution with y adds exact zeros for the masked ones. */
#include "kernels/ops/args.h"
#include "kernels/ops/axis_view_body.h"
#include "kernels/ops/longconv/distance_mask_body.h"
#include "kernels/ops/typed.h"

LRA_BODY(distance_mask)
{
    const near_view v = near_view_of(c->y);
    const int32_t *limit = c->in[1];
    int64_t n = lra_elements(c->y);
    lra_type t = c->y->type;
    LRA_EACH(i) t_store(c->out, t, i, is_near(&v, i, limit[0]) ? t_load(c->in[0], t, i) : 0);
}

#if LRA_RECORD
LRA_DECLARE(distance_mask)

static int shape(lra_tensor *y, lra_err *e)
{
    if (lra_expect_float(y->src[0], "the source", e) != 0) return LRA_FAILED;
    if (axis_shape(y, ((const distance_mask_args *)y->args)->axis, e) != 0) return LRA_FAILED;
    return lra_expect_limit(y->src[1], e);
}

static void grad(lra_tensor *y, lra_tensor *dy, lra_tensor **dx)
{
    const distance_mask_args *a = y->args;
    dx[0] = lra_distance_mask(dy, y->src[1], a->axis, a->zero, a->step);
}

static double flops(const lra_tensor *y)
{
    (void)y;
    return 0;
}

lra_tensor *lra_distance_mask(lra_tensor *x, lra_tensor *limit, int axis, int64_t zero,
                              int64_t step)
{
    distance_mask_args a = {axis, zero, step};
    return lra_node(&lra_op_distance_mask, x->graph, 2, (lra_tensor *[]){x, limit}, &a, sizeof a);
}

/* Test samples: centred and dilated taps; lags that start at 0 and at 1. */
static lra_tensor *sample(lra_graph *g, int i)
{
    static const distance_mask_args a[] = {{0, 3, 1}, {0, 3, 4}, {1, 0, 1}, {2, -1, 1}};
    const lra_shape s[] = {LRA_SHAPE(7, 3, 2), LRA_SHAPE(7, 3, 2), LRA_SHAPE(5, 9),
                           LRA_SHAPE(2, 3, 6)};
    if (i > 3) return NULL;
    lra_tensor *x = lra_sample_input(g, "x", "normal", s[i]);
    lra_tensor *limit = lra_sample_input(g, "limit", "index:6", LRA_SHAPE(1));
    return lra_distance_mask(x, limit, a[i].axis, a[i].zero, a[i].step);
}

const lra_op lra_op_distance_mask = {.name = "distance_mask",
                                     .flags = LRA_INPLACE,
                                     .shape = shape,
                                     .grad = grad,
                                     .flops = flops,
                                     .cpu = LRA_BODIES(distance_mask),
                                     .sample = sample};
#endif
