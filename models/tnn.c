/* tnn: gated Toeplitz matrices; a small network (rpe) computes their entries from the distance.
 *
 *   x = x + gtu(Norm(x));  x = x + glu(Norm(x))      per layer, a norm at the end; post: Norm(gtu)
 *   gtu(x) = Wo (SiLU(Wu x) T SiLU(Wv x));  glu(x) = W3 (SiLU(W1 x) W2 x)
 *   T_ts = gamma^|t-s| rpe(t-s), of each channel;  rpe(l) = Wl a(Wh .. a(wf l));  a(h) = ReLU(h/(rms(h) + 1e-8))
 *
 * The network rpe has `rpe-layers` hidden matrices Wh of `rpe` channels, and biases in all layers.
 * gamma is fixed.  causal=1: T_ts = 0 for t < s.  columns=N, for images of N columns: the sum of
 * two matrices T, one along rows and one along columns, each with its own rpe.
 * Source: Qin et al. 2023, Toeplitz Neural Network for Sequence Modeling. */
#include <math.h>

#include "kernels/graph/op.h"
#include "models/conv_blocks.h"
#include "models/layers.h"

static lra_tensor *activate(lra_tensor *h)
{
    h = lra_cast(h, lra_real(h->graph));
    lra_tensor *sum = lra_reduce_sum(lra_mul(h, h), LRA_SHAPE(lra_tensor_shape(h).d[0], 1));
    sum = lra_sqrt(lra_affine(sum, 1 / (double)lra_width(h), 0));
    return lra_relu(lra_div(h, lra_affine(sum, 1, 1e-8)));
}

/* Returns the entries of the Toeplitz matrix of each channel by lag: (C,T) for lags 0, 1, ..; if
 * not causal (2,C,T), where the second part has lags -1, -2, .. most: length of the constant that
 * contains the lags. */
static lra_tensor *entries(const lra_build *b, int64_t C, int64_t T, int64_t most)
{
    lra_graph *g = b->graph;
    int64_t r = lra_config_int(b->config, "rpe"), sides = b->causal ? 1 : 2;
    double gamma = lra_config_real(b->config, "gamma");
    lra_push(g, "rpe");
    lra_tensor *ahead = lra_constant(g, "lags", LRA_SHAPE(1, most), LRA_SPEC(LRA_RAMP(0, 1)));
    lra_tensor *lags[] = {lra_slice(ahead, 1, 0, T), NULL};
    lags[1] = lra_affine(lags[0], -1, -1);
    lra_tensor *k = lra_reshape(lra_concat((int)sides, lags, 0), LRA_SHAPE(sides * T, 1));
    /* Computed in `real`, because integers above 256 are not exact in bf16. */
    lra_tensor *h = lra_layer_linear_real(k, "first", r);
    char name[] = "hidden0";
    for (int64_t i = 0; i < lra_config_int(b->config, "rpe-layers"); i++, name[6]++)
        h = lra_layer_linear(activate(h), name, r, LRA_ACT_NONE, NULL);
    h = lra_cast(lra_layer_linear(activate(h), "last", C, LRA_ACT_NONE, NULL), lra_real(g));
    lra_pop(g);
    k = lra_add(lra_relu(k), lra_relu(lra_affine(k, -1, 0)));
    if (gamma < 1) h = lra_mul(h, lra_exp(lra_affine(k, log(gamma), 0)));
    h = lra_permute(lra_reshape(h, LRA_SHAPE(sides, T, C)), 3, (int[]){0, 2, 1});
    return lra_name(sides == 2 ? h : lra_reshape(h, LRA_SHAPE(C, T)), "kernel");
}

/* Multiplies v (..,n,C) by T, along sequences of n positions (an image: rows or columns of
 * pixels). */
static lra_tensor *mix(const lra_build *b, lra_tensor *v, const char *scope, int64_t most)
{
    lra_shape s = lra_tensor_shape(v);
    lra_push(b->graph, "%s", scope);
    lra_tensor *k = entries(b, s.d[3], s.d[2], most);
    v = lra_long_conv(lra_reshape(v, LRA_SHAPE(s.d[0] * s.d[1], s.d[2], s.d[3])), k, NULL);
    lra_pop(b->graph);
    return lra_reshape(v, s);
}

/* Mixes an image of N columns along rows and along columns; its last row may be incomplete. */
static lra_tensor *of_image(const lra_build *b, lra_tensor *v, int64_t N)
{
    int64_t C = lra_width(v), R = b->T / N + 1;
    lra_tensor *whole[] = {lra_layer_mask(v, b->length),
                           lra_zeros(b->graph, v->type, LRA_SHAPE(b->B, R * N - b->T, C))};
    v = lra_reshape(lra_concat(2, whole, 1), LRA_SHAPE(b->B, R, N, C));
    lra_tensor *down = mix(b, lra_permute(v, 4, (int[]){0, 2, 1, 3}), "columns", b->T_max / N + 1);
    v = lra_add(mix(b, v, "rows", N), lra_permute(down, 4, (int[]){0, 2, 1, 3}));
    return lra_slice(lra_reshape(v, LRA_SHAPE(b->B, R * N, C)), 1, 0, b->T);
}

