/* dx = dy act'(v), zero for t >= length: the backward pass of an activation that a product applied
 * in its epilogue. The gradient with respect to v is implemented only where act'' is zero (none and
 * relu). */
#include "kernels/ops/elementwise/activation_lanes_template.h"
#include "kernels/ops/args.h"
#include "kernels/ops/dense/product.h"

#define SLOPE(act)                                                                                 \
    LRA_ROW_FN void act##_dx(int64_t i, int64_t w, lra_type t, const elem *dy, const elem *v,      \
                             elem *dx)                                                             \
    {                                                                                              \
        lanes slope = lanes_##act##_slope(lanes_load(v, t, i, w));                                 \
        lanes_store(dx, t, i, w, lanes_load(dy, t, i, w) * slope);                                 \
    }
SLOPE(relu)
SLOPE(gelu)
SLOPE(gelu_tanh)
SLOPE(silu)

static inline void row(int64_t n, lra_act act, const elem *dy, const elem *v, elem *dx)
{
    switch (act) {
    case LRA_ACT_NONE: memmove(dx, dy, (size_t)n * sizeof *dx); break;
    case LRA_ACT_RELU: LANES_EACH(n, relu_dx, LRA_ELEM, dy, v, dx); break;
    case LRA_ACT_GELU: LANES_EACH(n, gelu_dx, LRA_ELEM, dy, v, dx); break;
    case LRA_ACT_GELU_TANH: LANES_EACH(n, gelu_tanh_dx, LRA_ELEM, dy, v, dx); break;
    case LRA_ACT_SILU: LANES_EACH(n, silu_dx, LRA_ELEM, dy, v, dx); break;
    }
}

LRA_BODY(activation_backward)
{
    const activation_backward_args *a = c->y->args;
    int64_t n_rows = lra_rows(c->y), D = lra_width(c->y);
    bool has_v = a->act != LRA_ACT_NONE;
    const int32_t *length = a->has_length ? c->in[1 + has_v] : NULL;
    int64_t T = length ? c->y->shape.d[1] : n_rows;
#pragma omp parallel for num_threads(c->n_threads)                                                 \
    schedule(static) if (n_rows * D >= LRA_PARALLEL_MIN)
    for (int64_t i = 0; i < n_rows; i++) {
        elem *dx = (elem *)c->out + i * D;
        const elem *dy = (const elem *)c->in[0] + i * D;
        const elem *v = has_v ? (const elem *)c->in[1] + i * D : NULL;
        if (length && i % T >= length[i / T])
            memset(dx, 0, (size_t)D * sizeof *dx);
        else
            row(D, a->act, dy, v, dx);
    }
}

#if LRA_RECORD
LRA_DECLARE(activation_backward)

static int shape(lra_tensor *y, lra_err *e)
{
    const activation_backward_args *a = y->args;
    const lra_tensor *dy = y->src[0];
    bool has_v = a->act != LRA_ACT_NONE;
    if (lra_expect_float(dy, "dy", e) != 0) return LRA_FAILED;
    y->shape = dy->shape;
    y->type = lra_elem(y->graph);
    if (has_v && (lra_expect_float(y->src[1], "v", e) != 0 ||
                  lra_expect_shape(y->src[1], dy->shape, "v", e) != 0))
        return LRA_FAILED;
    if (!a->has_length) return 0;
    if (dy->shape.n != 3) return lra_fail(e, "dy has %d dimensions, expected (B,T,D)", dy->shape.n);
    return lra_expect_length(y->src[1 + has_v], dy->shape.d[0], e);
}

static void grad(lra_tensor *y, lra_tensor *dz, lra_tensor **dx)
{
    const activation_backward_args *a = y->args;
    bool has_v = a->act != LRA_ACT_NONE;
    if (has_v && a->act != LRA_ACT_RELU)
        lra_graph_fail(
            y->graph,
            "activation_backward: second derivatives exist only for no activation and relu");
    dx[0] = lra_activation_backward(dz, has_v ? y->src[1] : NULL, a->act,
                                    a->has_length ? y->src[1 + has_v] : NULL);
}

lra_tensor *lra_activation_backward(lra_tensor *dy, lra_tensor *v, lra_act act, lra_tensor *length)
{
    lra_tensor *src[3] = {lra_as_elem(dy)};
    int n = 1;
    if (act == LRA_ACT_NONE && !length) return dy;
    if (act != LRA_ACT_NONE) src[n++] = lra_as_elem(v);
    if (length) src[n++] = length;
    activation_backward_args a = {.act = act, .has_length = length != NULL};
    return lra_node(&lra_op_activation_backward, dy->graph, n, src, &a, sizeof a);
}

lra_tensor *lra_as_elem(lra_tensor *x)
{
    lra_type elem_type = lra_elem(x->graph);
    return x->type == elem_type || x->type == LRA_I32 ? x : lra_cast(x, elem_type);
}

lra_tensor *lra_as_real(lra_tensor *x)
{
    lra_type real_type = lra_real(x->graph);
    return x->type == real_type || x->type == LRA_I32 ? x : lra_cast(x, real_type);
}

lra_tensor *lra_as_weight(lra_tensor *x)
{
    return x->op == &lra_op_param ? x : lra_as_elem(x);
}

lra_tensor *lra_column_sum(lra_tensor *dy)
{
    return lra_reduce_sum(dy, LRA_SHAPE(lra_width(dy))); /* the op reads elem and sums in real */
}

static lra_tensor *sample(lra_graph *g, int i)
{
    static const struct {
        lra_act act;
        bool length;
    } s[] = {{LRA_ACT_RELU, false}, {LRA_ACT_RELU, true}, {LRA_ACT_NONE, true}};
    if (i >= (int)(sizeof s / sizeof *s)) return NULL;
    lra_tensor *dy = lra_sample_input(g, "dy", "normal", LRA_SHAPE(3, 5, 4));
    lra_tensor *v = NULL;
    if (s[i].act != LRA_ACT_NONE) v = lra_sample_input(g, "v", "away", LRA_SHAPE(3, 5, 4));
    lra_tensor *length = s[i].length ? lra_sample_input(g, "length", "length:5", LRA_SHAPE(3))
                                     : NULL;
    return lra_activation_backward(dy, v, s[i].act, length);
}

const lra_op lra_op_activation_backward = {.name = "activation_backward",
                                           .shape = shape,
                                           .grad = grad,
                                           .cpu = LRA_BODIES(activation_backward),
                                           .sample = sample};
#endif
