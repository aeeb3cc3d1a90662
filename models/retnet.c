/* retnet: retention, linear attention whose weights decay exponentially with distance.
 *   q, k, v = linear layers of u;  q, k rotated by their positions;  w = 1 - 2^(-5-h) in head h
 *   S_t = w S_(t-1) + v_t k_t^T / sqrt(K);  y_t = S_t q_t
 *   mix(u) = Wo (SiLU(Wg u) * RMSNorm(y)), the norm over each head, without gain
 * in the blocks of mixer.h. K = D/H, V = expand D/H. Without causal=1, the recurrence from the last
 * token to the first is added, so that weights decay to both sides.
 * Source: Sun et al. 2023, arXiv:2307.08621. The paper's divisors of scores and of rows are left
 * out: the norm over heads removes them up to its eps.
 * Known: before the rotation, the effective attention is w^(i-j) q_i . k_j / sqrt(K). */
#include <math.h>

#include "kernels/graph/op.h"
#include "models/layers.h"
#include "models/matrix_state_layer.h"

/* Decays (1,1,H,1) of the heads. */
static void fill_decays(const lra_fill *f, double *v)
{
    for (int64_t h = 0; h < f->shape.d[2]; h++) v[h] = 1 - exp2((double)(-5 - h));
}

static lra_tensor *build(const lra_build *b, lra_tensor *u)
{
    lra_graph *g = b->graph;
    int64_t D = lra_width(u), H = lra_state_heads(b, "retention");
    int64_t inner = lra_state_values(b, "retention"), K = D / H;
    if (K % 2) lra_graph_fail(g, "retention: heads of %lld channels, expected even", (long long)K);
    lra_tensor *q = lra_layer_heads(lra_state_dense(u, "q", D), H);
    lra_tensor *k = lra_layer_heads(lra_state_dense(u, "k", D), H);
    lra_tensor *v = lra_layer_heads(lra_state_dense(u, "v", inner), H);
    q = lra_rotary(q, 10000, LRA_HALF_NONE);
    k = lra_affine(lra_rotary(k, 10000, LRA_HALF_NONE), 1 / sqrt((double)K), 0);
    lra_tensor *w = lra_constant(g, "decays", LRA_SHAPE(1, 1, H, 1),
                                 LRA_SPEC(LRA_FILL(fill_decays)));
    w = lra_broadcast(w, LRA_SHAPE(b->B, b->T, H, 1));
    lra_tensor *y = lra_rms_norm(
        lra_state_mix(b, &(lra_matrix_state_spec){.query = q, .key = k, .value = v, .decay = w}),
        NULL, 1e-5);
    y = lra_reshape(y, LRA_SHAPE(b->B, b->T, inner));
    return lra_state_dense(lra_gate(lra_state_dense(u, "gate", inner), LRA_GATE_SILU, y), "out", D);
}

const lra_mixer lra_mixer_retention = {.name = "retention",
                                       .paper = "arXiv:2307.08621",
                                       .summary = "linear attention with a fixed decay per head",
                                       .build = build};

static const lra_key keys[] = {LRA_MIXER_BLOCK_KEYS("retention"), LRA_RETENTION_KEYS, LRA_KEYS_END};

static const char *const variants[] = {"causal=1 dropout=0.1", "retention.expand=2 hidden=0", NULL};

const lra_model lra_model_retnet = {
    .name = "retnet",
    .paper = "arXiv:2307.08621",
    .summary = "linear attention with a fixed exponential decay in each head",
    .deviations = "without causal=1, both directions are added; scores have no divisors of rows",
    .keys = keys,
    .presets = lra_mixer_presets,
    .tiny = "layers=2 width=8 hidden=8 retention.heads=2",
    .variants = variants,
    .match = "hidden",
    .pools = LRA_POOLS_ROWS,
    .encode = lra_mixer_blocks,
    .reach = lra_mixer_blocks_reach,
    .causal = lra_mixer_blocks_causal,
};
