/* Transformer blocks. */
#include "models/transformer_blocks.h"

#include "kernels/graph/op.h"
#include "models/layers.h"

lra_positions lra_transformer_positions(const lra_config *c)
{
    if (lra_config_is(c, "positions", "sinusoidal")) return LRA_POSITIONS_SINUSOIDAL;
    if (lra_config_is(c, "positions", "learned")) return LRA_POSITIONS_LEARNED;
    return lra_config_is(c, "positions", "none") ? LRA_POSITIONS_NONE : LRA_POSITIONS_ROTARY;
}

static lra_tensor *norm(const lra_build *b, lra_tensor *x, const char *name)
{
    bool batch = lra_config_has(b->config, "norm-kind") &&
                 lra_config_is(b->config, "norm-kind", "batch");
    return batch ? lra_layer_batch_norm(x, name, b->length) : lra_layer_layer_norm(x, name);
}

/* Returns a linear layer NAME, split into n heads: (B,T,D) to (B,T,n,width/n). */
static lra_tensor *heads(lra_tensor *u, const char *name, int64_t n, int64_t width)
{
    lra_shape s = lra_tensor_shape(u);
    lra_tensor *y = lra_layer_linear(u, name, width, LRA_ACT_NONE, NULL);
    return lra_reshape(y, LRA_SHAPE(s.d[0], s.d[1], n, width / n));
}

/* Returns x + dropout(h w + b). */
static lra_tensor *add_linear(lra_tensor *x, lra_tensor *h, const char *name, double dropout)
{
    h = lra_layer_linear(h, name, lra_width(x), LRA_ACT_NONE, NULL);
    return lra_layer_stream_add(x, lra_dropout(h, dropout, false));
}

static lra_tensor *add_attention(const lra_build *b, lra_tensor *x, lra_tensor *u,
                                 lra_attend attend)
{
    const lra_config *c = b->config;
    int64_t n = lra_config_int(c, "heads"), width = 0;
    if (lra_config_has(c, "qkv")) width = lra_config_int(c, "qkv");
    if (width == 0) width = lra_width(x);
    bool turns = lra_transformer_positions(c) == LRA_POSITIONS_ROTARY;
    if (width % n || (turns && width / n % 2)) {
        lra_graph_fail(b->graph, "width %lld cannot be divided into %lld heads of %s channels",
                       (long long)width, (long long)n,
                       turns ? "an even number of" : "equally many");
        n = 1;
    }
    u = lra_layer_of_stream(u);
    lra_tensor *q = heads(u, "q", n, width), *k = heads(u, "k", n, width);
    lra_tensor *y = attend(b, q, k, heads(u, "v", n, width));
    y = lra_reshape(y, LRA_SHAPE(b->B, b->T, width));
    return add_linear(x, y, "out", lra_config_real(c, "dropout"));
}

static lra_tensor *add_feed_forward(const lra_build *b, lra_tensor *x, lra_tensor *u)
{
    const lra_config *c = b->config;
    double dropout = lra_config_real(c, "dropout");
    bool relu = lra_config_has(c, "act") && lra_config_is(c, "act", "relu");
    lra_tensor *h = lra_layer_linear(u, "up", lra_config_int(c, "hidden"),
                                     relu ? LRA_ACT_RELU : LRA_ACT_GELU, NULL);
    return add_linear(x, lra_dropout(h, dropout, false), "down", dropout);
}

lra_tensor *lra_transformer_blocks(const lra_build *b, lra_tensor *x, lra_attend attend)
{
    bool post = lra_config_is(b->config, "norm", "post");
    x = lra_layer_stream(x);
    for (int64_t i = 0; i < lra_config_int(b->config, "layers"); i++) {
        lra_push(b->graph, "layer%d", (int)i);
        x = add_attention(b, x, post ? x : norm(b, x, "norm1"), attend);
        if (post) x = norm(b, x, "norm1");
        x = add_feed_forward(b, x, post ? x : norm(b, x, "norm2"));
        if (post) x = norm(b, x, "norm2");
        lra_pop(b->graph);
    }
    return post ? x : norm(b, x, "norm");
}
