/* y = x / sqrt(mean x^2 + eps) over the last dimension;  dx = (dy - y mean(dy y)) / sqrt(mean x^2 +
 * eps).
 * lra_rms_norm() adds a gain: RMSNorm (Zhang & Sennrich 2019) has a gain per channel, ScaleNorm
 * (Nguyen & Salazar 2019) has one gain. */
#include "kernels/ops/args.h"
#include "kernels/ops/lanes_template.h"

LRA_ROW_FN void add_product(int64_t i, int64_t w, lra_type t, const void *a, const void *b,
                            lanes *s)
{
    *s += lanes_load(a, t, i, w) * lanes_load(b, t, i, w);
}
LRA_ROW_FN real product_of(lra_type t, const void *a, const void *b, int64_t D)
{
    lanes s = {0};
    LANES_EACH(D, add_product, t, a, b, &s);
    return lanes_sum(s);
}
LRA_ROW_FN real inverse_rms(lra_type t, const void *x, int64_t D, real eps)
{
    return 1 / r_sqrt(product_of(t, x, x, D) / (real)D + eps);
}

LRA_ROW_FN void scale(int64_t i, int64_t w, lra_type t, const void *x, real r, void *y)
{
    lanes_store(y, t, i, w, lanes_load(x, t, i, w) * r);
}
LRA_ROW_FN void rms_row(lra_type t, const void *x, int64_t D, real eps, void *y)
{
    real r = inverse_rms(t, x, D, eps);
    LANES_EACH(D, scale, t, x, r, y);
}

LRA_BODY(rms)
{
    int64_t D = lra_width(c->y), rows = lra_rows(c->y);
    lra_type t = c->y->type;
    real eps = (real)((const layer_norm_args *)c->y->args)->eps;
#pragma omp parallel for num_threads(c->n_threads) if (rows * D >= LRA_PARALLEL_MIN)
    for (int64_t i = 0; i < rows; i++)
        LRA_BY_TYPE(rms_row, t, t_at(c->in[0], t, i * D), D, eps, t_to(c->out, t, i * D));
}

LRA_ROW_FN void scale_both(int64_t i, int64_t w, lra_type t, const void *dy, const void *x, real r,
                           real s, void *dx)
{
    lanes_store(dx, t, i, w, r * (lanes_load(dy, t, i, w) - lanes_load(x, t, i, w) * s));
}
LRA_ROW_FN void grad_row(lra_type t, const void *dy, const void *x, int64_t D, real eps, void *dx)
{
    real r = inverse_rms(t, x, D, eps), s = product_of(t, dy, x, D) * r * r / (real)D;
    LANES_EACH(D, scale_both, t, dy, x, r, s, dx);
}

/* sources: dy, x */
LRA_BODY(rms_grad)
{
    int64_t D = lra_width(c->y), rows = lra_rows(c->y);
    lra_type t = c->y->type;
    real eps = (real)((const layer_norm_args *)c->y->args)->eps;
#pragma omp parallel for num_threads(c->n_threads) if (rows * D >= LRA_PARALLEL_MIN)
    for (int64_t i = 0; i < rows; i++)
        LRA_BY_TYPE(grad_row, t, t_at(c->in[0], t, i * D), t_at(c->in[1], t, i * D), D, eps,
                    t_to(c->out, t, i * D));
}

#if LRA_RECORD
LRA_DECLARE(rms)
LRA_DECLARE(rms_grad)

static int shape(lra_tensor *y, lra_err *e)
{
    const lra_tensor *x = y->src[0];
    for (int i = 0; i < y->n_src; i++) {
        if (lra_expect_float(y->src[i], "a source", e) != 0) return LRA_FAILED;
        if (lra_expect_shape(y->src[i], x->shape, "a source", e) != 0) return LRA_FAILED;
    }
    y->shape = x->shape;
    y->type = x->type;
    return 0;
}

static double flops(const lra_tensor *y)
{
    return 4 * (double)lra_elements(y);
}

static void grad(lra_tensor *y, lra_tensor *dy, lra_tensor **dx)
{
    lra_tensor *src[] = {lra_cast(dy, y->type), y->src[0]};
    dx[0] = lra_node(&lra_op_rms_grad, y->graph, 2, src, y->args, sizeof(layer_norm_args));
}

lra_tensor *lra_rms_norm(lra_tensor *x, lra_tensor *gain, double eps)
{
    layer_norm_args a = {eps > 0 ? eps : 1e-5};
    lra_tensor *y = lra_node(&lra_op_rms, x->graph, 1, &x, &a, sizeof a);
    return gain ? lra_mul(y, gain) : y;
}

static lra_tensor *sample_rows(lra_graph *g, const char *name, int i)
{
    const lra_shape s[] = {LRA_SHAPE(3, 7), LRA_SHAPE(2, 3, 65), LRA_SHAPE(5, 1)};
    return i > 2 ? NULL : lra_sample_input(g, name, "normal", s[i]);
}
static lra_tensor *sample(lra_graph *g, int i)
{
    lra_tensor *x = sample_rows(g, "x", i);
    if (!x || i == 0) return x ? lra_rms_norm(x, NULL, 0) : NULL;
    lra_shape s = i == 1 ? LRA_SHAPE(65) : (lra_shape){0};
    return lra_rms_norm(x, lra_sample_input(g, "gain", "normal", s), 0.1);
}
static lra_tensor *grad_sample(lra_graph *g, int i)
{
    layer_norm_args a = {1e-2};
    lra_tensor *src[] = {sample_rows(g, "dy", i), sample_rows(g, "x", i)};
    return src[0] ? lra_node(&lra_op_rms_grad, g, 2, src, &a, sizeof a) : NULL;
}

const lra_op lra_op_rms = {.name = "rms",
                           .flags = LRA_INPLACE,
                           .shape = shape,
                           .grad = grad,
                           .flops = flops,
                           .cpu = LRA_BODIES(rms),
                           .sample = sample};
const lra_op lra_op_rms_grad = {.name = "rms_grad",
                                .flags = LRA_INPLACE | LRA_NOGRAD,
                                .shape = shape,
                                .flops = flops,
                                .cpu = LRA_BODIES(rms_grad),
                                .sample = grad_sample};
#endif
