/* Convolution over time: y[t] = act(bias + sum_k x[t + (k - (K-1)/2) dilation] w[k]), zero outside
 * [0,length), one product per group. Tap 0 reads the past and tap K-1 the future, as in PyTorch's
 * Conv1d. Gradients: conv_dx.c, conv_dw.c. The gradient of relu is computed from y; for other
 * activations the sum before the activation is recomputed. */
#include <stdio.h>

#include "kernels/ops/args.h"
#include "kernels/ops/conv/conv_shape.h"
#include "kernels/ops/dense/product.h"
#include "kernels/ops/conv/conv_template.h"

static inline conv_sizes sizes_of(const lra_tensor *y)
{
    const conv_args *a = y->args;
    const lra_shape *w = &y->src[1]->shape;
    return conv_sizes_of(y->shape.d[0], y->shape.d[1], w->d[0], a->groups, w->d[1],
                         w->d[2] / a->groups, a->dilation);
}

LRA_BODY(conv)
{
    const conv_args *a = c->y->args;
    conv_sizes s = sizes_of(c->y);
    int64_t H = lra_width(c->y);
    conv_job job = {.x = c->in[0],
                    .w = c->in[1],
                    .step = {.tap = s.n_in * H, .in = H, .out = 1, .group = s.n_out},
                    .bias = a->has_bias ? c->in[2] : NULL,
                    .length = a->has_length ? c->in[2 + a->has_bias] : NULL,
                    .act = a->act,
                    .y = c->out};
    conv_run(&s, &job, c->scratch, c->n_threads);
}

#if LRA_RECORD
LRA_DECLARE(conv)

static int shape(lra_tensor *y, lra_err *e)
{
    const conv_args *a = y->args;
    const lra_tensor *x = y->src[0], *w = y->src[1];
    if (conv_check(x, "x", "(B,T,D)", w, a->groups, a->dilation, e) != 0) return LRA_FAILED;
    int64_t K = w->shape.d[0], D = lra_width(x), H = lra_width(w), G = a->groups;
    if (D % G != 0)
        return lra_fail(e, "%lld groups do not divide %lld channels", (long long)G, (long long)D);
    if (lra_expect_shape(w, LRA_SHAPE(K, D / G, H), "w", e) != 0) return LRA_FAILED;
    y->shape = LRA_SHAPE(x->shape.d[0], x->shape.d[1], H);
    y->type = lra_elem(y->graph);
    if (a->has_bias && (lra_expect_float(y->src[2], "bias", e) != 0 ||
                        lra_expect_shape(y->src[2], LRA_SHAPE(H), "bias", e) != 0))
        return LRA_FAILED;
    return lra_expect_length(a->has_length ? y->src[2 + a->has_bias] : NULL, x->shape.d[0], e);
}

static lra_tensor *build(lra_tensor *x, lra_tensor *w, lra_tensor *bias, lra_act act,
                         lra_tensor *length, int64_t groups, int64_t dilation)
{
    lra_tensor *src[4] = {lra_as_elem(x), lra_as_weight(w)};
    int n = 2;
    if (bias) src[n++] = lra_as_real(bias);
    if (length) src[n++] = length;
    conv_args a = {.act = act,
                   .has_bias = bias != NULL,
                   .has_length = length != NULL,
                   .groups = groups,
                   .dilation = dilation};
    return lra_node(&lra_op_conv, x->graph, n, src, &a, sizeof a);
}

