/* reformer: LSH attention; tokens attend to tokens of the same or of a neighbouring bucket.
 *   mix(u) = Wo y,  y_i = softmax over the candidates j of i of (q_i q_j / sqrt(K)) v_j,
 *   v = Wv u,  q = Wq u; queries are also the keys
 * Candidates: the bucket of a token is the argmax of [q R, -q R]. R (K,buckets/2) is normal and
 * fixed, one for each head. Tokens sorted by bucket (stable) are divided into `chunks` chunks of
 * ceil(length/chunks) tokens. A chunk attends to itself and to the previous chunk, the first chunk
 * to the last. The score of a token with itself is reduced by 1e5, so that it counts only without
 * other candidates. Residual blocks: lra_blocks.h. Buckets have no gradient.
 * form=arena, as in the code of the Long Range Arena: scores times sqrt(K), no reduction of a
 * token's score with itself, one R for all layers and heads, no Wo, `qkv` always the width, y
 * (heads,T,K) read as (T,heads K). Inputs are padded to the longest input of the task, without
 * masking, and then by 1 to `chunks` rows of zeros, which fall into bucket 0.
 * Source: Kitaev et al. 2020, arXiv:2001.04451, with one round of hashing; Tay et al. 2021,
 * arXiv:2011.04006. */
#include <math.h>

#include "kernels/graph/mixing.h"
#include "kernels/graph/op.h"
#include "models/lra_blocks.h"

static bool is_arena(const lra_config *c)
{
    return lra_config_is(c, "form", "arena");
}

/* Returns the projections R of all heads: (H,K,buckets/2). */
static lra_tensor *rotations(const lra_build *b, int64_t H, int64_t K, int layer)
{
    lra_graph *g = b->graph;
    int64_t half = lra_config_int(b->config, "buckets") / 2;
    bool shared = is_arena(b->config);
    if (shared && layer > 0) return lra_shared(g, "encoder/layer0/rotations");
    return lra_state(g, "rotations", LRA_SHAPE(shared ? 1 : H, K, half), LRA_SPEC(LRA_NORMAL(1)));
}

/* Returns the token indices of each row and head (B,H), sorted by bucket, padding last: (B H,T)
 * int32; q: (B,H,T,K). */
static lra_tensor *sorted(const lra_build *b, lra_tensor *q, lra_tensor *length, int layer)
{
    lra_graph *g = b->graph;
    lra_shape s = lra_tensor_shape(q), one = LRA_SHAPE(s.d[0], 1, s.d[2], 1);
    lra_tensor *R = rotations(b, s.d[1], s.d[3], layer);
    lra_shape r = lra_tensor_shape(R);
    R = lra_broadcast(lra_reshape(lra_cast(R, lra_elem(g)), LRA_SHAPE(1, r.d[0], r.d[1], r.d[2])),
                      LRA_SHAPE(s.d[0], s.d[1], s.d[3], r.d[2]));
    lra_tensor *p = lra_matmul(lra_detach(q), R), *minus = lra_affine(p, -1, 0);
    lra_tensor *padding = lra_affine(lra_ones(g, p->type, one), -1e9, 0);
    if (length) {
        lra_tensor *ended = lra_cumsum(lra_one_hot(length, s.d[2]), 1, false);
        padding = lra_affine(lra_reshape(ended, one), 2e9, -1e9);
    }
    one.d[1] = s.d[1];
    lra_tensor *all[] = {p, minus, lra_broadcast(padding, one)};
    p = lra_argmax(lra_concat(3, all, 3));
    return lra_argsort(lra_reshape(p, LRA_SHAPE(s.d[0] * s.d[1], s.d[2])));
}

/* Returns y (B,H,T,K). both: q and v, (B,H,T,2K); value: v without the appended rows of zeros,
 * (B,T,H,K). */
