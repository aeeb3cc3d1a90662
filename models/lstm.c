/* lstm: long short-term memory.
 *
 *   (i,f,g,o) = W x_t + b + U h_(t-1) + c;  s_t = sigmoid(f) s_(t-1) + sigmoid(i) tanh(g);  h_t = sigmoid(o) tanh(s_t)
 *
 * per layer, with `hidden` channels; the next layer reads h. directions=2: a second LSTM runs from
 * the last token to the first, and the next layer (or the head) reads both outputs. W and U are
 * initialised Xavier uniform as arrays (D,4H) and (H,4H). The two biases (as in PyTorch) are 0,
 * except those of f: `forget-bias`/2 each. With a distance limit r, the state of a token is
 * computed from a zero state r tokens before it.
 * Source: Hochreiter & Schmidhuber 1997, Long Short-Term Memory; Jozefowicz et al. 2015 for a
 * forget bias of 1.
 * Known: a layer has 4 H (D + H + 2) parameters for each direction. */
#include "kernels/graph/op.h"
#include "models/conv_blocks.h"

/* Initial bias (4H) in the order i, f, g, o: 0 except for f. data: the value of f. */
static void fill_bias(const lra_fill *f, double *v)
{
    int64_t n = f->shape.d[0], H = n / 4;
    for (int64_t i = 0; i < n; i++) v[i] = i / H == 1 ? *(const double *)f->data : 0;
}

static lra_tensor *direction(const lra_build *b, lra_tensor *x, bool back)
{
    lra_graph *g = b->graph;
    int64_t H = lra_config_int(b->config, "hidden");
    double forget = lra_config_real(b->config, "forget-bias") / 2;
    const lra_param_spec weight = {LRA_XAVIER(1), .layout = LRA_LAYOUT_REVERSED};
    const lra_param_spec bias = {LRA_FILL(fill_bias), .data = &forget, .data_size = sizeof forget,
                                 .no_decay = true};
    lra_push(g, back ? "future" : "past");
    lra_tensor *w = lra_param(g, "w", LRA_SHAPE(lra_width(x), 4 * H), &weight);
    lra_tensor *u = lra_param(g, "u", LRA_SHAPE(H, 4 * H), &weight);
    lra_tensor *of_w = lra_param(g, "b", LRA_SHAPE(4 * H), &bias);
    lra_tensor *of_u = lra_param(g, "c", LRA_SHAPE(4 * H), &bias);
    lra_tensor *gates = lra_linear(x, w, lra_add(of_w, of_u), LRA_ACT_NONE, NULL);
    lra_tensor *h = lra_lstm(gates, u, b->length, back);
    lra_pop(g);
    return h;
}

static lra_tensor *encode(const lra_build *b, lra_tensor *x)
{
    const lra_config *c = b->config;
    for (int64_t i = 0; i < lra_config_int(c, "layers"); i++) {
        lra_push(b->graph, "layer%d", (int)i);
        if (i > 0) x = lra_dropout(x, lra_config_real(c, "dropout"), false);
        lra_tensor *h = direction(b, x, false);
        if (!b->causal) h = lra_concat(2, (lra_tensor *[]){h, direction(b, x, true)}, 2);
        x = h;
        lra_pop(b->graph);
    }
    return x;
}

static bool causal(const lra_config *c)
{
    return lra_config_int(c, "directions") == 1;
}

static const lra_key keys[] = {
    LRA_INT_KEY("layers", "1", 1, 1 << 20, "number of stacked layers"),
    LRA_INT_KEY("width", "128", 1, 1 << 20, "embedding width, in channels"),
    LRA_INT_KEY("hidden", "128", 1, 1 << 16, "state size, in channels"),
    LRA_INT_KEY("directions", "1", 1, 2,
                "number of directions; 2: each layer also runs from the end to the beginning"),
    LRA_REAL_KEY("forget-bias", "0", -100, 100, "initial bias of the forget gate"),
    LRA_REAL_KEY("dropout", "0", 0, 0.999, "dropout rate of the states between layers"),
    LRA_KEYS_END};

static const lra_model_preset presets[] = {
    {NULL, "quick", NULL, "width=32 hidden=64 forget-bias=1 rate=0.004 decay=0.01", NULL},
    {"smnist pmnist", "small", NULL, "forget-bias=1 pool=last rate=0.001 decay=0.01", NULL},
    {NULL, "small", NULL, "layers=2 width=64 forget-bias=1 rate=0.002 decay=0.05", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static const char *const variants[] = {"layers=1 directions=2 forget-bias=1", "directions=2", NULL};

const lra_model lra_model_lstm = {
    .name = "lstm",
    .paper = "10.1162/neco.1997.9.8.1735",
    .summary = "a gated recurrent network (LSTM)",
    .deviations =
        "pool=last reads the states of the last token in both directions; pixels and values are "
        "embedded first",
    .keys = keys,
    .presets = presets,
    .tiny = "layers=2 width=6 hidden=5",
    .variants = variants,
    .match = "hidden",
    .pools = LRA_POOLS_ROWS,
    .encode = encode,
    .reach = lra_conv_blocks_reach,
    .causal = causal,
};
