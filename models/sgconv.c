/* sgconv: long convolutions with multi-scale kernels of few parameters.
 *
 *   k = (m^(S-1) w_0, m^(S-2) w_1, m^(S-3) w_2, ..) / |k at initialisation|,  in the blocks of conv_blocks.h
 *
 * S = 1 + ceil(log2(T_max / s)) parts of s = `part` parameters each; part i > 1 is upsampled
 * linearly by 2^(i-1): its value t is at coordinate (t + 1/2) / 2^(i-1) - 1/2, clipped at the ends.
 * The kernel is truncated to the input. factors=fixed: m increases linearly from factor-min in the
 * first channel to factor-max in the last, w ~ N(0,1), and every kernel is divided by its norm over
 * all lags at initialisation, which is stored as a state. factors=learned: part i times alpha^i,
 * alpha of each kernel uniform in [alpha-min, 1), w ~ N(0,1)/s, no division.  causal=0: a second
 * kernel for the future.
 * Source: Li et al. 2022, What Makes Convolutional Models Great on Long Sequence Modeling?; both of
 * its public implementations. The paper does not define the output of its blocks on these tasks;
 * here it is gated (gate=0: not).
 * Known: 40 tokens with s = 8 need S = 4 parts, which cover 64 lags. */
#include <math.h>

#include "kernels/graph/op.h"
#include "models/conv_blocks.h"

/* Factors m^(S-1-i) of part i: (S,rows,1). data: number of channels, m of the first and of the last
 * channel. */
static void fill_factor(const lra_fill *f, double *v)
{
    const double *of = f->data;
    int64_t S = f->shape.d[0], rows = f->shape.d[1], D = (int64_t)of[0];
    for (int64_t i = 0; i < S * rows; i++) {
        double at = D > 1 ? (double)(i % D) / (double)(D - 1) : 0;
        v[i] = pow(of[1] + at * (of[2] - of[1]), (double)(S - 1 - i / rows));
    }
}

/* Returns alpha^i for all parts i: (S,rows,1). */
static lra_tensor *powers(lra_tensor *alpha, int64_t S)
{
    lra_tensor *power[64] = {lra_ones(alpha->graph, alpha->type, lra_tensor_shape(alpha))};
    for (int64_t i = 1; i < S; i++) power[i] = lra_mul(power[i - 1], alpha);
    return lra_concat((int)S, power, 0);
}

/* Returns the norms (rows,1) of the kernels at their first use. They are stored in a state, which
 * is 0 before. */
static lra_tensor *first_norm(lra_tensor *k, int64_t rows)
{
    lra_graph *g = k->graph;
    lra_tensor *kept = lra_state(g, "norm", LRA_SHAPE(rows, 1), NULL);
    lra_tensor *now = lra_detach(lra_sqrt(lra_reduce_sum(lra_mul(k, k), LRA_SHAPE(rows, 1))));
    lra_tensor *norm = lra_add(kept, lra_mul(now, lra_relu(lra_affine(kept, -1e30, 1))));
    if (lra_graph_mode(g) == LRA_TRAIN) lra_assign(kept, norm);
    return norm;
}

static lra_tensor *kernels(const lra_build *b)
{
    lra_graph *g = b->graph;
    const lra_config *c = b->config;
    bool fixed = lra_config_is(c, "factors", "fixed");
    int64_t D = lra_config_int(c, "width"), s = lra_config_int(c, "part"), S = 1;
    int64_t rows = b->causal ? D : 2 * D;
    while (s << (S - 1) < b->T_max) S++;
    lra_param_spec spec = {LRA_NORMAL(fixed ? 1 : 1.0 / (double)s),
                           .rate = lra_config_real(c, "kernel-rate")};
    lra_tensor *w = lra_param(g, "parts", LRA_SHAPE(S, rows, s), &spec), *part[64];
    if (fixed) {
        double m[] = {(double)D, lra_config_real(c, "factor-min"),
                      lra_config_real(c, "factor-max")};
        w = lra_mul(
            w, lra_constant(g, "factor", LRA_SHAPE(S, rows, 1),
                            LRA_SPEC(LRA_FILL(fill_factor), .data = m, .data_size = sizeof m)));
    } else {
        spec.init = LRA_INIT_UNIFORM, spec.a = lra_config_real(c, "alpha-min"), spec.b = 1;
        w = lra_mul(w, powers(lra_param(g, "alpha", LRA_SHAPE(1, rows, 1), &spec), S));
    }
    for (int64_t i = 0; i < S; i++)
        part[i] = lra_upsample(lra_reshape(lra_slice(w, 0, i, 1), LRA_SHAPE(rows, s)),
                               i > 1 ? (int64_t)1 << (i - 1) : 1);
    lra_tensor *k = lra_concat((int)S, part, 1);
    if (fixed) k = lra_div(k, first_norm(k, rows));
    k = lra_slice(k, 1, 0, b->T);
    return b->causal ? k : lra_reshape(k, LRA_SHAPE(2, D, b->T));
}

static lra_tensor *encode(const lra_build *b, lra_tensor *x)
{
    return lra_conv_blocks(b, x, "conv", kernels);
}

static const lra_key keys[] = {
    LRA_CONV_BLOCK_KEYS("0", "1"),
    LRA_INT_KEY("part", "64", 2, 1 << 20, "number of parameters of each part of a kernel"),
    LRA_CHOICE_KEY("factors", "fixed", "fixed|learned",
                   "scale factors between the parts of a kernel"),
    LRA_REAL_KEY("factor-min", "2", 1e-3, 1e3, "factors=fixed: factor of the first channel"),
    LRA_REAL_KEY("factor-max", "2", 1e-3, 1e3, "factors=fixed: factor of the last channel"),
    LRA_REAL_KEY("alpha-min", "0.5", 0, 1, "factors=learned: smallest initial factor"),
    LRA_REAL_KEY("kernel-rate", "0.001", 0, 10,
                 "learning rate of the kernels (0 = the global rate)"),
    LRA_KEYS_END};

static const lra_model_preset presets[] = {LRA_CONV_BLOCK_PRESETS, {NULL, NULL, NULL, NULL, NULL}};

static const char *const variants[] = {"factors=learned part=8 causal=1 gate=0",
                                       "factor-max=3 norm=post norm-kind=batch", NULL};

const lra_model lra_model_sgconv = {
    .name = "sgconv",
    .paper = "arXiv:2210.09298",
    .summary = "long convolutions with multi-scale kernels of few parameters",
    .deviations = "a gate at the end of a block, as in S4: not stated in the paper",
    .keys = keys,
    .presets = presets,
    .tiny = "layers=2 width=6 part=4",
    .variants = variants,
    .match = "width",
    .pools = LRA_POOLS_ROWS,
    .encode = encode,
    .reach = lra_conv_blocks_reach,
    .causal = lra_conv_blocks_causal,
};
