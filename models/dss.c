/* dss: long convolutions with kernels of a diagonal state space without conjugate pairs.
 *
 *   kernel=softmax  k_l = Re sum_n (w_n/lambda_n) exp(z_n l) / sum_(m < T_max) exp(z_n m)          z = dt lambda
 *   kernel=exp      k_l = Re sum_n  w_n (exp(z_n) - 1)/lambda_n  exp(z_n l)                        n < state
 *
 * in the blocks of conv_blocks.h, causal and without their gate.  lambda_n = -exp(d_n) + i a_n
 * is shared by all channels. Each channel and direction has its own w, with real and imaginary
 * parts ~ N(0,1), and each channel its own dt, log-uniform in [dt-min, dt-max].  kernel=softmax has
 * one dt for the real part and one for the imaginary part of lambda; both are equal at
 * initialisation. Initialisation: d = ln(1/2); init=skew: a is the positive eigenvalues of the skew
 * part of LegS of size 2 state (hippo.h); init=lin: a_n = pi n. All of these are trained with
 * learning rate `ssm-rate` without weight decay.
 * Source: Gupta et al. 2022, Diagonal State Spaces are as Effective as Structured State Spaces.
 * Difference: the public code sums over the padded length, so that padding changes results, and
 * adds 1e-7 to the sum. */
#include <math.h>

#include "kernels/base/core/philox.h"
#include "kernels/graph/op.h"
#include "models/conv_blocks.h"
#include "models/layers.h"
#include "models/hippo.h"

/* Initial ln dt, (rows,D), the same for all rows. data: the range of dt. */
static void fill_log_dt(const lra_fill *f, double *v)
{
    const double *range = f->data;
    int64_t D = f->shape.d[1];
    lra_rng r = lra_rng_new(f->seed, f->stream, 0);
    for (int64_t i = 0; i < lra_shape_elements(f->shape); i++)
        v[i] = i < D ? log(range[0]) + log(range[1] / range[0]) * lra_rng_u01(&r) : v[i - D];
}

static lra_tensor *kernels(const lra_build *b)
{
    lra_graph *g = b->graph;
    const lra_config *c = b->config;
    bool softmax = lra_config_is(c, "kernel", "softmax");
    int64_t D = lra_config_int(c, "width"), N = lra_config_int(c, "state"),
            sides = b->causal ? 1 : 2;
    double pi = acos(-1), range[] = {lra_config_real(c, "dt-min"), lra_config_real(c, "dt-max")};
    if (range[0] > range[1]) lra_graph_fail(g, "dt-min is above dt-max");
    lra_param_spec decay = {LRA_CONSTANT(log(0.5)), .rate = lra_config_real(c, "ssm-rate"),
                            .no_decay = true};
    lra_param_spec turn = decay, step = decay, weight = decay;
    turn.init = lra_config_is(c, "init", "lin") ? LRA_INIT_RAMP : LRA_INIT_FILL;
    turn.fill = lra_hippo_turn, turn.a = 0, turn.b = pi;
    step.init = LRA_INIT_FILL, step.fill = fill_log_dt, step.data = range,
    step.data_size = sizeof range;
    weight.init = LRA_INIT_NORMAL, weight.a = 1, weight.b = 0;
    lra_tensor *re = lra_affine(lra_exp(lra_param(g, "log_decay", LRA_SHAPE(1, 1, N), &decay)), -1,
                                0);
    lra_tensor *im = lra_param(g, "turn", LRA_SHAPE(1, 1, N), &turn), *lambda[] = {re, im}, *k;
    lra_tensor *w = lra_param(g, "w", LRA_SHAPE(2, sides * D, N), &weight);
    lra_tensor *dt = lra_exp(lra_param(g, "log_dt", LRA_SHAPE(softmax ? 2 : 1, D), &step));
    if (softmax) {
        lra_tensor *steps = lra_reshape(dt, LRA_SHAPE(2, D, 1));
        w = lra_complex_div(w, lra_concat(2, lambda, 0));
        k = lra_ssm_kernel_shares(lra_mul(lra_concat(2, lambda, 0), steps), w, b->T, b->T_max);
    } else { /* 1/2 cancels the factor 2 of lra_ssm_kernel(), which stands for conjugates */
        k = lra_ssm_kernel(lra_concat(2, lambda, 0), lra_affine(w, 0.5, 0),
                           lra_reshape(dt, LRA_SHAPE(D)), b->T);
    }
    return sides == 2 ? lra_reshape(k, LRA_SHAPE(2, D, b->T)) : k;
}

static lra_tensor *encode(const lra_build *b, lra_tensor *x)
{
    return lra_conv_blocks(b, x, "ssm", kernels);
}

static const lra_key keys[] = {
    LRA_CONV_BLOCK_KEYS("1", "0"),
    LRA_CHOICE_KEY("kernel", "softmax", "softmax|exp", "weighting of the terms of a kernel"),
    LRA_INT_KEY("state", "64", 1, 65536, "state size, in complex numbers"),
    LRA_CHOICE_KEY("init", "skew", "skew|lin",
                   "initialisation of the imaginary parts of the poles"),
    LRA_REAL_KEY("dt-min", "0.001", 1e-9, 1e3, "smallest initial step dt"),
    LRA_REAL_KEY("dt-max", "0.1", 1e-9, 1e3, "largest initial step dt"),
    LRA_REAL_KEY("ssm-rate", "0.001", 0, 10, "learning rate of the kernels (0 = the global rate)"),
    LRA_KEYS_END};

static const lra_model_preset presets[] = {
    {NULL, "quick", NULL, "layers=2 width=32 state=16 rate=0.004 decay=0.01", NULL},
    {NULL, "small", NULL, "layers=4 width=64 rate=0.004 decay=0.05", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static const char *const variants[] = {"kernel=exp init=lin causal=0 gate=1", "causal=0 norm=post",
                                       NULL};

const lra_model lra_model_dss = {
    .name = "dss",
    .paper = "arXiv:2203.14343",
    .summary = "long convolutions with kernels of a diagonal state space",
    .deviations =
        "DSS-softmax is normalised over the longest length of the task; no constant is added to "
        "the sum",
    .keys = keys,
    .presets = presets,
    .tiny = "layers=2 width=6 state=4",
    .variants = variants,
    .match = "width",
    .pools = LRA_POOLS_ROWS,
    .encode = encode,
    .reach = lra_conv_blocks_reach,
    .causal = lra_conv_blocks_causal,
};
