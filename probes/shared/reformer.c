/* Attention among tokens that are sorted by LSH buckets and divided into chunks (reformer,
 * LRA_MIX_BUCKETS). The keys of a chunk are its own tokens and those of the previous chunk.
 *   a_ij = softmax of scale q_i . k_j + bias over the tokens j of both chunks
 * Queries and keys share their projection, so the queries of a chunk are its own rows among the
 * keys. Which pairs of tokens interact differs between examples and between heads; the uniform
 * baseline covers the same pairs. If there is only one chunk, each token occurs twice among the
 * keys and counts twice, as in the model. With a bias, a token is not its own key, except if it
 * occurs twice. */
#include <math.h>

#include "kernels/base/core/mem.h"
#include "kernels/graph/op.h"
#include "kernels/ops/args.h"
#include "kernels/ops/attention/attention_statistics.h"
#include "probes/shared/mixing_matrix.h"

enum { ROWS, TOKENS, BIAS };

static void open(int64_t n, lra_matrix *w)
{
    const lra_mixing *of = w->of;
    w->heads = of->index->shape.d[0] / n;
    w->array[ROWS] = lra_cast(of->key, lra_real(of->key->graph)); /* keys, (B H J,2 C,1,K) */
    w->array[TOKENS] = of->index;                                 /* token indices, (B H,J 2 C) */
    /* bias by relative position, (1,2 R - 1), or NULL */
    w->array[BIAS] = lra_attention_bias(w->node);
}

/* The chunk in which token i is a query. */
typedef struct {
    const float *rows;     /* (2 C,K) keys of the chunk and of the previous chunk */
    const int32_t *tokens; /* (2 C) token indices of the keys */
    /* place: row of the query among the keys; keys: number of valid keys in both chunks */
    int64_t place, keys;
} chunk;

static int64_t at_most(int64_t n, int64_t most)
{
    return n < 0 ? 0 : n < most ? n : most;
}

/* Finds the chunk of query i. T: tokens of the example, including padding if the model does not
 * mask it. */
static chunk chunk_of(const lra_matrix_values *v, int64_t row, int64_t i, int64_t T)
{
    const lra_tensor *tokens = v->of->array[TOKENS];
    int64_t J = ((const lsh_buckets_args *)tokens->args)->J, both = lra_width(tokens) / J;
    int64_t K = lra_width(v->of->array[ROWS]), c = (T + J - 1) / J;
    for (int64_t j = 0; j < J; j++) {
        const int32_t *own = v->index[TOKENS] + (row * J + j) * both;
        int64_t n = at_most(T - j * c, c), before = j > 0 ? j - 1 : (T + c - 1) / c - 1;
        for (int64_t p = 0; p < n; p++)
            if (own[p] == i)
                return (chunk){v->number[ROWS] + (row * J + j) * both * K, own, p,
                               n + at_most(T - before * c, c)};
    }
    LRA_BUG("token %lld is in no chunk", (long long)i);
}

/* Bias added to the score of key number k for query number `query` of a chunk. */
static double bias_of(const lra_matrix_values *v, int64_t query, int64_t k)
{
    if (!v->number[BIAS]) return 0;
    int64_t width = lra_width(v->of->array[BIAS]), at = k - query + width / 2;
    return (double)v->number[BIAS][at < 0 ? 0 : at < width ? at : width - 1];
}

static void row(const lra_matrix_values *v, int64_t s, int64_t head, int64_t i, int64_t T,
                double *w)
{
    const lra_tensor *tokens = v->of->array[TOKENS];
    bool padded = tokens->n_src < 2;
    int64_t K = lra_width(v->of->array[ROWS]);
    const chunk c = chunk_of(v, s * v->of->heads + head, i,
                             padded ? tokens->src[0]->shape.d[1] : T);
    double scale = lra_attention_scale(v->of->node), most = -INFINITY, sum = 0;
    double *score = lra_alloc_array((size_t)c.keys + 1, sizeof *score);
    for (int64_t k = 0; k < c.keys; k++) {
        score[k] = scale * lra_matrix_dot(c.rows + c.place * K, c.rows + k * K, K);
        score[k] += bias_of(v, c.place, k);
        most = score[k] > most ? score[k] : most;
    }
    for (int64_t k = 0; k < c.keys; k++) sum += score[k] = exp(score[k] - most);
    for (int64_t j = 0; j < T; j++) w[j] = NAN;
    for (int64_t k = 0; k < c.keys; k++) {
        int64_t j = c.tokens[k];
        bool itself = k == c.place && v->number[BIAS];
        if (j < T && !itself) w[j] = (isnan(w[j]) ? 0 : w[j]) + score[k] / sum;
    }
    lra_free(score);
}

const lra_matrix_family lra_matrix_reformer = {
    .name = "chunks", .what = "softmax over the tokens of two chunks", .open = open, .row = row};
