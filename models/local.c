/* local: attention inside blocks of `block` tokens; no token attends to another block.
 *   mix(u) = Wo softmax over the token's block of (q k^T / sqrt(K)) v
 *   layout=contiguous  blocks [n block, (n+1) block), as described in the paper
 *   layout=strided     a block is all tokens at distances that are multiples of S, which is
 *                      T_max/block + 1 rounded down, as in the code of the Long Range Arena. In
 *                      that code, padding and the filling of the last block are keys of value 0;
 *                      here they are not keys
 * Source: Tay et al. 2021, arXiv:2011.04006: blocks of 50 (images: 64). The last block may be
 * shorter. With pool=cls the CLS token is in the first block and attends only to this block. */
#include "models/lra_blocks.h"

static bool strided(const lra_config *c)
{
    return lra_config_is(c, "layout", "strided");
}

static lra_tensor *mix(const lra_build *b, lra_tensor *u, int layer)
{
    (void)layer;
    int64_t block = lra_config_int(b->config, "block");
    lra_attention_spec s = {.chunk = block};
    if (strided(b->config)) s.chunk = 0, s.stride = b->T_max / block + 1;
    return lra_benchmark_attention(b, u, &s);
}

static lra_tensor *encode(const lra_build *b, lra_tensor *x)
{
    return lra_benchmark_blocks(b, x, mix);
}

static int64_t reach(const lra_config *c)
{
    return strided(c) ? -1 : lra_config_int(c, "block") - 1;
}

/* layout=strided: tokens with equal positions modulo the stride form a block. */
static int64_t period(const lra_config *c, int64_t T_max)
{
    int64_t block = lra_config_int(c, "block");
    return strided(c) ? T_max / block + 1 : block;
}

static const lra_key keys[] = {
    LRA_BENCHMARK_KEYS,
    LRA_INT_KEY("block", "50", 1, 1 << 20,
                "block size, in tokens; tokens of one block attend to each other"),
    LRA_ATTENTION_DROPOUT,
    LRA_CHOICE_KEY("layout", "contiguous", "contiguous|strided",
                   "tokens of a block: consecutive, or at equal strides"),
    LRA_KEYS_END};

static const lra_model_preset presets[] = {
    LRA_BENCHMARK_PRESETS(LRA_BENCHMARK_DROPS,
                          "layers=1 width=128 heads=2 qkv=64 hidden=128 block=64 pool=mean",
                          "layers=2 width=64 heads=4 qkv=32 hidden=64 block=64"),
    {NULL, NULL, NULL, NULL, NULL}};

static const char *const variants[] = {"positions=learned qkv=6 heads=3",
                                       "positions=none block=3 dropout=0.2",
                                       "layout=strided block=4", NULL};

const lra_model lra_model_local = {
    .name = "local",
    .paper = "arXiv:2011.04006",
    .summary = "attention within blocks of consecutive tokens",
    .keys = keys,
    .presets = presets,
    .tiny = "layers=2 width=8 hidden=8 heads=2 block=5",
    .variants = variants,
    .axis = "block",
    .match = "hidden",
    .pools = LRA_POOLS_ROWS | LRA_POOL_BIT(LRA_POOL_CLS),
    .encode = encode,
    .reach = reach,
    .position_dependent = lra_always_position_dependent,
    .period = period,
    .positions = lra_benchmark_positions,
    .classifier = lra_benchmark_classifier,
};
