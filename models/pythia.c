/* pythia: a language model of the GPT-NeoX family, with attention and feed-forward layer in
 * parallel.
 *
 *   x = x + attend(LayerNorm1(x)) + W2 GELU(W1 LayerNorm2(x))        per layer; LayerNorm at the end
 *   attend(u) = Wo heads(softmax(q k^T / sqrt(K)) v),  one matrix for all: q, k, v of head h are contiguous
 *
 * with biases, causal. The first r = `rotary` K channels of q and k of each head are rotated by the
 * angle t base^(-2i/r), channel i paired with channel i + r/2; the other channels have no position
 * information. Weights are initialised N(0, 0.02^2).
 * Source: Biderman et al. 2023, arXiv:2304.01373; Black et al. 2022, arXiv:2204.06745.  70M: the
 * defaults; 14M: width=128 hidden=512 heads=4.  Amos et al. 2024 fine-tune the published weights
 * with the causal mask.  They use its tokenizer. Here the token ids are those of the task; the
 * embedding table is imported only from files with the same number of rows. */
#include "kernels/graph/op.h"
#include "models/layers.h"
#include "models/lra_blocks.h"

static bool causal(const lra_config *c)
{
    (void)c;
    return true;
}

static lra_tensor *linear(lra_tensor *x, const char *name, int64_t n_out, lra_act act,
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

/* Returns K channels of each head, beginning with channel `from`; the first r are rotated (rotary
 * positions), channel i paired with channel i + r/2. */
static lra_tensor *turned(const lra_build *b, lra_tensor *u, int64_t from, int64_t K, int64_t r)
{
    lra_shape s = lra_tensor_shape(u);
    if (r == 0) return lra_slice(u, 3, from, K);
    lra_tensor *x = lra_slice(u, 3, from, r);
    x = lra_reshape(x, LRA_SHAPE(s.d[0], s.d[1], s.d[2], 2, r / 2));
    x = lra_permute(x, 5, (int[]){0, 1, 2, 4, 3});
    x = lra_reshape(x, LRA_SHAPE(s.d[0], s.d[1], s.d[2], r));
    x = lra_rotary(x, lra_config_real(b->config, "base"), LRA_HALF_NONE);
    if (r == K) return x;
    return lra_concat(2, (lra_tensor *[]){x, lra_slice(u, 3, from + r, K - r)}, 3);
}

static lra_tensor *add_attention(const lra_build *b, lra_tensor *x, lra_tensor *u)
{
    const lra_config *c = b->config;
    int64_t H = lra_config_int(c, "heads"), D = lra_width(x);
    if (D % H) {
        lra_graph_fail(b->graph, "width %lld cannot be divided into %lld heads", (long long)D,
                       (long long)H);
        H = 1;
    }
    int64_t K = D / H, r = (int64_t)((double)K * lra_config_real(c, "rotary"));
    if (r % 2)
        lra_graph_fail(b->graph,
                       "%lld of %lld channels of a head are rotated, expected an even number",
                       (long long)r, (long long)K);
    r -= r % 2;
    const lra_attention_spec spec = {.causal = true,
                                     .dropout = lra_config_real(c, "attention-dropout")};
    u = linear(u, "qkv", 3 * D, LRA_ACT_NONE, NULL);
    u = lra_reshape(u, LRA_SHAPE(b->B, b->T, H, 3 * K));
    lra_tensor *q = turned(b, u, 0, K, r), *k = turned(b, u, K, K, r);
    lra_tensor *y = lra_attention(q, k, lra_slice(u, 3, 2 * K, K), b->length, &spec);
    return linear(lra_reshape(y, lra_tensor_shape(x)), "out", D, LRA_ACT_NONE, x);
}

static lra_tensor *encode(const lra_build *b, lra_tensor *x)
{
    x = lra_layer_stream(x);
    for (int64_t i = 0; i < lra_config_int(b->config, "layers"); i++) {
        lra_push(b->graph, "layer%d", (int)i);
        lra_tensor *y = add_attention(b, x, lra_layer_layer_norm(x, "norm1"));
        lra_tensor *h = linear(lra_layer_layer_norm(x, "norm2"), "up",
                               lra_config_int(b->config, "hidden"), LRA_ACT_GELU, NULL);
        x = linear(h, "down", lra_width(x), LRA_ACT_NONE, y);
        lra_pop(b->graph);
    }
    return lra_layer_layer_norm(x, "norm");
}

#define LAYER(ours, theirs)                                                                        \
    {                                                                                              \
        "encoder/layer%d/" ours, "gpt_neox.layers.%d." theirs                                      \
    }
#define LEFT(theirs)                                                                               \
    {                                                                                              \
        NULL, "gpt_neox.layers.%d.attention." theirs                                               \
    }
static const lra_published_name published[] = {
    LAYER("norm1/gain", "input_layernorm.weight"),
    LAYER("norm1/bias", "input_layernorm.bias"),
    LAYER("norm2/gain", "post_attention_layernorm.weight"),
    LAYER("norm2/bias", "post_attention_layernorm.bias"),
    LAYER("qkv/w", "attention.query_key_value.weight"),
    LAYER("qkv/b", "attention.query_key_value.bias"),
    LAYER("out/w", "attention.dense.weight"),
    LAYER("out/b", "attention.dense.bias"),
    LAYER("up/w", "mlp.dense_h_to_4h.weight"),
    LAYER("up/b", "mlp.dense_h_to_4h.bias"),
    LAYER("down/w", "mlp.dense_4h_to_h.weight"),
    LAYER("down/b", "mlp.dense_4h_to_h.bias"),
    LEFT("bias"),
    LEFT("masked_bias"),
    LEFT("rotary_emb.inv_freq"),
    {"encoder/norm/gain", "gpt_neox.final_layer_norm.weight"},
    {"encoder/norm/bias", "gpt_neox.final_layer_norm.bias"},
    {"embed/table", "gpt_neox.embed_in.weight"},
    {NULL, "embed_out.weight"},
    {NULL, NULL}};

static const lra_key keys[] = {
    LRA_INT_KEY("layers", "6", 1, 1 << 20, "number of blocks (attention and feed-forward layer)"),
    LRA_INT_KEY("width", "512", 1, 1 << 20, "model width, in channels"),
    LRA_INT_KEY("hidden", "2048", 1, 1 << 20, "width of the feed-forward layers"),
    LRA_INT_KEY("heads", "8", 1, LRA_MAX_HEADS, "number of attention heads, which share the width"),
    LRA_REAL_KEY("rotary", "0.25", 0, 1, "share of the channels of a head that are rotated"),
    LRA_REAL_KEY("base", "10000", 1, 1e12, "base of the frequencies of rotary positions"),
    LRA_ATTENTION_DROPOUT,
    LRA_KEYS_END};

/* spt: the 70M model. Learning rates are defined by this suite, because the presets of
 * arXiv:2310.02980 use a batch size of one. */
static const lra_model_preset presets[] = {
    {NULL, "quick", NULL, "layers=2 width=32 hidden=64 heads=2 rate=0.002 decay=0.01", NULL},
    {NULL, "small", NULL, "width=128 hidden=512 heads=4 rate=0.0005 decay=0.01", NULL},
    {"listops text retrieval image pathfinder pathfinder-intermediate pathfinder-easy", "paper",
     "spt", "batch=16 rate=0.0001 decay=0 schedule=constant", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static const char *const variants[] = {"rotary=1 base=100", "rotary=0 attention-dropout=0.2", NULL};

const lra_model lra_model_pythia = {
    .name = "pythia",
    .paper = "arXiv:2304.01373",
    .summary = "causal language model with attention parallel to the feed-forward layer",
    .deviations = "tokens have their own embedding table instead of the tokenizer's rows",
    .keys = keys,
    .presets = presets,
    .tiny = "layers=2 width=16 hidden=8 heads=2",
    .variants = variants,
    .match = "hidden",
    .pools = LRA_POOLS_ROWS,
    .encode = encode,
    .reach = lra_benchmark_reach,
    .causal = causal,
    .published = published,
};
