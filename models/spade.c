/* spade: the first layer has a state space in parallel with local attention, the other layers have
 * only local attention.
 *
 *   x = x + W [LayerNorm(k * u + D u), LayerNorm(local(u))] + b;  x = x + W2 ReLU(W1 LayerNorm(x))      first layer
 *   x = x + local(u);                                             x = x + W2 ReLU(W1 LayerNorm(x))      the others
 *   u = LayerNorm(x),  local(u) = Wo heads(softmax(q k^T / sqrt(K)) v), keys at most `radius` away, no biases
 *
 * and a LayerNorm at the end.  k: the kernels of S4 (s4_kernel.h, v4), as long as the input; with
 * frozen=1 neither k nor D is trained. causal=1, as in the paper's code: convolution and attention
 * are causal.
 * Source: Zuo et al. 2022, Efficient Long Sequence Modeling via State Space Augmented
 * Transformer. */
#include "kernels/graph/op.h"
#include "models/conv_blocks.h"
#include "models/layers.h"
#include "models/s4_kernel.h"

/* Returns k * u + D u. */
static lra_tensor *remember(const lra_build *b, lra_tensor *u)
{
    lra_graph *g = b->graph;
    int64_t D = lra_width(u);
    const lra_s4_spec s4 = {.width = D,
                            .state = lra_config_int(b->config, "state"),
                            .copies = 1,
                            .dt_min = 0.001,
                            .dt_max = 0.1,
                            .frozen = lra_config_int(b->config, "frozen") != 0};
    lra_push(g, "ssm");
    lra_tensor *k = lra_name(lra_s4_kernel(b, &s4), "kernel");
    lra_tensor *skip = lra_param(g, "skip", LRA_SHAPE(D),
                                 LRA_SPEC(LRA_NORMAL(1), .frozen = s4.frozen));
    lra_tensor *y = lra_add(lra_long_conv(u, k, b->length),
                            lra_mul(u, lra_cast(skip, lra_elem(g))));
    lra_pop(g);
    return y;
}

static lra_tensor *project(lra_tensor *u, const char *name)
{
    int64_t D = lra_width(u);
    return lra_layer_linear_from(u, name, D, LRA_SPEC(LRA_FAN(D)), NULL);
}

static lra_tensor *local(const lra_build *b, lra_tensor *u)
{
    int64_t n = lra_config_int(b->config, "heads");
    const lra_attention_spec spec = {.causal = b->causal,
                                     .window = lra_config_int(b->config, "radius")};
    lra_tensor *q = lra_layer_heads(project(u, "q"), n), *k = lra_layer_heads(project(u, "k"), n);
    lra_tensor *v = lra_layer_heads(project(u, "v"), n);
    lra_tensor *y = lra_attention(q, k, v, b->length, &spec);
    return project(lra_reshape(y, lra_tensor_shape(u)), "out");
}

static lra_tensor *encode(const lra_build *b, lra_tensor *x)
{
    const lra_config *c = b->config;
    int64_t D = lra_width(x), hidden = lra_config_int(c, "hidden");
    double dropout = lra_config_real(c, "dropout");
    for (int64_t i = 0; i < lra_config_int(c, "layers"); i++) {
        lra_push(b->graph, "layer%d", (int)i);
        lra_tensor *u = lra_layer_layer_norm(x, "norm1"), *y = local(b, u);
        if (i == 0) {
            lra_tensor *both[] = {lra_layer_layer_norm(remember(b, u), "norm-ssm"),
                                  lra_layer_layer_norm(y, "norm-local")};
            y = lra_layer_linear(lra_concat(2, both, 2), "join", D, LRA_ACT_NONE, NULL);
        }
        x = lra_layer_stream_add(x, lra_dropout(y, dropout, false));
        y = lra_layer_linear(lra_layer_layer_norm(x, "norm2"), "up", hidden, LRA_ACT_RELU, NULL);
        y = lra_layer_linear(lra_dropout(y, dropout, false), "down", D, LRA_ACT_NONE, NULL);
        x = lra_layer_stream_add(x, lra_dropout(y, dropout, false));
        lra_pop(b->graph);
    }
    return lra_layer_layer_norm(x, "norm");
}

static const lra_key keys[] = {
    LRA_INT_KEY("layers", "6", 1, 1 << 20, "number of blocks (attention and feed-forward layer)"),
    LRA_INT_KEY("width", "128", 1, 1 << 20, "model width, in channels"),
    LRA_INT_KEY("hidden", "256", 1, 1 << 20, "width of the feed-forward layers"),
    LRA_INT_KEY("heads", "4", 1, LRA_MAX_HEADS, "number of attention heads, which share the width"),
    LRA_INT_KEY("radius", "64", 1, 1 << 20,
                "distance that attention reaches to each side, in tokens"),
    LRA_INT_KEY("state", "64", 2, 3072, "state size (conjugate pairs count twice)"),
    LRA_FLAG_KEY("frozen", "1", "keep the state space at its initialisation"),
    LRA_FLAG_KEY("causal", "0", "mask later tokens"),
    LRA_REAL_KEY("dropout", "0", 0, 0.999, "dropout rate"),
    LRA_KEYS_END};

static const lra_model_preset presets[] = {
    {NULL, "quick", NULL, "layers=2 width=32 hidden=64 radius=8 state=16 rate=0.002 decay=0.01",
     NULL},
    {NULL, "small", NULL, "layers=4 width=64 hidden=128 radius=32 rate=0.001 decay=0.05", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static const char *const variants[] = {"causal=1 radius=3", "frozen=0 dropout=0.1", NULL};

const lra_model lra_model_spade = {
    .name = "spade",
    .paper = "arXiv:2212.08136",
    .summary = "a frozen state space parallel to local attention, then local attention alone",
    .deviations = "bidirectional unless causal; padding is excluded from the convolution",
    .keys = keys,
    .presets = presets,
    .tiny = "layers=2 width=8 hidden=8 heads=2 radius=2 state=4",
    .variants = variants,
    .match = "hidden",
    .pools = LRA_POOLS_ROWS,
    .encode = encode,
    .reach = lra_conv_blocks_reach,
    .causal = lra_conv_blocks_causal,
};