static void grad(lra_tensor *y, lra_tensor *dy, lra_tensor **dx)
{
    const conv_args *a = y->args;
    lra_tensor *x = y->src[0], *w = y->src[1], *bias = a->has_bias ? y->src[2] : NULL;
    lra_tensor *length = a->has_length ? y->src[2 + a->has_bias] : NULL, *v = NULL;
    if (a->act == LRA_ACT_RELU)
        v = y;
    else if (a->act != LRA_ACT_NONE)
        v = build(x, w, bias, LRA_ACT_NONE, length, a->groups, a->dilation);
    lra_tensor *de = lra_activation_backward(dy, v, a->act, length);
    dx[0] = lra_conv_dx(de, w, length, a->groups, a->dilation);
    dx[1] = lra_conv_dw(x, de, length, a->groups, w->shape.d[0], a->dilation);
    if (bias) dx[2] = lra_column_sum(de);
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

/* Zeroes the taps beyond the graph's distance limit, if it has one. Tap number `zero` has distance
 * 0. */
static lra_tensor *near_taps(lra_tensor *w, int64_t zero, int64_t dilation)
{
    lra_tensor *limit = lra_next_limit(w->graph);
    return limit ? lra_distance_mask(w, limit, 0, zero, dilation) : w;
}

lra_tensor *lra_conv(lra_tensor *x, lra_tensor *w, lra_tensor *bias, lra_act act,
                     lra_tensor *length, int64_t groups, int64_t dilation)
{
    return build(x, near_taps(w, (w->shape.d[0] - 1) / 2, dilation), bias, act, length, groups,
                 dilation);
}

lra_tensor *lra_causal_conv(lra_tensor *x, lra_tensor *w, lra_tensor *bias, lra_act act,
                            int64_t groups, int64_t dilation)
{
    if (w->shape.d[0] % 2 == 0) { /* an even kernel gets a first tap of zeros */
        lra_shape tap = LRA_SHAPE(1, w->shape.d[1], w->shape.d[2]);
        w = lra_concat(2, (lra_tensor *[]){lra_zeros(w->graph, w->type, tap), w}, 0);
    }
    /* Prepending (K-1)/2 dilation rows of zeros shifts the centred convolution, so that output t
     * depends on inputs up to t only. */
    int64_t last = w->shape.d[0] - 1, before = last / 2 * dilation;
    w = near_taps(w, last, dilation);
    if (before < 1) return build(x, w, bias, act, NULL, groups, dilation);
    lra_tensor *rows[] = {
        lra_zeros(x->graph, x->type, LRA_SHAPE(x->shape.d[0], before, lra_width(x))), x};
    lra_tensor *y = build(lra_concat(2, rows, 1), w, bias, act, NULL, groups, dilation);
    return lra_slice(y, 1, 0, x->shape.d[1]);
}

static lra_tensor *sample(lra_graph *g, int i)
{
    static const struct {
        int64_t B, T, K, D, H, groups, dilation;
        bool bias, length;
        lra_act act;
    } s[] = {
        {2, 7, 3, 3, 5, 1, 1, true, false, LRA_ACT_NONE},
        {2, 5, 1, 2, 3, 1, 1, false, false, LRA_ACT_NONE},
        {3, 6, 5, 2, 4, 1, 1, true, true, LRA_ACT_GELU},
        {2, 3, 9, 2, 2, 1, 1, true, true, LRA_ACT_NONE},
        {2, 8, 3, 4, 6, 2, 1, true, true, LRA_ACT_SILU},
        {2, 5, 5, 3, 3, 3, 1, false, true, LRA_ACT_NONE},
        {1, 140, 7, 1, 2, 1, 1, true, true, LRA_ACT_NONE},
        {1, 1, 3, 2, 37, 1, 1, true, false, LRA_ACT_RELU},
        {2, 9, 3, 17, 2, 1, 1, false, true, LRA_ACT_NONE},
        {2, 4, 3, 4, 4, 4, 1, true, false, LRA_ACT_GELU_TANH},
        /* dilations above 1; in some cases T is smaller than the span of the taps */
        {2, 11, 3, 3, 5, 1, 2, true, true, LRA_ACT_GELU},
        {2, 6, 5, 2, 3, 1, 3, true, true, LRA_ACT_NONE},
        {1, 3, 3, 2, 2, 1, 40, true, false, LRA_ACT_NONE},
        {3, 9, 3, 4, 6, 2, 4, true, true, LRA_ACT_RELU},
        {2, 13, 5, 17, 2, 1, 2, false, true, LRA_ACT_NONE},
    };
    if (i >= (int)(sizeof s / sizeof *s)) return NULL;
    int64_t T = s[i].T;
    lra_tensor *x = lra_sample_input(g, "x", "normal", LRA_SHAPE(s[i].B, T, s[i].D));
    lra_tensor *w = lra_sample_input(g, "w", "normal",
                                     LRA_SHAPE(s[i].K, s[i].D / s[i].groups, s[i].H));
    lra_tensor *bias = s[i].bias ? lra_sample_input(g, "bias", "normal", LRA_SHAPE(s[i].H)) : NULL;
    char fill[32];
    snprintf(fill, sizeof fill, "length:%d", (int)T);
    lra_tensor *length = s[i].length ? lra_sample_input(g, "length", fill, LRA_SHAPE(s[i].B))
                                     : NULL;
    return lra_conv(x, w, bias, s[i].act, length, s[i].groups, s[i].dilation);
}

const lra_op lra_op_conv = {.name = "conv",
                            .shadow = 1u << 1,
                            .shape = shape,
                            .grad = grad,
                            .flops = flops,
                            .scratch = scratch,
                            .cuda_scratch = lra_no_scratch,
                            .cpu = LRA_BODIES(conv),
                            .sample = sample};
#endif
