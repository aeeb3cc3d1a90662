/* linformer: attention to a low-rank projection of all keys, with learned weights for each
 * position.
 *   mix(u) = Wo softmax(q (E^T k)^T / sqrt(K)) E^T v,  E (T_max,rank)
 * in the blocks of lra_blocks.h.  Each layer has its own E, shared by keys, values and heads; a
 * shorter input uses its first rows.  E^T Wk u is computed as Wk E^T u.  E is initialised Xavier
 * uniform.
 * Source: Wang et al. 2020, arXiv:2006.04768; sizes of Tay et al. 2021, arXiv:2011.04006, whose
 * code attends to padding, too (masked=0: inputs are padded to the longest input of the task). */
#include "kernels/graph/mixing.h"
#include "kernels/graph/op.h"
#include "models/layers.h"
#include "models/lra_blocks.h"

static lra_tensor *mix(const lra_build *b, lra_tensor *u, int layer)
{
    (void)layer;
    lra_graph *g = b->graph;
    lra_shape s = LRA_SHAPE(b->T_max, lra_config_int(b->config, "rank"));
    const lra_attention_spec spec = {.cross = true,
                                     .dropout = lra_config_real(b->config, "attention-dropout")};
    lra_tensor *E = lra_param(g, "mixture", s, LRA_SPEC(LRA_XAVIER(1)));
    E = b->position_ids ? lra_embedding(E, b->position_ids)
                        : lra_cast(lra_slice(E, 0, 0, b->T), lra_elem(g));
    lra_tensor *x = lra_layer_mask(u, b->length), *few = lra_matmul_t(E, true, x, false);
    lra_tensor *q = lra_benchmark_heads(b, u, "q"), *k = lra_benchmark_heads(b, few, "k");
    lra_tensor *v = lra_benchmark_heads(b, few, "v");
    lra_tensor *y = lra_attention(q, k, v, b->length, &spec);
    const lra_mixing m = {LRA_MIX_MIXTURES, .map = E, .value = x, .weight = lra_layer_weight(v)};
    lra_declare_mixing(y, &m);
    return lra_benchmark_out(b, y);
}

static lra_tensor *encode(const lra_build *b, lra_tensor *x)
{
    return lra_benchmark_blocks(b, x, mix);
}

static const lra_key keys[] = {LRA_BENCHMARK_KEYS,
                               LRA_INT_KEY("rank", "16", 1, 1 << 16, "number of projected keys"),
                               LRA_BENCHMARK_MASKED, LRA_ATTENTION_DROPOUT, LRA_KEYS_END};

static const lra_model_preset presets[] = {
    LRA_BENCHMARK_PRESETS(LRA_BENCHMARK_DROPS,
                          "layers=1 width=128 heads=8 qkv=64 hidden=128 pool=cls",
                          "layers=1 width=32 heads=2 qkv=16 hidden=32"),
    {NULL, NULL, NULL, NULL, NULL}};

static const char *const variants[] = {"positions=learned qkv=6 heads=3 rank=3",
                                       "attention-dropout=0.2", NULL};

const lra_model lra_model_linformer = {
    .name = "linformer",
    .paper = "arXiv:2006.04768",
    .summary = "attention to a few learned projections of all positions",
    .keys = keys,
    .presets = presets,
    .tiny = "layers=2 width=8 hidden=8 heads=2 rank=5",
    .variants = variants,
    .match = "hidden",
    .pools = LRA_POOLS_ROWS | LRA_POOL_BIT(LRA_POOL_CLS),
    .encode = encode,
    .unmasked = lra_benchmark_unmasked,
    .reach = lra_benchmark_reach,
    .position_dependent = lra_always_position_dependent,
    .reads_position_ids = true,
    .no_limit_reason = "its keys are projections of all positions",
    .positions = lra_benchmark_positions,
    .classifier = lra_benchmark_classifier,
};
