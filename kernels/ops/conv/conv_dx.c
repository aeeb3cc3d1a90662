/* Gradient of a convolution with respect to x: dx[t] = sum_k dy[t - (k - (K-1)/2) dilation] w[k]^T.
 * This is the convolution of dy with reversed taps and with input and output channels exchanged.
 * Rows t >= length of dy are read as zero; those of dx are zero. The op is linear in dy and w: its
 * own gradients are a convolution and a conv_dw. */
#include "kernels/ops/args.h"
#include "kernels/ops/conv/conv_shape.h"
#include "kernels/ops/dense/product.h"
#include "kernels/ops/conv/conv_template.h"

static inline conv_sizes sizes_of(const lra_tensor *y)
{
    const conv_dx_args *a = y->args;
    const lra_shape *w = &y->src[1]->shape;
    return conv_sizes_of(y->shape.d[0], y->shape.d[1], w->d[0], a->groups, w->d[2] / a->groups,
                         w->d[1], a->dilation);
}

LRA_BODY(conv_dx)
{
    const conv_dx_args *a = c->y->args;
    conv_sizes s = sizes_of(c->y);
    int64_t H = lra_width(c->y->src[0]), tap = s.n_out * H;
    conv_job job = {
        .x = c->in[0],
        .w = c->in[1],
        .step = {.start = (s.K - 1) * tap, .tap = -tap, .in = 1, .out = H, .group = s.n_in},
        .length = a->has_length ? c->in[2] : NULL,
        .act = LRA_ACT_NONE,
        .y = c->out};
    conv_run(&s, &job, c->scratch, c->n_threads);
}

#if LRA_RECORD
LRA_DECLARE(conv_dx)

static int shape(lra_tensor *y, lra_err *e)
{
    const conv_dx_args *a = y->args;
    const lra_tensor *dy = y->src[0], *w = y->src[1];
    if (conv_check(dy, "dy", "(B,T,H)", w, a->groups, a->dilation, e) != 0) return LRA_FAILED;
    int64_t B = dy->shape.d[0], T = dy->shape.d[1], H = lra_width(w);
    if (lra_expect_shape(dy, LRA_SHAPE(B, T, H), "dy", e) != 0) return LRA_FAILED;
    y->shape = LRA_SHAPE(B, T, w->shape.d[1] * a->groups);
    y->type = lra_elem(y->graph);
    return lra_expect_length(a->has_length ? y->src[2] : NULL, B, e);
}

static void grad(lra_tensor *y, lra_tensor *dz, lra_tensor **dx)
{
    const conv_dx_args *a = y->args;
    lra_tensor *dy = y->src[0], *w = y->src[1], *length = a->has_length ? y->src[2] : NULL;
    dx[0] = lra_conv(dz, w, NULL, LRA_ACT_NONE, length, a->groups, a->dilation);
    dx[1] = lra_conv_dw(dz, dy, length, a->groups, w->shape.d[0], a->dilation);
}

static double flops(const lra_tensor *y)
{
    conv_sizes s = sizes_of(y);
    return 2.0 * (double)lra_elements(y) * (double)(s.K * s.n_in);
}

static int64_t scratch(const lra_tensor *y, int n_threads)
{
    conv_sizes s = sizes_of(y);
    return conv_scratch(&s, lra_graph_type(y->graph) == LRA_BF16, n_threads) *
           (int64_t)lra_type_size(lra_real(y->graph));
}

lra_tensor *lra_conv_dx(lra_tensor *dy, lra_tensor *w, lra_tensor *length, int64_t groups,
                        int64_t dilation)
{
    lra_tensor *src[3] = {lra_as_elem(dy), lra_as_weight(w), length};
    conv_dx_args a = {.groups = groups, .dilation = dilation, .has_length = length != NULL};
    return lra_node(&lra_op_conv_dx, dy->graph, length ? 3 : 2, src, &a, sizeof a);
}

static lra_tensor *sample(lra_graph *g, int i)
{
    static const struct {
        int64_t K, D, H, groups, dilation;
        bool length;
    } s[] = {{3, 3, 5, 1, 1, false}, {1, 2, 3, 1, 1, true}, {5, 4, 6, 2, 1, true},
             {15, 2, 2, 1, 1, true}, {3, 3, 5, 1, 2, true}, {5, 4, 6, 2, 3, true}};
    if (i >= (int)(sizeof s / sizeof *s)) return NULL;
    return lra_conv_dx(
        lra_sample_input(g, "dy", "normal", LRA_SHAPE(2, 7, s[i].H)),
        lra_sample_input(g, "w", "normal", LRA_SHAPE(s[i].K, s[i].D / s[i].groups, s[i].H)),
        s[i].length ? lra_sample_input(g, "length", "length:7", LRA_SHAPE(2)) : NULL, s[i].groups,
        s[i].dilation);
}

const lra_op lra_op_conv_dx = {.name = "conv_dx",
                               .shadow = 1u << 1,
                               .shape = shape,
                               .grad = grad,
                               .flops = flops,
                               .scratch = scratch,
                               .cuda_scratch = lra_no_scratch,
                               .cpu = LRA_BODIES(conv_dx),
                               .sample = sample};
#endif
