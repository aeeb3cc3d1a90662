/* y = x in the other floating-point type of a BF16 graph. elem -> real is exact; real -> elem
 * rounds to nearest even. F32 and F64 graphs have one floating-point type, and lra_cast() adds no
 * node to them. */
#include "kernels/ops/lanes_template.h"

LRA_ROW_FN void round_lanes(int64_t i, int64_t w, lra_type t, const void *x, void *y)
{
    lanes_store(y, t, i, w, lanes_load(x, LRA_F32, i, w));
}
LRA_ROW_FN void widen_lanes(int64_t i, int64_t w, lra_type t, const void *x, void *y)
{
    lanes_store(y, LRA_F32, i, w, lanes_load(x, t, i, w));
}

LRA_BODY(cast)
{
    int64_t n = lra_elements(c->y);
    if (c->y->type == c->y->src[0]->type) {
        memmove(c->out, c->in[0], (size_t)lra_bytes(c->y));
    } else if (c->y->type == LRA_BF16) {
        LANES_BODY(n, LRA_BF16, round_lanes, c->in[0], c->out)
    } else {
        LANES_BODY(n, LRA_BF16, widen_lanes, c->in[0], c->out)
    }
}

#if LRA_RECORD
LRA_DECLARE(cast)

typedef struct {
    lra_type type;
} cast_args;

static int shape(lra_tensor *y, lra_err *e)
{
    const cast_args *a = y->args;
    if (lra_expect_float(y->src[0], "the source", e) != 0) return LRA_FAILED;
    if (a->type != lra_real(y->graph) && a->type != lra_elem(y->graph))
        return lra_fail(e, "the type is neither real nor elem of the graph");
    y->shape = y->src[0]->shape;
    y->type = a->type;
    return 0;
}

static void grad(lra_tensor *y, lra_tensor *dy, lra_tensor **dx)
{
    dx[0] = lra_cast(dy, y->src[0]->type);
}

lra_tensor *lra_cast(lra_tensor *x, lra_type type)
{
    cast_args a = {type};
    return x->type == type ? x : lra_node(&lra_op_cast, x->graph, 1, &x, &a, sizeof a);
}

/* Test sample. It adds the node even in graphs where lra_cast() would not. */
static lra_tensor *sample(lra_graph *g, int i)
{
    cast_args a = {lra_real(g)};
    if (i) return NULL;
    lra_tensor *x = lra_sample_input(g, "x", "normal", LRA_SHAPE(3, 7));
    return lra_node(&lra_op_cast, g, 1, &x, &a, sizeof a);
}

const lra_op lra_op_cast = {
    .name = "cast", .shape = shape, .grad = grad, .cpu = LRA_BODIES(cast), .sample = sample};
#endif
