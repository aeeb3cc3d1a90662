/* transformer: full self-attention and a feed-forward layer.
 *
 *   norm=pre, post  the blocks of transformer_blocks.h
 *   norm=arena      the blocks of lra_blocks.h, with their head
 *   attend(u) = Wo heads(softmax(q k^T / sqrt(K)) v),  q, k, v = linear layers of u; all with bias except in norm=arena
 *
 * positions=rotary: pairs (2i,2i+1) of q and k are rotated by t base^(-2i/K). rotary-half: the
 * slower 50 % of the pairs are not rotated; rotary-half-fast: the faster 50 % are not. sinusoidal,
 * learned: added to the inputs. none: no position information.  causal=1: no attention to future
 * tokens.
 * Source: Vaswani et al. 2017; "On the locality bias and results in the Long Range Arena", table 5
 * (act=relu, rotary); Amos et al. 2024 (act=gelu; head=mlp: Linear, ReLU, Linear). The locality
 * paper has "half disabled" without stating which pairs; here the slowly rotating pairs are
 * disabled.
 * Known: without positions the gradient of every key bias is 0. */
#include "models/lra_blocks.h"
#include "models/transformer_blocks.h"

static bool causal(const lra_config *c)
{
    return lra_config_int(c, "causal") != 0;
}

static lra_classifier classifier(const lra_config *c)
{
    bool deep = lra_config_is(c, "head", "mlp");
    if (lra_config_is(c, "norm", "arena")) return lra_benchmark_classifier(c);
    return (lra_classifier){deep ? lra_config_int(c, "width") : 0, LRA_ACT_RELU, 0};
}

static lra_attention_spec attention_of(const lra_build *b)
{
    const lra_config *c = b->config;
    bool turns = lra_transformer_positions(c) == LRA_POSITIONS_ROTARY;
    return (lra_attention_spec){
        .causal = b->causal,
        .dropout = lra_config_real(c, "attention-dropout"),
        .rotary_base = turns ? lra_config_real(c, "base") : 0,
        .rotary_half = lra_config_is(c, "positions", "rotary-half")        ? LRA_HALF_SLOW
                       : lra_config_is(c, "positions", "rotary-half-fast") ? LRA_HALF_FAST
                                                                           : LRA_HALF_NONE};
}

static lra_tensor *attend(const lra_build *b, lra_tensor *q, lra_tensor *k, lra_tensor *v)
{
    const lra_attention_spec spec = attention_of(b);
    return lra_attention(q, k, v, b->length, &spec);
}

static lra_tensor *arena_mix(const lra_build *b, lra_tensor *u, int layer)
{
    (void)layer;
    const lra_attention_spec spec = attention_of(b);
    return lra_benchmark_attention(b, u, &spec);
}

static lra_tensor *encode(const lra_build *b, lra_tensor *x)
{
    if (lra_config_is(b->config, "norm", "arena")) return lra_benchmark_blocks(b, x, arena_mix);
    return lra_transformer_blocks(b, x, attend);
}

static const lra_key keys[] = {
    LRA_INT_KEY("layers", "6", 1, 1 << 20, "number of blocks (attention and feed-forward layer)"),
    LRA_INT_KEY("width", "128", 1, 1 << 20, "model width, in channels"),
    LRA_INT_KEY("hidden", "256", 1, 1 << 20, "width of the feed-forward layers"),
    LRA_INT_KEY("heads", "4", 1, LRA_MAX_HEADS, "number of attention heads"),
    LRA_INT_KEY("qkv", "0", 0, 1 << 20,
                "width of queries, keys and values over all heads (0 = width)"),
    LRA_CHOICE_KEY("positions", "rotary",
                   "none|sinusoidal|learned|rotary|rotary-half|rotary-half-fast",
                   "position encoding"),
    LRA_REAL_KEY("base", "10000", 1, 1e12, "base of the frequencies of rotary positions"),
    LRA_CHOICE_KEY("norm", "pre", "pre|post|arena",
                   "position of the norm: before a sublayer, or after the residual sum"),
    LRA_CHOICE_KEY("act", "gelu", "relu|gelu", "activation of the feed-forward layers"),
    LRA_CHOICE_KEY("head", "linear", "linear|mlp", "output head"),
    LRA_FLAG_KEY("causal", "0", "mask later tokens"),
    LRA_REAL_KEY("dropout", "0", 0, 0.999, "dropout rate"),
    LRA_ATTENTION_DROPOUT,
    LRA_KEYS_END};

