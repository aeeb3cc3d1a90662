/* deltanet: linear attention with the delta rule, which replaces the value stored for a key.
 *   q, k, v = SiLU(conv(linear layers of u));  q, k divided by their lengths;  beta = sigmoid(Wb u)
 *   S_t = S_(t-1) (I - beta_t k_t k_t^T) + beta_t v_t k_t^T;  y_t = S_t q_t / sqrt(K)
 *   mix(u) = Wo RMSNorm(y), the norm over each head, with one gain for all heads
 * in the blocks of mixer.h. K = D/H, V = expand D/H. Without causal=1, the recurrence from the last
 * token to the first is added and short convolutions are centred.
 * Source: Schlag et al. 2021, arXiv:2102.11174; Yang et al. 2024, arXiv:2406.06484.
 * Known: with beta = 1 and orthonormal keys, S_t k_j = v_j for the last value of each key. */
#include <math.h>

#include "kernels/graph/op.h"
#include "models/layers.h"
#include "models/matrix_state_layer.h"

static lra_tensor *build(const lra_build *b, lra_tensor *u)
{
    int64_t D = lra_width(u), H = lra_state_heads(b, "delta"), inner = lra_state_values(b, "delta");
    int64_t taps = lra_config_int(b->config, "delta.conv");
    lra_tensor *q = lra_state_conv(b, lra_state_dense(u, "q", D), "conv-q", taps, false);
    lra_tensor *k = lra_state_conv(b, lra_state_dense(u, "k", D), "conv-k", taps, false);
    lra_tensor *v = lra_state_conv(b, lra_state_dense(u, "v", inner), "conv-v", taps, false);
    lra_tensor *beta = lra_layer_heads(lra_sigmoid(lra_state_dense(u, "beta", H)), H);
    q = lra_state_unit(lra_layer_heads(q, H)), k = lra_state_unit(lra_layer_heads(k, H));
    const lra_matrix_state_spec m = {.query = lra_affine(q, 1 / sqrt((double)(D / H)), 0),
                                     .key = k,
                                     .value = lra_mul(lra_layer_heads(v, H), beta),
                                     .correct = lra_mul(k, beta),
                                     .read = k};
    lra_tensor *y = lra_state_norm(lra_state_mix(b, &m), "norm");
    return lra_state_dense(lra_reshape(y, LRA_SHAPE(b->B, b->T, inner)), "out", D);
}

const lra_mixer lra_mixer_delta = {.name = "delta",
                                   .paper = "arXiv:2406.06484",
                                   .summary = "linear attention with the delta rule",
                                   .build = build};

static const lra_key keys[] = {LRA_MIXER_BLOCK_KEYS("delta"), LRA_DELTA_KEYS, LRA_KEYS_END};

static const char *const variants[] = {"causal=1 dropout=0.1",
                                       "delta.conv=0 delta.expand=2 hidden=0", NULL};

const lra_model lra_model_deltanet = {
    .name = "deltanet",
    .paper = "arXiv:2406.06484",
    .summary = "linear attention with the delta rule, which replaces the value of a key",
    .deviations = "without causal=1, both directions are added and convolutions are centred",
    .keys = keys,
    .presets = lra_mixer_presets,
    .tiny = "layers=2 width=8 hidden=8 delta.heads=2 delta.conv=2",
    .variants = variants,
    .match = "hidden",
    .pools = LRA_POOLS_ROWS,
    .encode = lra_mixer_blocks,
    .reach = lra_mixer_blocks_reach,
    .causal = lra_mixer_blocks_causal,
};
