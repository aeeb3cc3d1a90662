/* h3: two state-space layers with multiplicative gates, so that a token can be stored and compared
 * with a later one.
 *
 *   q, k, v = linear layers of u = LayerNorm(x);  k' = shift * k + E k;  h = k' v
 *   x = x + W (q (diagonal * h + D h)) + w                          per layer; LayerNorm at the end
 *
 * shift_l = sum_n C_(n+l) B_n for l < state, else 0: a register that moves by one position per
 * token; B is initialised (1, 0, .., 0), C uniform in +-1/sqrt(state).  diagonal: S4D with
 * conjugate pairs, A = -1/2 - i pi n, B = 1, C ~ N(0,1) complex, each channel with its own,
 * discretised bilinearly; dt log-uniform in [dt-min, dt-max].  D, E ~ N(0,1).  A, both B and dt are
 * trained with learning rate `ssm-rate` without weight decay. The model is causal.
 * Source: Fu et al. 2022, Hungry Hungry Hippos: Towards Language Modeling with State Space Models;
 * each head has one channel. Unlike in the paper, a block has no feed-forward layer. */
#include <math.h>

#include "kernels/graph/op.h"
#include "models/conv_blocks.h"
#include "models/layers.h"

/* Initial B of the shift register: (D,N), row (1, 0, .., 0). */
static void fill_first(const lra_fill *f, double *v)
{
    int64_t N = f->shape.d[1];
    for (int64_t i = 0; i < lra_shape_elements(f->shape); i++) v[i] = i % N == 0;
}

/* Initial imaginary parts of A in the diagonal layer, with opposite sign: (1,D,N). */
static void fill_turn(const lra_fill *f, double *v)
{
    int64_t N = f->shape.d[2];
    for (int64_t i = 0; i < lra_shape_elements(f->shape); i++)
        v[i] = fmax(acos(-1) * (double)(i % N), 1e-4);
}

/* Specification of parameters that are trained with learning rate `ssm-rate`. */
static lra_param_spec slow(const lra_build *b)
{
    return (lra_param_spec){.rate = lra_config_real(b->config, "ssm-rate"), .no_decay = true};
}

/* Returns the shift kernels (D,N): sum_n C_(n+l) B_n at lag l. The rows C_(n..) are made by a
 * reshape: C with N zeros appended is repeated N + 1 times and cut into rows of 2 N + 1 elements,
 * so that each row is shifted by one lag more than the previous row. */
static lra_tensor *shift(const lra_build *b, int64_t D, int64_t N)
{
    lra_graph *g = b->graph;
    lra_param_spec first = slow(b);
    first.init = LRA_INIT_FILL, first.fill = fill_first;
    lra_tensor *B = lra_param(g, "b", LRA_SHAPE(D, N), &first);
    lra_tensor *C = lra_param(g, "c", LRA_SHAPE(D, N), LRA_SPEC(LRA_FAN(N)));
    lra_tensor *padded[] = {C, lra_zeros(g, C->type, LRA_SHAPE(D, N))};
    lra_tensor *rows = lra_reshape(lra_concat(2, padded, 1), LRA_SHAPE(D, 1, 2 * N));
    rows = lra_reshape(lra_broadcast(rows, LRA_SHAPE(D, N + 1, 2 * N)),
                       LRA_SHAPE(D, 2 * N * (N + 1)));
    rows = lra_reshape(lra_slice(rows, 1, 0, N * (2 * N + 1)), LRA_SHAPE(D, N, 2 * N + 1));
    rows = lra_mul(lra_slice(rows, 2, 0, N), lra_reshape(B, LRA_SHAPE(D, N, 1)));
    return lra_reshape(lra_reduce_sum(rows, LRA_SHAPE(D, 1, N)), LRA_SHAPE(D, N));
}

