/* y = x_1 + ... + x_n, added in real from left to right and rounded once. */
#include "kernels/ops/args.h"
#include "kernels/ops/lanes_template.h"

LRA_ROW_FN void add_lanes(int64_t i, int64_t w, lra_type t, const int n, const void *const *x,
                          void *y)
{
    lanes s = lanes_load(x[0], t, i, w);
    for (int k = 1; k < n; k++) s += lanes_load(x[k], t, i, w);
    lanes_store(y, t, i, w, s);
}

LRA_BODY(add_n)
{
    const int64_t n = lra_elements(c->y);
    const int terms = c->y->n_src;
    if (terms == 2) { /* two terms: the most frequent case */
        LANES_BODY(n, c->y->type, add_lanes, 2, c->in, c->out)
    } else {
        LANES_BODY(n, c->y->type, add_lanes, terms, c->in, c->out)
    }
}

#if LRA_RECORD
LRA_DECLARE(add_n)

static int shape(lra_tensor *y, lra_err *e)
{
    const lra_tensor *x = y->src[0];
    for (int i = 0; i < y->n_src; i++) {
        if (lra_expect_float(y->src[i], "a term", e) != 0) return LRA_FAILED;
        if (lra_expect_shape(y->src[i], x->shape, "a term", e) != 0) return LRA_FAILED;
        if (y->src[i]->type != x->type) return lra_fail(e, "terms of different types");
    }
    y->shape = x->shape;
    y->type = x->type;
    return 0;
}

static void grad(lra_tensor *y, lra_tensor *dy, lra_tensor **dx)
{
    for (int i = 0; i < y->n_src; i++) dx[i] = dy;
}

static double flops(const lra_tensor *y)
{
    return (double)lra_elements(y) * (y->n_src - 1);
}

/* Index of the source that is a padding (zeros around a tensor) along `axis` whose tensor starts at
 * `at`; n if there is none. */
static int padded_at(int n, lra_tensor *const *x, int axis, int64_t at)
{
    int i = 0;
    for (; i < n; i++) {
        const slice_args *a = x[i]->args;
        if (x[i]->op == &lra_op_pad && a->axis == axis && a->from == at) break;
    }
    return i;
}

/* If the sources are zero-padded parts that together cover an axis, as gradients of slices do,
 * returns the concatenation of the parts instead of the sum. Otherwise NULL. */
static lra_tensor *filled(int n, lra_tensor *const *x)
{
    enum { MOST = 16 };
    lra_tensor *part[MOST];
    if (n > MOST || x[0]->op != &lra_op_pad) return NULL;
    int axis = ((const slice_args *)x[0]->args)->axis;
    int64_t at = 0;
    for (int k = 0; k < n; k++) {
        int i = padded_at(n, x, axis, at);
        if (i == n) return NULL;
        part[k] = x[i]->src[0];
        at += part[k]->shape.d[axis];
    }
    return at == x[0]->shape.d[axis] ? lra_concat(n, part, axis) : NULL;
}

lra_tensor *lra_add_n(int n, lra_tensor *const *x)
{
    lra_tensor *parts = n == 1 ? x[0] : filled(n, x);
    return parts ? parts : lra_node(&lra_op_add_n, x[0]->graph, n, x, NULL, 0);
}

static lra_tensor *sample(lra_graph *g, int i)
{
    if (i > 1) return NULL;
    lra_shape s = i ? LRA_SHAPE(2, 3, 33) : LRA_SHAPE(5);
    lra_tensor *x[] = {lra_sample_input(g, "a", "normal", s), lra_sample_input(g, "b", "normal", s),
                       lra_sample_input(g, "c", "normal", s)};
    return lra_add_n(3 - i, x);
}

const lra_op lra_op_add_n = {.name = "add_n",
                             .flags = LRA_INPLACE,
                             .shape = shape,
                             .grad = grad,
                             .flops = flops,
                             .cpu = LRA_BODIES(add_n),
                             .sample = sample};
#endif
