/* transformer: attention from every token to every other, and a feed-forward layer.
 *
 *   norm=pre   x = x + attend(LayerNorm(x));  x = x + W2 act(W1 LayerNorm(x))        per layer; LayerNorm at the end
 *   norm=post  x = LayerNorm(x + attend(x));  x = LayerNorm(x + W2 act(W1 x))        per layer
 *   attend(u) = Wo heads(softmax(q k^T / sqrt(K)) v),  q, k, v = linear layers of u; all with bias
 *
 * positions=rotary: pairs (2i,2i+1) of q and k turn by t base^(-2i/K); rotary-half: the slower half of the pairs does
 * not; sinusoidal, learned: added to the inputs; none: without order.  causal=1: no token sees those that follow.
 * Source: Vaswani et al. 2017; "On the locality bias and results in the Long Range Arena", table 5 (act=relu, rotary);
 * Amos et al. 2024 (act=gelu; head=mlp: Linear, ReLU, Linear).
 * That paper says "half disabled" and not which half: we take the one that barely turns.
 * Known: without positions the gradient of every key bias is 0. */
#include <string.h>

#include "kernels/graph/ops.h"
#include "models/layers.h"
#include "models/model.h"

static bool is(const lra_config *c, const char *key, const char *value)
{
    return strcmp(lra_config_text(c, key), value) == 0;
}

static bool causal(const lra_config *c)
{
    return lra_config_int(c, "causal") != 0;
}

static lra_positions positions(const lra_config *c)
{
    if (is(c, "positions", "sinusoidal")) return LRA_POSITIONS_SINUSOIDAL;
    if (is(c, "positions", "learned")) return LRA_POSITIONS_LEARNED;
    return is(c, "positions", "none") ? LRA_POSITIONS_NONE : LRA_POSITIONS_ROTARY;
}

static lra_classifier classifier(const lra_config *c)
{
    bool deep = is(c, "head", "mlp");
    return (lra_classifier){deep ? lra_config_int(c, "width") : 0, LRA_ACT_RELU, 0};
}

/* (B,T,D) to (B,T,H,K). */
static lra_tensor *heads(lra_tensor *u, const char *name, int64_t n)
{
    lra_shape s = lra_tensor_shape(u);
    lra_tensor *y = lra_layer_linear(u, name, s.d[2], LRA_ACT_NONE, NULL);
    return lra_reshape(y, LRA_SHAPE(s.d[0], s.d[1], n, s.d[2] / n));
}

/* x + dropout(h w + b), in one op where nothing is dropped. */
static lra_tensor *add_linear(lra_tensor *x, lra_tensor *h, const char *name, double dropout)
{
    int64_t width = lra_tensor_shape(x).d[2];
    if (dropout == 0) return lra_layer_linear(h, name, width, LRA_ACT_NONE, x);
    return lra_add(
        x, lra_dropout(lra_layer_linear(h, name, width, LRA_ACT_NONE, NULL), dropout, false));
}

static lra_tensor *add_attention(const lra_build *b, lra_tensor *x, lra_tensor *u)
{
    const lra_config *c = b->config;
    int64_t n = lra_config_int(c, "heads"), width = lra_config_int(c, "width");
    bool turns = positions(c) == LRA_POSITIONS_ROTARY;
    if (n < 1 || width % n || (turns && width / n % 2)) {
        lra_graph_fail(b->graph, "width %lld does not make %lld heads of %s channels",
                       (long long)width, (long long)n, turns ? "an even number of" : "as many");
        n = 1;
    }
    const lra_attention_spec spec = {
        .causal = b->causal,
        .rotary_base = turns ? lra_config_real(c, "base") : 0,
        .rotary_half = is(c, "positions", "rotary-half") ? LRA_HALF_SLOW : LRA_HALF_NONE};
    lra_tensor *q = heads(u, "q", n), *k = heads(u, "k", n), *v = heads(u, "v", n);
    lra_tensor *y = lra_attention(q, k, v, b->length, &spec);
    return add_linear(x, lra_reshape(y, lra_tensor_shape(x)), "out", lra_config_real(c, "dropout"));
}

static lra_tensor *add_feed_forward(const lra_build *b, lra_tensor *x, lra_tensor *u)
{
    const lra_config *c = b->config;
    double dropout = lra_config_real(c, "dropout");
    lra_act act = is(c, "act", "relu") ? LRA_ACT_RELU : LRA_ACT_GELU;
    lra_tensor *h = lra_layer_linear(u, "up", lra_config_int(c, "hidden"), act, NULL);
    return add_linear(x, lra_dropout(h, dropout, false), "down", dropout);
}

