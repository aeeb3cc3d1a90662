/* luna: attention through a short memory. In every layer the memory attends to the inputs, then the
 * inputs attend to the memory.
 *
 *   Yp = attend(P; X),  Yx = Wo attend(X; Yp) + bo,  attend(A; B) = heads(softmax(q k^T / sqrt(K)) v),  q of A, k, v of B
 *   X = LayerNorm(X + Yx),  P = LayerNorm(P + Yp),  X = LayerNorm(X + W2 ReLU(W1 X))                        per layer
 *
 * All linear layers have biases. Every layer but the last updates P (memory,D). Each of the two
 * attentions has its own q, k and v.
 * Initialisation: P ~ N(0, 1/D); weights Xavier uniform, with gain 1/sqrt 2 for q, k and v.
 * share=1: all layers share their parameters.
 * positions=sinusoidal: X and P times sqrt(D), then [sin | cos] of t 10000^(-i/(D/2-1)) added.
 * Source: Ma et al. 2021, arXiv:2106.01540, whose code truncates the memory to the longest
 * example. */
#include <math.h>

#include "kernels/graph/mixing.h"
#include "kernels/graph/op.h"
#include "models/layers.h"
#include "models/lra_blocks.h"

/* Parameters of a layer by index: q, k, v of both attentions, linear layers, norms. w: weight or
 * gain; b: bias. */
enum { PACK, UNPACK = 3, OUT = 6, UP, DOWN, NORM_MEMORY, NORM1, NORM2, PARTS };
typedef struct {
    lra_tensor *w[PARTS], *b[PARTS];
} layer;

static layer open_layer(const lra_build *b, int64_t number, bool last)
{
    static const char *const name[] = {"pack_q",   "pack_k",      "pack_v", "unpack_q",
                                       "unpack_k", "unpack_v",    "out",    "up",
                                       "down",     "norm_memory", "norm1",  "norm2"};
    lra_graph *g = b->graph;
    int64_t D = lra_config_int(b->config, "width"), H = lra_config_int(b->config, "hidden");
    layer l = {{NULL}, {NULL}};
    lra_push(g, "layer%d", (int)number);
    for (int i = 0; i < PARTS; i++) {
        if (i == NORM_MEMORY && last) continue;
        bool is_norm = i >= NORM_MEMORY;
        lra_shape out = LRA_SHAPE(i == UP ? H : D), s = LRA_SHAPE(i == DOWN ? H : D, out.d[0]);
        lra_param_spec one = {LRA_CONSTANT(1), .no_decay = true}, zero = {.no_decay = true};
        lra_param_spec weight = {LRA_XAVIER(i < OUT ? sqrt(0.5) : 1),
                                 .layout = LRA_LAYOUT_REVERSED};
        lra_push(g, "%s", name[i]);
        l.w[i] = is_norm ? lra_param(g, "gain", out, &one) : lra_param(g, "w", s, &weight);
        l.b[i] = lra_param(g, is_norm ? "bias" : "b", out, &zero);
        lra_pop(g);
    }
    lra_pop(g);
    return l;
}

static lra_tensor *part(const layer *l, int i, lra_tensor *x)
{
    if (i >= NORM_MEMORY) return lra_layer_norm(x, l->w[i], l->b[i], 1e-5);
    return lra_linear(x, l->w[i], l->b[i], i == UP ? LRA_ACT_RELU : LRA_ACT_NONE, NULL);
}

/* Returns attend(a; c), the attention of a to c, both (B,..,D). x: receives q, k and v. first:
 * index of q among the parameters. a_length, c_length: (B), Nullable. */
static lra_tensor *attend(const lra_build *b, const layer *l, int first, lra_tensor *a,
                          lra_tensor *a_length, lra_tensor *c, lra_tensor *c_length,
                          lra_tensor *x[3])
{
    const double dropout = lra_config_real(b->config, "attention-dropout");
    const lra_attention_spec spec = {.cross = true, .key_length = c_length, .dropout = dropout};
    for (int i = 0; i < 3; i++)
        x[i] = lra_layer_heads(part(l, first + i, i ? c : a), lra_config_int(b->config, "heads"));
    return lra_reshape(lra_attention(x[0], x[1], x[2], a_length, &spec), lra_tensor_shape(a));
}

/* Returns attend(x; yp), where yp = attend(p; x). */
static lra_tensor *unpack(const lra_build *b, const layer *l, lra_tensor *p, lra_tensor *x,
                          lra_tensor **yp)
{
    lra_tensor *of_p[3], *of_x[3];
    *yp = attend(b, l, PACK, p, NULL, x, b->length, of_p);
    lra_tensor *yx = attend(b, l, UNPACK, x, b->length, *yp, NULL, of_x);
    lra_declare_mixing(yx,
                       &(lra_mixing){LRA_MIX_MEMORY, .query = of_x[0], .key = of_x[1],
                                     .value = of_p[2], .weight = l->w[UNPACK + 2], .inner = *yp});
    return yx;
}