/* Returns the kernels of the diagonal layer, (D,T) by lag. */
static lra_tensor *diagonal(const lra_build *b, int64_t D, int64_t modes)
{
    lra_graph *g = b->graph;
    lra_shape s = LRA_SHAPE(1, D, modes);
    lra_param_spec decay = slow(b), turn = slow(b), step = lra_log_steps(b, slow(b)), one = slow(b),
                   zero = slow(b);
    decay.a = log(0.5), one.a = 1, turn.init = LRA_INIT_FILL, turn.fill = fill_turn;
    lra_tensor *A[] = {lra_affine(lra_exp(lra_param(g, "log_decay", s, &decay)), -1, 0),
                       lra_affine(lra_param(g, "turn", s, &turn), -1, 0)};
    lra_tensor *B[] = {lra_param(g, "b_re", s, &one), lra_param(g, "b_im", s, &zero)};
    lra_tensor *C = lra_param(g, "c", LRA_SHAPE(2, D, modes), LRA_SPEC(LRA_NORMAL(sqrt(0.5))));
    lra_tensor *dt = lra_exp(lra_param(g, "log_dt", LRA_SHAPE(D), &step));
    return lra_ssm_kernel_bilinear(lra_concat(2, A, 0), lra_complex_mul(C, lra_concat(2, B, 0)), dt,
                                   b->T);
}

/* Returns kernel * x + D x. */
static lra_tensor *convolve(const lra_build *b, lra_tensor *x, lra_tensor *kernel)
{
    lra_tensor *skip = lra_param(b->graph, "skip", LRA_SHAPE(lra_width(x)),
                                 LRA_SPEC(LRA_NORMAL(1)));
    x = lra_add(lra_long_conv(x, lra_name(kernel, "kernel"), b->length),
                lra_mul(x, lra_cast(skip, lra_elem(b->graph))));
    lra_pop(b->graph);
    return x;
}

static lra_tensor *encode(const lra_build *b, lra_tensor *x)
{
    lra_graph *g = b->graph;
    int64_t D = lra_config_int(b->config, "width"), N = lra_config_int(b->config, "state");
    double dropout = lra_config_real(b->config, "dropout");
    for (int64_t i = 0; i < lra_config_int(b->config, "layers"); i++) {
        lra_push(g, "layer%d", (int)i);
        lra_tensor *u = lra_layer_layer_norm(x, "norm");
        lra_tensor *q = lra_layer_linear(u, "q", D, LRA_ACT_NONE, NULL);
        lra_tensor *k = lra_layer_linear(u, "k", D, LRA_ACT_NONE, NULL);
        lra_tensor *v = lra_layer_linear(u, "v", D, LRA_ACT_NONE, NULL);
        lra_push(g, "shift");
        lra_tensor *h = lra_mul(convolve(b, k, shift(b, D, N)), v);
        lra_push(g, "ssm");
        h = lra_mul(q, convolve(b, h, diagonal(b, D, N / 2)));
        x = lra_layer_linear(lra_dropout(h, dropout, true), "out", D, LRA_ACT_NONE, x);
        lra_pop(g);
    }
    return lra_layer_layer_norm(x, "norm");
}

static int64_t reach(const lra_config *c)
{
    (void)c;
    return -1;
}

static bool causal(const lra_config *c)
{
    (void)c;
    return true;
}

static const lra_key keys[] = {
    LRA_INT_KEY("layers", "6", 1, 1 << 20, "number of blocks"),
    LRA_INT_KEY("width", "128", 1, 1 << 20, "model width, in channels"),
    LRA_INT_KEY(
        "state", "64", 2, 4096,
        "length of the shift register; state size of the diagonal layer (conjugate pairs count "
        "twice)"),
    LRA_REAL_KEY("dt-min", "0.001", 1e-9, 1e3, "smallest initial step dt"),
    LRA_REAL_KEY("dt-max", "0.1", 1e-9, 1e3, "largest initial step dt"),
    LRA_REAL_KEY("ssm-rate", "0.001", 0, 10, "learning rate of A, B and dt (0 = the global rate)"),
    LRA_REAL_KEY("dropout", "0", 0, 0.999, "dropout rate of channels"),
    LRA_KEYS_END};

static const lra_model_preset presets[] = {
    {NULL, "quick", NULL, "layers=2 width=32 state=16 rate=0.004 decay=0.01", NULL},
    {NULL, "small", NULL, "layers=4 width=64 rate=0.004 decay=0.05", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

const lra_model lra_model_h3 = {
    .name = "h3",
    .paper = "arXiv:2212.14052",
    .summary = "two state-space layers with multiplicative gates, one of them a shift register",
    .deviations = "a block is only the paper's layer, without a feed-forward layer",
    .keys = keys,
    .presets = presets,
    .tiny = "layers=2 width=6 state=4",
    .match = "width",
    .pools = LRA_POOLS_ROWS,
    .encode = encode,
    .reach = reach,
    .causal = causal,
};
