/* gss: a diagonal state space of few channels between gates.
 *
 *   h = LayerNorm(x);  u = GELU(W1 h);  v = GELU(W2 h);  y = k * u + D u;  x = x + W4 ((W3 y) v) + b      per layer
 *   k_l = Re sum_n w_n (exp(lambda_n) - 1)/lambda_n exp(lambda_n l),  lambda_n = -exp(d_n) + i exp(a_n),  n < state
 *
 * LayerNorm at the end.  W1: D -> `narrow`, W2: D -> `hidden`, W3: `narrow` -> `hidden`, W4:
 * `hidden` -> D; D/4 and 4 D in the paper.  lambda is shared by all channels; there are no
 * conjugate pairs and no dt.  d, a ~ N(0,1); real and imaginary parts of w ~ N(0,1/state); D ~
 * N(0,1).  causal=0: a second kernel looks ahead.  lambda and w are trained with learning rate
 * `ssm-rate` without weight decay.
 * Source: Mehta et al. 2022, Long Range Language Modeling via Gated State Spaces.  The paper does
 * not define the inner state space. Here it is that of a public implementation, except that the
 * latter initialises w with sqrt(state) times this standard deviation. */
#include <math.h>

#include "kernels/graph/op.h"
#include "models/layers.h"
#include "models/model.h"

static bool causal(const lra_config *c)
{
    return lra_config_int(c, "causal") != 0;
}

/* Kernels of E channels by lag: (E,T), or (2,E,T) for both directions. */
static lra_tensor *kernels(const lra_build *b, int64_t E)
{
    lra_graph *g = b->graph;
    int64_t N = lra_config_int(b->config, "state"), sides = b->causal ? 1 : 2;
    lra_param_spec spec = {LRA_NORMAL(1), .rate = lra_config_real(b->config, "ssm-rate"),
                           .no_decay = true};
    lra_tensor *lambda[] = {
        lra_affine(lra_exp(lra_param(g, "log_decay", LRA_SHAPE(1, 1, N), &spec)), -1, 0),
        lra_exp(lra_param(g, "log_turn", LRA_SHAPE(1, 1, N), &spec))};
    spec.a = 1 / sqrt((double)N);
    lra_tensor *w = lra_param(g, "w", LRA_SHAPE(2, sides * E, N), &spec);
    /* With dt = 1. 1/2 cancels the factor 2 of lra_ssm_kernel(), which counts a mode and its
     * conjugate; this model has no conjugates. */
    lra_tensor *k = lra_ssm_kernel(lra_concat(2, lambda, 0), lra_affine(w, 0.5, 0),
                                   lra_ones(g, lra_real(g), LRA_SHAPE(1)), b->T);
    return lra_name(sides == 2 ? lra_reshape(k, LRA_SHAPE(2, E, b->T)) : k, "kernel");
}

static lra_tensor *linear(lra_tensor *x, const char *name, int64_t n_out)
{
    return lra_layer_linear_from(x, name, n_out, LRA_SPEC(LRA_FAN(lra_width(x))), NULL);
}

static lra_tensor *encode(const lra_build *b, lra_tensor *x)
{
    lra_graph *g = b->graph;
    const lra_config *c = b->config;
    int64_t E = lra_config_int(c, "narrow"), hidden = lra_config_int(c, "hidden");
    double dropout = lra_config_real(c, "dropout");
    for (int64_t i = 0; i < lra_config_int(c, "layers"); i++) {
        lra_push(g, "layer%d", (int)i);
        lra_tensor *h = lra_layer_layer_norm(x, "norm");
        lra_tensor *u = lra_gelu(linear(h, "u", E)), *v = linear(h, "v", hidden);
        lra_push(g, "ssm");
        lra_tensor *y = lra_long_conv(u, kernels(b, E), b->length);
        lra_tensor *skip = lra_param(g, "skip", LRA_SHAPE(E), LRA_SPEC(LRA_NORMAL(1)));
        y = lra_add(y, lra_mul(u, lra_cast(skip, lra_elem(g))));
        lra_pop(g);
        y = lra_dropout(lra_gate(v, LRA_GATE_GELU, linear(y, "back", hidden)), dropout, false);
        x = lra_layer_linear(y, "out", lra_width(x), LRA_ACT_NONE, x);
        lra_pop(g);
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
    LRA_INT_KEY("narrow", "32", 1, 1 << 20, "number of channels of the state space"),
    LRA_INT_KEY("hidden", "512", 1, 1 << 20, "number of channels of the gate"),
    LRA_INT_KEY("state", "512", 1, 65536, "state size, in complex numbers"),
    LRA_REAL_KEY("ssm-rate", "0.001", 0, 10, "learning rate of lambda and w (0 = the global rate)"),
    LRA_FLAG_KEY("causal", "1", "use one kernel per channel, over past positions only"),
    LRA_REAL_KEY("dropout", "0", 0, 0.999, "dropout rate of the gated channels"),
    LRA_KEYS_END};

static const lra_model_preset presets[] = {
    {NULL, "quick", NULL, "layers=2 width=32 narrow=8 hidden=128 state=64 rate=0.004 decay=0.01",
     NULL},
    {NULL, "small", NULL, "layers=4 width=64 narrow=16 hidden=256 rate=0.004 decay=0.05", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static const char *const variants[] = {"causal=0 state=3", NULL};

const lra_model lra_model_gss = {
    .name = "gss",
    .paper = "arXiv:2206.13947",
    .summary = "a diagonal state space with few channels, between gates",
    .deviations = "the initialisation of the inner state space: not stated in the paper",
    .keys = keys,
    .presets = presets,
    .tiny = "layers=2 width=8 narrow=2 hidden=8 state=4",
    .variants = variants,
    .match = "hidden",
    .pools = LRA_POOLS_ROWS,
    .encode = encode,
    .reach = reach,
    .causal = causal,
};
