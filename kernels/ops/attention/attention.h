/* Declarations that the attention ops share in C and in CUDA: the arguments of a node, the mask of
 * pairs of query and key, the indices of optional sources, and the layout of the row statistics
 * that the forward node stores for its gradient. */
#ifndef LRA_OPS_ATTENTION_ATTENTION_H
#define LRA_OPS_ATTENTION_ATTENTION_H

#include "kernels/graph/op.h"
#include "kernels/ops/elementwise/activation.h"
#include "kernels/ops/real.h"

/* Optional sources; they follow the others in this order. */
typedef enum {
    ATTENTION_LENGTH,
    ATTENTION_KEY_LENGTH,
    ATTENTION_BIAS,
    ATTENTION_LIMIT,
    ATTENTION_BLOCKS,
    ATTENTION_STEP,    /* with dropout */
    ATTENTION_WITHOUT, /* for the statistics only, like the next one */
    ATTENTION_GRAM,
    ATTENTION_OPTIONS
} attention_option;

/* Arguments of the core ops: rotation and moving averages are ops of their own, before the core. */
typedef struct {
    bool causal, cross, laplace;
    unsigned has; /* bit mask of the options that are present */
    double scale;
    int64_t chunk, neighbours; /* chunk 0: none; a chunk sees this number of chunks on each side */
    int64_t window, ahead;     /* window 0: none */
    int64_t stride, T;         /* 1: none; else H counts residues of T positions, then heads */
    int64_t block;             /* of ATTENTION_BLOCKS */
    int64_t columns;           /* statistics alone: of an image; 0: none */
    int64_t limits;            /* of ATTENTION_LIMIT: one for each head, or 1 for all of them */
    int smooth; /* window of the average, for statistics of the weights only; 1: none */
    bool smooth_past, renorm; /* likewise; renorm: divide a row by its remaining sum */
    double dropout;           /* share of weights; 0: none.  Statistics of the weights ignore it */
    uint32_t key;             /* with dropout: of the path of the forward node */
    double decay[LRA_MAX_HEADS]; /* factor exp(-decay |i-j|) of a score */
    double slope[LRA_MAX_HEADS]; /* slope |i-j| is subtracted from it */
} attention_args;

/* Index of an option among the sources, the first n of which are always present; -1: absent. */
LRA_FN int attention_source(const attention_args *a, int option, int n)
{
    if (!(a->has >> option & 1u)) return -1;
    for (int k = 0; k < option; k++) n += (int)(a->has >> k & 1u);
    return n;
}

/* ---- pairs ----------------------------------------------------------------------------------- */

/* Mask of an example: numbers of real queries and keys, and the pairs of them that the spec
 * allows. */
typedef struct {
    int64_t n_q, n_k, all;         /* all: queries of the example, of all residues */
    int64_t chunk, neighbours;     /* chunk 0: one */
    int64_t back, ahead;           /* -1: no pair at all */
    int64_t wide_back, wide_ahead; /* without the limit */
    bool causal;
} attention_mask;

/* Rows [from, to). */
typedef struct {
    int64_t from, to;
} attention_range;

/* Number of the n positions whose remainder modulo `stride` is r. */
LRA_FN int64_t attention_strided(int64_t n, int64_t r, int64_t stride)
{
    return n > r ? (n - r + stride - 1) / stride : 0;
}
/* Positions of an example without padding; rows: of a head. */
LRA_FN int64_t attention_steps(const attention_args *a, int64_t rows)
{
    return a->stride > 1 ? a->T : rows;
}
/* head: of all H, determines the residue of the positions. */
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

/* Visible rows of the other side for row i: of its n rows, those from i - back to i + ahead,
 * ignoring causality. */
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
/* Clips a range to n rows; empty if its ends are reversed. */
LRA_FN attention_range attention_clip(attention_range r, int64_t n)
{
    if (r.from > n) r.from = n;
    if (r.to < r.from) r.to = r.from;
    return r;
}
/* Visible keys of query i; both ends grow with i, also where the range is empty. */
LRA_FN attention_range attention_keys_of(const attention_mask *m, int64_t i)
{
    attention_range r = attention_windowed(m, i, m->n_k, m->back, m->ahead);
    if (m->causal && i + 1 < r.to) r.to = i + 1;
    return attention_clip(r, m->n_k);
}
/* Queries that see key j; both ends grow with j. */
LRA_FN attention_range attention_queries_of(const attention_mask *m, int64_t j)
{
    attention_range r = attention_windowed(m, j, m->n_q, m->ahead, m->back);
    if (m->causal && j > r.from) r.from = j;
    return attention_clip(r, m->n_q);
}
/* The rows of the other side that row i sees, for a query or (by_key) for a key. */
LRA_FN attention_range attention_met(bool by_key, const attention_mask *m, int64_t i)
{
    return by_key ? attention_queries_of(m, i) : attention_keys_of(m, i);
}

/* ---- laplace attention ----------------------------------------------------------------------- */

/* 1/n, n: number of visible keys of query i without the distance limit, at least 1. */
LRA_FN real attention_share(const attention_mask *m, int64_t i)
{
    attention_mask all = *m;
    all.back = m->wide_back, all.ahead = m->wide_ahead;
    attention_range keys = attention_keys_of(&all, i);
    return 1 / (real)(keys.to > keys.from ? keys.to - keys.from : 1);
}

