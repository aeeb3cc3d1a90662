/* s4: long convolutions with kernels of a state space whose matrix is diagonal plus rank one, in the blocks of conv_blocks.h.
 *
 *   k_l = C Ab^l Bb,  Ab = (1 - dt/2 A)^-1 (1 + dt/2 A),  Bb = (1 - dt/2 A)^-1 dt B,  A = diag(a) - P Q^*
 *
 * with the conjugates of all `state`/2 stored numbers behind them, so that k is real.  It starts as HiPPO-LegS (legs.h).
 * Trained is C (1 - Ab^L), L the longest length, so that no power of Ab is needed (lra_dplr_kernel); C ~ N(0,1) complex,
 * converted once; dt of a channel log-uniform in [dt-min, dt-max].
 *   version=v4  a = -exp(r) - i w, Q = P, dt = ln(1 + exp(s)); Im B cut to +-2 at the start
 *   version=v3  the same with dt = exp(s), B not cut
 *   version=v1  a = r - i w, free; B, P and Q of each channel, Q trained apart from P; dt = exp(s), B not cut; what C
 *               starts with is taken as converted.  Its papers have causal=1 gate=0
 * a, and B and P but in v1, are shared by width/copies channels: channel h has those of copy h mod copies.  causal=0: a
 * second kernel with a C of its own looks ahead, from the next token on.
 * a, B and P learn at `ssm-rate` without decay, dt without decay; slow=all: dt at that rate too and in v4 C, with decay;
 * the rest at the global rate; in v1 dt always does, C and Q never.
 * Source: Gu et al. 2022, Efficiently Modeling Long Sequences with Structured State Spaces, and its later code.  Where we
 * differ: lengths above L are not asked for; v4's third dropout, before GELU, is left out. */
#include <math.h>

#include "kernels/base/file.h"
#include "kernels/base/mem.h"
#include "kernels/base/philox.h"
#include "kernels/graph/op.h"
#include "models/conv_blocks.h"
#include "models/layers.h"
#include "models/legs.h"

typedef struct {
    bool softplus, raw; /* dt = ln(1 + exp(s)); C as it is drawn */
    double dt[2];
    uint32_t stream; /* of dt */
    int64_t L, width;
} s4_start;

static void draw_dt(const s4_start *s, uint64_t seed, uint32_t stream, double *dt)
{
    lra_rng r = lra_rng_new(seed, stream, 0);
    for (int64_t h = 0; h < s->width; h++)
        dt[h] = s->dt[0] * exp(log(s->dt[1] / s->dt[0]) * lra_rng_u01(&r));
}

static void fill_dt(const lra_fill *f, double *v)
{
    const s4_start *s = f->data;
    draw_dt(s, f->seed, f->stream, v);
    for (int64_t h = 0; h < s->width; h++) v[h] = log(s->softplus ? expm1(v[h]) : v[h]);
}

/* c = c - c Ab^L of one row, on the stored half: products of whole rows are twice real parts.  (1 - dt/2 A)^-1 by Sherman
 * and Morrison. */
static void convert(int64_t N, const double *w, const double complex *P, double dt, int64_t L,
                    double complex *c)
{
    double complex *all = lra_alloc_array((size_t)(4 * N), sizeof *all);
    double complex *x = all, *down = all + N, *up = all + 2 * N, *low = all + 3 * N;
    double size = 1;
    for (int64_t n = 0; n < N; n++) {
        x[n] = c[n];
        up[n] = 1 + dt / 2 * (-0.5 - I * w[n]);
        down[n] = 1 / (2 - up[n]);
        low[n] = conj(P[n]) * down[n];
        size += dt * creal(low[n] * P[n]);
    }
    for (int64_t l = 0; l < L; l++) {
        double sum = 0, next = 0, most = 0;
        for (int64_t n = 0; n < N; n++) sum += creal(x[n] * down[n] * P[n]);
        for (int64_t n = 0; n < N; n++) {
            x[n] = x[n] * down[n] - dt * sum / size * low[n];
            next += creal(x[n] * P[n]);
        }
        for (int64_t n = 0; n < N; n++) {
            x[n] = x[n] * up[n] - dt * next * conj(P[n]);
            most = fmax(most, fabs(creal(x[n])) + fabs(cimag(x[n])));
        }
        if (most < 1e-30) break;
    }
    for (int64_t n = 0; n < N; n++) c[n] -= x[n];
    lra_free(all);
}

