/* s4d: long convolutions with kernels of a diagonal state-space model.
 *
 *   h = GELU(k * u + D u);  (p, q) = W h + b;  x = x + p sigmoid(q);  u = Norm(x)      the blocks of conv_blocks.h
 *   k_l = 2 Re sum_n C_n B_n (exp(dt a_n) - 1)/a_n exp(dt a_n l),  a_n = -exp(r_n) - i w_n,  n < state/2  (zoh)
 *   discrete=bilinear: k_l = 2 Re sum_n C_n B_n dt/(1 - z/2) ((1 + z/2)/(1 - z/2))^l,  z = dt a_n
 *
 * init=lin: a_n = -1/2 - i pi n; inv: -1/2 - i (N/pi)(N/(2n+1) - 1), N = state; real: -(n+1), with
 * w at its minimum, 1e-4; legs: the normal part of HiPPO-LegS (hippo.h). B = 1 except for legs, C ~
 * N(0,1) complex, dt log-uniform in [dt-min, dt-max].  a and B are shared by width/copies channels:
 * channel h has those of copy h mod copies.  causal=0: a second kernel with its own C covers the
 * future, from the next token on. r, w, B and dt are trained with learning rate `ssm-rate` (0 = the
 * global rate) without weight decay, C with the global rate.
 * Source: Gu et al. 2022, On the Parameterization and Initialization of Diagonal State Space
 * Models. */
#include <math.h>
#include <string.h>

#include "kernels/graph/op.h"
#include "kernels/graph/ops.h"
#include "models/conv_blocks.h"
#include "models/layers.h"
#include "models/hippo.h"

/* ---- starts ---------------------------------------------------------------------------------- */

static const double LEAST = 1e-4; /* minimum of -Re a and of -Im a */

typedef enum { LIN, INV, REAL, LEGS } start;

static start start_of(const lra_config *c)
{
    static const char *const names[] = {"lin", "inv", "real", "legs"};
    int i = LEGS;
    while (i > LIN && strcmp(names[i], lra_config_text(c, "init")) != 0) i--;
    return (start)i;
}

/* Initial r = ln(-Re a): (..,modes). */
static void fill_decay(const lra_fill *f, double *v)
{
    start s = *(const start *)f->data;
    int64_t modes = f->shape.d[f->shape.n - 1];
    for (int64_t i = 0; i < lra_shape_elements(f->shape); i++)
        v[i] = s == REAL ? log((double)(i % modes) + 1) : log(0.5);
}

/* Initial w = -Im a: (..,modes). */
static void fill_turn(const lra_fill *f, double *v)
{
    start s = *(const start *)f->data;
    int64_t modes = f->shape.d[f->shape.n - 1];
    if (s == LEGS) {
        lra_hippo_turn(f, v);
        return;
    }
    const double pi = acos(-1), N = 2 * (double)modes;
    for (int64_t i = 0; i < lra_shape_elements(f->shape); i++) {
        double n = (double)(i % modes), w = 0;
        if (s == LIN) w = pi * n;
        if (s == INV) w = N / pi * (N / (2 * n + 1) - 1);
        v[i] = fmax(w, LEAST);
    }
}

/* ---- the layer ------------------------------------------------------------------------------- */

