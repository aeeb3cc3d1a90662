/* dlr: long convolutions with kernels of a diagonal linear recurrence that is not discretised.
 *
 *   k_l = Re sum_n w_n exp(l lambda_n),  lambda_n = -r_n^2 + i a_n,  n < state,  in the blocks of conv_blocks.h
 *
 * lambda is shared by all channels. Every channel and direction has its own w; real and imaginary
 * parts are initialised N(0,1)/state. There are no conjugate pairs.  r^2 = dt/2 with dt log-uniform
 * in [dt-min, dt-max].
 * init=structured: a_n = 2 pi n/state; init=random: a_n ~ N(0,1); only a_n modulo 2 pi has an
 * effect.  lambda and w are trained with learning rate `ssm-rate` without weight decay.
 * Source: Gupta et al. 2022, Simplifying and Understanding State Space Models with Diagonal Linear
 * RNNs; presets of Amos et al. 2024 (spt). */
#include <math.h>

#include "kernels/graph/op.h"
#include "models/conv_blocks.h"

static lra_tensor *kernels(const lra_build *b)
{
    lra_graph *g = b->graph;
    const lra_config *c = b->config;
    int64_t width = lra_config_int(c, "width"), N = lra_config_int(c, "state");
    int64_t sides = b->causal ? 1 : 2;
    double rate = lra_config_real(c, "ssm-rate"), least = lra_config_real(c, "dt-min"),
           most = lra_config_real(c, "dt-max");
    lra_param_spec decay = {LRA_LOG_UNIFORM(sqrt(least / 2), sqrt(most / 2)), .rate = rate,
                            .no_decay = true};
    lra_param_spec turn = {LRA_NORMAL(1), .rate = rate, .no_decay = true}, weight = turn;
    if (least > most) lra_graph_fail(g, "dt-min is above dt-max");
    if (lra_config_is(c, "init", "structured"))
        turn.init = LRA_INIT_RAMP, turn.a = 0, turn.b = 2 * acos(-1) / (double)N;
    weight.a = 1 / (double)N;
    lra_tensor *root = lra_param(g, "root", LRA_SHAPE(1, 1, N), &decay);
    lra_tensor *lambda[] = {lra_affine(lra_mul(root, root), -1, 0),
                            lra_param(g, "turn", LRA_SHAPE(1, 1, N), &turn)};
    lra_tensor *w = lra_param(g, "w", LRA_SHAPE(2, sides * width, N), &weight);
    lra_tensor *k = lra_ssm_kernel(lra_concat(2, lambda, 0), w, NULL, b->T);
    return sides == 2 ? lra_reshape(k, LRA_SHAPE(2, width, b->T)) : k;
}

static lra_tensor *encode(const lra_build *b, lra_tensor *x)
{
    return lra_conv_blocks(b, x, "ssm", kernels);
}

static const lra_key keys[] = {
    LRA_CONV_BLOCK_KEYS("0", "1"),
    LRA_INT_KEY("state", "1024", 1, 65536, "state size, in complex numbers"),
    LRA_CHOICE_KEY(
        "init", "structured", "structured|random",
        "initial imaginary parts of lambda: evenly spaced (structured) or N(0,1) (random)"),
    LRA_REAL_KEY("dt-min", "0.0001", 1e-9, 1e3,
                 "smallest initial dt; kernels decay as exp(-dt/2) per token"),
    LRA_REAL_KEY("dt-max", "0.1", 1e-9, 1e3,
                 "largest initial dt; kernels decay as exp(-dt/2) per token"),
    LRA_REAL_KEY("ssm-rate", "0.0001", 0, 10,
                 "learning rate of lambda and w (0 = the global rate)"),
    LRA_KEYS_END};

#define SPT(tasks, settings)                                                                       \
    {                                                                                              \
        tasks, "paper", "spt", settings " decay=0.05 schedule=constant", NULL                      \
    }
static const lra_model_preset presets[] = {
    {NULL, "quick", NULL, "layers=2 width=32 state=128 rate=0.004 decay=0.01", NULL},
    {NULL, "small", NULL, "layers=4 width=64 state=512 rate=0.004 decay=0.05", NULL},
    SPT("listops", "layers=8 width=128 norm=post rate=0.01 batch=50"),
    SPT("text", "width=256 rate=0.01 batch=16"),
    SPT("image", "width=512 rate=0.01 batch=50"),
    SPT("path-x", "width=256 rate=0.0005 batch=32"),
    LRA_OWN_PRESET("select cumsum cummax", "state=4096"),
    {NULL, NULL, NULL, NULL, NULL}};

static const char *const variants[] = {"init=random causal=1 norm=post",
                                       "norm-kind=batch gate=0 ssm-rate=0", NULL};

const lra_model lra_model_dlr = {
    .name = "dlr",
    .paper = "arXiv:2212.00768",
    .summary = "long convolutions with kernels of a diagonal linear recurrence",
    .deviations = "padding is excluded from the convolution",
    .keys = keys,
    .presets = presets,
    .tiny = "layers=2 width=6 state=8",
    .variants = variants,
    .match = "width",
    .pools = LRA_POOLS_ROWS,
    .encode = encode,
    .reach = lra_conv_blocks_reach,
    .causal = lra_conv_blocks_causal,
};