static lra_tensor *gtu(const lra_build *b, lra_tensor *x)
{
    int64_t C = lra_config_int(b->config, "expand") * lra_width(x);
    int64_t N = lra_config_int(b->config, "columns");
    lra_tensor *u = lra_layer_linear(x, "u", C, LRA_ACT_NONE, NULL);
    lra_tensor *v = lra_silu(lra_layer_linear(x, "v", C, LRA_ACT_NONE, NULL));
    v = N ? of_image(b, v, N) : lra_long_conv(v, entries(b, C, b->T, b->T_max), b->length);
    return lra_layer_linear(lra_gate(u, LRA_GATE_SILU, v), "out", lra_width(x), LRA_ACT_NONE, NULL);
}

static const char *no_limit_reason(const lra_config *c)
{
    return lra_config_int(c, "columns") ? "its rows and columns have separate distances" : NULL;
}

static lra_tensor *glu(const lra_build *b, lra_tensor *x)
{
    int64_t hidden = lra_config_int(b->config, "hidden");
    lra_tensor *u = lra_layer_linear(x, "gate", hidden, LRA_ACT_NONE, NULL);
    u = lra_gate(u, LRA_GATE_SILU, lra_layer_linear(x, "up", hidden, LRA_ACT_NONE, NULL));
    return lra_layer_linear(u, "down", lra_width(x), LRA_ACT_NONE, NULL);
}

static lra_tensor *encode(const lra_build *b, lra_tensor *x)
{
    bool post = lra_config_is(b->config, "norm", "post");
    for (int64_t i = 0; i < 2 * lra_config_int(b->config, "layers"); i++) {
        lra_push(b->graph, "layer%d", (int)(i / 2));
        lra_push(b->graph, "%s", i % 2 ? "glu" : "gtu");
        lra_tensor *u = post ? x : lra_conv_blocks_norm(b, x);
        lra_tensor *y = i % 2 ? glu(b, u) : gtu(b, u);
        if (post) y = lra_conv_blocks_norm(b, y);
        lra_pop(b->graph);
        x = lra_layer_stream_add(x, lra_dropout(y, lra_config_real(b->config, "dropout"), false));
        lra_pop(b->graph);
    }
    return post ? x : lra_conv_blocks_norm(b, x);
}

static const lra_key keys[] = {
    LRA_INT_KEY("layers", "6", 1, 1 << 20, "number of blocks"),
    LRA_INT_KEY("width", "128", 1, 1 << 20, "model width, in channels"),
    LRA_INT_KEY("expand", "1", 1, 64,
                "ratio of the channels of the Toeplitz matrices to the width"),
    LRA_INT_KEY("hidden", "128", 1, 1 << 20, "width of the gated layers"),
    LRA_INT_KEY("rpe", "32", 1, 1 << 16, "width of the network that computes the matrix entries"),
    LRA_INT_KEY("rpe-layers", "0", 0, 9,
                "number of hidden layers of the network that computes the matrix entries"),
    LRA_REAL_KEY("gamma", "1", 1e-9, 1,
                 "factor of a matrix entry per position of distance (1 = no decay)"),
    LRA_CHOICE_KEY("norm", "pre", "pre|post",
                   "position of the norm: before a sublayer, or on its output"),
    LRA_CHOICE_KEY("norm-kind", "batch", "layer|batch",
                   "norm over channels (layer), or per channel (batch)"),
    LRA_INT_KEY("columns", "0", 0, 1 << 20,
                "width of an image, for separate matrices of rows and columns (0 = one matrix)"),
    LRA_FLAG_KEY("causal", "0", "mask later tokens"),
    LRA_REAL_KEY("dropout", "0", 0, 0.999, "dropout rate"),
    LRA_KEYS_END};

static const lra_model_preset presets[] = {
    {NULL, "quick", NULL, "layers=2 width=32 hidden=32 rpe=16 rate=0.004 decay=0.01", NULL},
    {NULL, "small", NULL, "layers=4 width=64 hidden=64 rate=0.002 decay=0.05", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static const char *const variants[] = {"rpe-layers=2 gamma=0.8 expand=2",
                                       "norm=post norm-kind=layer causal=1", "columns=5 gamma=0.9",
                                       "columns=7 causal=1", NULL};

const lra_model lra_model_tnn = {
    .name = "tnn",
    .paper = "arXiv:2305.04749",
    .summary = "Toeplitz matrices with entries that a small network computes from the distance",
    .deviations = "images are sequences unless `columns` gives their width",
    .keys = keys,
    .presets = presets,
    .tiny = "layers=2 width=6 hidden=6 rpe=4",
    .variants = variants,
    .match = "hidden",
    .pools = LRA_POOLS_ROWS,
    .encode = encode,
    .reach = lra_conv_blocks_reach,
    .no_limit_reason_with = no_limit_reason,
    .causal = lra_conv_blocks_causal,
};
