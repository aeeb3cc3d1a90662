/* s5: one diagonal state space with many inputs and outputs, computed by a scan, with a gate.
 *
 *   u = BatchNorm(x);  h_t = Lb h_(t-1) + Bb u_t in both directions;  y = 2 Re(C h) + D u;  x = x + act(y)     per layer
 *   discrete=zoh       Lb = exp(z), Bb = (exp(z) - 1)/lambda B,  z = lambda dt
 *   discrete=bilinear  Lb = (1 + z/2)/(1 - z/2), Bb = dt/(1 - z/2) B
 *   act=full-glu  W1 a sigmoid(W2 a), a = GELU(y);  half-glu1  a sigmoid(W a);  half-glu2  y sigmoid(W a);  gelu  a
 *
 * There is no norm at the end; causal=1 has one direction.  The state has P = `state` complex
 * numbers, of which one of each conjugate pair is stored. lambda is initialised as the eigenvalues
 * of the normal part of HiPPO-LegS, in `blocks` equal blocks; V are their eigenvectors (hippo.h). 
 * B = V* B0 with real B0 ~ N(0, 1/P).  c-start=lecun: C = C0 V, real and imaginary parts of C0 ~
 * N(0, 1/(P D)); trunc: the same with N(0, 1/P); complex: real and imaginary parts of C ~ N(0,
 * 1/2).  B0 and C0 are truncated at two standard deviations.  D ~ N(0,1); dt is log-uniform in
 * [dt-min, dt-max].  stable=1 keeps Re lambda <= -1e-4.  GELU is the tanh approximation.  A dropout
 * mask is the same for all positions.
 * Learning rates: lambda has `ssm-rate` without weight decay, and so has dt if dt-group=ssm. All
 * other parameters have the global rate with weight decay, except: groups=standard: B as lambda;
 * nobcdecay: B, C and D as lambda; bandcdecay: B has `ssm-rate` with weight decay.
 * Source: Smith et al. 2023, Simplified State Space Layers for Sequence Modeling. */
#include <math.h>

#include "kernels/base/core/mem.h"
#include "kernels/graph/op.h"
#include "models/conv_blocks.h"
#include "models/layers.h"
#include "models/hippo.h"
#include "models/scan_layer.h"

typedef struct {
    int64_t blocks, modes; /* modes: number of modes of one block */
    bool out;
    double deviation;
} legs_start;

/* Initial B = V* B0, as (2,D,N), or with `out` initial C = C0 V, as (2,sides N,D). */
static void fill_turned(const lra_fill *f, double *v)
{
    const legs_start *s = f->data;
    int64_t modes = s->modes, N = s->blocks * modes, plane = lra_shape_elements(f->shape) / 2;
    int64_t D = f->shape.d[s->out ? 2 : 1], sides = plane / (N * D), n0 = 2 * N * D;
    double *x = lra_alloc_array((size_t)(2 * n0 + modes), sizeof *x), *w = x + 2 * n0;
    double complex *V = lra_alloc_array((size_t)(2 * modes * modes), sizeof *V);
    lra_hippo_legs(modes, w, V);
    for (int64_t side = 0; side < sides; side++) {
        lra_scan_cut_normals(f, (uint32_t)side, s->deviation, 2 * n0, x);
        for (int64_t k = 0; k < N; k++)
            for (int64_t i = 0; i < D; i++) {
                int64_t to = s->out ? (side * N + k) * D + i : i * N + k;
                double complex sum = 0;
                for (int64_t j = 0; j < 2 * modes; j++) {
                    int64_t at = (k / modes * 2 * modes + j) * D + i;
                    double complex one = V[j * modes + k % modes];
                    sum += s->out ? one * (x[at] + x[n0 + at] * I) : conj(one) * x[at];
                }
                v[to] = creal(sum), v[plane + to] = cimag(sum);
            }
    }
    lra_free(x);
    lra_free(V);
}

/* Returns Lb. *b: Bb/B, computed in double as the value at lag 0 of a kernel with one mode, because
 * exp(z) - 1 loses digits in float32. */
