/* Declarations that the attention ops share in C and in CUDA: the arguments of a node, the mask of
 * pairs of query and key, the indices of optional sources, and the layout of the row statistics
 * that the forward node stores for its gradient. */
#ifndef LRA_OPS_ATTENTION_ATTENTION_H
#define LRA_OPS_ATTENTION_ATTENTION_H

#include "kernels/graph/op.h"
#include "kernels/ops/elementwise/activation.h"
#include "kernels/ops/real.h"

/* Optional sources. They follow the required sources in this order. */
typedef enum {
    ATTENTION_LENGTH,
    ATTENTION_KEY_LENGTH,
    ATTENTION_BIAS,
    ATTENTION_LIMIT,
    ATTENTION_BLOCKS,
    ATTENTION_STEP, /* step input (seed and number of the step); present with dropout */
    /* (B,H) key without weight; for attention_statistics only, like ATTENTION_GRAM */
    ATTENTION_WITHOUT,
    ATTENTION_GRAM,
    ATTENTION_OPTIONS
} attention_option;

/* Arguments of the attention ops. Rotary embedding and moving averages are separate ops, which run
 * before these. */
typedef struct {
    bool causal, cross, laplace;
    unsigned has; /* bit mask of the options that are present */
    double scale;
    /* chunk: length in tokens, 0 = none; neighbours: visible chunks on each side */
    int64_t chunk, neighbours;
    int64_t window, ahead; /* visible tokens before and after the query; window 0 = no window */
    /* stride: 1 = none; otherwise the head dimension is heads times residues of positions. T:
     * positions */
    int64_t stride, T;
    int64_t block;   /* tokens of a block of ATTENTION_BLOCKS */
    int64_t columns; /* width of the image in pixels, for statistics only; 0 = not an image */
    int64_t limits;  /* number of elements of ATTENTION_LIMIT: one per head, or 1 for all heads */
    int smooth; /* window of the moving average of the weights, for statistics only; 1 = none */
    /* smooth_past: the average is causal, for statistics only; renorm: rows are divided by their
     * remaining sum */
    bool smooth_past, renorm;
    double dropout; /* probability that a weight is dropped; 0 = none; ignored by statistics */
    uint32_t key;   /* Philox key of the dropout draws: hash of the forward node's path */
    double decay[LRA_MAX_HEADS]; /* alpha: a score has the factor exp(-alpha |i-j|) */
    double slope[LRA_MAX_HEADS]; /* m: m |i-j| is subtracted from a score */
} attention_args;

/* Index of an optional source among the sources of a node that has n required sources; -1:
 * absent. */
LRA_FN int attention_source(const attention_args *a, int option, int n)
{
    if (!(a->has >> option & 1u)) return -1;
    for (int k = 0; k < option; k++) n += (int)(a->has >> k & 1u);
    return n;
}

/* ---- pairs ----------------------------------------------------------------------------------- */

/* Mask of one example: numbers of queries and keys without padding, and which pairs of them are
 * visible. */
typedef struct {
    /* all: number of queries of the example over all residues of the stride */
    int64_t n_q, n_k, all;
    /* chunk length and visible chunks on each side, as in attention_args */
    int64_t chunk, neighbours;
    /* visible rows before and after, with the distance limit; -1: no pair at all */
    int64_t back, ahead;
    int64_t wide_back, wide_ahead; /* back and ahead without the distance limit */
    bool causal;
} attention_mask;

/* Half-open range of rows [from, to). */
typedef struct {
    int64_t from, to;
} attention_range;

/* Number of positions t < n with t % stride == r. */
LRA_FN int64_t attention_strided(int64_t n, int64_t r, int64_t stride)
{
    return n > r ? (n - r + stride - 1) / stride : 0;
}
/* Length of a sequence in positions: T with a stride, otherwise the number of rows of a head's
 * array. */
LRA_FN int64_t attention_steps(const attention_args *a, int64_t rows)
{
    return a->stride > 1 ? a->T : rows;
}
/* Mask of head `head` of H. The head index contains the residue of the positions (stride > 1).
 * Nullable: limit */
LRA_FN attention_mask attention_mask_of(const attention_args *a, int64_t head, int64_t H,
                                        int64_t n_q, int64_t n_k, const int32_t *limit)
{
    int64_t r = head / (H / a->stride);
    int64_t back = a->window > 0 ? a->window : INT64_MAX / 2;
    int64_t ahead = a->window > 0 ? a->ahead : INT64_MAX / 2;
    attention_mask m = {attention_strided(n_q, r, a->stride),
                        attention_strided(n_k, r, a->stride),
                        n_q,
                        a->chunk,
                        a->neighbours,
                        back,
                        ahead,
                        back,
                        ahead,
                        a->causal};
    if (limit && a->limits > 1) limit += head % (H / a->stride);
    int64_t most = !limit ? INT64_MAX / 2 : *limit < 0 ? -1 : *limit / a->stride;
    if (most < m.back) m.back = most;
    if (most < m.ahead) m.ahead = most;
    return m;
}

