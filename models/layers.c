/* Layers that models share. */
#include "models/layers.h"

#include "kernels/graph/op.h"

/* Parameters of a layer, initialised uniform in +-1/sqrt(fan); fan: number of inputs per output. */
static lra_tensor *weight(lra_graph *g, const char *name, lra_shape s, int64_t fan)
{
    return lra_param(g, name, s, LRA_SPEC(LRA_FAN(fan), .layout = LRA_LAYOUT_REVERSED));
}

static lra_tensor *bias(lra_graph *g, const char *name, int64_t n, int64_t fan)
{
    return lra_param(g, name, LRA_SHAPE(n), LRA_SPEC(LRA_FAN(fan), .no_decay = true));
}

lra_tensor *lra_layer_linear(lra_tensor *x, const char *name, int64_t n_out, lra_act act,
                             lra_tensor *residual)
{
    lra_graph *g = x->graph;
    int64_t n_in = lra_width(x);
    lra_push(g, "%s", name);
    lra_tensor *w = weight(g, "w", LRA_SHAPE(n_in, n_out), n_in);
    lra_tensor *y = lra_linear(x, w, bias(g, "b", n_out, n_in), act, residual);
    lra_pop(g);
    return y;
}

lra_tensor *lra_layer_linear_from(lra_tensor *x, const char *name, int64_t n_out,
                                  const lra_param_spec *weights, const lra_param_spec *biases)
{
    lra_graph *g = x->graph;
    lra_param_spec matrix = *weights;
    matrix.layout = LRA_LAYOUT_REVERSED;
    lra_push(g, "%s", name);
    lra_tensor *w = lra_param(g, "w", LRA_SHAPE(lra_width(x), n_out), &matrix);
    lra_tensor *b = biases ? lra_param(g, "b", LRA_SHAPE(n_out), biases) : NULL;
    lra_tensor *y = lra_linear(x, w, b, LRA_ACT_NONE, NULL);
    lra_pop(g);
    return y;
}

lra_tensor *lra_layer_linear_real(lra_tensor *x, const char *name, int64_t n_out)
{
    lra_graph *g = x->graph;
    int64_t B = x->shape.d[0], n_in = lra_width(x);
    lra_push(g, "%s", name);
    lra_tensor *w = weight(g, "w", LRA_SHAPE(n_in, n_out), n_in);
    lra_tensor *terms = lra_mul(
        lra_reshape(lra_cast(x, lra_real(g)), LRA_SHAPE(B, n_in, 1)),
        lra_broadcast(lra_reshape(w, LRA_SHAPE(1, n_in, n_out)), LRA_SHAPE(B, n_in, n_out)));
    lra_tensor *y = lra_reshape(lra_reduce_sum(terms, LRA_SHAPE(B, 1, n_out)), LRA_SHAPE(B, n_out));
    y = lra_add(y, bias(g, "b", n_out, n_in));
    lra_pop(g);
    return y;
}

lra_tensor *lra_layer_stream(lra_tensor *x)
{
    return lra_cast(x, lra_real(x->graph));
}

lra_tensor *lra_layer_stream_add(lra_tensor *stream, lra_tensor *y)
{
    lra_tensor *sum = lra_with_residual(y, stream);
    return sum ? sum : lra_add(stream, lra_cast(y, stream->type));
}

lra_tensor *lra_layer_of_stream(lra_tensor *stream)
{
    return lra_cast(stream, lra_elem(stream->graph));
}

lra_tensor *lra_layer_weight(lra_tensor *x)
{
    while (x->op->flags & LRA_ALIAS) x = x->src[0];
    if (x->op == &lra_op_linear) return x->src[1];
    lra_graph_fail(x->graph, "'%s' is not the output of a linear layer", x->op->name);
    return x;
}

lra_tensor *lra_layer_heads(lra_tensor *x, int64_t n)
{
    lra_shape s = x->shape;
    if (s.d[2] % n) {
        lra_graph_fail(x->graph, "%lld channels cannot be divided into %lld heads",
                       (long long)s.d[2], (long long)n);
        n = 1;
    }
    return lra_reshape(x, LRA_SHAPE(s.d[0], s.d[1], n, s.d[2] / n));
}

/* Creates gain and bias of a norm over the channels of x. */
static void scales(lra_tensor *x, lra_tensor **gain, lra_tensor **shift)
{
    lra_shape s = LRA_SHAPE(lra_width(x));
    *gain = lra_param(x->graph, "gain", s, LRA_SPEC(LRA_CONSTANT(1), .no_decay = true));
    *shift = lra_param(x->graph, "bias", s, LRA_SPEC(.no_decay = true));
}

lra_tensor *lra_layer_layer_norm(lra_tensor *x, const char *name)
{
    return lra_layer_layer_norm_eps(x, name, 1e-5);
}