static lra_tensor *discrete(const lra_config *c, lra_tensor *lambda, lra_tensor *dt, lra_tensor **b)
{
    int64_t N = lra_width(lambda);
    bool held = lra_config_is(c, "discrete", "zoh");
    lra_tensor *one = lra_ones(lambda->graph, lambda->type, LRA_SHAPE(1, N, 1));
    lra_tensor *none = lra_affine(one, 0, 0), *less = lra_affine(one, -1, 0);
    /* two kernels, for the real and the imaginary part of *b: Im x = Re(-i x) */
    lra_tensor *parts[] = {lra_complex(one, none), lra_complex(none, less)};
    lra_tensor *of = lra_concat(2, parts, 1);
    lra_tensor *a = lra_reshape(lambda, LRA_SHAPE(2, N, 1)), *step = lra_reshape(dt, LRA_SHAPE(N));
    *b = held ? lra_ssm_kernel(a, of, step, 1) : lra_ssm_kernel_bilinear(a, of, step, 1);
    *b = lra_affine(lra_reshape(*b, LRA_SHAPE(2, 1, N)), 0.5, 0);
    lra_tensor *z = lra_mul(lambda, dt), *x = lra_slice(z, 0, 0, 1), *y = lra_slice(z, 0, 1, 1);
    if (held) return lra_complex(lra_mul(lra_exp(x), lra_cos(y)), lra_mul(lra_exp(x), lra_sin(y)));
    return lra_complex_div(lra_complex(lra_affine(x, 0.5, 1), lra_affine(y, 0.5, 0)),
                           lra_complex(lra_affine(x, -0.5, 1), lra_affine(y, -0.5, 0)));
}

static lra_tensor *state_space(const lra_build *b, lra_tensor *u)
{
    lra_graph *g = b->graph;
    const lra_config *c = b->config;
    int64_t D = lra_width(u), P = lra_config_int(c, "state"), N = P / 2, sides = b->causal ? 1 : 2;
    bool all = lra_config_is(c, "groups", "nobcdecay");
    legs_start start = {lra_config_int(c, "blocks"), 1, false, sqrt(1 / (double)P)};
    if (P % (2 * start.blocks) != 0) {
        lra_graph_fail(g, "state is not a multiple of twice the %d blocks", (int)start.blocks);
        start.blocks = 1;
    }
    start.modes = N / start.blocks;
    lra_shape states = LRA_SHAPE(start.blocks, start.modes);
    const lra_param_spec slow = {.rate = lra_config_real(c, "ssm-rate"), .no_decay = true};
    lra_param_spec decay = slow, angle = slow, in = slow, through = {LRA_NORMAL(1)};
    lra_param_spec step = lra_log_steps(b, lra_config_is(c, "dt-group", "ssm") ? slow : through);
    decay.a = -0.5, angle.init = LRA_INIT_FILL, angle.fill = lra_hippo_turn;
    in.init = LRA_INIT_FILL, in.fill = fill_turned, in.data = &start, in.data_size = sizeof start;
    in.no_decay = lra_config_is(c, "groups", "standard") || all;
    if (lra_config_is(c, "groups", "bfastandcdecay")) in.rate = 0;
    if (all) through.rate = slow.rate, through.no_decay = true;
    lra_tensor *re = lra_param(g, "decay", states, &decay);
    lra_tensor *im = lra_affine(lra_param(g, "turn", states, &angle), -1, 0), *weight;
    lra_tensor *dt = lra_exp(lra_param(g, "log_dt", LRA_SHAPE(N), &step));
    lra_tensor *B = lra_param(g, "b", LRA_SHAPE(2, D, N), &in);
    start.out = true, in.rate = through.rate, in.no_decay = through.no_decay;
    if (lra_config_is(c, "c-start", "lecun")) start.deviation /= sqrt((double)D);
    if (lra_config_is(c, "c-start", "complex")) in.init = LRA_INIT_NORMAL, in.a = sqrt(0.5);
    lra_tensor *C = lra_param(g, "c", LRA_SHAPE(2, sides * N, D), &in);
    lra_tensor *skip = lra_param(g, "skip", LRA_SHAPE(D), &through);
    if (lra_config_int(c, "stable"))
        re = lra_affine(lra_relu(lra_affine(re, -1, -1e-4)), -1, -1e-4);
    lra_tensor *lambda = lra_reshape(lra_complex(re, im), LRA_SHAPE(2, N));
    lra_tensor *bar = discrete(c, lambda, lra_reshape(dt, LRA_SHAPE(1, N)), &weight);
    return lra_scan_layer(b, u, bar, lra_complex_mul(B, weight), C, skip, 2);
}