/* Kernels by lag: (D,T), or (2,D,T) for both directions. */
static lra_tensor *kernel(const lra_build *b)
{
    lra_graph *g = b->graph;
    const lra_config *c = b->config;
    int64_t width = lra_config_int(c, "width"), modes = lra_config_int(c, "state") / 2;
    int64_t sides = b->causal ? 1 : 2, copies = lra_config_int(c, "ssm-copies");
    double rate = lra_config_real(c, "ssm-rate");
    start s = start_of(c);
    if (width % copies) {
        lra_graph_fail(g, "copies is %lld, expected a divisor of the width %lld", (long long)copies,
                       (long long)width);
        copies = 1;
    }
    lra_shape one = LRA_SHAPE(1, copies, modes);
    lra_param_spec slow = {.rate = rate, .no_decay = true, .data = &s, .data_size = sizeof s};
    lra_param_spec decay = slow, turn = slow, step = lra_log_steps(b, slow), in = slow;
    decay.init = turn.init = LRA_INIT_FILL, decay.fill = fill_decay, turn.fill = fill_turn;
    lra_tensor *a[] = {lra_affine(lra_exp(lra_param(g, "log_decay", one, &decay)), -1, 0),
                       lra_affine(lra_param(g, "turn", one, &turn), -1, 0)};
    lra_tensor *dt = lra_exp(lra_param(g, "log_dt", LRA_SHAPE(width), &step));
    if (s == LEGS) in.init = LRA_INIT_FILL;
    in.a = 1, in.fill = lra_hippo_re;
    lra_tensor *B[] = {lra_param(g, "b_re", one, &in), NULL};
    in.a = 0, in.fill = lra_hippo_im;
    B[1] = lra_param(g, "b_im", one, &in);
    lra_tensor *C = lra_param(g, "c", LRA_SHAPE(2, sides * width, modes),
                              LRA_SPEC(LRA_NORMAL(sqrt(0.5))));
    lra_tensor *rows = lra_reshape(C, LRA_SHAPE(2, sides * width / copies, copies, modes));
    lra_tensor *CB = lra_complex_mul(
        rows, lra_reshape(lra_concat(2, B, 0), LRA_SHAPE(2, 1, copies, modes)));
    CB = lra_reshape(CB, LRA_SHAPE(2, sides * width, modes));
    bool bilinear = lra_config_is(c, "discrete", "bilinear");
    lra_tensor *k = lra_concat(2, a, 0);
    k = bilinear ? lra_ssm_kernel_bilinear(k, CB, dt, b->T) : lra_ssm_kernel(k, CB, dt, b->T);
    return sides == 2 ? lra_reshape(k, LRA_SHAPE(2, width, b->T)) : k;
}

static lra_tensor *encode(const lra_build *b, lra_tensor *x)
{
    return lra_conv_blocks(b, x, "ssm", kernel);
}

static const lra_key keys[] = {
    LRA_CONV_BLOCK_KEYS("0", "1"),
    LRA_INT_KEY("state", "64", 2, 3072, "state size (conjugate pairs count twice)"),
    LRA_INT_KEY("ssm-copies", "1", 1, 1 << 20,
                "number of different (a, B); each is shared by width / ssm-copies channels"),
    LRA_CHOICE_KEY("init", "lin", "lin|inv|real|legs", "initialisation of a"),
    LRA_CHOICE_KEY("discrete", "zoh", "zoh|bilinear", "discretisation"),
    LRA_REAL_KEY("dt-min", "0.001", 1e-9, 1e3, "smallest initial step dt"),
    LRA_REAL_KEY("dt-max", "0.1", 1e-9, 1e3, "largest initial step dt"),
    LRA_REAL_KEY("ssm-rate", "0.001", 0, 10, "learning rate of a, B and dt (0 = the global rate)"),
    LRA_KEYS_END};

static const lra_model_preset presets[] = {
    {NULL, "quick", NULL, "layers=2 width=32 state=16 rate=0.004 decay=0.01", NULL},
    {NULL, "small", NULL, "layers=4 width=64 rate=0.004 decay=0.05", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static const char *const variants[] = {"causal=1 ssm-copies=2 init=inv",
                                       "init=real ssm-rate=0 norm=post norm-kind=batch gate=0",
                                       "init=legs discrete=bilinear", NULL};

const lra_model lra_model_s4d = {
    .name = "s4d",
    .paper = "arXiv:2206.11893",
    .summary = "long convolutions with kernels of a diagonal state-space model",
    .deviations = "padding is excluded from the convolution",
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
