/* hybrid: blocks with different mixers, such as three layers of the delta rule and one of softmax
 * attention (mixers=gated-delta*3,attention). All mixers of mixers.def can be listed; each has its
 * own settings, with its name as prefix (attention.window=128).
 *   attention: mix(u) = Wo heads(softmax(q k^T / sqrt(K)) v),  q, k, v = linear layers of u
 * in the blocks of mixer.h.
 * Source: the ratios 3:1 and 7:1 of Yang et al. 2024, arXiv:2412.06464, and Dao & Gu 2024,
 * arXiv:2405.21060.
 * Known: mixers=attention with attention.window=w reaches layers * w tokens. */
#include "kernels/graph/op.h"
#include "models/layers.h"
#include "models/matrix_state_layer.h"

static lra_tensor *attend(const lra_build *b, lra_tensor *u)
{
    const lra_config *c = b->config;
    int64_t D = lra_width(u), H = lra_config_int(c, "attention.heads");
    bool turns = lra_config_is(c, "attention.positions", "rotary");
    lra_tensor *q = lra_layer_heads(lra_state_dense(u, "q", D), H);
    lra_tensor *k = lra_layer_heads(lra_state_dense(u, "k", D), H);
    lra_tensor *v = lra_layer_heads(lra_state_dense(u, "v", D), H);
    if (turns && lra_width(q) % 2)
        lra_graph_fail(b->graph, "attention: heads of %lld channels, expected even",
                       (long long)lra_width(q));
    const lra_attention_spec spec = {.causal = b->causal,
                                     .window = lra_config_int(c, "attention.window"),
                                     .rotary_base = turns ? 10000 : 0};
    lra_tensor *y = lra_attention(q, k, v, b->length, &spec);
    return lra_state_dense(lra_reshape(y, LRA_SHAPE(b->B, b->T, D)), "out", D);
}

static int64_t reach(const lra_config *c)
{
    int64_t window = lra_config_int(c, "attention.window");
    return window > 0 ? window : -1;
}

const lra_mixer lra_mixer_attention = {.name = "attention",
                                       .paper = "arXiv:1706.03762",
                                       .summary = "softmax attention",
                                       .build = attend,
                                       .reach = reach};

static const lra_key keys[] = {LRA_MIXER_BLOCK_KEYS("gated-delta*3,attention"),
                               LRA_ATTENTION_MIXER_KEYS,
                               LRA_RETENTION_KEYS,
                               LRA_GLA_KEYS,
                               LRA_SSD_KEYS,
                               LRA_DELTA_KEYS,
                               LRA_GATED_DELTA_KEYS,
                               LRA_KEYS_END};

static const lra_model_preset presets[] = {
    {NULL, "quick", NULL,
     "layers=2 width=32 hidden=64 mixers=gated-delta,attention rate=0.002 decay=0.01", NULL},
    {NULL, "small", NULL, "layers=4 width=64 hidden=128 rate=0.001 decay=0.05", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static const char *const variants[] = {
    "mixers=delta,ssd causal=1 delta.conv=2 ssd.conv=2",
    "mixers=attention attention.window=2 attention.positions=none", NULL};

const lra_model lra_model_hybrid = {
    .name = "hybrid",
    .paper = "arXiv:2412.06464",
    .summary = "blocks with different mixers, such as the delta rule and attention",
    .keys = keys,
    .presets = presets,
    .tiny = "layers=3 width=8 hidden=8 mixers=gated-delta*2,attention attention.heads=2 "
            "gated-delta.heads=2 gated-delta.conv=2 delta.heads=2 ssd.heads=2 ssd.state=3",
    .variants = variants,
    .match = "hidden",
    .pools = LRA_POOLS_ROWS,
    .encode = lra_mixer_blocks,
    .reach = lra_mixer_blocks_reach,
    .causal = lra_mixer_blocks_causal,
};