/* Sinusoidal position vectors (n,D). data: position of the first vector. */
static void fill_waves(const lra_fill *f, double *v)
{
    int64_t D = f->shape.d[1], half = D / 2;
    double first = *(const double *)f->data, slowest = half > 1 ? (double)(half - 1) : 1;
    for (int64_t i = 0; i < f->shape.d[0] * D; i++) {
        double angle = (first + (double)(i / D)) * pow(10000, -(double)(i % D % half) / slowest);
        v[i] = i % D >= 2 * half ? 0 : i % D < half ? sin(angle) : cos(angle);
    }
}

/* Returns x sqrt(D) + sinusoidal positions first, first + 1, ..; x: (..,n,D). */
static lra_tensor *explicit_positions(lra_tensor *x, const char *name, int64_t n_max, double first)
{
    int64_t D = lra_width(x), n = x->shape.d[x->shape.n - 2];
    lra_param_spec waves = {LRA_FILL(fill_waves), .data = &first, .data_size = sizeof first};
    lra_tensor *t = lra_slice(lra_constant(x->graph, name, LRA_SHAPE(n_max, D), &waves), 0, 0, n);
    return lra_add(lra_affine(x, sqrt((double)D), 0), lra_cast(t, lra_elem(x->graph)));
}

static lra_tensor *encode(const lra_build *b, lra_tensor *x)
{
    const lra_config *c = b->config;
    int64_t D = lra_width(x), n = lra_config_int(c, "memory"), layers = lra_config_int(c, "layers");
    bool share = lra_config_int(c, "share"), waves = lra_config_is(c, "positions", "sinusoidal");
    double dropout = lra_config_real(c, "dropout");
    lra_tensor *p = lra_param(b->graph, "memory", LRA_SHAPE(n, D),
                              LRA_SPEC(LRA_NORMAL(1 / sqrt((double)D))));
    p = lra_cast(p, lra_elem(b->graph));
    if (waves)
        x = explicit_positions(x, "positions", b->T_max, 1),
        p = explicit_positions(p, "memory_positions", n, 0);
    p = lra_broadcast(lra_reshape(p, LRA_SHAPE(1, n, D)), LRA_SHAPE(b->B, n, D));
    x = lra_dropout(x, dropout, false), p = lra_dropout(p, dropout, false);
    layer l = {{NULL}, {NULL}};
    for (int64_t i = 0; i < layers; i++) {
        bool last = i + 1 == layers;
        if (i == 0 || !share) l = open_layer(b, i, last);
        lra_tensor *yp, *yx = part(&l, OUT, unpack(b, &l, p, x, &yp));
        x = part(&l, NORM1, lra_layer_stream_add(x, lra_dropout(yx, dropout, false)));
        if (!last) p = part(&l, NORM_MEMORY, lra_add(p, lra_dropout(yp, dropout, false)));
        lra_tensor *h = part(&l, DOWN, lra_dropout(part(&l, UP, x), dropout, false));
        x = part(&l, NORM2, lra_layer_stream_add(x, lra_dropout(h, dropout, false)));
    }
    return x;
}

static lra_positions positions(const lra_config *c)
{
    return lra_config_is(c, "positions", "learned") ? LRA_POSITIONS_LEARNED : LRA_POSITIONS_NONE;
}

static const lra_key keys[] = {
    LRA_INT_KEY("layers", "4", 1, 1 << 20,
                "number of blocks (two attentions and a feed-forward layer)"),
    LRA_INT_KEY("width", "128", 2, 1 << 20, "model width, in channels"),
    LRA_INT_KEY("hidden", "512", 1, 1 << 20, "width of the feed-forward layers"),
    LRA_INT_KEY("heads", "4", 1, LRA_MAX_HEADS, "number of attention heads, which share the width"),
    LRA_INT_KEY("memory", "256", 1, 1 << 16, "number of memory rows"),
    LRA_FLAG_KEY("share", "0", "share the weights of one layer among all layers"),
    LRA_CHOICE_KEY("positions", "sinusoidal", "none|sinusoidal|learned", "position encoding"),
    LRA_REAL_KEY("dropout", "0", 0, 0.999, "dropout rate"),
    LRA_ATTENTION_DROPOUT,
    LRA_KEYS_END};

static const lra_model_preset presets[] = {
    {NULL, "quick", NULL, "layers=2 width=32 hidden=64 memory=16 rate=0.002 decay=0.01", NULL},
    {NULL, "small", NULL, "width=64 hidden=128 memory=64 rate=0.001 decay=0.05", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static const char *const variants[] = {"share=1 layers=3 dropout=0.1 attention-dropout=0.1", NULL};

const lra_model lra_model_luna = {
    .name = "luna",
    .paper = "arXiv:2106.01540",
    .summary = "attention through a fixed-size memory: two linear-time attentions per layer",
    .deviations = "the memory keeps all its rows for short inputs",
    .keys = keys,
    .presets = presets,
    .tiny = "layers=2 width=8 hidden=8 heads=2 memory=3",
    .variants = variants,
    .match = "hidden",
    .pools = LRA_POOLS_ROWS | LRA_POOL_BIT(LRA_POOL_CLS),
    .encode = encode,
    .reach = lra_benchmark_reach,
    .no_limit_reason = "its memory is packed from all positions",
    .positions = positions,
};
