/* gmlp (gMLP): a gate that mixes positions by a Toeplitz matrix, that is, a convolution with free
 * kernels in both directions.
 *
 *   (z1, z2) = GELU(U LayerNorm(x) + u);  o = z1 (k * LayerNorm(z2) + b);  x = x + V o + v          per layer
 *
 * U: D -> 2 H, H = `hidden` channels for each of z1, z2; V: H -> D.  Channel h has kernel h mod
 * `kernels`, a row of `taps` (kernels,2 T_max - 1), lag l at l + T_max - 1; b: one bias per
 * position, shared by all channels. taps are initialised uniform in +-0.001/T_max and b = 1, so
 * that a layer is almost position-wise at initialisation (Liu et al.).
 * Source: "On the locality bias and results in the Long Range Arena", section 7 and table 6; Liu et
 * al. 2021, Pay Attention to MLPs.  The locality paper states neither the initialisation nor
 * whether z2 is normalised (gate-norm=0: it is not). According to its formula U: D -> H, so that z1
 * and z2 have H/2 channels (halves=split); according to its table the convolution has H channels.
 * After the norm, z2 is set to zero at padding; otherwise the bias of the norm would enter the
 * convolution. */
#include "kernels/graph/op.h"
#include "kernels/graph/ops.h"
#include "models/layers.h"
#include "models/model.h"

/* Returns the taps of all channels as the two kernels of a long convolution, (2,H,T): lags 0 .. T-1
 * and -1 .. -(T-1). */
static lra_tensor *kernels(const lra_build *b, lra_tensor *taps, int64_t H)
{
    int64_t C = lra_tensor_shape(taps).d[0], T = b->T;
    lra_tensor *none = lra_zeros(b->graph, taps->type, LRA_SHAPE(C, 1));
    lra_tensor *both[] = {lra_slice(taps, 1, b->T_max - 1, T), none};
    if (T > 1) {
        lra_tensor *ahead = lra_flip(lra_slice(taps, 1, b->T_max - T, T - 1), 1);
        both[1] = lra_concat(2, (lra_tensor *[]){ahead, none}, 1);
    }
    lra_tensor *k = lra_reshape(lra_concat(2, both, 0), LRA_SHAPE(2, 1, C, T));
    return lra_reshape(lra_broadcast(k, LRA_SHAPE(2, H / C, C, T)), LRA_SHAPE(2, H, T));
}

/* Returns k * z + b. */
static lra_tensor *mix_positions(const lra_build *b, lra_tensor *z)
{
    lra_graph *g = b->graph;
    int64_t H = lra_width(z), C = lra_config_int(b->config, "kernels");
    double most = 1e-3 / (double)b->T_max;
    if (H % C) {
        lra_graph_fail(g, "%lld kernels do not divide %lld channels", (long long)C, (long long)H);
        C = 1;
    }
    if (lra_config_int(b->config, "gate-norm")) z = lra_layer_layer_norm(z, "norm");
    lra_tensor *taps = lra_param(g, "taps", LRA_SHAPE(C, 2 * b->T_max - 1),
                                 LRA_SPEC(LRA_UNIFORM(-most, most)));
    lra_tensor *shift = lra_param(g, "b", LRA_SHAPE(b->T_max),
                                  LRA_SPEC(LRA_CONSTANT(1), .no_decay = true));
    shift = b->position_ids
                ? lra_embedding(lra_reshape(shift, LRA_SHAPE(b->T_max, 1)), b->position_ids)
                : lra_reshape(lra_slice(shift, 0, 0, b->T), LRA_SHAPE(b->T, 1));
    z = lra_long_conv(z, lra_name(kernels(b, taps, H), "kernel"), b->length);
    return lra_add(z, lra_cast(shift, lra_elem(g)));
}

static lra_tensor *encode(const lra_build *b, lra_tensor *x)
{
    const lra_config *c = b->config;
    int64_t H = lra_config_int(c, "hidden") / (lra_config_is(c, "halves", "split") ? 2 : 1);
    double dropout = lra_config_real(c, "dropout");
    for (int64_t i = 0; i < lra_config_int(c, "layers"); i++) {
        lra_push(b->graph, "layer%d", (int)i);
        lra_tensor *z = lra_layer_linear(lra_layer_layer_norm(x, "norm"), "in", 2 * H, LRA_ACT_GELU,
                                         NULL);
        lra_push(b->graph, "gate");
        lra_tensor *gate = mix_positions(b, lra_slice(z, 2, H, H));
        lra_pop(b->graph);
        z = lra_dropout(lra_mul(lra_slice(z, 2, 0, H), gate), dropout, false);
        x = lra_layer_linear(z, "out", lra_config_int(c, "width"), LRA_ACT_NONE, x);
        lra_pop(b->graph);
    }
    return lra_layer_layer_norm(x, "norm");
}

static int64_t reach(const lra_config *c)
{
    (void)c;
    return -1;
}

static const lra_key keys[] = {
    LRA_INT_KEY("layers", "6", 1, 1 << 20, "number of blocks"),
    LRA_INT_KEY("width", "128", 1, 1 << 20, "model width, in channels"),
    LRA_INT_KEY("hidden", "256", 1, 1 << 20, "number of channels that are gated and convolved"),
    LRA_CHOICE_KEY(
        "halves", "full", "full|split",
        "halves of the gate: two times `hidden` channels (full), or `hidden` channels split in two"),
    LRA_INT_KEY("kernels", "2", 1, 1 << 20,
                "number of kernels, each shared by a group of channels"),
    LRA_FLAG_KEY("gate-norm", "1", "apply a norm before the convolution"),
    LRA_REAL_KEY("dropout", "0", 0, 0.999, "dropout rate of the gated channels"),
    LRA_KEYS_END};

#define LOCALITY(tasks, settings)                                                                  \
    {                                                                                              \
        tasks, "paper", "locality", settings, NULL                                                 \
    }
static const lra_model_preset presets[] = {
    {NULL, "quick", NULL, "layers=2 width=32 hidden=64 rate=0.004 decay=0.01", NULL},
    {NULL, "small", NULL, "layers=4 width=64 hidden=128 rate=0.002 decay=0.05", NULL},
    LOCALITY("listops", "kernels=4"),
    LOCALITY("image", "layers=10 batch=48"),
    LOCALITY("pathfinder pathfinder-intermediate pathfinder-easy", ""),
    LOCALITY("text", "dropout=0.1 decay=0.2"),
    LOCALITY("retrieval", "rate=0.0003"),
    {NULL, NULL, NULL, NULL, NULL}};

static const char *const variants[] = {"gate-norm=0 kernels=4 halves=split dropout=0.1", NULL};

const lra_model lra_model_gmlp = {
    .name = "gmlp",
    .paper = "arXiv:2105.08050",
    .summary = "gates that mix positions by a Toeplitz matrix",
    .deviations = "initialisation of the convolution and norm before it: not stated in the paper",
    .keys = keys,
    .presets = presets,
    .tiny = "layers=2 width=6 hidden=8",
    .variants = variants,
    .match = "hidden",
    .pools = LRA_POOLS_ROWS,
    .encode = encode,
    .reach = reach,
    .reads_position_ids = true,
};