static lra_tensor *encode(const lra_build *b, lra_tensor *x)
{
    bool post = is(b->config, "norm", "post");
    for (int64_t i = 0; i < lra_config_int(b->config, "layers"); i++) {
        lra_push(b->graph, "layer%d", (int)i);
        x = add_attention(b, x, post ? x : lra_layer_layer_norm(x, "norm1"));
        if (post) x = lra_layer_layer_norm(x, "norm1");
        x = add_feed_forward(b, x, post ? x : lra_layer_layer_norm(x, "norm2"));
        if (post) x = lra_layer_layer_norm(x, "norm2");
        lra_pop(b->graph);
    }
    return post ? x : lra_layer_layer_norm(x, "norm");
}

static int64_t reach(const lra_config *c)
{
    (void)c;
    return -1;
}

static const lra_key keys[] = {
    LRA_INT_KEY("layers", "6", 1, 1 << 20, "blocks of attention and feed-forward layer"),
    LRA_INT_KEY("width", "128", 1, 1 << 20, "channels between blocks"),
    LRA_INT_KEY("hidden", "256", 1, 1 << 20, "channels inside a feed-forward layer"),
    LRA_INT_KEY("heads", "4", 1, LRA_MAX_HEADS, "attention heads, which share the width"),
    LRA_CHOICE_KEY("positions", "rotary", "none|sinusoidal|learned|rotary|rotary-half",
                   "how tokens know where they stand"),
    LRA_REAL_KEY("base", "10000", 1, 1e12, "of the speeds of rotary positions"),
    LRA_CHOICE_KEY("norm", "pre", "pre|post", "before a sublayer, or after its sum"),
    LRA_CHOICE_KEY("act", "gelu", "relu|gelu", "inside a feed-forward layer"),
    LRA_CHOICE_KEY("head", "linear", "linear|mlp", "of the classifier"),
    LRA_FLAG_KEY("causal", "0", "no token sees those that follow"),
    LRA_REAL_KEY("dropout", "0", 0, 0.999, "share that is dropped in training"),
    LRA_KEYS_END};

#define PATHFINDER "pathfinder pathfinder-intermediate pathfinder-easy"
/* locality: its table 5.  spt: the public presets of arXiv:2310.02980, at rates of the grid that it recommends where the
 * literal one diverges; what the task says of pooling and blocks of attention is ours. */
static const lra_model_preset presets[] = {
    {NULL, "quick", NULL, "layers=2 width=32 hidden=64 rate=0.002 decay=0.01", NULL},
    {NULL, "small", NULL, "layers=4 width=64 hidden=128 rate=0.001 decay=0.05", NULL},
    {"listops", "paper", "locality",
     "layers=6 width=256 hidden=512 act=relu batch=64 rate=0.0001 decay=0.05", NULL},
    {"image", "paper", "locality",
     "layers=10 width=160 hidden=320 positions=rotary-half act=relu batch=48 decay=0.05", NULL},
    {PATHFINDER, "paper", "locality", "layers=6 width=128 hidden=256 act=relu batch=128 decay=0.05",
     NULL},
    {"text", "paper", "locality",
     "layers=8 width=256 hidden=512 positions=rotary-half act=relu batch=16 decay=0.01", NULL},
    {"retrieval", "paper", "locality",
     "layers=6 width=128 hidden=256 positions=rotary-half act=relu batch=64 decay=0.01", NULL},
    {"listops", "paper", "spt",
     "layers=6 width=512 hidden=2048 heads=8 positions=sinusoidal batch=32 epochs=100 rate=0.0005 "
     "decay=0 schedule=constant warmup=2000",
     NULL},
    {"text", "paper", "spt",
     "layers=6 width=512 hidden=2048 heads=8 positions=sinusoidal head=mlp batch=32 epochs=65 "
     "rate=0.0005 decay=0.1 schedule=constant warmup=2000",
     NULL},
    {"image", "paper", "spt",
     "layers=3 width=64 hidden=128 positions=sinusoidal head=mlp batch=50 epochs=200 decay=0 "
     "schedule=constant warmup=2000",
     NULL},
    {PATHFINDER, "paper", "spt",
     "layers=4 width=128 hidden=128 heads=8 positions=sinusoidal batch=32 epochs=200 rate=0.0005 "
     "decay=0 schedule=constant warmup=5000",
     NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static const char *const variants[] = {"positions=rotary-half act=relu head=mlp",
                                       "positions=sinusoidal norm=post",
                                       "positions=learned causal=1", "positions=none", NULL};

const lra_model lra_model_transformer = {
    .name = "transformer",
    .paper = "arXiv:1706.03762",
    .summary = "softmax attention between all tokens and a feed-forward layer",
    .keys = keys,
    .presets = presets,
    .tiny = "layers=2 width=8 hidden=8 heads=2",
    .variants = variants,
    .match = "hidden",
    .pools = LRA_POOLS_ROWS | LRA_POOL_BIT(LRA_POOL_CLS),
    .encode = encode,
    .reach = reach,
    .causal = causal,
    .positions = positions,
    .classifier = classifier,
};
