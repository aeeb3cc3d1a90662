/* performer: linear attention with ReLU features, or with random features that approximate softmax.
 *   mix(u) = Wo y,  y_i = phi(q_i) sum_j phi(k_j) v_j^T / phi(q_i) sum_j phi(k_j)
 *   kernel=relu      phi(x) = max(x, 0) + 0.001
 *   kernel=softmax   phi(x) = (exp(W z - |z|^2/2 - m) + 1e-6) / sqrt(features),  z = x / K^(1/4);
 *                    m: maximum of W z, over the features of a query, or over features and positions of keys
 * in the blocks of lra_blocks.h; divisors up to 1e-6 are increased by 2e-6. W (features,K) has
 * orthogonal rows with the norms of normal vectors; each layer has its own. W is drawn at every
 * training step (redraw=0: once), and once for evaluation; the latter is saved.
 * Source: Choromanski et al. 2021, arXiv:2009.14794; sizes of Tay et al. 2021, arXiv:2011.04006,
 * whose code also sums over padding (masked=0: inputs are padded to the longest input of the task),
 * and omits the sign correction of the QR decomposition, so that its W is not uniformly
 * distributed. */
#include <math.h>

#include "kernels/base/core/orthogonal.h"
#include "kernels/graph/op.h"
#include "models/kernel_attention.h"
#include "models/layers.h"
#include "models/lra_blocks.h"

static void fill_directions(const lra_fill *f, double *v)
{
    lra_orthogonal_rows(f->seed, f->stream, 0, f->shape.d[0], f->shape.d[1], v);
}

static lra_tensor *directions(const lra_build *b, int64_t K)
{
    lra_graph *g = b->graph;
    int64_t m = lra_config_int(b->config, "features");
    lra_tensor *W = lra_state(g, "directions", LRA_SHAPE(m, K),
                              LRA_SPEC(LRA_FILL(fill_directions)));
    bool redraw = lra_graph_mode(g) == LRA_TRAIN && lra_config_int(b->config, "redraw");
    return lra_cast(redraw ? lra_orthogonal(g, m, K) : W, lra_elem(g));
}

/* Returns the maximum over the positions of each example and head, without padding: (B,T,H,1) to
 * (B,1,H,1). */
static lra_tensor *largest(const lra_build *b, lra_tensor *m)
{
    lra_shape s = lra_tensor_shape(m);
    lra_tensor *token = lra_layer_mask(lra_ones(b->graph, m->type, s), b->length);
    m = lra_add(m, lra_affine(token, 1e9, -1e9));
    m = lra_row_max(lra_permute(m, 4, (int[]){0, 2, 3, 1}));
    return lra_reshape(m, LRA_SHAPE(s.d[0], 1, s.d[2], 1));
}

/* Returns phi(x): (B,T,H,K) to (B,T,H,features). W NULL: ReLU features. */
static lra_tensor *features(const lra_build *b, lra_tensor *x, lra_tensor *W, bool keys)
{
    if (!W) return lra_affine(lra_relu(x), 1, 1e-3);
    lra_shape s = lra_tensor_shape(x);
    double m = (double)lra_tensor_shape(W).d[0];
    lra_tensor *z = lra_affine(x, pow((double)s.d[3], -0.25), 0);
    s.d[3] = 1;
    lra_tensor *p = lra_matmul_t(z, false, W, true), *most = lra_reshape(lra_row_max(p), s);
    lra_tensor *square = lra_cast(lra_reduce_sum(lra_mul(z, z), s), lra_elem(b->graph));
    lra_tensor *least = lra_add(lra_affine(square, 0.5, 0), keys ? largest(b, most) : most);
    lra_tensor *e = lra_exp(lra_layer_mask(lra_sub(p, least), b->length));
    return lra_affine(e, 1 / sqrt(m), 1e-6 / sqrt(m));
}

static lra_tensor *mix(const lra_build *b, lra_tensor *u, int layer)
{
    (void)layer;
    lra_tensor *q = lra_benchmark_heads(b, u, "q"), *k = lra_benchmark_heads(b, u, "k");
    lra_tensor *v = lra_benchmark_heads(b, u, "v"), *W = NULL;
    if (lra_config_is(b->config, "kernel", "softmax")) W = directions(b, lra_width(q));
    q = features(b, q, W, false), k = features(b, k, W, true);
    return lra_benchmark_out(b, lra_kernel_attention(b, q, k, v, 2e-6, 1e-6));
}

static lra_tensor *encode(const lra_build *b, lra_tensor *x)
{
    return lra_benchmark_blocks(b, x, mix);
}

/* Distance limits are defined for ReLU features only: their sums can be restricted, for each query,
 * to the keys within the limit. */
static const char *no_limit_reason(const lra_config *c)
{
    return lra_config_is(c, "kernel", "softmax")
               ? "the features of kernel=softmax are scaled by the maximum over all positions"
               : NULL;
}

static const lra_key keys[] = {
    LRA_BENCHMARK_KEYS,
    LRA_CHOICE_KEY("kernel", "relu", "relu|softmax",
                   "kernel function that the products of features approximate"),
    LRA_INT_KEY("features", "16", 1, 1 << 16, "number of random features of kernel=softmax"),
    LRA_FLAG_KEY("redraw", "1", "redraw the random features at every training step"),
    LRA_BENCHMARK_MASKED,
    LRA_KEYS_END};

static const lra_model_preset presets[] = {
    LRA_BENCHMARK_PRESETS(LRA_BENCHMARK_KEEPS,
                          "layers=1 width=128 heads=8 qkv=64 hidden=128 pool=cls",
                          "layers=1 width=128 heads=8 qkv=64 hidden=128"),
    {NULL, NULL, NULL, NULL, NULL}};

static const char *const variants[] = {
    "kernel=softmax redraw=0 positions=learned qkv=6 heads=3 features=5",
    "kernel=softmax features=32 heads=1", NULL};

const lra_model lra_model_performer = {
    .name = "performer",
    .paper = "arXiv:2009.14794",
    .summary = "linear attention with ReLU or random features",
    .deviations =
        "attention weights have no dropout; the signs of the random rows are those of a QR "
        "decomposition",
    .keys = keys,
    .presets = presets,
    .tiny = "layers=2 width=8 hidden=8 heads=2",
    .variants = variants,
    .match = "hidden",
    .pools = LRA_POOLS_ROWS | LRA_POOL_BIT(LRA_POOL_CLS),
    .encode = encode,
    .unmasked = lra_benchmark_unmasked,
    .reach = lra_benchmark_reach,
    .no_limit_reason_with = no_limit_reason,
    .positions = lra_benchmark_positions,
    .classifier = lra_benchmark_classifier,
};
