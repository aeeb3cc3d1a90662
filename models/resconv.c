/* resconv: residual small-kernel convolution, the ladder's model.
 *
 *   u = LayerNorm(x);  c = ReLU(Conv_K(u));  y = x + Linear(c)          per layer
 *
 * Conv_K: D -> H channels, kernel K (odd), G groups, "same" zero padding, bias; Linear: H -> D. The
 * receptive field of a layer is (K-1)/2 tokens to each side, of L layers L(K-1)/2; K = 1 is a bag
 * of tokens. dilation: taps of layer i (from 0) are min(dilation, K^i) tokens apart, so that the
 * receptive field has no gaps up to the reach, (K-1)/2 sum_i min(dilation, K^i). The numbers of
 * parameters and operations do not depend on the dilation.  An equal dilation in all layers would
 * leave gaps (gridding). causal=1: all taps are at the current token and in the past; a layer
 * reaches K-1 tokens to the past and none to the future.
 * Source: "On the locality bias and results in the Long Range Arena", section 8 and table 7. The
 * paper does not state the position of the norm. Here it is before the convolution, with a final
 * norm before pooling, as in the paper's Transformer.  Inputs of a convolution are zero beyond an
 * example's length, so that reach is not extended through padding.
 * Known: 6 layers of K = 61 reach 180 tokens; 4 layers of K = 3 and dilation 27 reach 40. */
#include "kernels/graph/ops.h"
#include "models/conv_blocks.h"
#include "models/layers.h"
#include "models/model.h"

/* Returns the dilation of the layer after one with dilation `step`; the first layer has dilation
 * 1. */
static int64_t wider(const lra_config *c, int64_t step)
{
    int64_t most = lra_config_int(c, "dilation"), kernel = lra_config_int(c, "kernel");
    return step <= most / kernel ? step * kernel : most;
}

static lra_tensor *encode(const lra_build *b, lra_tensor *x)
{
    lra_graph *g = b->graph;
    const lra_config *c = b->config;
    int64_t layers = lra_config_int(c, "layers"), kernel = lra_config_int(c, "kernel");
    int64_t width = lra_config_int(c, "width"), hidden = lra_config_int(c, "hidden");
    int64_t groups = lra_config_int(c, "groups");
    int64_t dilation = lra_config_int(c, "dilation"), step = 1;
    double dropout = lra_config_real(c, "dropout");
    if (kernel < 1 || kernel % 2 == 0)
        lra_graph_fail(g, "kernel is %lld, expected an odd number from 1", (long long)kernel);
    if (dilation < 1)
        lra_graph_fail(g, "dilation is %lld, expected a number from 1", (long long)dilation);

    for (int64_t i = 0; i < layers; i++, step = wider(c, step)) {
        lra_push(g, "layer%d", (int)i);
        lra_tensor *u = lra_layer_layer_norm(x, "norm");
        lra_tensor *h =
            b->causal
                ? lra_layer_causal_conv(u, "conv", hidden, kernel, groups, step, LRA_ACT_RELU)
                : lra_layer_conv(u, "conv", hidden, kernel, groups, step, LRA_ACT_RELU, b->length);
        h = lra_dropout(h, dropout, false);
        x = lra_layer_linear(h, "linear", width, LRA_ACT_NONE, x);
        lra_pop(g);
    }
    return lra_layer_layer_norm(x, "norm");
}

static int64_t reach(const lra_config *c)
{
    int64_t span = lra_config_int(c, "kernel") - 1, sum = 0, step = 1;
    for (int64_t i = 0; i < lra_config_int(c, "layers"); i++, step = wider(c, step)) sum += step;
    return sum * (lra_conv_blocks_causal(c) ? span : span / 2);
}

static const lra_key keys[] = {
    LRA_INT_KEY("layers", "6", 1, 1 << 20, "number of residual blocks"),
    LRA_INT_KEY("width", "128", 1, 1 << 20, "model width, in channels"),
    LRA_INT_KEY("hidden", "256", 1, 1 << 20, "number of output channels of the convolution"),
    LRA_INT_KEY("kernel", "5", 1, 65535, "kernel size, an odd number of taps"),
    LRA_INT_KEY("dilation", "1", 1, 1 << 20,
                "maximum dilation of the taps; layer i (from 0) has min(dilation, kernel^i)"),
    LRA_INT_KEY("groups", "1", 1, 1 << 20, "number of channel groups of the convolution"),
    LRA_FLAG_KEY("causal", "0", "use only taps at the present and past positions"),
    LRA_REAL_KEY("dropout", "0", 0, 0.999, "dropout rate of the hidden channels"),
    LRA_KEYS_END};

#define PATHFINDER    "pathfinder pathfinder-intermediate pathfinder-easy"
#define PATH_X        "path-x path-x-256"
#define IMAGES        "image image-tokens scifar smnist pmnist"
#define BIDMC         "bidmc-hr bidmc-rr bidmc-spo2"
#define LANGUAGE      "text8 enwik8 wikitext-103"
#define ATOMIC        "select cumsum cummax"
#define DISTANCE      "xor select-at recall"
#define PAPER_KERNELS "5,7,11,21,31,61"
#define QUICK         "layers=3 width=32 hidden=64 "
#define QUICK_LONG    "layers=3 width=16 hidden=32 groups=16 "
/* The last column is the kernel sizes of a ladder's rungs. Every ladder except those of Path-X,
 * speech and "paper" has a rung whose receptive field covers the input; groups limit the time of
 * such a rung to minutes. Tasks with a known distance have one layer of kernel K, which reaches
 * (K - 1) / 2 tokens: rungs are just below and above powers of two. */