#define PATHFINDER "pathfinder pathfinder-intermediate pathfinder-easy"
#define BIDMC      "bidmc-hr bidmc-rr bidmc-spo2"
/* clang-format off */
#define LOCALITY(tasks, settings) {tasks, "paper", "locality", "act=relu " settings, NULL}
#define SPT(tasks, settings) {tasks, "paper", "spt", settings " schedule=constant", NULL}
/* clang-format on */
#define SUMMED "positions=sinusoidal "
#define HALF   "positions=rotary-half "
/* Sources of the settings. locality: table 5 of that paper. spt: the public presets of
 * arXiv:2310.02980; where their learning rate diverges, a rate of the grid that the authors
 * recommend. Settings of pooling and of block attention are defined by this suite. */
static const lra_model_preset presets[] = {
    {NULL, "quick", NULL, "layers=2 width=32 hidden=64 rate=0.002 decay=0.01", NULL},
    {NULL, "small", NULL, "layers=4 width=64 hidden=128 rate=0.001 decay=0.05", NULL},
    LOCALITY("listops", "layers=6 width=256 hidden=512 batch=64 rate=0.0001 decay=0.05"),
    LOCALITY("image", "layers=10 width=160 hidden=320 " HALF "batch=48 decay=0.05"),
    LOCALITY(PATHFINDER, "layers=6 width=128 hidden=256 batch=128 decay=0.05"),
    LOCALITY("text", "layers=8 width=256 hidden=512 " HALF "batch=16 decay=0.01"),
    LOCALITY("retrieval", "layers=6 width=128 hidden=256 " HALF "batch=64 decay=0.01"),
    SPT("listops", "layers=6 width=512 hidden=2048 heads=8 " SUMMED
                   "batch=32 epochs=100 rate=0.0005 decay=0 warmup=2000"),
    SPT("text", "layers=6 width=512 hidden=2048 heads=8 " SUMMED
                "head=mlp batch=32 epochs=65 rate=0.0005 decay=0.1 warmup=2000"),
    SPT("retrieval", "layers=4 width=128 hidden=512 " SUMMED
                     "batch=32 epochs=32 rate=0.0005 decay=0 warmup=5000"),
    SPT("image",
        "layers=3 width=64 hidden=128 " SUMMED "head=mlp batch=50 epochs=200 decay=0 warmup=2000"),
    SPT(PATHFINDER, "layers=4 width=128 hidden=128 heads=8 " SUMMED
                    "batch=32 epochs=200 rate=0.0005 decay=0 warmup=5000"),
    SPT("scifar", "layers=6 width=256 hidden=512 batch=50 epochs=200 decay=0.05 warmup=2000"),
    {BIDMC, "paper", "spt",
     "layers=4 width=112 hidden=112 heads=8 batch=32 epochs=500 rate=0.01 decay=0.05 "
     "schedule=multistep every=100",
     NULL},
    LRA_BENCHMARK_PAPER(LRA_BENCHMARK_DROPS, "norm=arena ", SUMMED,
                        "layers=1 width=128 heads=8 qkv=64 hidden=128 pool=cls",
                        "layers=4 width=32 heads=4 qkv=16 hidden=32"),
    {NULL, NULL, NULL, NULL, NULL}};

static const char *const variants[] = {"positions=rotary-half act=relu head=mlp",
                                       "positions=sinusoidal norm=post",
                                       "positions=learned causal=1",
                                       "positions=none",
                                       "norm=arena qkv=6 heads=3 positions=rotary base=10",
                                       "dropout=0.1 attention-dropout=0.2",
                                       NULL};

const lra_model lra_model_transformer = {
    .name = "transformer",
    .paper = "arXiv:1706.03762",
    .summary = "softmax attention between all tokens and a feed-forward layer",
    .keys = keys,
    .presets = presets,
    .tiny = "layers=2 width=8 hidden=8 heads=2",
    .variants = variants,
    .match = "hidden",
    .pools = LRA_POOLS_ROWS | LRA_POOL_BIT(LRA_POOL_CLS),
    .encode = encode,
    .reach = lra_benchmark_reach,
    .causal = causal,
    .positions = lra_transformer_positions,
    .classifier = classifier,
};
