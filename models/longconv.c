/* longconv: long convolutions whose kernels are free parameters; squashing sets small values to 0.
 *
 *   k = squash(smooth(taps)),  squash(v) = sign(v) max(|v| - lambda, 0),  in the blocks of conv_blocks.h
 *
 * A channel has `kernels` kernels of T_max taps, each with its own D. causal=0: as many kernels for
 * the future, from the next token on. Dropout on the values of a squashed kernel in training.
 * smooth=average: mean of 7 taps, with zeros beyond the ends. smooth=frequency: the bins of the
 * real Fourier transform of all T_max taps are correlated with g_m = exp(-m^2/2), m = -3..3, with
 * zeros beyond the first and the last bin.
 * start=random: N(0, 0.002^2). start=double-exp: N(0, 0.02^2) exp(-(j/T_max) (D/2)^(d/D)) at lag j
 * of channel d.
 * Source: Fu et al. 2023, Simple Hardware-Efficient Long Convolutions for Sequence Modeling. */
#include <math.h>

#include "kernels/base/core/philox.h"
#include "kernels/graph/op.h"
#include "models/conv_blocks.h"

/* Draws initial taps whose standard deviation depends on lag and channel. data: D. */
static void fill_double_exp(const lra_fill *f, double *v)
{
    int64_t D = *(const int64_t *)f->data, L = f->shape.d[f->shape.n - 1];
    lra_rng r = lra_rng_new(f->seed, f->stream, 0);
    for (int64_t i = 0; i < lra_shape_elements(f->shape); i++) {
        double normal, other, lag = (double)(i % L) / (double)L, d = (double)(i / L % D);
        uint32_t first = lra_rng_u32(&r);
        lra_normal2(first, lra_rng_u32(&r), &normal, &other);
        v[i] = 0.02 * normal * exp(-lag * pow((double)(D / 2), d / (double)D));
    }
}

static lra_tensor *average(lra_tensor *k, int64_t rows, int64_t L)
{
    lra_tensor *beyond = lra_zeros(k->graph, k->type, LRA_SHAPE(rows, 3)), *shifted[7];
    lra_tensor *all[] = {beyond, k, beyond};
    for (int i = 0; i < 7; i++) shifted[i] = lra_slice(lra_concat(3, all, 1), 1, i, L);
    return lra_affine(lra_add_n(7, shifted), 1.0 / 7, 0);
}

/* Tables for the correlation of the bins of a real Fourier transform of L taps with g. Let a_j = 2
 * pi j/L. If the bins continued periodically, the correlation would multiply tap j by 1 + 2 sum_m
 * g_m cos(m a_j) (table AROUND). But beyond the first and the last bin there are zeros. The terms
 * of the continuation (the conjugate of bin n at -n, and of bin L/2 - n at L/2 + n, n = 1..3) are
 * therefore subtracted from tap j:
 *   (2/L) sum_n Re sum_l k_l exp(i n a_l) sum_(f <= 3-n) c_f g_(f+n) exp(i f a_j),  c_0 = 1, else c_f = 2,
 * where l runs over the lags with the parity of j. Table IN holds cos(n a_l) and sin(n a_l), table
 * OUT the factors that depend on j. */
typedef enum { IN, OUT, AROUND } table;
static void fill_table(const lra_fill *f, double *v)
{
    int64_t L = f->shape.d[2] * 2;
    table t = *(const table *)f->data;
    for (int64_t i = 0; i < lra_shape_elements(f->shape); i++) {
        int row = (int)(i / L), n = row / 2 + 1;
        double a = 2 * acos(-1) * (double)(i % L) / (double)L;
        v[i] = t != IN ? 0 : row % 2 ? sin(n * a) : cos(n * a);
        for (int m = t == OUT ? n : -3; m <= 3 && t != IN; m++) {
            int turns = t == OUT ? m - n : m;
            double g = exp(-m * m / 2.0) * (t == AROUND ? 1 : (turns ? 4 : 2) / (double)L);
            v[i] += g * (t == OUT && row % 2 ? -sin(turns * a) : cos(turns * a));
        }
    }
}

static lra_tensor *correlate_bins(lra_tensor *k, int64_t rows, int64_t L)
{
    static const char *const name[] = {"in", "out", "around"};
    lra_graph *g = k->graph;
    lra_tensor *tables[3];
    if (L % 2)
        lra_graph_fail(g, "smooth=frequency of %lld taps, expected an even number", (long long)L);
    for (table t = IN; t <= AROUND; t++)
        tables[t] = lra_constant(g, name[t], LRA_SHAPE(1, t == AROUND ? 1 : 6, L / 2, 2),
                                 LRA_SPEC(LRA_FILL(fill_table), .data = &t, .data_size = sizeof t));
    k = lra_reshape(k, LRA_SHAPE(rows, 1, L / 2, 2));
    lra_tensor *bin = lra_reduce_sum(lra_mul(k, tables[IN]), LRA_SHAPE(rows, 6, 1, 2));
    lra_tensor *wrong = lra_reduce_sum(lra_mul(bin, tables[OUT]), LRA_SHAPE(rows, 1, L / 2, 2));
    return lra_reshape(lra_sub(lra_mul(k, tables[AROUND]), wrong), LRA_SHAPE(rows, L));
}

