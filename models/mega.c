/* mega: gated single-head attention; queries and keys come from an exponential moving average.
 *
 *   u = Norm(x);  v = SiLU(Wv u);  m = SiLU(K * u + omega u)                                        per layer
 *   (phi, z, r, h) = W m,  phi through a sigmoid, z and r through SiLU;   q = z g1 + b1,  k = z g2 + b2
 *   o_i = sum_j A_ij v_j;   y = x + phi (SiLU(h + U (o r)) - x);   x = y + W2 SiLU(W1 Norm(y));   Norm at the end
 *
 * K_l = sum_n gamma_n beta_n p_n (1 - p_n a_n)^l / sqrt(state), p = sigmoid(delta), a =
 * sigmoid(alpha), for l < `ema-length`. Each channel and direction has its own kernel; both
 * directions include lag 0.
 * norm=post: x = Norm(y), also after the feed-forward layer; no norms before layers.  A: softmax of
 * q k^T / sqrt(queries) + c_(j-i), c learned. attention=laplace: A = f(q k^T / n + c), f the
 * distribution function of a normal with mean 0.707107 and standard deviation 0.282095, n the
 * number of keys of a query; rows need not sum to 1. chunk: attention inside chunks of this number
 * of tokens, which share c; the moving average crosses chunks (mega-chunk). In bf16, a sum of
 * several products is rounded once.
 * Source: Ma et al. 2022, Mega: Moving Average Equipped Gated Attention. */
#include <math.h>

#include "kernels/graph/op.h"
#include "models/layers.h"
#include "models/mega.h"

/* Returns act(x w + b) + residual, with w ~ N(0, 0.02^2). */
static lra_tensor *dense(lra_tensor *x, const char *name, int64_t n_out, lra_act act,
                         lra_tensor *residual)
{
    lra_graph *g = x->graph;
    lra_push(g, "%s", name);
    lra_tensor *w = lra_param(g, "w", LRA_SHAPE(lra_width(x), n_out),
                              LRA_SPEC(LRA_NORMAL(0.02), .layout = LRA_LAYOUT_REVERSED));
    lra_tensor *b = lra_param(g, "b", LRA_SHAPE(n_out), LRA_SPEC(.no_decay = true));
    lra_tensor *y = lra_linear(x, w, b, act, residual);
    lra_pop(g);
    return y;
}

static lra_tensor *norm(const lra_build *b, lra_tensor *x, const char *name)
{
    lra_graph *g = b->graph;
    if (lra_config_is(b->config, "norm-kind", "layer")) return lra_layer_layer_norm(x, name);
    if (lra_config_is(b->config, "norm-kind", "batch"))
        return lra_layer_batch_norm(x, name, b->length);
    lra_push(g, "%s", name);
    lra_tensor *gain = lra_param(g, "gain", (lra_shape){0},
                                 LRA_SPEC(LRA_CONSTANT(1), .no_decay = true));
    lra_pop(g);
    return lra_rms_norm(x, gain, 1e-5);
}