static lra_tensor *activate(const lra_config *c, lra_tensor *y)
{
    double dropout = lra_config_real(c, "dropout");
    int64_t D = lra_width(y);
    lra_tensor *a = lra_dropout(lra_gelu_tanh(y), dropout, true), *v = a;
    if (lra_config_is(c, "act", "gelu")) return a;
    if (lra_config_is(c, "act", "full-glu")) v = lra_scan_linear(a, "value", D);
    if (lra_config_is(c, "act", "half-glu2")) v = y;
    return lra_dropout(lra_gate(lra_scan_linear(a, "gate", D), LRA_GATE_SIGMOID, v), dropout, true);
}

static lra_tensor *encode(const lra_build *b, lra_tensor *x)
{
    const lra_config *c = b->config;
    for (int64_t i = 0; i < lra_config_int(c, "layers"); i++) {
        lra_push(b->graph, "layer%d", (int)i);
        lra_tensor *u = lra_layer_batch_norm_by(x, "norm", b->length,
                                                1 - lra_config_real(c, "norm-keep"));
        lra_push(b->graph, "s5");
        lra_tensor *y = state_space(b, u);
        lra_pop(b->graph);
        x = lra_add(x, activate(c, y));
        lra_pop(b->graph);
    }
    return x;
}

static const lra_key keys[] = {
    LRA_INT_KEY("layers", "6", 1, 1 << 20, "number of blocks"),
    LRA_INT_KEY("width", "128", 1, 1 << 20, "model width, in channels"),
    LRA_INT_KEY("state", "64", 2, 65536, "state size (conjugate pairs count twice)"),
    LRA_INT_KEY("blocks", "1", 1, 32768, "number of HiPPO-LegS blocks of the initial state matrix"),
    LRA_CHOICE_KEY("act", "full-glu", "full-glu|half-glu1|half-glu2|gelu",
                   "activation after each state space"),
    LRA_CHOICE_KEY("discrete", "zoh", "zoh|bilinear", "discretisation"),
    LRA_CHOICE_KEY("c-start", "lecun", "lecun|trunc|complex", "initialisation of C"),
    LRA_CHOICE_KEY("groups", "standard", "standard|bandcdecay|bfastandcdecay|nobcdecay",
                   "set of parameters with learning rate ssm-rate and without weight decay"),
    LRA_CHOICE_KEY("dt-group", "ssm", "ssm|global",
                   "learning rate of dt: ssm-rate, or the global rate"),
    LRA_FLAG_KEY("stable", "0", "keep Re lambda below -0.0001"),
    LRA_FLAG_KEY("causal", "0", "use one scan, over past positions only"),
    LRA_REAL_KEY("dt-min", "0.001", 1e-9, 1e3, "smallest initial step dt"),
    LRA_REAL_KEY("dt-max", "0.1", 1e-9, 1e3, "largest initial step dt"),
    LRA_REAL_KEY("ssm-rate", "0.001", 0, 10,
                 "learning rate of the parameters that `groups` selects (0 = the global rate)"),
    LRA_REAL_KEY("norm-keep", "0.95", 0, 0.999999,
                 "share of the running statistics that is kept per step"),
    LRA_REAL_KEY("dropout", "0", 0, 0.999, "dropout rate of channels"),
    LRA_KEYS_END};