static lra_tensor *kernels(const lra_build *b)
{
    const lra_config *c = b->config;
    int64_t D = lra_config_int(c, "width"), width = lra_config_int(c, "kernels") * D;
    int64_t sides = b->causal ? 1 : 2;
    double lambda = lra_config_real(c, "squash");
    lra_param_spec start = {LRA_NORMAL(0.002), .rate = lra_config_real(c, "kernel-rate"),
                            .no_decay = true,  .fill = fill_double_exp,
                            .data = &D,        .data_size = sizeof D};
    if (lra_config_is(c, "start", "double-exp")) start.init = LRA_INIT_FILL;
    lra_tensor *k = lra_param(b->graph, "taps", LRA_SHAPE(sides, width, b->T_max), &start);
    k = lra_reshape(k, LRA_SHAPE(sides * width, b->T_max));
    if (lra_config_is(c, "smooth", "average")) k = average(k, sides * width, b->T_max);
    if (lra_config_is(c, "smooth", "frequency")) k = correlate_bins(k, sides * width, b->T_max);
    k = lra_slice(k, 1, 0, b->T);
    k = lra_sub(lra_relu(lra_affine(k, 1, -lambda)), lra_relu(lra_affine(k, -1, -lambda)));
    k = lra_dropout(k, lra_config_real(c, "kernel-dropout"), false);
    return sides == 2 ? lra_reshape(k, LRA_SHAPE(2, width, b->T)) : k;
}

static lra_tensor *encode(const lra_build *b, lra_tensor *x)
{
    return lra_conv_blocks(b, x, "conv", kernels);
}

static const lra_key keys[] = {
    LRA_CONV_BLOCK_KEYS("1", "1"),
    LRA_INT_KEY("kernels", "2", 1, 64, "number of kernels per channel"),
    LRA_REAL_KEY("squash", "0.003", 0, 1e3, "amount by which kernel values are moved towards 0"),
    LRA_REAL_KEY("kernel-dropout", "0.2", 0, 0.999, "dropout rate of the kernel values"),
    LRA_CHOICE_KEY("smooth", "none", "none|average|frequency", "smoothing of the kernels"),
    LRA_CHOICE_KEY("start", "random", "random|double-exp", "initialisation of the kernels"),
    LRA_REAL_KEY("kernel-rate", "0.001", 0, 10,
                 "learning rate of the kernels (0 = the global rate)"),
    LRA_KEYS_END};

#define FAR "width=256 norm-kind=batch causal=0 squash=0.001 kernel-dropout=0.3 schedule=cosine "
#define BN  "norm-kind=batch rate=0.01 decay=0.05 schedule=cosine "
static const lra_model_preset presets[] = {
    LRA_CONV_BLOCK_PRESETS,
    LRA_OWN_PRESET("listops",
                   BN "layers=8 norm=post squash=0.002 kernel-rate=0.0005 batch=50 epochs=40 "
                      "total-steps=80000 warmup=10000"),
    LRA_OWN_PRESET("text", BN "width=256 batch=16 epochs=32 total-steps=50000 warmup=5000"),
    LRA_OWN_PRESET("retrieval",
                   BN "width=256 squash=0.004 kernel-dropout=0.1 kernel-rate=0.0001 batch=32 "
                      "accumulate=2 epochs=20 total-steps=50000 warmup=2500"),
    LRA_OWN_PRESET("image",
                   "width=512 norm=post dropout=0.1 rate=0.01 decay=0.05 batch=50 epochs=200 "
                   "schedule=cosine total-steps=200000 warmup=1000"),
    LRA_OWN_PRESET(
        "pathfinder pathfinder-intermediate pathfinder-easy",
        FAR "rate=0.004 decay=0.03 batch=64 epochs=200 total-steps=500000 warmup=2500 pool=last"),
    LRA_OWN_PRESET("path-x", FAR "kernel-rate=0.0005 rate=0.0005 decay=0.05 batch=16 epochs=50 "
                                 "total-steps=500000 warmup=10000"),
    {NULL, NULL, NULL, NULL, NULL}};

static const char *const variants[] = {
    "causal=0 norm=post norm-kind=batch smooth=average kernels=1",
    "smooth=frequency start=double-exp kernel-dropout=0.2 gate=0", NULL};

const lra_model lra_model_longconv = {
    .name = "longconv",
    .paper = "arXiv:2302.06646",
    .summary = "long convolutions with free kernels, soft-thresholded towards 0",
    .deviations = "padding is excluded from the convolution",
    .keys = keys,
    .presets = presets,
    .tiny = "layers=2 width=6 squash=0.001 kernel-dropout=0",
    .variants = variants,
    .match = "width",
    .pools = LRA_POOLS_ROWS,
    .encode = encode,
    .reach = lra_conv_blocks_reach,
    .causal = lra_conv_blocks_causal,
};