/* Returns SiLU(K * u + omega u), the exponential moving average. */
static lra_tensor *average(const lra_build *b, lra_tensor *u)
{
    lra_graph *g = b->graph;
    int64_t D = lra_width(u), n = lra_config_int(b->config, "state"), sides = b->causal ? 1 : 2;
    int64_t most = lra_config_int(b->config, "ema-length"), L = b->T < most ? b->T : most;
    lra_shape s = LRA_SHAPE(sides * D, n), plane = LRA_SHAPE(1, sides * D, n);
    lra_tensor *p = lra_sigmoid(lra_param(g, "delta", s, LRA_SPEC(LRA_NORMAL(0.2))));
    lra_tensor *a = lra_sigmoid(lra_param(g, "alpha", s, LRA_SPEC(LRA_NORMAL(0.2))));
    lra_tensor *beta = lra_param(g, "beta", s, LRA_SPEC(LRA_ALTERNATING(1, 0.02)));
    lra_tensor *gamma = lra_param(g, "gamma", s, LRA_SPEC(LRA_NORMAL(1)));
    lra_tensor *skip = lra_param(g, "omega", LRA_SHAPE(D), LRA_SPEC(LRA_NORMAL(1)));
    lra_tensor *weight = lra_affine(lra_mul(lra_mul(gamma, beta), p), 1 / sqrt((double)n), 0);
    lra_tensor *fall = lra_log(lra_affine(lra_mul(p, a), -1, 1));
    lra_tensor *zero = lra_zeros(g, p->type, plane);
    lra_tensor *rate[] = {lra_reshape(fall, plane), zero};
    lra_tensor *start[] = {lra_reshape(weight, plane), zero};
    lra_tensor *k = lra_ssm_kernel(lra_concat(2, rate, 0), lra_concat(2, start, 0), NULL, L);
    /* The future kernel of a long convolution begins at the next token. The ahead kernel's value at
     * lag 0 is therefore added to omega. */
    if (sides == 2) {
        lra_tensor *past = lra_slice(k, 0, 0, D), *ahead = lra_slice(k, 0, D, D);
        lra_tensor *none = lra_zeros(g, k->type, LRA_SHAPE(D, 1));
        skip = lra_add(skip, lra_reshape(lra_slice(ahead, 1, 0, 1), LRA_SHAPE(D)));
        lra_tensor *later[] = {L > 1 ? lra_slice(ahead, 1, 1, L - 1) : none, none};
        lra_tensor *both[] = {past, L > 1 ? lra_concat(2, later, 1) : none};
        k = lra_reshape(lra_concat(2, both, 0), LRA_SHAPE(2, D, L));
    }
    lra_tensor *y = lra_cast(lra_long_conv(u, lra_name(k, "kernel"), b->length), k->type);
    y = lra_silu(lra_add(y, lra_mul(lra_cast(u, k->type), skip)));
    return lra_cast(y, lra_elem(g));
}

/* Returns z g + b for row `at` of g and b, as a single head. */
static lra_tensor *head_of(const lra_build *b, lra_tensor *z, lra_tensor *scale, lra_tensor *shift,
                           int at)
{
    int64_t Z = lra_width(z);
    lra_tensor *g = lra_reshape(lra_slice(scale, 0, at, 1), LRA_SHAPE(Z));
    z = lra_add(lra_mul(lra_cast(z, g->type), g),
                lra_reshape(lra_slice(shift, 0, at, 1), LRA_SHAPE(Z)));
    return lra_reshape(lra_cast(z, lra_elem(b->graph)), LRA_SHAPE(b->B, b->T, 1, Z));
}

static lra_tensor *attend(const lra_build *b, lra_tensor *z, lra_tensor *v)
{
    lra_graph *g = b->graph;
    int64_t Z = lra_width(z), V = lra_width(v), chunk = lra_config_int(b->config, "chunk");
    int64_t R = 2 * (chunk ? chunk : b->T_max) - 1;
    lra_tensor *scale = lra_param(g, "scale", LRA_SHAPE(2, Z), LRA_SPEC(LRA_NORMAL(0.02)));
    lra_tensor *shift = lra_param(g, "shift", LRA_SHAPE(2, Z), LRA_SPEC(.no_decay = true));
    lra_tensor *bias = lra_param(g, "bias", LRA_SHAPE(1, R),
                                 LRA_SPEC(LRA_NORMAL(0.02), .no_decay = true));
    const lra_attention_spec spec = {.causal = b->causal,
                                     .chunk = chunk,
                                     .bias = bias,
                                     .dropout = lra_config_real(b->config, "attention-dropout"),
                                     .laplace = lra_config_is(b->config, "attention", "laplace")};
    lra_tensor *q = head_of(b, z, scale, shift, 0), *k = head_of(b, z, scale, shift, 1);
    v = lra_reshape(v, LRA_SHAPE(b->B, b->T, 1, V));
    return lra_reshape(lra_attention(q, k, v, b->length, &spec), LRA_SHAPE(b->B, b->T, V));
}