lra_tensor *lra_layer_layer_norm_eps(lra_tensor *x, const char *name, double eps)
{
    lra_tensor *gain, *shift;
    lra_push(x->graph, "%s", name);
    scales(x, &gain, &shift);
    lra_tensor *y = lra_layer_norm(x, gain, shift, eps);
    lra_pop(x->graph);
    return y;
}

lra_tensor *lra_layer_batch_norm(lra_tensor *x, const char *name, lra_tensor *length)
{
    return lra_layer_batch_norm_by(x, name, length, 0.1);
}

lra_tensor *lra_layer_batch_norm_by(lra_tensor *x, const char *name, lra_tensor *length,
                                    double momentum)
{
    lra_graph *g = x->graph;
    lra_shape s = LRA_SHAPE(lra_width(x));
    lra_tensor *gain, *shift;
    lra_push(g, "%s", name);
    scales(x, &gain, &shift);
    lra_tensor *mean = lra_state(g, "mean", s, NULL);
    lra_tensor *var = lra_state(g, "var", s, LRA_SPEC(LRA_CONSTANT(1)));
    lra_tensor *y = lra_batch_norm(x, length, gain, shift, mean, var, momentum, 1e-5);
    lra_pop(g);
    return y;
}

lra_tensor *lra_layer_mask(lra_tensor *x, lra_tensor *length)
{
    lra_shape s = x->shape, one = {.n = s.n};
    if (!length || s.n < 2) return x;
    for (int i = 0; i < s.n; i++) one.d[i] = i < 2 ? s.d[i] : 1;
    lra_tensor *ended = lra_cumsum(lra_one_hot(length, s.d[1]), 1, false);
    return lra_mul(x, lra_reshape(lra_affine(ended, -1, 1), one));
}

lra_tensor *lra_complex(lra_tensor *re, lra_tensor *im)
{
    return lra_concat(2, (lra_tensor *[]){re, im}, 0);
}

lra_tensor *lra_complex_mul(lra_tensor *a, lra_tensor *b)
{
    lra_tensor *ar = lra_slice(a, 0, 0, 1), *ai = lra_slice(a, 0, 1, 1);
    lra_tensor *br = lra_slice(b, 0, 0, 1), *bi = lra_slice(b, 0, 1, 1);
    return lra_complex(lra_sub(lra_mul(ar, br), lra_mul(ai, bi)),
                       lra_add(lra_mul(ar, bi), lra_mul(ai, br)));
}

lra_tensor *lra_complex_conjugate(lra_tensor *x)
{
    return lra_complex(lra_slice(x, 0, 0, 1), lra_affine(lra_slice(x, 0, 1, 1), -1, 0));
}

lra_tensor *lra_complex_div(lra_tensor *a, lra_tensor *b)
{
    lra_tensor *re = lra_slice(b, 0, 0, 1), *im = lra_slice(b, 0, 1, 1);
    lra_tensor *size = lra_add(lra_mul(re, re), lra_mul(im, im));
    return lra_complex_mul(a, lra_div(lra_complex_conjugate(b), size));
}

/* Opens the scope NAME and creates the parameters NAME/kernel and NAME/b of a convolution; the
 * caller closes the scope. */
static void open_conv(lra_tensor *x, const char *name, int64_t n_out, int64_t kernel,
                      int64_t *groups, lra_tensor **w, lra_tensor **b)
{
    lra_graph *g = x->graph;
    int64_t n_in = lra_width(x);
    if (*groups < 1 || n_in % *groups || n_out % *groups) {
        lra_graph_fail(g, "%lld groups do not divide %lld inputs and %lld outputs",
                       (long long)*groups, (long long)n_in, (long long)n_out);
        *groups = 1;
    }
    int64_t fan = kernel * n_in / *groups;
    lra_push(g, "%s", name);
    *w = weight(g, "kernel", LRA_SHAPE(kernel, n_in / *groups, n_out), fan);
    *b = bias(g, "b", n_out, fan);
}

lra_tensor *lra_layer_conv(lra_tensor *x, const char *name, int64_t n_out, int64_t kernel,
                           int64_t groups, int64_t dilation, lra_act act, lra_tensor *length)
{
    lra_tensor *w, *b;
    open_conv(x, name, n_out, kernel, &groups, &w, &b);
    lra_tensor *y = lra_conv(x, w, b, act, length, groups, dilation);
    lra_pop(x->graph);
    return y;
}

lra_tensor *lra_layer_causal_conv(lra_tensor *x, const char *name, int64_t n_out, int64_t kernel,
                                  int64_t groups, int64_t dilation, lra_act act)
{
    lra_tensor *w, *b;
    open_conv(x, name, n_out, kernel, &groups, &w, &b);
    lra_tensor *y = lra_causal_conv(x, w, b, act, groups, dilation);
    lra_pop(x->graph);
    return y;
}
