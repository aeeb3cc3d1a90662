/* spt-local: the Transformer of the self-pretraining paper for long inputs: block-local attention
 * to the query's block and its two neighbours.
 *   attend = softmax over the blocks n - 1, n, n + 1 of (q k^T / sqrt(K)) v, for queries of block n
 * Blocks: transformer_blocks.h.  positions: rotary in pairs of neighbouring channels, or added to
 * the inputs.
 * Source: Amos et al. 2024, arXiv:2310.02980: blocks of 4,096 (8,192 for Path-X of 256 x 256). In
 * its code padding is not masked, and lengths must be multiples of a block; here padding is masked,
 * and the last block may be shorter. */
#include "models/transformer_blocks.h"

static lra_tensor *attend(const lra_build *b, lra_tensor *q, lra_tensor *k, lra_tensor *v)
{
    const lra_config *c = b->config;
    bool turns = lra_transformer_positions(c) == LRA_POSITIONS_ROTARY;
    const lra_attention_spec s = {
        .chunk = lra_config_int(c, "block"), .neighbours = 1, .rotary_base = turns ? 10000 : 0};
    return lra_attention(q, k, v, b->length, &s);
}

static lra_tensor *encode(const lra_build *b, lra_tensor *x)
{
    return lra_transformer_blocks(b, x, attend);
}

static int64_t reach(const lra_config *c)
{
    return (lra_config_int(c, "layers") + 1) * lra_config_int(c, "block") - 1;
}

static const lra_key keys[] = {
    LRA_TRANSFORMER_KEYS("512", "4", "pre"),
    LRA_CHOICE_KEY("positions", "sinusoidal", "none|sinusoidal|learned|rotary",
                   "position encoding"),
    LRA_INT_KEY("block", "4096", 1, 1 << 24, "block size, in tokens"), LRA_KEYS_END};

#define SPT(tasks, settings)                                                                       \
    {                                                                                              \
        tasks, "paper", "spt", "layers=4 width=128 hidden=128 decay=0 " settings, NULL             \
    }
static const lra_model_preset presets[] = {
    {NULL, "quick", NULL, "layers=2 width=32 hidden=64 block=64 rate=0.002 decay=0.01", NULL},
    {NULL, "small", NULL, "layers=4 width=64 hidden=128 block=128 rate=0.001 decay=0.05", NULL},
    {"speech-commands", "paper", "spt",
     "layers=4 width=128 hidden=128 positions=rotary block=4000 rate=0.001 decay=0.05 batch=16 "
     "epochs=200 patience=10",
     NULL},
    SPT("path-x", "rate=0.0005 batch=32 epochs=200 schedule=constant warmup=5000 pool=max"),
    {NULL, NULL, NULL, NULL, NULL}};

static const char *const variants[] = {"positions=rotary norm=post", NULL};

const lra_model lra_model_spt_local = {
    .name = "spt-local",
    .paper = "arXiv:2310.02980",
    .summary = "attention to a token's own block and its neighbours",
    .deviations = "keys that are padding are always masked",
    .keys = keys,
    .presets = presets,
    .tiny = "layers=2 width=8 hidden=8 heads=2 block=3",
    .variants = variants,
    .axis = "block",
    .match = "hidden",
    .encode = encode,
    .reach = reach,
    .position_dependent = lra_always_position_dependent,
    .period = lra_block_period,
    .positions = lra_transformer_positions,
};
