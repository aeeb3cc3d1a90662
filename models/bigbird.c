/* bigbird: block-sparse attention: the query's block, its neighbours, the first, the last and a few
 * random blocks.
 *   mix(u) = Wo softmax over the listed blocks of (q k^T / sqrt(K)) v
 * A query block attends to itself, its neighbours, the first, the last and `random` other blocks,
 * drawn once per layer and head for all examples with the same number of blocks. The first and the
 * last block attend to all blocks.
 * Source: Zaheer et al. 2020, arXiv:2007.14062, as in Tay et al. 2021, arXiv:2011.04006: blocks of
 * 64, three random ones.  In the code of Tay et al. the last block is that of the padded sequence,
 * and random blocks are among the first 1,024 positions; here both are within the example's
 * length. */
#include "models/lra_blocks.h"

static lra_tensor *mix(const lra_build *b, lra_tensor *u, int layer)
{
    const lra_config *c = b->config;
    int64_t block = lra_config_int(c, "block");
    const lra_attention_spec s = {.block = block,
                                  .blocks = lra_bigbird_blocks(b->length, b->T,
                                                               lra_config_int(c, "heads"), block,
                                                               lra_config_int(c, "random"), layer)};
    return lra_benchmark_attention(b, u, &s);
}

static lra_tensor *encode(const lra_build *b, lra_tensor *x)
{
    return lra_benchmark_blocks(b, x, mix);
}

static const lra_key keys[] = {
    LRA_BENCHMARK_KEYS, LRA_ATTENTION_DROPOUT,
    LRA_INT_KEY("block", "64", 1, 1 << 20, "block size, in tokens"),
    LRA_INT_KEY("random", "3", 0, 1 << 10, "number of random blocks that each block attends to"),
    LRA_KEYS_END};

static const lra_model_preset presets[] = {
    LRA_BENCHMARK_PRESETS(LRA_BENCHMARK_DROPS,
                          "layers=1 width=128 heads=1 qkv=64 hidden=128 pool=cls",
                          "layers=4 width=64 heads=2 qkv=32 hidden=64"),
    {NULL, NULL, NULL, NULL, NULL}};

static const char *const variants[] = {"positions=learned qkv=6 heads=3 block=3 random=2",
                                       "attention-dropout=0.2 block=4", NULL};

const lra_model lra_model_bigbird = {
    .name = "bigbird",
    .paper = "arXiv:2007.14062",
    .summary = "attention to neighbouring, global and random blocks",
    .deviations = "the last block and the random blocks are chosen within each example",
    .keys = keys,
    .presets = presets,
    .tiny = "layers=2 width=8 hidden=8 heads=2 block=2 random=1",
    .variants = variants,
    .match = "hidden",
    .pools = LRA_POOLS_ROWS | LRA_POOL_BIT(LRA_POOL_CLS),
    .encode = encode,
    .reach = lra_benchmark_reach,
    .position_dependent = lra_always_position_dependent,
    .positions = lra_benchmark_positions,
    .classifier = lra_benchmark_classifier,
};
