/* linear-transformer: linear attention, whose weights are products of features, so that the sum
 * over keys is computed once for all queries.
 *   mix(u) = Wo y,  y_i = phi(q_i) sum_j phi(k_j) v_j^T / (phi(q_i) sum_j phi(k_j) + 1e-6),  phi(x) = ELU(x) + 1
 * in the blocks of lra_blocks.h; scores are not scaled. With a distance limit, each query sums over
 * the keys within the limit.
 * Source: Katharopoulos et al. 2020, arXiv:2006.16236; sizes of Tay et al. 2021, arXiv:2011.04006,
 * whose code also sums over padding (masked=0: inputs are padded to the longest input of the
 * task). */
#include <math.h>

#include "models/kernel_attention.h"
#include "models/lra_blocks.h"

static lra_tensor *mix(const lra_build *b, lra_tensor *u, int layer)
{
    (void)layer;
    lra_tensor *q = lra_elu_one(lra_benchmark_heads(b, u, "q"));
    lra_tensor *k = lra_elu_one(lra_benchmark_heads(b, u, "k")),
               *v = lra_benchmark_heads(b, u, "v");
    return lra_benchmark_out(b, lra_kernel_attention(b, q, k, v, 1e-6, INFINITY));
}

static lra_tensor *encode(const lra_build *b, lra_tensor *x)
{
    return lra_benchmark_blocks(b, x, mix);
}

static const lra_key keys[] = {LRA_BENCHMARK_KEYS, LRA_BENCHMARK_MASKED, LRA_KEYS_END};

static const lra_model_preset presets[] = {
    LRA_BENCHMARK_PRESETS(LRA_BENCHMARK_KEEPS,
                          "layers=1 width=128 heads=8 qkv=64 hidden=128 pool=cls",
                          "layers=1 width=128 heads=2 qkv=64 hidden=128"),
    {NULL, NULL, NULL, NULL, NULL}};

static const char *const variants[] = {"positions=learned qkv=6 heads=3 dropout=0.1", NULL};

const lra_model lra_model_linear_transformer = {
    .name = "linear-transformer",
    .paper = "arXiv:2006.16236",
    .summary = "linear attention: products of features instead of a softmax",
    .deviations = "attention weights have no dropout",
    .keys = keys,
    .presets = presets,
    .tiny = "layers=2 width=8 hidden=8 heads=2",
    .variants = variants,
    .match = "hidden",
    .pools = LRA_POOLS_ROWS | LRA_POOL_BIT(LRA_POOL_CLS),
    .encode = encode,
    .unmasked = lra_benchmark_unmasked,
    .reach = lra_benchmark_reach,
    .positions = lra_benchmark_positions,
    .classifier = lra_benchmark_classifier,
};