/* Rows of the other sequence (n rows) that row i sees: from i - back to i + ahead, within the
 * visible chunks, ignoring causality. */
LRA_FN attention_range attention_windowed(const attention_mask *m, int64_t i, int64_t n,
                                          int64_t back, int64_t ahead)
{
    attention_range r = {0, n};
    if (m->chunk > 0) {
        int64_t chunk = i / m->chunk;
        if (chunk > m->neighbours) r.from = (chunk - m->neighbours) * m->chunk;
        if (m->neighbours < n && (chunk + m->neighbours + 1) * m->chunk < n)
            r.to = (chunk + m->neighbours + 1) * m->chunk;
    }
    if (i - back > r.from) r.from = i - back;
    if (i + ahead + 1 < r.to) r.to = i + ahead + 1;
    return r;
}
/* Clips a range to [0, n). A range with from > to becomes empty. */
LRA_FN attention_range attention_clip(attention_range r, int64_t n)
{
    if (r.from > n) r.from = n;
    if (r.to < r.from) r.to = r.from;
    return r;
}
/* Visible keys of query i. Both ends are non-decreasing in i, also for empty ranges. */
LRA_FN attention_range attention_keys_of(const attention_mask *m, int64_t i)
{
    attention_range r = attention_windowed(m, i, m->n_k, m->back, m->ahead);
    if (m->causal && i + 1 < r.to) r.to = i + 1;
    return attention_clip(r, m->n_k);
}
/* Queries that see key j. Both ends are non-decreasing in j. */
LRA_FN attention_range attention_queries_of(const attention_mask *m, int64_t j)
{
    attention_range r = attention_windowed(m, j, m->n_q, m->ahead, m->back);
    if (m->causal && j > r.from) r.from = j;
    return attention_clip(r, m->n_q);
}
/* Visible keys of query i; with by_key: the queries that see key i. */
LRA_FN attention_range attention_met(bool by_key, const attention_mask *m, int64_t i)
{
    return by_key ? attention_queries_of(m, i) : attention_keys_of(m, i);
}

/* ---- laplace attention ----------------------------------------------------------------------- */

/* 1 / max(1, n), where n is the number of visible keys of query i without the distance limit. */
LRA_FN real attention_share(const attention_mask *m, int64_t i)
{
    attention_mask all = *m;
    all.back = m->wide_back, all.ahead = m->wide_ahead;
    attention_range keys = attention_keys_of(&all, i);
    return 1 / (real)(keys.to > keys.from ? keys.to - keys.from : 1);
}

/* Laplace attention: the weight f(score), a normal distribution function with mean 0.7071 and
 * standard deviation 1/3.5449, and its derivative. Both are 0 at -infinity. */
LRA_FN real attention_laplace(real score, real *slope)
{
    real density, below = act_normal((score - R(0.707107)) * R(3.544905085166345), &density);
    *slope = density * R(1.4142125184828966);
    return below;
}

/* ---- lists of blocks ------------------------------------------------------------------------- */

/* List of the visible key blocks of each query block, for one head. A query block has `most`
 * entries, ascending and padded with -1. The first entry ATTENTION_ALL_BLOCKS means that all blocks
 * are visible. */
enum { ATTENTION_ALL_BLOCKS = -2 };
typedef struct {
    const int32_t *list; /* list of this head; NULL: every block sees all blocks */
    int64_t block, most;
} attention_list;

LRA_FN bool attention_listed(const attention_list *b, int64_t i, int64_t j)
{
    if (!b->list) return true;
    const int32_t *own = b->list + i / b->block * b->most;
    int32_t key = (int32_t)(j / b->block);
    if (own[0] == ATTENTION_ALL_BLOCKS) return true;
    for (int64_t n = 0; n < b->most && own[n] >= 0; n++)
        if (own[n] == key) return true;
    return false;
}

/* Index in the learned bias of a head (`width` entries, one per offset j - i) for key j and query
 * i. */
LRA_FN int64_t attention_entry(int64_t i, int64_t j, int64_t width)
{
    int64_t at = j - i + width / 2;
    return at < 0 ? 0 : at < width ? at : width - 1;
}

/* ---- dropout --------------------------------------------------------------------------------- */

/* Index of the Philox counter that decides whether the weight of key j for query i of head `at` (0
 * .. B H - 1) is dropped; word i % 4 of its output is used. A key has ceil(Tq / 4) contiguous
 * counters; the words after the last query are unused. */
LRA_FN int64_t attention_draw_at(int64_t Tq, int64_t Tk, int64_t at, int64_t i, int64_t j)
{
    return (at * Tk + j) * ((Tq + 3) / 4) + i / 4;
}

/* ---- numbers of 24 bits in arrays of elem ---------------------------------------------------- */