/* (2,rows,N) */
static void fill_c(const lra_fill *f, double *v)
{
    const s4_start *s = f->data;
    int64_t rows = f->shape.d[1], N = f->shape.d[2];
    lra_rng r = lra_rng_new(f->seed, f->stream, 0);
    double *dt = lra_alloc_array((size_t)s->width, sizeof *dt);
    double *w = lra_alloc_array((size_t)(3 * N), sizeof *w);
    double complex *c = lra_alloc_array((size_t)(2 * N), sizeof *c), *P = c + N;
    draw_dt(s, f->seed, s->stream, dt);
    lra_legs_turn(&(lra_fill){LRA_SHAPE(N), 0, 0, NULL}, w);
    lra_legs_p(&(lra_fill){LRA_SHAPE(2, N), 0, 0, NULL}, w + N);
    for (int64_t n = 0; n < N; n++) P[n] = w[N + n] + I * w[2 * N + n];
    for (int64_t row = 0; row < rows; row++) {
        for (int64_t n = 0; n < N; n++) {
            double pair[2];
            uint32_t first = lra_rng_u32(&r);
            lra_normal2(first, lra_rng_u32(&r), &pair[0], &pair[1]);
            c[n] = sqrt(0.5) * (pair[0] + I * pair[1]);
        }
        if (!s->raw) convert(N, w, P, dt[row % s->width], s->L, c);
        for (int64_t n = 0; n < N; n++)
            v[row * N + n] = creal(c[n]), v[(rows + row) * N + n] = cimag(c[n]);
    }
    lra_free(dt);
    lra_free(w);
    lra_free(c);
}

/* (2,S,N) to (2,width,N): channel h has row h mod S. */
static lra_tensor *of_channels(lra_tensor *x, int64_t width)
{
    int64_t S = lra_tensor_shape(x).d[1], N = lra_width(x);
    x = lra_broadcast(lra_reshape(x, LRA_SHAPE(2, 1, S, N)), LRA_SHAPE(2, width / S, S, N));
    return lra_reshape(x, LRA_SHAPE(2, width, N));
}

/* (D,T), or (2,D,T) in both directions. */
static lra_tensor *kernel(const lra_build *b)
{
    lra_graph *g = b->graph;
    const lra_config *c = b->config;
    bool v1 = lra_config_is(c, "version", "v1"), v4 = lra_config_is(c, "version", "v4");
    bool all = lra_config_is(c, "slow", "all");
    int64_t width = lra_config_int(c, "width"), N = lra_config_int(c, "state") / 2;
    int64_t sides = b->causal ? 1 : 2, copies = lra_config_int(c, "ssm-copies"), L;
    double cut = v4 ? LRA_LEGS_CUT : HUGE_VAL, rate = lra_config_real(c, "ssm-rate");
    if (width % copies) {
        lra_graph_fail(g, "width is no multiple of the %lld copies", (long long)copies);
        copies = 1;
    }
    s4_start s = {v4, v1, {lra_config_real(c, "dt-min"), lra_config_real(c, "dt-max")},
                  0,  0,  width};
    s.L = L = lra_dplr_length(b->T_max);
    lra_shape one = LRA_SHAPE(1, copies, N), two = LRA_SHAPE(2, v1 ? width : copies, N);
    lra_param_spec slow = {.init = LRA_INIT_FILL, .rate = rate, .no_decay = true};
    lra_param_spec turn = slow, real = slow, B = slow, P = slow, Q = {LRA_FILL(lra_legs_p)};
    lra_param_spec step = slow, C = {LRA_FILL(fill_c), .rate = all && v4 ? rate : 0};
    real.init = LRA_INIT_CONSTANT, real.a = v1 ? -0.5 : log(0.5), turn.fill = lra_legs_turn;
    B.fill = lra_legs_b, B.data = &cut, B.data_size = sizeof cut, P.fill = lra_legs_p;
    step.fill = fill_dt, step.data = C.data = &s, step.data_size = C.data_size = sizeof s;
    if (!all && !v1) step.rate = 0;
    lra_tensor *re = lra_param(g, v1 ? "decay" : "log_decay", one, &real);
    lra_tensor *a[] = {v1 ? re : lra_affine(lra_exp(re), -1, 0),
                       lra_affine(lra_param(g, "turn", one, &turn), -1, 0)};
    lra_tensor *b_ = lra_param(g, "b", two, &B), *p = lra_param(g, "p", two, &P);
    lra_tensor *q = lra_complex_conjugate(v1 ? lra_param(g, "q", two, &Q) : p);
    lra_tensor *dt = lra_param(g, "dt", LRA_SHAPE(width), &step);
    s.stream = lra_hash32(lra_tensor_path(dt));
    lra_tensor *c_ = lra_param(g, "c", LRA_SHAPE(2, sides * width, N), &C);
    lra_tensor *k = lra_dplr_kernel(of_channels(lra_concat(2, a, 0), width), of_channels(b_, width),
                                    of_channels(p, width), of_channels(q, width), c_,
                                    v4 ? lra_softplus(dt) : lra_exp(dt), L);
    k = lra_slice(k, 1, 0, b->T);
    return sides == 2 ? lra_reshape(k, LRA_SHAPE(2, width, b->T)) : k;
}

