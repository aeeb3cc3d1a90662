/* gla: gated linear attention, whose decay is computed from each token, channel by channel.
 *   q, k, v = linear layers of u;  w = sigmoid(W2 (W1 u) + b)^(1/16)
 *   S_t = S_(t-1) diag(w_t) + v_t k_t^T;  y_t = S_t q_t / sqrt(K)
 *   mix(u) = Wo (SiLU(Wg u) * RMSNorm(y)), the norm over each head, with one gain for all heads
 * in the blocks of mixer.h. K = D/(2H), V = expand D/H; W1: D -> rank. Without causal=1, the
 * recurrence from the last token to the first is added.
 * Source: Yang et al. 2023, arXiv:2312.06635.
 * Known: with b large, w is 1 and the layer is linear attention without a normaliser. */
#include <math.h>

#include "kernels/graph/op.h"
#include "models/layers.h"
#include "models/matrix_state_layer.h"

/* Decay (B,T,H,K) of the tokens, real. */
static lra_tensor *decay(const lra_build *b, lra_tensor *u, int64_t H, int64_t width)
{
    lra_graph *g = b->graph;
    lra_tensor *low = lra_state_dense(u, "decay1", lra_config_int(b->config, "gla.rank"));
    lra_tensor *z = lra_layer_linear(low, "decay2", width, LRA_ACT_NONE, NULL);
    lra_tensor *log_w = lra_affine(lra_softplus(lra_affine(lra_cast(z, lra_real(g)), -1, 0)),
                                   -1.0 / 16, 0);
    return lra_layer_heads(lra_exp(log_w), H);
}

static lra_tensor *build(const lra_build *b, lra_tensor *u)
{
    int64_t D = lra_width(u), H = lra_state_heads(b, "gla"), inner = lra_state_values(b, "gla");
    int64_t K = D / H / 2 > 0 ? D / H / 2 : 1;
    lra_tensor *q = lra_layer_heads(lra_state_dense(u, "q", K * H), H);
    lra_tensor *k = lra_layer_heads(lra_state_dense(u, "k", K * H), H);
    const lra_matrix_state_spec m = {.query = lra_affine(q, 1 / sqrt((double)K), 0),
                                     .key = k,
                                     .value = lra_layer_heads(lra_state_dense(u, "v", inner), H),
                                     .decay = decay(b, u, H, K * H)};
    lra_tensor *y = lra_reshape(lra_state_norm(lra_state_mix(b, &m), "norm"),
                                LRA_SHAPE(b->B, b->T, inner));
    return lra_state_dense(lra_gate(lra_state_dense(u, "gate", inner), LRA_GATE_SILU, y), "out", D);
}

const lra_mixer lra_mixer_gla = {.name = "gla",
                                 .paper = "arXiv:2312.06635",
                                 .summary = "linear attention with a decay per token and channel",
                                 .build = build};

static const lra_key keys[] = {LRA_MIXER_BLOCK_KEYS("gla"), LRA_GLA_KEYS, LRA_KEYS_END};

static const char *const variants[] = {"causal=1 dropout=0.1", "gla.expand=0.5 gla.rank=3 hidden=0",
                                       NULL};

const lra_model lra_model_gla = {
    .name = "gla",
    .paper = "arXiv:2312.06635",
    .summary = "linear attention with a decay computed from each token, channel by channel",
    .deviations = "without causal=1, both directions are added",
    .keys = keys,
    .presets = lra_mixer_presets,
    .tiny = "layers=2 width=8 hidden=8 gla.heads=2 gla.rank=4",
    .variants = variants,
    .match = "hidden",
    .pools = LRA_POOLS_ROWS,
    .encode = lra_mixer_blocks,
    .reach = lra_mixer_blocks_reach,
    .causal = lra_mixer_blocks_causal,
};
