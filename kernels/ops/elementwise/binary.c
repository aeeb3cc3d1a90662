/* a + b, a - b, a b, a / b, element by element. The builders give both sources the same shape
 * (lra_broadcast) and the same type: elem, if one is real and the other elem. */
#include "kernels/ops/lanes_template.h"

#define BODY(name, operator)                                                                       \
    LRA_ROW_FN void name##_lanes(int64_t i, int64_t w, lra_type t, const void *a, const void *b,   \
                                 void *y)                                                          \
    {                                                                                              \
        lanes_store(y, t, i, w, lanes_load(a, t, i, w) operator lanes_load(b, t, i, w));           \
    }                                                                                              \
    LRA_BODY(name)                                                                                 \
    {                                                                                              \
        LANES_BODY(lra_elements(c->y), c->y->type, name##_lanes, c->in[0], c->in[1], c->out)       \
    }
BODY(add, +)
BODY(sub, -)
BODY(mul, *)
BODY(div, /)

#if LRA_RECORD
#include "kernels/ops/shape/broadcast.h"

LRA_DECLARE(add)
LRA_DECLARE(sub)
LRA_DECLARE(mul)
LRA_DECLARE(div)

static int shape(lra_tensor *y, lra_err *e)
{
    const lra_tensor *a = y->src[0], *b = y->src[1];
    if (lra_expect_float(a, "the first source", e) != 0) return LRA_FAILED;
    if (lra_expect_float(b, "the second source", e) != 0) return LRA_FAILED;
    if (lra_expect_shape(b, a->shape, "the second source", e) != 0) return LRA_FAILED;
    y->shape = a->shape;
    y->type = a->type;
    return 0;
}

/* Computes the broadcast shape of a and b. Returns false if their shapes are incompatible. */
static bool join(lra_shape a, lra_shape b, lra_shape *y)
{
    *y = a.n >= b.n ? a : b;
    for (int i = 0; i < y->n; i++) {
        int64_t p = i < y->n - a.n ? 1 : a.d[i - y->n + a.n],
                q = i < y->n - b.n ? 1 : b.d[i - y->n + b.n];
        if (p != q && p != 1 && q != 1) return false;
        y->d[i] = p == 1 ? q : p;
    }
    return true;
}

static lra_tensor *build(const lra_op *op, lra_tensor *a, lra_tensor *b)
{
    lra_graph *g = a->graph;
    lra_type t = a->type == b->type ? a->type : lra_elem(g);
    /* integers are not converted: shape() reports them as an error */
    if (a->type == LRA_I32 || b->type == LRA_I32) t = a->type;
    lra_shape both;
    if (join(a->shape, b->shape, &both)) {
        a = lra_broadcast_to(a, both, t);
        b = lra_broadcast_to(b, both, t);
    } else {
        char p[96], q[96];
        lra_graph_fail(g, "%s: shapes %s and %s do not broadcast", op->name,
                       lra_shape_text(a->shape, p), lra_shape_text(b->shape, q));
    }
    return lra_node(op, g, 2, (lra_tensor *[]){a, b}, NULL, 0);
}

lra_tensor *lra_add(lra_tensor *a, lra_tensor *b)
{
    return build(&lra_op_add, a, b);
}
lra_tensor *lra_sub(lra_tensor *a, lra_tensor *b)
{
    return build(&lra_op_sub, a, b);
}
lra_tensor *lra_mul(lra_tensor *a, lra_tensor *b)
{
    return build(&lra_op_mul, a, b);
}

lra_tensor *lra_div(lra_tensor *a, lra_tensor *b)
{
    return build(&lra_op_div, a, b);
}

static void add_grad(lra_tensor *y, lra_tensor *dy, lra_tensor **dx)
{
    (void)y;
    dx[0] = dx[1] = dy;
}
static void sub_grad(lra_tensor *y, lra_tensor *dy, lra_tensor **dx)
{
    (void)y;
    dx[0] = dy;
    dx[1] = lra_affine(dy, -1, 0);
}
static void mul_grad(lra_tensor *y, lra_tensor *dy, lra_tensor **dx)
{
    dx[0] = lra_mul(dy, y->src[1]);
    dx[1] = lra_mul(dy, y->src[0]);
}

static void div_grad(lra_tensor *y, lra_tensor *dy, lra_tensor **dx)
{
    dx[0] = lra_div(dy, y->src[1]);
    dx[1] = lra_affine(lra_mul(dx[0], y), -1, 0);
}

static lra_tensor *sample(const lra_op *op, lra_graph *g, int i)
{
    const lra_shape a[] = {LRA_SHAPE(3, 5), LRA_SHAPE(2, 3, 5), LRA_SHAPE(7), LRA_SHAPE(2, 1, 4),
                           LRA_SHAPE(3, 1)};
    const lra_shape b[] = {LRA_SHAPE(3, 5), LRA_SHAPE(5), LRA_SHAPE(4, 7), LRA_SHAPE(2, 3, 4),
                           LRA_SHAPE(2, 1, 5)};
    const char *fill = op == &lra_op_div ? "positive" : "normal";
    if (i == 5) { /* sample in which both sources are the same tensor */
        lra_tensor *x = lra_sample_input(g, "a", fill, LRA_SHAPE(9));
        return build(op, x, x);
    }
    if (i > 5) return NULL;
    return build(op, lra_sample_input(g, "a", "normal", a[i]),
                 lra_sample_input(g, "b", fill, b[i]));
}
static lra_tensor *add_sample(lra_graph *g, int i)
{
    return sample(&lra_op_add, g, i);
}
static lra_tensor *sub_sample(lra_graph *g, int i)
{
    return sample(&lra_op_sub, g, i);
}
static lra_tensor *mul_sample(lra_graph *g, int i)
{
    return sample(&lra_op_mul, g, i);
}
static lra_tensor *div_sample(lra_graph *g, int i)
{
    return sample(&lra_op_div, g, i);
}

const lra_op lra_op_add = {.name = "add",
                           .flags = LRA_INPLACE,
                           .shape = shape,
                           .grad = add_grad,
                           .cpu = LRA_BODIES(add),
                           .sample = add_sample};
const lra_op lra_op_sub = {.name = "sub",
                           .flags = LRA_INPLACE,
                           .shape = shape,
                           .grad = sub_grad,
                           .cpu = LRA_BODIES(sub),
                           .sample = sub_sample};
const lra_op lra_op_mul = {.name = "mul",
                           .flags = LRA_INPLACE,
                           .shape = shape,
                           .grad = mul_grad,
                           .cpu = LRA_BODIES(mul),
                           .sample = mul_sample};
const lra_op lra_op_div = {.name = "div",
                           .flags = LRA_INPLACE,
                           .shape = shape,
                           .grad = div_grad,
                           .cpu = LRA_BODIES(div),
                           .sample = div_sample};
#endif