static lra_tensor *attend(const lra_build *b, lra_tensor *both, lra_tensor *value,
                          lra_tensor *length, int layer)
{
    const lra_config *c = b->config;
    lra_shape s = lra_tensor_shape(both);
    int64_t N = s.d[0] * s.d[1], T = s.d[2], K = s.d[3] / 2, J = lra_config_int(c, "chunks");
    int64_t C = (T + J - 1) / J;
    lra_tensor *order = sorted(b, lra_slice(both, 3, 0, K), length, layer);
    lra_tensor *rows = lra_reshape(both, LRA_SHAPE(N, T, 2 * K));
    lra_tensor *tokens = lra_lsh_buckets(order, length, J, LRA_CHUNK_KEY);
    rows = lra_gather(rows, tokens);
    rows = lra_reshape(rows, LRA_SHAPE(N * J, 2 * C, 1, 2 * K));
    lra_tensor *k = lra_slice(rows, 3, 0, K), *v = lra_slice(rows, 3, K, K);
    lra_attention_spec spec = {.cross = true, .scale = is_arena(c) ? sqrt((double)K) : 0};
    spec.dropout = lra_config_real(c, "attention-dropout");
    spec.key_length = lra_lsh_buckets(order, length, J, LRA_CHUNK_SEEN);
    /* the keys of a chunk begin with its own tokens, so that query i is key i */
    if (!is_arena(c)) {
        lra_tensor *own = lra_affine(lra_ones(b->graph, lra_real(b->graph), LRA_SHAPE(1, 1)), -1e5,
                                     0);
        lra_tensor *other = lra_zeros(b->graph, own->type, LRA_SHAPE(1, 1));
        spec.bias = lra_concat(3, (lra_tensor *[]){other, own, other}, 1);
    }
    lra_tensor *y = lra_attention(lra_slice(k, 1, 0, C), k, v,
                                  lra_lsh_buckets(order, length, J, LRA_CHUNK_OWN), &spec);
    lra_declare_mixing(y,
                       &(lra_mixing){LRA_MIX_BUCKETS, .key = k, .index = tokens, .value = value});
    y = lra_gather(lra_reshape(y, LRA_SHAPE(N, J * C, K)),
                   lra_lsh_buckets(order, length, J, LRA_CHUNK_SLOT));
    return lra_reshape(y, LRA_SHAPE(s.d[0], s.d[1], T, K));
}

static lra_tensor *mix(const lra_build *b, lra_tensor *u, int layer)
{
    const lra_config *c = b->config;
    bool arena = is_arena(c);
    int64_t T = b->T, J = lra_config_int(c, "chunks");
    if (lra_config_int(c, "buckets") % 2)
        lra_graph_fail(b->graph, "%d buckets, expected an even number",
                       (int)lra_config_int(c, "buckets"));
    if (arena && lra_config_int(c, "qkv"))
        lra_graph_fail(b->graph, "with form=arena, qkv is always the width");
    lra_tensor *q = lra_benchmark_heads(b, u, "q"), *v = lra_benchmark_heads(b, u, "v");
    lra_tensor *both = lra_permute(lra_concat(2, (lra_tensor *[]){q, v}, 3), 4,
                                   (int[]){0, 2, 1, 3});
    if (!arena)
        return lra_benchmark_out(
            b, lra_permute(attend(b, both, v, b->length, layer), 4, (int[]){0, 2, 1, 3}));
    lra_shape s = lra_tensor_shape(both);
    s.d[2] = J - T % J;
    lra_tensor *more[] = {both, lra_zeros(b->graph, both->type, s)};
    lra_tensor *y = attend(b, lra_concat(2, more, 2), v, NULL, layer);
    return lra_reshape(lra_slice(y, 2, 0, T), lra_tensor_shape(u));
}

static lra_tensor *encode(const lra_build *b, lra_tensor *x)
{
    return lra_benchmark_blocks(b, x, mix);
}

static const lra_key keys[] = {
    LRA_BENCHMARK_KEYS,
    LRA_ATTENTION_DROPOUT,
    LRA_INT_KEY("buckets", "10", 2, 1 << 16, "number of LSH buckets"),
    LRA_INT_KEY("chunks", "10", 1, 1 << 16, "number of chunks of the sorted tokens"),
    LRA_CHOICE_KEY("form", "paper", "paper|arena",
                   "variant of the model: of the paper, or of the Long Range Arena code"),
    LRA_KEYS_END};

static const lra_model_preset presets[] = {
    LRA_BENCHMARK_PRESETS(LRA_BENCHMARK_DROPS,
                          "layers=4 width=64 heads=8 qkv=32 hidden=64 pool=cls",
                          "layers=2 width=64 heads=8 qkv=32 hidden=64"),
    {NULL, NULL, NULL, NULL, NULL}};

static const char *const variants[] = {"positions=learned qkv=6 heads=3 buckets=2 chunks=3",
                                       "attention-dropout=0.2", NULL};

const lra_model lra_model_reformer = {
    .name = "reformer",
    .paper = "arXiv:2001.04451",
    .summary = "attention among tokens with similar hashes (LSH)",
    .deviations = "one round of hashing",
    .keys = keys,
    .presets = presets,
    .tiny = "layers=2 width=8 hidden=8 heads=2 buckets=4 chunks=2",
    .variants = variants,
    .match = "hidden",
    .pools = LRA_POOLS_ROWS | LRA_POOL_BIT(LRA_POOL_CLS),
    .encode = encode,
    .unmasked = is_arena,
    .reach = lra_benchmark_reach,
    .no_limit_reason =
        "all tokens are sorted together, so that one token can change the chunks of others",
    .positions = lra_benchmark_positions,
    .classifier = lra_benchmark_classifier,
};
