/* Elementwise functions of one variable: y = f(x) with dx = dy f'(z), where z is x or y as
 * UNARY_OPS specifies; and y = scale x + shift. Formulas: unary_body.h. */
#include "kernels/ops/elementwise/activation_lanes_template.h"
#include "kernels/ops/args.h"
#include "kernels/ops/elementwise/unary_body.h"

/* ---- value and derivative of a vector -------------------------------------------------------- */

/* Defines the vector version of functions without vector code: they are computed lane by lane. */
#define LANE_BY_LANE(name)                                                                         \
    LRA_ROW_FN lanes lanes_##name(lanes v)                                                         \
    {                                                                                              \
        real part[LANES];                                                                          \
        lanes_write(part, v);                                                                      \
        for (int l = 0; l < LANES; l++) part[l] = name(part[l]);                                   \
        return lanes_read(part);                                                                   \
    }
LANE_BY_LANE(softplus_f)
LANE_BY_LANE(log_f)
LANE_BY_LANE(sin_f)
LANE_BY_LANE(cos_f)
LANE_BY_LANE(sin_d)
LANE_BY_LANE(cos_d)

#define lanes_relu_f       lanes_relu
#define lanes_relu_d       lanes_relu_slope
#define lanes_elu_one_f    lanes_elu_one
#define lanes_elu_one_d    lanes_elu_one_slope
#define lanes_gelu_f       lanes_gelu
#define lanes_gelu_d       lanes_gelu_slope
#define lanes_gelu_tanh_f  lanes_gelu_tanh
#define lanes_gelu_tanh_d  lanes_gelu_tanh_slope
#define lanes_silu_f       lanes_silu
#define lanes_silu_d       lanes_silu_slope
#define lanes_tanh_f       lanes_tanh
#define lanes_tanh_d(y)    (1 - (y) * (y))
#define lanes_sigmoid_f    lanes_sigmoid
#define lanes_sigmoid_d(y) ((y) * (1 - (y)))
#define lanes_exp_f        lanes_exp
#define lanes_exp_d(y)     (y)
#define lanes_softplus_d   lanes_sigmoid
#define lanes_log_d(x)     (1 / (x))
#define lanes_sqrt_f       lanes_sqrt
#define lanes_sqrt_d(y)    (R(0.5) / (y))

/* ---- bodies ---------------------------------------------------------------------------------- */

#define BODIES(name, from, fill)                                                                   \
    LRA_ROW_FN void name##_value(int64_t i, int64_t w, lra_type t, const void *x, void *y)         \
    {                                                                                              \
        lanes_store(y, t, i, w, lanes_##name##_f(lanes_load(x, t, i, w)));                         \
    }                                                                                              \
    LRA_ROW_FN void name##_slope(int64_t i, int64_t w, lra_type t, const void *dy, const void *z,  \
                                 void *dx)                                                         \
    {                                                                                              \
        lanes slope = lanes_##name##_d(lanes_load(z, t, i, w));                                    \
        lanes_store(dx, t, i, w, lanes_load(dy, t, i, w) * slope);                                 \
    }                                                                                              \
    LRA_BODY(name){LANES_BODY(lra_elements(c->y), c->y->type, name##_value, c->in[0],              \
                              c->out)} LRA_BODY(name##_grad)                                       \
    {                                                                                              \
        LANES_BODY(lra_elements(c->y), c->y->type, name##_slope, c->in[0], c->in[1], c->out)       \
    }
UNARY_OPS(BODIES)

LRA_ROW_FN void affine_value(int64_t i, int64_t w, lra_type t, real scale, real shift,
                             const void *x, void *y)
{
    lanes_store(y, t, i, w, scale * lanes_load(x, t, i, w) + shift);
}
LRA_BODY(affine)
{
    const affine_args *a = c->y->args;
    LANES_BODY(lra_elements(c->y), c->y->type, affine_value, (real)a->scale, (real)a->shift,
               c->in[0], c->out)
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