static lra_tensor *encode(const lra_build *b, lra_tensor *x)
{
    if (lra_config_real(b->config, "dt-min") > lra_config_real(b->config, "dt-max"))
        lra_graph_fail(b->graph, "dt-min is above dt-max");
    return lra_conv_blocks(b, x, "ssm", kernel);
}

static const lra_key keys[] = {
    LRA_CONV_BLOCK_KEYS("0", "1"),
    LRA_CHOICE_KEY("version", "v4", "v4|v3|v1", "of the public code"),
    LRA_INT_KEY("state", "64", 2, 3072, "numbers of a state: conjugate pairs count twice"),
    LRA_INT_KEY("ssm-copies", "1", 1, 1 << 20, "sets of a, B and P, which channels share"),
    LRA_REAL_KEY("dt-min", "0.001", 1e-9, 1e3, "least step at the start"),
    LRA_REAL_KEY("dt-max", "0.1", 1e-9, 1e3, "largest step at the start"),
    LRA_REAL_KEY("ssm-rate", "0.001", 0, 10, "learning rate of a, B and P; 0: the global one"),
    LRA_CHOICE_KEY("slow", "all", "all|matrix", "whether dt, and C of v4, have that rate too"),
    LRA_KEYS_END};

#define BN    "norm-kind=batch decay=0.05 schedule=cosine "
#define SMALL BN "width=256 state=4 slow=matrix rate=0.01 "
#define V1    "version=v1 causal=1 gate=0 norm-kind=batch slow=matrix "
#define PATHS "pathfinder pathfinder-intermediate pathfinder-easy"
/* las: v1, from which that paper starts. */
static const lra_model_preset presets[] = {
    {NULL, "quick", NULL, "layers=2 width=32 state=16 rate=0.004 decay=0.01", NULL},
    {NULL, "small", NULL, "layers=4 width=64 rate=0.004 decay=0.05", NULL},
    LRA_OWN_PRESET("listops", SMALL "norm=post batch=32 epochs=40 total-steps=120000 warmup=12000"),
    LRA_OWN_PRESET("text", SMALL "batch=16 epochs=32 total-steps=50000 warmup=5000"),
    LRA_OWN_PRESET("retrieval", SMALL "batch=64 epochs=20 total-steps=50000 warmup=5000"),
    LRA_OWN_PRESET("image", BN "width=512 norm=post dropout=0.1 rate=0.01 batch=50 epochs=200 "
                               "total-steps=180000 warmup=18000"),
    LRA_OWN_PRESET(PATHS,
                   BN "width=256 ssm-copies=256 rate=0.004 batch=64 epochs=200 total-steps=500000 "
                      "warmup=50000"),
    LRA_OWN_PRESET("path-x",
                   BN "width=256 ssm-copies=256 dt-min=0.0001 rate=0.001 batch=16 epochs=50 "
                      "total-steps=500000 warmup=50000"),
    {"listops", "paper", "las", V1 "norm=post rate=0.01 decay=0.01 batch=50 epochs=50", NULL},
    {"text", "paper", "las", V1 "layers=4 rate=0.01 decay=0 batch=50 epochs=40 pool=last", NULL},
    {"retrieval", "paper", "las", V1 "width=256 rate=0.002 decay=0 batch=64 epochs=25", NULL},
    {"image", "paper", "las",
     V1 "width=512 norm=post dropout=0.2 rate=0.004 decay=0.01 batch=50 epochs=100", NULL},
    {PATHS, "paper", "las",
     V1 "width=256 dropout=0.1 rate=0.004 decay=0 batch=100 epochs=200 pool=last", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static const char *const variants[] = {"ssm-copies=2 causal=1 slow=matrix",
                                       "version=v3 norm=post norm-kind=batch gate=0",
                                       "version=v1 causal=1 gate=0", NULL};

const lra_model lra_model_s4 = {
    .name = "s4",
    .paper = "arXiv:2111.00396",
    .summary = "long convolutions with kernels of a diagonal plus a low-rank matrix",
    .deviations = "padding does not enter the convolution; no dropout before GELU",
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
