/* mamba2: state space duality, a matrix state with one decay per token and head (SSD).
 *   (z, x, B, C, dt) = W u;  (x, B, C) = SiLU(conv(x, B, C));  dt = softplus(dt + shift)
 *   S_t = exp(-dt_t exp(a)) S_(t-1) + dt_t x_t B_t^T;  y_t = S_t C_t + skip x_t
 *   mix(u) = Wo RMSNorm(y * SiLU(z))
 * in the blocks of mixer.h without a feed-forward layer (hidden=0). All heads share B and C (N
 * channels); V = expand D/H. Without causal=1, the recurrence from the last token to the first is
 * added and the short convolution is centred.
 * Source: Dao & Gu 2024, arXiv:2405.21060.
 * Known: the effective attention is C_i . B_j dt_j exp(-exp(a) sum_(j < t <= i) dt_t), without
 * skip. */
#include "kernels/graph/op.h"
#include "models/layers.h"
#include "models/matrix_state_layer.h"

/* B or C of all heads: (B,T,N) -> (B,T,H,N) */
static lra_tensor *shared(lra_tensor *x, int64_t H)
{
    lra_shape s = lra_tensor_shape(x);
    return lra_broadcast(lra_reshape(x, LRA_SHAPE(s.d[0], s.d[1], 1, s.d[2])),
                         LRA_SHAPE(s.d[0], s.d[1], H, s.d[2]));
}

static lra_tensor *build(const lra_build *b, lra_tensor *u)
{
    lra_graph *g = b->graph;
    int64_t H = lra_state_heads(b, "ssd"), inner = lra_state_values(b, "ssd");
    int64_t N = lra_config_int(b->config, "ssd.state"),
            taps = lra_config_int(b->config, "ssd.conv");
    lra_tensor *all = lra_state_dense(u, "in", 2 * inner + 2 * N + H);
    lra_tensor *z = lra_slice(all, 2, 0, inner);
    lra_tensor *rest = lra_state_conv(b, lra_slice(all, 2, inner, inner + 2 * N), "conv", taps,
                                      true);
    lra_tensor *dt, *w = lra_state_decay(lra_slice(all, 2, 2 * inner + 2 * N, H), 1, &dt);
    lra_tensor *x = lra_layer_heads(lra_slice(rest, 2, 0, inner), H);
    const lra_matrix_state_spec m = {.query = shared(lra_slice(rest, 2, inner + N, N), H),
                                     .key = shared(lra_slice(rest, 2, inner, N), H),
                                     .value = lra_mul(x, lra_cast(dt, lra_elem(g))),
                                     .decay = w};
    lra_tensor *skip = lra_param(g, "skip", LRA_SHAPE(H, 1),
                                 LRA_SPEC(LRA_CONSTANT(1), .no_decay = true));
    lra_tensor *y = lra_add(lra_state_mix(b, &m), lra_mul(x, lra_cast(skip, lra_elem(g))));
    y = lra_gate(z, LRA_GATE_SILU, lra_reshape(y, LRA_SHAPE(b->B, b->T, inner)));
    return lra_state_dense(lra_state_norm(y, "norm"), "out", lra_width(u));
}

const lra_mixer lra_mixer_ssd = {
    .name = "ssd",
    .paper = "arXiv:2405.21060",
    .summary = "state space with one decay per token and head (Mamba-2)",
    .build = build};

static const lra_key keys[] = {LRA_MIXER_BLOCK_KEYS("ssd"), LRA_SSD_KEYS, LRA_KEYS_END};

static const lra_model_preset presets[] = {
    {NULL, "quick", NULL, "layers=2 width=32 hidden=0 ssd.state=16 rate=0.002 decay=0.01", NULL},
    {NULL, "small", NULL, "layers=4 width=64 hidden=0 ssd.state=32 rate=0.001 decay=0.05", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static const char *const variants[] = {"causal=1 dropout=0.1", "ssd.conv=0 ssd.expand=1", NULL};

const lra_model lra_model_mamba2 = {
    .name = "mamba2",
    .paper = "arXiv:2405.21060",
    .summary = "state space with one decay per token and head, after a short convolution",
    .deviations = "without causal=1, both directions are added and the convolution is centred",
    .keys = keys,
    .presets = presets,
    .tiny = "layers=2 width=8 hidden=0 ssd.heads=2 ssd.state=3 ssd.conv=2",
    .variants = variants,
    .match = "ssd.state",
    .pools = LRA_POOLS_ROWS,
    .encode = lra_mixer_blocks,
    .reach = lra_mixer_blocks_reach,
    .causal = lra_mixer_blocks_causal,
};
