/* Constant tensors: zeros, ones. */
#include "kernels/ops/typed.h"

typedef struct {
    lra_type type;
    lra_shape shape;
} fill_args;

LRA_BODY(zeros)
{
    memset(c->out, 0, (size_t)lra_bytes(c->y));
}

LRA_BODY(ones)
{
    int64_t n = lra_elements(c->y);
    lra_type t = c->y->type;
    if (t == LRA_I32)
        for (int64_t i = 0; i < n; i++) ((int32_t *)c->out)[i] = 1;
    else
        for (int64_t i = 0; i < n; i++) t_store(c->out, t, i, 1);
}

#if LRA_RECORD
LRA_DECLARE(zeros)
LRA_DECLARE(ones)

static int shape(lra_tensor *y, lra_err *e)
{
    (void)e;
    const fill_args *a = y->args;
    y->shape = a->shape;
    y->type = a->type;
    return 0;
}

static lra_tensor *build(const lra_op *op, lra_graph *g, lra_type type, lra_shape s)
{
    fill_args a = {type, s};
    return lra_node(op, g, 0, NULL, &a, sizeof a);
}
lra_tensor *lra_zeros(lra_graph *g, lra_type type, lra_shape s)
{
    return build(&lra_op_zeros, g, type, s);
}
lra_tensor *lra_ones(lra_graph *g, lra_type type, lra_shape s)
{
    return build(&lra_op_ones, g, type, s);
}

static lra_tensor *zeros_sample(lra_graph *g, int i)
{
    return i ? NULL : lra_zeros(g, lra_elem(g), LRA_SHAPE(3, 5));
}
static lra_tensor *ones_sample(lra_graph *g, int i)
{
    return i ? NULL : lra_ones(g, lra_elem(g), LRA_SHAPE(2, 7));
}

const lra_op lra_op_zeros = {.name = "zeros",
                             .flags = LRA_NOGRAD,
                             .shape = shape,
                             .cpu = LRA_BODIES(zeros),
                             .sample = zeros_sample};
const lra_op lra_op_ones = {.name = "ones",
                            .flags = LRA_NOGRAD,
                            .shape = shape,
                            .cpu = LRA_BODIES(ones),
                            .sample = ones_sample};
#endif
