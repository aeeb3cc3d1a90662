/* y = f(a) b, element by element: the output of a gate. f: gelu, silu or sigmoid (activation.h).
 * Gradients: da = b f'(a) dy and db = f(a) dy. One op, gate_grad, computes both, concatenated,
 * because f and f' share most of their arithmetic, which limits the speed on a CPU (gelu: 30 cycles
 * for 16 numbers).
 * f(a) is not stored. With separate ops for f and the products, forward and backward pass together
 * moved 14 arrays instead of 8, and one more was kept in memory. */
#include "kernels/ops/elementwise/activation_lanes_template.h"
#include "kernels/ops/args.h"

#define GATES(X) X(gelu, GELU) X(silu, SILU) X(sigmoid, SIGMOID)

#define VECTORS(f, kind)                                                                           \
    LRA_ROW_FN void f##_gate(int64_t i, int64_t w, lra_type t, const void *a, const void *b,       \
                             void *y)                                                              \
    {                                                                                              \
        lanes v = lanes_##f(lanes_load(a, t, i, w));                                               \
        lanes_store(y, t, i, w, v *lanes_load(b, t, i, w));                                        \
    }                                                                                              \
    LRA_ROW_FN void f##_gate_back(int64_t i, int64_t w, lra_type t, const void *a, const void *b,  \
                                  const void *dy, void *da, void *db)                              \
    {                                                                                              \
        lanes v = lanes_load(a, t, i, w), d = lanes_load(dy, t, i, w);                             \
        lanes_store(da, t, i, w, d *lanes_load(b, t, i, w) * lanes_##f##_slope(v));                \
        lanes_store(db, t, i, w, d *lanes_##f(v));                                                 \
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
    const int64_t n = lra_elements(c->y) / 2;
    void *db = t_to(c->out, c->y->type, n);
#define CASE(f, kind)                                                                              \
    case LRA_GATE_##kind: {                                                                        \
        LANES_BODY(n, c->y->type, f##_gate_back, c->in[0], c->in[1], c->in[2], c->out, db)         \
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

static int grad_shape(lra_tensor *y, lra_err *e)
{
    if (shape(y, e) != 0) return LRA_FAILED;
    y->shape = LRA_SHAPE(2, lra_elements(y->src[0]));
    return 0;
}

static void grad(lra_tensor *y, lra_tensor *dy, lra_tensor **dx)
{
    lra_tensor *src[] = {y->src[0], y->src[1], lra_cast(dy, y->type)};
    lra_tensor *both = lra_node(&lra_op_gate_grad, y->graph, 3, src, y->args, sizeof(gate_args));
    for (int i = 0; i < 2; i++) dx[i] = lra_reshape(lra_slice(both, 0, i, 1), y->shape);
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
    lra_tensor *src[] = {lra_sample_input(g, "a", "normal", sample_shape(i)),
                         lra_sample_input(g, "b", "normal", sample_shape(i)),
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
                                 .flags = LRA_NOGRAD,
                                 .shape = grad_shape,
                                 .cpu = LRA_BODIES(gate_grad),
                                 .sample = grad_sample};
#endif