static lra_tensor *add_gated(const lra_build *b, lra_tensor *x, lra_tensor *u)
{
    const lra_config *c = b->config;
    int64_t D = lra_width(x), Z = lra_config_int(c, "queries"), V = lra_config_int(c, "hidden");
    double dropout = lra_config_real(c, "dropout");
    lra_tensor *v = dense(u, "v", V, LRA_ACT_SILU, NULL);
    lra_push(b->graph, "ema");
    lra_tensor *m = lra_dropout(average(b, u), dropout, false);
    lra_pop(b->graph);
    m = dense(m, "mix", 2 * D + Z + V, LRA_ACT_NONE, NULL);
    lra_tensor *phi = lra_slice(m, 2, 0, D), *r = lra_slice(m, 2, D + Z, V);
    lra_tensor *z = lra_silu(lra_slice(m, 2, D, Z));
    lra_tensor *o = lra_gate(r, LRA_GATE_SILU, attend(b, z, v));
    lra_tensor *h = dense(o, "out", D, LRA_ACT_NONE, lra_slice(m, 2, D + Z + V, D));
    h = lra_dropout(lra_silu(h), dropout, false);
    /* in `real`, so that only the result is rounded to bf16, not each of the three sums */
    lra_type real = lra_real(b->graph);
    h = lra_cast(h, real), phi = lra_cast(phi, real);
    lra_tensor *whole = lra_cast(x, real);
    return lra_cast(lra_add(whole, lra_gate(phi, LRA_GATE_SIGMOID, lra_sub(h, whole))),
                    lra_elem(b->graph));
}

static lra_tensor *add_feed_forward(const lra_build *b, lra_tensor *x, lra_tensor *u)
{
    double dropout = lra_config_real(b->config, "dropout");
    lra_tensor *h = dense(u, "up", lra_config_int(b->config, "hidden"), LRA_ACT_SILU, NULL);
    h = dense(h, "down", lra_width(x), LRA_ACT_NONE, NULL);
    return lra_layer_stream_add(x, lra_dropout(h, dropout, false));
}

lra_tensor *lra_mega_encode(const lra_build *b, lra_tensor *x)
{
    bool post = lra_config_is(b->config, "norm", "post");
    x = lra_dropout(x, lra_config_real(b->config, "dropout"), false);
    for (int64_t i = 0; i < lra_config_int(b->config, "layers"); i++) {
        lra_push(b->graph, "layer%d", (int)i);
        x = add_gated(b, x, post ? x : norm(b, x, "norm1"));
        if (post) x = norm(b, x, "norm1");
        x = add_feed_forward(b, x, post ? x : norm(b, x, "norm2"));
        if (post) x = norm(b, x, "norm2");
        lra_pop(b->graph);
    }
    return post ? x : norm(b, x, "norm");
}

lra_embed_start lra_mega_embedding(const lra_config *c, int64_t channels)
{
    (void)channels;
    double one = 1 / sqrt((double)lra_config_int(c, "width"));
    return (lra_embed_start){.table = {LRA_NORMAL(one)},
                             .weight = {LRA_NORMAL(1)},
                             .bias = {LRA_NORMAL(0.1), .no_decay = true}};
}

lra_classifier lra_mega_classifier(const lra_config *c)
{
    return (lra_classifier){lra_config_int(c, "hidden"), LRA_ACT_GELU,
                            lra_config_real(c, "dropout")};
}

static const lra_key keys[] = {LRA_MEGA_KEYS("0"), LRA_KEYS_END};
static const lra_model_preset presets[] = {
    {"listops", "paper", "locality", LRA_MEGA_LISTOPS, NULL},
    {"text", "paper", "locality", LRA_MEGA_TEXT, NULL},
    {"retrieval", "paper", "locality", LRA_MEGA_PAIRS, NULL},
    {"image", "paper", "locality", LRA_MEGA_IMAGE, NULL},
    {LRA_MEGA_PATHFINDERS, "paper", "locality", LRA_MEGA_PATH, NULL},
    LRA_MEGA_PRESETS(""),
    {NULL, NULL, NULL, NULL, NULL}};

static const char *const variants[] = {"norm=pre chunk=8 attention=laplace",
                                       "norm-kind=scale causal=1 attention-dropout=0.2",
                                       "norm=pre norm-kind=batch attention=laplace", NULL};

const lra_model lra_model_mega = {
    .name = "mega",
    .paper = "arXiv:2209.10655",
    .summary = "gated single-head attention after an exponential moving average",
    LRA_MEGA_RECORD,
    .keys = keys,
    .presets = presets,
    .variants = variants,
};