#define PATHS "pathfinder pathfinder-intermediate pathfinder-easy"
#define GLU1  "schedule=cosine act=half-glu1 "
#define GLU2  "schedule=cosine act=half-glu2 "
#define FAST  "groups=bfastandcdecay "
#define OWN   LRA_OWN_PRESET
/* clang-format off */
#define LOCALITY(tasks, settings) {tasks, "paper", "locality", settings, NULL}
/* Sizes of the S5 paper, which the locality paper uses, too, with act=full-glu on Retrieval and
 * Pathfinder. */
#define LISTOPS   FAST "layers=8 state=16 blocks=8 rate=0.003 batch=50 decay=0.04 "
#define TEXT      "width=256 state=192 blocks=12 dt-group=global dropout=0.1 rate=0.004 batch=50 decay=0.07 "
#define RETRIEVAL "state=256 blocks=16 c-start=trunc dt-group=global rate=0.002 batch=32 decay=0.05 "
#define IMAGE     FAST "width=512 state=384 blocks=3 stable=1 dropout=0.1 rate=0.0045 batch=50 decay=0.07 "
#define PATH      "width=192 state=256 blocks=8 c-start=trunc norm-keep=0.9 dropout=0.05 ssm-rate=0.0009 rate=0.0045 batch=64 decay=0.03 "
static const lra_model_preset presets[] = {
    {NULL, "quick", NULL, "layers=2 width=32 state=16 rate=0.004 decay=0.01", NULL},
    {NULL, "small", NULL, "layers=4 width=64 rate=0.004 decay=0.05", NULL},
    LOCALITY("listops", "act=half-glu2 " LISTOPS),
    LOCALITY("text", "act=half-glu2 " TEXT),
    LOCALITY("retrieval", "act=full-glu " RETRIEVAL "epochs=20"),
    LOCALITY("image", "act=half-glu1 " IMAGE),
    LOCALITY(PATHS, "act=full-glu " PATH),
    OWN("listops", GLU2 LISTOPS "epochs=40 warmup=0.025"),
    OWN("text", GLU2 TEXT "epochs=35 warmup=0"),
    OWN("retrieval", GLU1 RETRIEVAL "epochs=20 warmup=0.05"),
    OWN("image", GLU1 IMAGE "epochs=250 warmup=0.004"),
    OWN(PATHS, GLU1 PATH "epochs=200 warmup=0.005"),
    OWN("path-x", GLU1 "state=256 blocks=16 c-start=complex groups=bandcdecay norm-keep=0.9 "
                       "dt-min=0.0001 ssm-rate=0.0006 "
                  "rate=0.0018 batch=32 decay=0.06 epochs=75 warmup=0.013333333333333334"),
    OWN("speech-commands", GLU1 "width=96 state=128 blocks=16 groups=nobcdecay dropout=0.1 "
                                "ssm-rate=0.002 rate=0.008 batch=16 "
                           "decay=0.04 epochs=40 warmup=0.025"),
    {NULL, NULL, NULL, NULL, NULL}};
static const char *const variants[] = {
    "act=half-glu2 stable=1 c-start=complex causal=1", "act=half-glu1 discrete=bilinear "
                                                       "groups=nobcdecay",
    "act=gelu c-start=trunc groups=bandcdecay dt-group=global", "state=8 blocks=2 "
                                                                "groups=bfastandcdecay", NULL};
/* clang-format on */

const lra_model lra_model_s5 = {
    .name = "s5",
    .paper = "arXiv:2208.04933",
    .summary = "one diagonal state space with many inputs and outputs, computed by a scan",
    .deviations = "padding is excluded from the scan and from the statistics of its norms",
    .keys = keys,
    .presets = presets,
    .tiny = "layers=2 width=6 state=4",
    .variants = variants,
    .match = "width",
    .pools = LRA_POOLS_ROWS,
    .encode = encode,
    .reach = lra_conv_blocks_reach,
    .causal = lra_conv_blocks_causal,
    .embedding = lra_scan_embedding,
};
