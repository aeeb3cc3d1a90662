/* longformer: sliding-window attention.
 *   mix(u) = Wo softmax over i - window/2 < j <= i + window/2 of (q_i k_j / sqrt(K)) v
 * Source: Beltagy et al. 2020, arXiv:2004.05150, without global tokens and dilation, as in Tay et
 * al. 2021, arXiv:2011.04006, with a window of 512. With pool=cls the CLS token attends to its
 * window only. */
#include "models/lra_blocks.h"

static lra_tensor *mix(const lra_build *b, lra_tensor *u, int layer)
{
    (void)layer;
    int64_t half = lra_config_int(b->config, "window") / 2;
    const lra_attention_spec s = {.window = half - 1, .ahead = half};
    if (lra_config_int(b->config, "window") % 2)
        lra_graph_fail(b->graph, "window is odd, expected an even number");
    return lra_benchmark_attention(b, u, &s);
}

static lra_tensor *encode(const lra_build *b, lra_tensor *x)
{
    return lra_benchmark_blocks(b, x, mix);
}

/* Reach towards later tokens; towards earlier tokens it is one token less per layer. */
static int64_t reach(const lra_config *c)
{
    return lra_config_int(c, "layers") * (lra_config_int(c, "window") / 2);
}

static const lra_key keys[] = {
    LRA_BENCHMARK_KEYS, LRA_ATTENTION_DROPOUT,
    LRA_INT_KEY(
        "window", "512", 4, 1 << 20,
        "window size, in tokens: the token itself, window/2 tokens after it, the rest before it"),
    LRA_KEYS_END};

static const lra_model_preset presets[] = {
    LRA_BENCHMARK_PRESETS(LRA_BENCHMARK_DROPS,
                          "layers=4 width=128 heads=4 qkv=64 hidden=128 pool=mean",
                          "layers=2 width=32 heads=2 qkv=16 hidden=32"),
    {NULL, NULL, NULL, NULL, NULL}};

static const char *const variants[] = {"positions=learned qkv=6 heads=3 window=14", NULL};

const lra_model lra_model_longformer = {
    .name = "longformer",
    .paper = "arXiv:2004.05150",
    .summary = "attention to the tokens within a window",
    .keys = keys,
    .presets = presets,
    .tiny = "layers=3 width=8 hidden=8 heads=2 window=12",
    .variants = variants,
    .axis = "window",
    .match = "hidden",
    .pools = LRA_POOLS_ROWS | LRA_POOL_BIT(LRA_POOL_CLS),
    .encode = encode,
    .reach = reach,
    .positions = lra_benchmark_positions,
    .classifier = lra_benchmark_classifier,
};
