/* lru: linear recurrent units, a diagonal recurrence of one complex state between dense matrices.
 *
 *   u = BatchNorm(x);  h_t = lambda h_(t-1) + exp(gamma) (B u_t);  y = Re(C h) + D u
 *   (p, q) = W GELU(y) + b;  x = x + p sigmoid(q)                          per layer; no norm at the end
 *   lambda = exp(-exp(nu) + i exp(theta)), N = `state` of them
 *
 * Initialisation: |lambda|^2 uniform in [r-min^2, r-max^2], angle uniform in [0, max-phase], gamma
 * = ln sqrt(1 - |lambda|^2), so that states have the scale of the inputs.  B ~ N(0, 1/(2 D)), C ~
 * N(0, 1/N), for real and imaginary parts each; D ~ N(0,1); dense layers as in scan_layer.h; GELU
 * is the tanh approximation.  nu, theta, gamma and B are trained with `ring-rate` times the global
 * learning rate, without weight decay. Dropout before W and after the gate, one mask for all
 * positions of a channel.  Running statistics have momentum 0.99.
 * Source: Orvieto et al. 2023, Resurrecting Recurrent Neural Networks for Long Sequences.
 * Known: at initialisation, a state has the variance of B u if the inputs are stationary and
 * uncorrelated. */
#include <math.h>

#include "kernels/base/core/philox.h"
#include "kernels/graph/op.h"
#include "models/conv_blocks.h"
#include "models/layers.h"
#include "models/scan_layer.h"

typedef struct {
    double least, most, phase;
} ring;

/* Initial nu, theta and gamma: (3,N). */
static void fill_ring(const lra_fill *f, double *v)
{
    const ring *r = f->data;
    int64_t N = f->shape.d[1];
    lra_rng draw = lra_rng_new(f->seed, f->stream, 0);
    for (int64_t n = 0; n < N; n++) {
        double u = 1 - lra_rng_u01(&draw); /* uniform in (0, 1] */
        double square = r->least * r->least + u * (r->most * r->most - r->least * r->least);
        v[n] = log(-0.5 * log(square));
        v[N + n] = log(r->phase * (1 - lra_rng_u01(&draw)));
        v[2 * N + n] = 0.5 * log1p(-square);
    }
}

/* Returns exp of row k of nu, theta, gamma: (1,N). */
static lra_tensor *row(lra_tensor *all, int k)
{
    return lra_exp(lra_slice(all, 0, k, 1));
}

static lra_tensor *recur(const lra_build *b, lra_tensor *u)
{
    lra_graph *g = b->graph;
    const lra_config *c = b->config;
    int64_t D = lra_width(u), N = lra_config_int(c, "state");
    const ring r = {lra_config_real(c, "r-min"), lra_config_real(c, "r-max"),
                    lra_config_real(c, "max-phase")};
    if (r.least > r.most) lra_graph_fail(g, "r-min is above r-max");
    lra_param_spec slow = {LRA_NORMAL(sqrt(0.5 / (double)D)), .no_decay = true,
                           .rate_factor = lra_config_real(c, "ring-rate")};
    lra_param_spec start = slow;
    start.init = LRA_INIT_FILL, start.fill = fill_ring, start.data = &r, start.data_size = sizeof r;
    lra_tensor *all = lra_param(g, "ring", LRA_SHAPE(3, N), &start);
    lra_tensor *size = lra_exp(lra_affine(row(all, 0), -1, 0)), *angle = row(all, 1);
    lra_tensor *lambda = lra_complex(lra_mul(size, lra_cos(angle)), lra_mul(size, lra_sin(angle)));
    lra_tensor *in = lra_param(g, "b", LRA_SHAPE(2, D, N), &slow);
    lra_tensor *out = lra_param(g, "c", LRA_SHAPE(2, N, D),
                                LRA_SPEC(LRA_NORMAL(sqrt(1 / (double)N))));
    lra_tensor *skip = lra_param(g, "skip", LRA_SHAPE(D), LRA_SPEC(LRA_NORMAL(1)));
    in = lra_mul(in, lra_reshape(row(all, 2), LRA_SHAPE(1, 1, N)));
    return lra_scan_layer(b, u, lambda, in, out, skip, 1);
}

static lra_tensor *encode(const lra_build *b, lra_tensor *x)
{
    int64_t D = lra_width(x);
    double dropout = lra_config_real(b->config, "dropout");
    for (int64_t i = 0; i < lra_config_int(b->config, "layers"); i++) {
        lra_push(b->graph, "layer%d", (int)i);
        lra_tensor *u = lra_layer_batch_norm_by(x, "norm", b->length, 0.01);
        lra_push(b->graph, "lru");
        lra_tensor *h = lra_gelu_tanh(recur(b, u));
        lra_pop(b->graph);
        h = lra_scan_linear(lra_dropout(h, dropout, true), "mix", 2 * D);
        h = lra_gate(lra_slice(h, 2, D, D), LRA_GATE_SIGMOID, lra_slice(h, 2, 0, D));
        x = lra_add(x, lra_dropout(h, dropout, true));
        lra_pop(b->graph);
    }
    return x;
}

static const lra_key keys[] = {
    LRA_INT_KEY("layers", "6", 1, 1 << 20, "number of blocks"),
    LRA_INT_KEY("width", "256", 1, 1 << 20, "model width, in channels"),
    LRA_INT_KEY("state", "256", 1, 65536, "state size, in complex numbers"),
    LRA_REAL_KEY("r-min", "0", 0, 0.999999, "smallest initial magnitude of lambda"),
    LRA_REAL_KEY("r-max", "0.99", 1e-6, 0.999999, "largest initial magnitude of lambda"),
    LRA_REAL_KEY("max-phase", "6.283185307179586", 1e-9, 6.283185307179586,
                 "largest initial angle of lambda"),
    LRA_REAL_KEY("ring-rate", "0.5", 1e-9, 10,
                 "factor on the learning rate of lambda, gamma and B"),
    LRA_REAL_KEY("dropout", "0", 0, 0.999, "dropout rate of channels"),
    LRA_KEYS_END};

static const lra_model_preset presets[] = {
    {NULL, "quick", NULL, "layers=2 width=32 state=32 rate=0.004 decay=0.01", NULL},
    {NULL, "small", NULL, "layers=4 width=64 state=64 rate=0.004 decay=0.05", NULL},
    {"path-x path-x-256", "paper", NULL, "r-min=0.999 r-max=0.9999 max-phase=0.06283185307179586",
     NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static const char *const variants[] = {"r-min=0.9 r-max=0.999 max-phase=0.1", NULL};

const lra_model lra_model_lru = {
    .name = "lru",
    .paper = "arXiv:2303.06349",
    .summary = "a complex diagonal recurrence between dense matrices",
    .deviations = "padding is excluded from the recurrence and from the statistics of its norms",
    .keys = keys,
    .presets = presets,
    .tiny = "layers=2 width=6 state=4",
    .variants = variants,
    .match = "width",
    .pools = LRA_POOLS_ROWS,
    .encode = encode,
    .reach = lra_conv_blocks_reach,
    .causal = lra_scan_always,
    .embedding = lra_scan_embedding,
};
