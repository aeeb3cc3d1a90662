/* Elementwise functions of one variable, y = f(x) with dx = dy f'(z), z = x or y as UNARY_OPS says;
 * and y = scale x + shift.  Formulas: unary_fn.h. */
#include "kernels/ops/args.h"
#include "kernels/ops/typed.h"
#include "kernels/ops/unary_fn.h"

#define BODIES(name, from, fill)                                                                   \
    LRA_BODY(name)                                                                                 \
    {                                                                                              \
        int64_t n = lra_elements(c->y);                                                            \
        lra_type t = c->y->type;                                                                   \
        const void *x = c->in[0];                                                                  \
        void *y = c->out;                                                                          \
        LRA_EACH(i)                                                                                \
        t_store(y, t, i, name##_f(t_load(x, t, i)));                                               \
    }                                                                                              \
    LRA_BODY(name##_grad)                                                                          \
    {                                                                                              \
        int64_t n = lra_elements(c->y);                                                            \
        lra_type t = c->y->type;                                                                   \
        const void *dy = c->in[0], *z = c->in[1];                                                  \
        void *dx = c->out;                                                                         \
        LRA_EACH(i)                                                                                \
        t_store(dx, t, i, t_load(dy, t, i) * name##_d(t_load(z, t, i)));                           \
    }
UNARY_OPS(BODIES)

LRA_BODY(affine)
{
    const affine_args *a = c->y->args;
    int64_t n = lra_elements(c->y);
    lra_type t = c->y->type;
    const void *x = c->in[0];
    void *y = c->out;
    real scale = (real)a->scale, shift = (real)a->shift;
    LRA_EACH(i) t_store(y, t, i, scale * t_load(x, t, i) + shift);
}

#if LRA_RECORD
static int same_shape(lra_tensor *y, lra_err *e)
{
    const lra_tensor *x = y->src[0];
    if (lra_expect_float(x, "the source", e) != 0) return LRA_FAILED;
    for (int i = 1; i < y->n_src; i++) {
        if (lra_expect_float(y->src[i], "a source", e) != 0) return LRA_FAILED;
        if (lra_expect_shape(y->src[i], x->shape, "a source", e) != 0) return LRA_FAILED;
    }
    y->shape = x->shape;
    y->type = x->type;
    return 0;
}

static lra_tensor *sample_x(lra_graph *g, const char *fill, int i)
{
    if (i == 0) return lra_sample_input(g, "x", fill, LRA_SHAPE(3, 7));
    if (i == 1) return lra_sample_input(g, "x", fill, LRA_SHAPE(2, 5, 33));
    return NULL;
}

#define RECORDS(fn, from, fill)                                                                    \
    LRA_DECLARE(fn)                                                                                \
    LRA_DECLARE(fn##_grad)                                                                         \
    static void fn##_emit(lra_tensor *y, lra_tensor *dy, lra_tensor **dx)                          \
    {                                                                                              \
        lra_tensor *x = y->src[0];                                                                 \
        (void)x;                                                                                   \
        dx[0] = lra_node(&lra_op_##fn##_grad, y->graph, 2,                                         \
                         (lra_tensor *[]){lra_cast(dy, y->type), from}, NULL, 0);                  \
    }                                                                                              \
    static lra_tensor *fn##_sample(lra_graph *g, int i)                                            \
    {                                                                                              \
        lra_tensor *x = sample_x(g, fill, i);                                                      \
        return x ? lra_##fn(x) : NULL;                                                             \
    }                                                                                              \
    static lra_tensor *fn##_grad_sample(lra_graph *g, int i)                                       \
    {                                                                                              \
        lra_tensor *z = sample_x(g, fill, i);                                                      \
        if (!z) return NULL;                                                                       \
        lra_tensor *dy = lra_sample_input(g, "dy", "normal", z->shape);                            \
        return lra_node(&lra_op_##fn##_grad, g, 2, (lra_tensor *[]){dy, z}, NULL, 0);              \
    }                                                                                              \
    lra_tensor *lra_##fn(lra_tensor *x)                                                            \
    {                                                                                              \
        return lra_node(&lra_op_##fn, x->graph, 1, &x, NULL, 0);                                   \
    }                                                                                              \
    const lra_op lra_op_##fn = {.name = #fn,                                                       \
                                .flags = LRA_INPLACE,                                              \
                                .shape = same_shape,                                               \
                                .grad = fn##_emit,                                                 \
                                .cpu = LRA_BODIES(fn),                                             \
                                .sample = fn##_sample};                                            \
    const lra_op lra_op_##fn##_grad = {.name = #fn "_grad",                                        \
                                       .flags = LRA_INPLACE | LRA_NOGRAD,                          \
                                       .shape = same_shape,                                        \
                                       .cpu = LRA_BODIES(fn##_grad),                               \
                                       .sample = fn##_grad_sample};
UNARY_OPS(RECORDS)

lra_tensor *lra_activation(lra_tensor *x, lra_act act)
{
    switch (act) {
    case LRA_ACT_RELU: return lra_relu(x);
    case LRA_ACT_GELU: return lra_gelu(x);
    case LRA_ACT_GELU_TANH: return lra_gelu_tanh(x);
    case LRA_ACT_SILU: return lra_silu(x);
    case LRA_ACT_NONE: break;
    }
    return x;
}

LRA_DECLARE(affine)

static void affine_grad(lra_tensor *y, lra_tensor *dy, lra_tensor **dx)
{
    const affine_args *a = y->args;
    dx[0] = lra_affine(dy, a->scale, 0);
}

static lra_tensor *affine_sample(lra_graph *g, int i)
{
    lra_tensor *x = sample_x(g, "normal", i);
    return x ? lra_affine(x, -1.5, 0.25) : NULL;
}

lra_tensor *lra_affine(lra_tensor *x, double scale, double shift)
{
    affine_args a = {scale, shift};
    return lra_node(&lra_op_affine, x->graph, 1, &x, &a, sizeof a);
}

const lra_op lra_op_affine = {.name = "affine",
                              .flags = LRA_INPLACE,
                              .shape = same_shape,
                              .grad = affine_grad,
                              .cpu = LRA_BODIES(affine),
                              .sample = affine_sample};
#endif
