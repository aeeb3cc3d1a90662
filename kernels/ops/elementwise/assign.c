/* state = value, after all readers of the state. Has no effect if the optimiser update of this step
 * was skipped. The node's own result is 1 if the state was written, else 0. */
#include "kernels/graph/op.h"
#include "kernels/ops/real.h"

LRA_BODY(assign)
{
    const real *gate = c->gate;
    bool open = !gate || *gate != 0;
    *(real *)c->out = open;
    if (open) memcpy((void *)(uintptr_t)c->in[0], c->in[1], (size_t)lra_bytes(c->y->src[0]));
}

#if LRA_RECORD
LRA_DECLARE(assign)

static int shape(lra_tensor *y, lra_err *e)
{
    const lra_tensor *state = y->src[0], *value = y->src[1];
    if (lra_expect_shape(value, state->shape, "the value of a state", e) != 0) return LRA_FAILED;
    if (value->type != state->type) return lra_fail(e, "a state is real, but its value is not");
    y->shape = LRA_SHAPE(1);
    y->type = state->type;
    return 0;
}

static lra_tensor *sample(lra_graph *g, int i)
{
    if (i) return NULL;
    lra_tensor *value = lra_sample_input(g, "value", "normal", LRA_SHAPE(3, 5));
    lra_tensor *src[] = {lra_state(g, "state", LRA_SHAPE(3, 5), LRA_SPEC(LRA_CONSTANT(1))),
                         lra_cast(value, lra_real(g))};
    return lra_node(&lra_op_assign, g, 2, src, NULL, 0);
}

const lra_op lra_op_assign = {.name = "assign",
                              .flags = LRA_NOGRAD | LRA_WRITES,
                              .shape = shape,
                              .cpu = LRA_BODIES(assign),
                              .sample = sample};

void lra_assign(lra_tensor *state, lra_tensor *value)
{
    if (state->op != &lra_op_state) LRA_BUG("lra_assign() to a node that is not a state");
    lra_node(&lra_op_assign, state->graph, 2, (lra_tensor *[]){state, value}, NULL, 0);
}
#endif
