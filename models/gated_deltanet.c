/* gated-deltanet: the delta rule with a decay per token and head.
 *   q, k, v = SiLU(conv(linear layers of u));  q, k divided by their lengths;  beta = sigmoid(Wb u)
 *   w = exp(-exp(a) softplus(Wa u + shift)), in each head
 *   S_t = w_t S_(t-1) (I - beta_t k_t k_t^T) + beta_t v_t k_t^T;  y_t = S_t q_t / sqrt(K)
 *   mix(u) = Wo (SiLU(Wg u) * RMSNorm(y)), the norm over each head, with one gain for all heads
 * in the blocks of mixer.h. K = D/H, V = expand D/H. Without causal=1, the recurrence from the last
 * token to the first is added and short convolutions are centred.
 * Source: Yang et al. 2024, arXiv:2412.06464.
 * Known: with beta = 0 the state stays 0; with w = 1 it is that of deltanet. */
#include <math.h>

#include "kernels/graph/op.h"
#include "models/layers.h"
#include "models/matrix_state_layer.h"

#define NAME "gated-delta"

static lra_tensor *build(const lra_build *b, lra_tensor *u)
{
    lra_graph *g = b->graph;
    int64_t D = lra_width(u), H = lra_state_heads(b, NAME), inner = lra_state_values(b, NAME);
    int64_t taps = lra_config_int(b->config, NAME ".conv");
    lra_tensor *q = lra_state_conv(b, lra_state_dense(u, "q", D), "conv-q", taps, false);
    lra_tensor *k = lra_state_conv(b, lra_state_dense(u, "k", D), "conv-k", taps, false);
    lra_tensor *v = lra_state_conv(b, lra_state_dense(u, "v", inner), "conv-v", taps, false);
    lra_tensor *beta = lra_layer_heads(lra_sigmoid(lra_state_dense(u, "beta", H)), H);
    lra_tensor *w = lra_state_decay(lra_state_dense(u, "a", H), 1e-3, NULL);
    q = lra_state_unit(lra_layer_heads(q, H)), k = lra_state_unit(lra_layer_heads(k, H));
    lra_tensor *correct = lra_mul(lra_mul(k, beta), lra_cast(w, lra_elem(g)));
    const lra_matrix_state_spec m = {.query = lra_affine(q, 1 / sqrt((double)(D / H)), 0),
                                     .key = k,
                                     .value = lra_mul(lra_layer_heads(v, H), beta),
                                     .decay = w,
                                     .correct = correct,
                                     .read = k};
    lra_tensor *y = lra_reshape(lra_state_norm(lra_state_mix(b, &m), "norm"),
                                LRA_SHAPE(b->B, b->T, inner));
    return lra_state_dense(lra_gate(lra_state_dense(u, "gate", inner), LRA_GATE_SILU, y), "out", D);
}

const lra_mixer lra_mixer_gated_delta = {
    .name = NAME,
    .paper = "arXiv:2412.06464",
    .summary = "the delta rule with a decay per token and head",
    .build = build};

static const lra_key keys[] = {LRA_MIXER_BLOCK_KEYS(NAME), LRA_GATED_DELTA_KEYS, LRA_KEYS_END};

static const char *const variants[] = {"causal=1 dropout=0.1",
                                       NAME ".conv=0 " NAME ".expand=2 hidden=0", NULL};

const lra_model lra_model_gated_deltanet = {
    .name = "gated-deltanet",
    .paper = "arXiv:2412.06464",
    .summary = "the delta rule with a decay computed from each token",
    .deviations = "without causal=1, both directions are added and convolutions are centred",
    .keys = keys,
    .presets = lra_mixer_presets,
    .tiny = "layers=2 width=8 hidden=8 " NAME ".heads=2 " NAME ".conv=2",
    .variants = variants,
    .match = "hidden",
    .pools = LRA_POOLS_ROWS,
    .encode = lra_mixer_blocks,
    .reach = lra_mixer_blocks_reach,
    .causal = lra_mixer_blocks_causal,
};