/* The weight of a score (a normal distribution function with deviation 1/3.5449) and its
 * derivative; both 0 at -infinity. */
LRA_FN real attention_laplace(real score, real *slope)
{
    real density, below = act_normal((score - R(0.707107)) * R(3.544905085166345), &density);
    *slope = density * R(1.4142125184828966);
    return below;
}

/* ---- lists of blocks ------------------------------------------------------------------------- */

/* The visible key blocks of a query block for a head: `most` numbers for each query block,
 * ascending, padded with -1; or ATTENTION_ALL_BLOCKS as the first number. */
enum { ATTENTION_ALL_BLOCKS = -2 };
typedef struct {
    const int32_t *list; /* NULL: all of all */
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

/* Index of the learned bias, of `width` a head, for key j and query i. */
LRA_FN int64_t attention_entry(int64_t i, int64_t j, int64_t width)
{
    int64_t at = j - i + width / 2;
    return at < 0 ? 0 : at < width ? at : width - 1;
}

/* ---- dropout --------------------------------------------------------------------------------- */

/* Index of the Philox counter whose word i % 4 decides on the weight of key j for query i of head
 * `at` of all B H.  Words after the last query are unused, so that the counters of a key are
 * contiguous. */
LRA_FN int64_t attention_draw_at(int64_t Tq, int64_t Tk, int64_t at, int64_t i, int64_t j)
{
    return (at * Tk + j) * ((Tq + 3) / 4) + i / 4;
}

/* ---- numbers of 24 bits in arrays of elem ---------------------------------------------------- */

/* The forward node stores the logarithm (base 2) of the sum of exponentials of every row after y;
 * the gradient node stores the gradient of the bias after those of q, k and v.  A node has one
 * array, of elem: in bf16 such a number is stored as the sum of three, which together hold all bits
 * of a float32.  Part p of number i of n is at index p n + i. */
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
    int64_t B, Tq, Tk, H, K, V, R; /* R: entries of the bias, 0 without */
    int64_t blocks, listed;        /* (B,H,blocks,listed) is the list of blocks; 0 without */
    bool dropped;
} attention_sizes;
/* The list of head `at` of all B H.  list: of all.  Nullable: list */
LRA_FN attention_list attention_list_at(const attention_args *a, const attention_sizes *s,
                                        int64_t at, const int32_t *list)
{
    attention_list b = {list ? list + at * s->blocks * s->listed : list, a->block, s->listed};
    return b;
}

/* Values that the CUDA kernels store per query for the gradients of keys: maximum, 1/sum, dy y, sum
 * of (f_ij - f) g_ij (attention_settle_cuda.h). */
enum { ATTENTION_LEFT = 4 };
/* Sums of the CUDA kernels by offset i - j: of a diagonal of tiles of 64 x 64, and number of
 * diagonals. */
enum { ATTENTION_CUDA_TILE = 64, AT_OFFSETS = 2 * ATTENTION_CUDA_TILE - 1 };
LRA_FN int64_t attention_diagonals(const attention_sizes *s)
{
    int64_t T = s->Tq > s->Tk ? s->Tq : s->Tk;
    return 2 * ((T + ATTENTION_CUDA_TILE - 1) / ATTENTION_CUDA_TILE) - 1;
}
/* Scratch of the gradients on CUDA, in float32: rows, means of keys and values, sums. */
LRA_FN int64_t attention_cuda_scratch(const attention_sizes *s)
{
    int64_t sums = s->R > 0 ? s->B * s->H * attention_diagonals(s) * AT_OFFSETS : 0;
    return s->B * s->H * (s->Tq * ATTENTION_LEFT + s->K + s->V) + sums;
}

#ifdef __cplusplus
extern "C" {
#endif

/* Sizes of a node whose source number q is q, followed by k and, if present, v; options follow n
 * sources. */
attention_sizes attention_sizes_of(const lra_tensor *y, int q, int n);
int attention_check(const lra_tensor *y, int q, int n, lra_err *e);
/* Pairs of query and key of one example without padding; ignores the distance limit, which is known
 * at run time only. */
double attention_pairs(const lra_tensor *y, const attention_sizes *s);
/* Number of parts in which this graph stores a number of 24 bits. */
int64_t attention_parts(const lra_graph *g);
/* FLOP of a node that computes scores, without values. */
double attention_score_flops(const lra_tensor *y);
/* Operations of lra_attention() and lra_attention_apply() on the values before the core and on its
 * result; length: of the keys. */
lra_tensor *attention_values(const attention_args *a, lra_tensor *v, lra_tensor *length);
lra_tensor *attention_result(lra_tensor *y, int64_t T);
lra_tensor *attention_statistics_sample(lra_graph *g, int i);
/* lra_attention() with spec.remask: computes full (T,T) maps. */
lra_tensor *attention_remasked(lra_tensor *q, lra_tensor *k, lra_tensor *v,
                               const lra_attention_spec *s);
/* The gradients of q, k, v and the bias, concatenated; dy: (B,Tq,H,V). */
lra_tensor *attention_grad_node(lra_tensor *y, lra_tensor *dy);
/* Gradients of the forward node's sources, from a gradient node. */
void attention_gradients(lra_tensor *y, lra_tensor *dy, lra_tensor **dx);
lra_tensor *attention_sample(lra_graph *g, int i);

#ifdef __cplusplus
}
#endif
#endif