/* Storage of float32 numbers in arrays of elem. The forward node stores the logarithm (base 2) of
 * each row's sum of exponentials after y. The gradient node stores the gradient of the bias after
 * those of q, k and v. In bf16 such a number is stored as the sum of three bf16 numbers, which
 * together hold all 24 bits of its mantissa. Part p of number i of n has index p n + i. */
#if LRA_TYPE_bf16
enum { ATTENTION_PARTS = 3 };
#else
enum { ATTENTION_PARTS = 1 };
#endif
LRA_FN void attention_put(elem *to, int64_t n, int64_t i, real v)
{
    for (int p = 0; p < ATTENTION_PARTS; p++) {
        to[p * n + i] = e_store(v);
        v -= e_load(to[p * n + i]);
    }
}
LRA_FN real attention_get(const elem *from, int64_t n, int64_t i)
{
    real v = 0;
    for (int p = ATTENTION_PARTS - 1; p >= 0; p--) v += e_load(from[p * n + i]);
    return v;
}

/* ---- sizes, for builders and bodies ---------------------------------------------------------- */

typedef struct {
    int64_t B, Tq, Tk, H, K, V, R; /* R: entries of the learned bias per head, 0 = no bias */
    int64_t blocks, listed;        /* the list of blocks is (B,H,blocks,listed); 0 = no list */
    bool dropped;
} attention_sizes;
/* Block list of head `at` (0 .. B H - 1); list: the array of all heads. Nullable: list */
LRA_FN attention_list attention_list_at(const attention_args *a, const attention_sizes *s,
                                        int64_t at, const int32_t *list)
{
    attention_list b = {list ? list + at * s->blocks * s->listed : list, a->block, s->listed};
    return b;
}

/* Numbers per query that the CUDA pass over queries stores for the pass over keys: maximum, 1/sum,
 * dy y, sum of (f_ij - f) g_ij (attention_settle_cuda.h). */
enum { ATTENTION_LEFT = 4 };
/* Gradient of the bias on CUDA: a diagonal of tiles of 64 x 64 pairs has AT_OFFSETS offsets i - j.
 * attention_diagonals() is the number of such diagonals. */
enum { ATTENTION_CUDA_TILE = 64, AT_OFFSETS = 2 * ATTENTION_CUDA_TILE - 1 };
LRA_FN int64_t attention_diagonals(const attention_sizes *s)
{
    int64_t T = s->Tq > s->Tk ? s->Tq : s->Tk;
    return 2 * ((T + ATTENTION_CUDA_TILE - 1) / ATTENTION_CUDA_TILE) - 1;
}
/* Scratch of the gradients on CUDA, in float32 numbers: row statistics, means of keys and values,
 * sums by offset. */
LRA_FN int64_t attention_cuda_scratch(const attention_sizes *s)
{
    int64_t sums = s->R > 0 ? s->B * s->H * attention_diagonals(s) * AT_OFFSETS : 0;
    return s->B * s->H * (s->Tq * ATTENTION_LEFT + s->K + s->V) + sums;
}

#ifdef __cplusplus
extern "C" {
#endif

/* Sizes of a node with n required sources. The queries are source number q, the keys source q + 1
 * and, if q + 2 < n, the values source q + 2. */
attention_sizes attention_sizes_of(const lra_tensor *y, int q, int n);
int attention_check(const lra_tensor *y, int q, int n, lra_err *e);
/* Number of visible pairs of query and key of one head of one example without padding. Ignores the
 * distance limit, which is known only when the graph runs. */
double attention_pairs(const lra_tensor *y, const attention_sizes *s);
/* Number of elements in which this graph stores one float32 number: 3 in bf16, else 1. */
int64_t attention_parts(const lra_graph *g);
/* FLOP of the scores q k of a node. The product with the values is not included. */
double attention_score_flops(const lra_tensor *y);
/* attention_values() prepares v before the core op: moving average and split by stride.
 * attention_result() undoes the split in the core's result. length: keys of each example (B). */
lra_tensor *attention_values(const attention_args *a, lra_tensor *v, lra_tensor *length);
lra_tensor *attention_result(lra_tensor *y, int64_t T);
lra_tensor *attention_statistics_sample(lra_graph *g, int i);
/* Attention with the averaged weights masked again after the query (spec.remask). Computes full
 * (T,T) maps. */
lra_tensor *attention_remasked(lra_tensor *q, lra_tensor *k, lra_tensor *v,
                               const lra_attention_spec *s);
/* Node that computes the gradients of q, k, v and the bias, concatenated in one array; dy:
 * (B,Tq,H,V). */
lra_tensor *attention_grad_node(lra_tensor *y, lra_tensor *dy);
/* Sets dx[i], the gradients of the forward node's sources: slices of one gradient node. */
void attention_gradients(lra_tensor *y, lra_tensor *dy, lra_tensor **dx);
lra_tensor *attention_sample(lra_graph *g, int i);

#ifdef __cplusplus
}
#endif
#endif
