/* Parts of layers around a matrix state. */
#include "models/matrix_state_layer.h"

#include <math.h>
#include <stdio.h>

#include "kernels/base/core/philox.h"
#include "kernels/graph/mixing.h"
#include "kernels/graph/op.h"
#include "models/layers.h"

lra_tensor *lra_state_dense(lra_tensor *x, const char *name, int64_t n)
{
    return lra_layer_linear_from(x, name, n, LRA_SPEC(LRA_FAN(lra_width(x))), NULL);
}

lra_tensor *lra_state_conv(const lra_build *b, lra_tensor *x, const char *name, int64_t taps,
                           bool bias)
{
    lra_graph *g = b->graph;
    int64_t D = lra_width(x), kernel = b->causal ? taps : 2 * taps - 1;
    if (taps == 0) return lra_silu(x);
    lra_push(g, "%s", name);
    lra_tensor *w = lra_param(g, "kernel", LRA_SHAPE(kernel, 1, D),
                              LRA_SPEC(LRA_FAN(kernel), .layout = LRA_LAYOUT_REVERSED));
    lra_tensor *shift = NULL;
    if (bias) shift = lra_param(g, "b", LRA_SHAPE(D), LRA_SPEC(LRA_FAN(kernel), .no_decay = true));
    lra_tensor *y = b->causal ? lra_causal_conv(x, w, shift, LRA_ACT_SILU, D, 1)
                              : lra_conv(x, w, shift, LRA_ACT_SILU, b->length, D, 1);
    lra_pop(g);
    return y;
}

lra_tensor *lra_state_unit(lra_tensor *x)
{
    double K = (double)lra_width(x);
    return lra_affine(lra_rms_norm(x, NULL, 1e-6 / K), 1 / sqrt(K), 0);
}

lra_tensor *lra_state_norm(lra_tensor *x, const char *name)
{
    lra_graph *g = x->graph;
    lra_push(g, "%s", name);
    lra_tensor *gain = lra_param(g, "gain", LRA_SHAPE(lra_width(x)),
                                 LRA_SPEC(LRA_CONSTANT(1), .no_decay = true));
    lra_tensor *y = lra_rms_norm(x, gain, 1e-5);
    lra_pop(g);
    return y;
}

lra_tensor *lra_state_mix(const lra_build *b, const lra_matrix_state_spec *m)
{
    lra_matrix_state_spec one = *m;
    one.length = b->length;
    lra_tensor *y = lra_matrix_state(&one);
    if (!b->causal) {
        one.back = true;
        y = lra_add(y, lra_matrix_state(&one));
    }
    lra_declare_mixing(y, &(lra_mixing){.kind = LRA_MIX_STATE,
                                        .query = m->query,
                                        .key = m->key,
                                        .value = m->value,
                                        .decay = m->decay,
                                        .correct = m->correct,
                                        .read = m->read,
                                        .both = !b->causal});
    return y;
}

/* Initial a, then shift: (2,H). data: smallest exp(a) */
static void fill_decay(const lra_fill *f, double *v)
{
    int64_t H = f->shape.d[1];
    double least = *(const double *)f->data;
    lra_rng draw = lra_rng_new(f->seed, f->stream, 0);
    for (int64_t h = 0; h < H; h++) {
        v[h] = log(least + (16 - least) * (1 - lra_rng_u01(&draw)));
        double step = exp(log(0.001) + (log(0.1) - log(0.001)) * lra_rng_u01(&draw));
        v[H + h] = step + log(-expm1(-step)); /* inverse of softplus */
    }
}

lra_tensor *lra_state_decay(lra_tensor *x, double least, lra_tensor **step)
{
    lra_graph *g = x->graph;
    lra_shape s = lra_tensor_shape(x);
    int64_t H = s.d[2];
    lra_param_spec start = {LRA_FILL(fill_decay), .no_decay = true};
    start.data = &least, start.data_size = sizeof least;
    lra_tensor *both = lra_param(g, "decay", LRA_SHAPE(2, H), &start);
    lra_tensor *rate = lra_reshape(lra_exp(lra_slice(both, 0, 0, 1)), LRA_SHAPE(1, 1, H));
    lra_tensor *shift = lra_reshape(lra_slice(both, 0, 1, 1), LRA_SHAPE(1, 1, H));
    lra_tensor *dt = lra_softplus(lra_add(lra_cast(x, lra_real(g)), shift));
    lra_shape wide = LRA_SHAPE(s.d[0], s.d[1], H, 1);
    if (step) *step = lra_reshape(dt, wide);
    return lra_reshape(lra_exp(lra_affine(lra_mul(dt, rate), -1, 0)), wide);
}

/* Value of a setting of a mixer. */
static double setting(const lra_build *b, const char *name, const char *what)
{
    char key[64];
    snprintf(key, sizeof key, "%s.%s", name, what);
    return lra_config_real(b->config, key);
}

int64_t lra_state_heads(const lra_build *b, const char *name)
{
    return (int64_t)setting(b, name, "heads");
}

int64_t lra_state_values(const lra_build *b, const char *name)
{
    int64_t width = lra_config_int(b->config, "width"), heads = lra_state_heads(b, name);
    int64_t inner = (int64_t)llround(setting(b, name, "expand") * (double)width);
    if (inner > 0 && inner % heads == 0 && width % heads == 0) return inner;
    lra_graph_fail(b->graph, "%s: width %lld and %lld values cannot be divided into %lld heads",
                   name, (long long)width, (long long)inner, (long long)heads);
    return heads;
}