static const lra_model_preset presets[] = {
    {"listops", "quick", NULL, QUICK "rate=0.004 decay=0.01", "1,3,5,7,15,23"},
    {PATHFINDER, "quick", NULL, "layers=4 width=32 hidden=64 groups=32 rate=0.004 decay=0.01",
     "1,5,21,513"},
    {PATH_X, "quick", NULL, QUICK_LONG "rate=0.004 decay=0.01", "5,61,513"},
    {IMAGES, "quick", NULL, QUICK "groups=32 rate=0.002 decay=0.1", "1,5,21,61,683"},
    {"text retrieval", "quick", NULL, QUICK "rate=0.004 decay=0.1", "1,5,31"},
    {LANGUAGE, "quick", NULL, "layers=3 width=64 hidden=128 rate=0.004 decay=0.01", "1,3,7"},
    {"speech-commands", "quick", NULL, QUICK_LONG "rate=0.002 decay=0.05", "5,61,513"},
    {BIDMC, "quick", NULL, QUICK_LONG "rate=0.004 decay=0.05", "5,61,513"},
    {ATOMIC, "quick", NULL, "layers=2 width=32 hidden=64 rate=0.004 decay=0.01", "1,5,17,65,129"},
    {DISTANCE, "quick", NULL, "layers=1 width=16 hidden=32 rate=0.004 decay=0.01", "5,13,25,49,97"},
    {"copy", "quick", NULL, "layers=1 width=16 hidden=32 rate=0.004 decay=0.01", "5,17,33,65,129"},
    {NULL, "quick", NULL, QUICK "rate=0.004 decay=0.01", "1,5,21,61"},

    {"listops", "small", NULL, "layers=4 width=64 hidden=128 rate=0.002", "1,5,11,21,31,65"},
    {PATHFINDER, "small", NULL, "layers=6 width=64 hidden=128 groups=32 rate=0.002",
     "1,5,11,21,61,343"},
    {PATH_X, "small", NULL, "layers=6 width=64 hidden=128 groups=32 rate=0.002", "5,61,1025"},
    {IMAGES, "small", NULL, "layers=6 width=64 hidden=128 rate=0.002", "5,11,31"},
    {"text", "small", NULL, "layers=4 width=64 hidden=64 rate=0.002 decay=0.2", "5,31"},
    {"retrieval", "small", NULL, "layers=4 width=64 hidden=128 rate=0.001", "5,31"},
    {LANGUAGE, "small", NULL, "layers=4 width=128 hidden=256 rate=0.002 decay=0.01", "1,5,31"},
    {"speech-commands", "small", NULL,
     "layers=6 width=64 hidden=128 groups=32 rate=0.002 decay=0.05", "5,61,1025"},
    {BIDMC, "small", NULL, "layers=4 width=64 hidden=128 groups=32 rate=0.002 decay=0.05",
     "5,61,1025"},
    {ATOMIC, "small", NULL, "layers=2 width=64 hidden=128 rate=0.002", "1,5,17,65,257,577"},
    {DISTANCE " copy", "small", NULL, "layers=1 width=32 hidden=64 rate=0.004 decay=0.01",
     "1,5,9,17,33,65,129"},
    {NULL, "small", NULL, "layers=6 width=64 hidden=128 rate=0.002", "1,5,31,65"},

    {"listops image", "paper", "locality", "", PAPER_KERNELS},
    {PATHFINDER, "paper", "locality", "groups=32", PAPER_KERNELS},
    {"text", "paper", "locality", "layers=4 decay=0.2", PAPER_KERNELS},
    {"retrieval", "paper", "locality", "layers=4 rate=0.0003", PAPER_KERNELS},
    /* Tasks that the locality paper does not have: its sizes, with settings that other papers
     * publish for these tasks. */
    {PATH_X, "paper", NULL, "groups=32", PAPER_KERNELS},
    {LANGUAGE, "paper", NULL, "width=768 hidden=3072 rate=0.00025 decay=0.01", PAPER_KERNELS},
    {"speech-commands " BIDMC, "paper", NULL, "decay=0.05", PAPER_KERNELS},
    {ATOMIC, "paper", NULL, "layers=2 decay=0.01", PAPER_KERNELS},
    {NULL, "paper", NULL, "", PAPER_KERNELS},
    {NULL, NULL, NULL, NULL, NULL}};
static const char *const variants[] = {"causal=1 dilation=4 layers=3 kernel=3",
                                       "groups=2 kernel=3 dilation=2", NULL};

const lra_model lra_model_resconv = {
    .name = "resconv",
    .paper = "On the locality bias and results in the LRA, section 8",
    .summary = "residual small-kernel convolutions, the model of the ladder",
    .keys = keys,
    .presets = presets,
    .tiny = "layers=2 width=6 hidden=8",
    .variants = variants,
    .axis = "kernel",
    .match = "hidden",
    .deviations = "norm before the convolution and a final norm: not stated in the paper",
    .pools = LRA_POOLS_ROWS,
    .encode = encode,
    .reach = reach,
    .causal = lra_conv_blocks_causal,
};
