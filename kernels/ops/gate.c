/* y = f(a) b, element by element: what a gate lets through of b.  f: gelu, silu or sigmoid
 * (activation.h).
 * Gradients: da = b f'(a) dy (gate_grad, of b, a and dy), and db = f(a) dy, a gate again.
 * f(a) is computed wherever it is needed and stands nowhere: with ops of their own for f and the
 * product, a step moved 14 arrays instead of 10, and kept one more. */
#include "kernels/ops/activation_lanes_fn.h"
#include "kernels/ops/args.h"

#define GATES(X) X(gelu, GELU) X(silu, SILU) X(sigmoid, SIGMOID)

#define VECTORS(f, kind)                                                                           \
    LRA_ROW_FN void f##_gate(int64_t i, int64_t w, lra_type t, const void *a, const void *b,       \
                             void *y)                                                              \
    {                                                                                              \
        lanes v = lanes_##f(lanes_load(a, t, i, w));                                               \
        lanes_store(y, t, i, w, v *lanes_load(b, t, i, w));                                        \
    }                                                                                              \
    LRA_ROW_FN void f##_gate_da(int64_t i, int64_t w, lra_type t, const void *dy, const void *a,   \
                                const void *b, void *da)                                           \
    {                                                                                              \
        lanes v = lanes_load(dy, t, i, w) * lanes_load(b, t, i, w);                                \
        lanes_store(da, t, i, w, v *lanes_##f##_slope(lanes_load(a, t, i, w)));                    \
    }
GATES(VECTORS)

LRA_BODY(gate)
{
#define CASE(f, kind)                                                                              \
    case LRA_GATE_##kind: {                                                                        \
        LANES_BODY(lra_elements(c->y), c->y->type, f##_gate, c->in[0], c->in[1], c->out)           \
    } break;
    switch (((const gate_args *)c->y->args)->f) {
        GATES(CASE)
    }
#undef CASE
}

LRA_BODY(gate_grad)
{
#define CASE(f, kind)                                                                              \
    case LRA_GATE_##kind: {                                                                        \
        LANES_BODY(lra_elements(c->y), c->y->type, f##_gate_da, c->in[2], c->in[1], c->in[0],      \
                   c->out)                                                                         \
    } break;
    switch (((const gate_args *)c->y->args)->f) {
        GATES(CASE)
    }
#undef CASE
}

#if LRA_RECORD
LRA_DECLARE(gate)
LRA_DECLARE(gate_grad)

static int shape(lra_tensor *y, lra_err *e)
{
    const lra_tensor *x = y->src[0];
    for (int i = 0; i < y->n_src; i++) {
        if (lra_expect_float(y->src[i], "a source", e) != 0) return LRA_FAILED;
        if (lra_expect_shape(y->src[i], x->shape, "a source", e) != 0) return LRA_FAILED;
        if (y->src[i]->type != x->type) return lra_fail(e, "sources of different types");
    }
    y->shape = x->shape;
    y->type = x->type;
    return 0;
}

static void grad(lra_tensor *y, lra_tensor *dy, lra_tensor **dx)
{
    const gate_args *g = y->args;
    lra_tensor *src[] = {y->src[1], y->src[0], lra_cast(dy, y->type)};
    /* In this order da may stand where b stood, then db where a stood. */
    dx[0] = lra_node(&lra_op_gate_grad, y->graph, 3, src, g, sizeof *g);
    dx[1] = lra_gate(src[1], g->f, src[2]);
}

lra_tensor *lra_gate(lra_tensor *a, lra_gate_act f, lra_tensor *b)
{
    gate_args args = {f};
    return lra_node(&lra_op_gate, a->graph, 2, (lra_tensor *[]){a, b}, &args, sizeof args);
}

static const lra_gate_act acts[] = {LRA_GATE_GELU, LRA_GATE_SILU, LRA_GATE_SIGMOID, LRA_GATE_SILU};
enum { SAMPLES = sizeof acts / sizeof *acts };

static lra_shape sample_shape(int i)
{
    return i % 2 ? LRA_SHAPE(2, 5, 33) : LRA_SHAPE(3, 7);
}

static lra_tensor *sample(lra_graph *g, int i)
{
    if (i >= SAMPLES) return NULL;
    lra_tensor *a = lra_sample_input(g, "a", "normal", sample_shape(i));
    if (i == SAMPLES - 1) return lra_gate(a, acts[i], a);
    return lra_gate(a, acts[i], lra_sample_input(g, "b", "normal", sample_shape(i)));
}

static lra_tensor *grad_sample(lra_graph *g, int i)
{
    if (i >= SAMPLES - 1) return NULL;
    gate_args args = {acts[i]};
    lra_tensor *src[] = {lra_sample_input(g, "b", "normal", sample_shape(i)),
                         lra_sample_input(g, "a", "normal", sample_shape(i)),
                         lra_sample_input(g, "dy", "normal", sample_shape(i))};
    return lra_node(&lra_op_gate_grad, g, 3, src, &args, sizeof args);
}

const lra_op lra_op_gate = {.name = "gate",
                            .flags = LRA_INPLACE,
                            .shape = shape,
                            .grad = grad,
                            .cpu = LRA_BODIES(gate),
                            .sample = sample};
const lra_op lra_op_gate_grad = {.name = "gate_grad",
                                 .flags = LRA_INPLACE | LRA_NOGRAD,
                                 .shape = shape,
                                 .cpu = LRA_BODIES(gate_grad),
                                 .sample = grad_sample};
#endif
