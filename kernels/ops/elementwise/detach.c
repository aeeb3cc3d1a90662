/* y = x without a gradient. The op is an alias: no kernel runs. */
#include "kernels/graph/op.h"

#if LRA_RECORD
static int shape(lra_tensor *y, lra_err *e)
{
    if (lra_expect_float(y->src[0], "x", e) != 0) return LRA_FAILED;
    y->shape = y->src[0]->shape;
    y->type = y->src[0]->type;
    return 0;
}

lra_tensor *lra_detach(lra_tensor *x)
{
    return lra_node(&lra_op_detach, x->graph, 1, &x, NULL, 0);
}

static lra_tensor *sample(lra_graph *g, int i)
{
    return i ? NULL : lra_detach(lra_sample_input(g, "x", "normal", LRA_SHAPE(3, 5)));
}

const lra_op lra_op_detach = {
    .name = "detach", .flags = LRA_ALIAS | LRA_NOGRAD, .shape = shape, .sample = sample};
#endif
