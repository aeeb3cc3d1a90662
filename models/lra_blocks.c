/* The blocks of the Transformers of the Long Range Arena. */
#include "models/lra_blocks.h"

#include "kernels/graph/op.h"
#include "models/layers.h"

static const double EPS = 1e-6;

/* Returns act(x w + bias) with the initialisers of the Long Range Arena's code. */
static lra_tensor *dense(lra_tensor *x, const char *name, int64_t n_out, bool biased, lra_act act)
{
    lra_graph *g = x->graph;
    lra_push(g, "%s", name);
    lra_tensor *w = lra_param(g, "w", LRA_SHAPE(lra_width(x), n_out),
                              LRA_SPEC(LRA_XAVIER(1), .layout = LRA_LAYOUT_REVERSED));
    lra_tensor *b = NULL;
    if (biased)
        b = lra_param(g, "b", LRA_SHAPE(n_out), LRA_SPEC(LRA_NORMAL(1e-6), .no_decay = true));
    lra_tensor *y = lra_linear(x, w, b, act, NULL);
    lra_pop(g);
    return y;
}

static int64_t channels(const lra_config *c)
{
    int64_t qkv = lra_config_int(c, "qkv");
    return qkv ? qkv : lra_config_int(c, "width");
}

lra_tensor *lra_benchmark_heads(const lra_build *b, lra_tensor *u, const char *name)
{
    lra_tensor *y = dense(u, name, channels(b->config), false, LRA_ACT_NONE);
    return lra_layer_heads(y, lra_config_int(b->config, "heads"));
}

lra_tensor *lra_benchmark_out(const lra_build *b, lra_tensor *y)
{
    lra_shape s = lra_tensor_shape(y);
    y = lra_reshape(y, LRA_SHAPE(s.d[0], s.d[1], s.d[2] * s.d[3]));
    return dense(y, "out", lra_config_int(b->config, "width"), false, LRA_ACT_NONE);
}

lra_tensor *lra_benchmark_attention(const lra_build *b, lra_tensor *u, const lra_attention_spec *s)
{
    lra_tensor *q = lra_benchmark_heads(b, u, "q"), *k = lra_benchmark_heads(b, u, "k");
    lra_tensor *v = lra_benchmark_heads(b, u, "v");
    lra_attention_spec own = *s;
    own.dropout = lra_config_real(b->config, "attention-dropout");
    return lra_benchmark_out(b, lra_attention(q, k, v, b->length, &own));
}

static lra_tensor *norm(lra_tensor *x, const char *name)
{
    return lra_layer_layer_norm_eps(x, name, EPS);
}

/* Returns x + dropout(W2 dropout(act(W1 u + b1)) + b2). */
static lra_tensor *add_feed_forward(const lra_config *c, lra_tensor *x, lra_tensor *u)
{
    double dropout = lra_config_real(c, "dropout");
    lra_tensor *h = dense(u, "up", lra_config_int(c, "hidden"), true, LRA_ACT_GELU_TANH);
    h = dense(lra_dropout(h, dropout, false), "down", lra_width(x), true, LRA_ACT_NONE);
    return lra_layer_stream_add(x, lra_dropout(h, dropout, false));
}

lra_tensor *lra_benchmark_blocks(const lra_build *b, lra_tensor *x, lra_benchmark_mix mix)
{
    const lra_config *c = b->config;
    double dropout = lra_config_real(c, "dropout");
    x = lra_layer_stream(lra_dropout(x, dropout, false));
    for (int i = 0; i < (int)lra_config_int(c, "layers"); i++) {
        lra_push(b->graph, "layer%d", i);
        lra_tensor *u = lra_layer_of_stream(norm(x, "norm1"));
        x = lra_layer_stream_add(x, lra_dropout(mix(b, u, i), dropout, false));
        x = add_feed_forward(c, x, norm(x, "norm2"));
        lra_pop(b->graph);
    }
    return norm(x, "norm");
}

lra_positions lra_benchmark_positions(const lra_config *c)
{
    if (lra_config_is(c, "positions", "none")) return LRA_POSITIONS_NONE;
    return lra_config_is(c, "positions", "learned") ? LRA_POSITIONS_LEARNED
                                                    : LRA_POSITIONS_SINUSOIDAL;
}

lra_classifier lra_benchmark_classifier(const lra_config *c)
{
    return (lra_classifier){lra_config_int(c, "hidden"), LRA_ACT_RELU, 0};
}

int64_t lra_benchmark_reach(const lra_config *c)
{
    (void)c;
    return -1;
}

bool lra_benchmark_unmasked(const lra_config *c)
{
    return !lra_config_int(c, "masked");
}
