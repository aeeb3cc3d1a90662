/* One head of one example, tile by tile: what the bodies of the attention ops share.
 * Rows of q, k, v are gathered into contiguous arrays of real first; a tile of scores is a dense product, in which
 * every row has its own range of keys.  No (T,T) array exists. */
#ifndef LRA_OPS_ATTENTION_FN_H
#define LRA_OPS_ATTENTION_FN_H

#include "kernels/ops/attention.h"
#include "kernels/ops/product_fn.h"

enum { ATTENTION_ROWS = 64, ATTENTION_KEYS = 256 };

/* A head: (T,K) arrays with rows one behind the other, and the factor and the slope of distance d. */
typedef struct {
    const attention_args *args;
    int64_t T, K, n;            /* n: tokens that are real */
    const real *q, *k;          /* (T,K) */
    real *factor, *bias, *tile; /* (T), (T), (ATTENTION_ROWS, ATTENTION_KEYS) */
} attention_head;

/* Rows of one head, H K elements apart, as real. */
LRA_FN void attention_gather(const elem *x, int64_t n, int64_t H, int64_t K, real *to)
{
    for (int64_t t = 0; t < n; t++)
        for (int64_t d = 0; d < K; d++) to[t * K + d] = e_load(x[t * H * K + d]);
}

LRA_FN void attention_scatter(const real *x, int64_t n, int64_t T, int64_t H, int64_t K, elem *to)
{
    for (int64_t t = 0; t < T; t++)
        for (int64_t d = 0; d < K; d++) to[t * H * K + d] = t < n ? e_store(x[t * K + d]) : 0;
}

/* Factor and bias by distance; everything that does not depend on the data stands in them. */
static inline void attention_tables(attention_head *h, int head)
{
    const attention_args *a = h->args;
    for (int64_t d = 0; d < h->T; d++) {
        h->factor[d] = (real)(a->scale * exp(-a->decay[head] * (double)d));
        h->bias[d] = (real)(-a->slope[head] * (double)d);
    }
}

/* Keys that any of the rows [i0, i1) may see. */
LRA_FN attention_keys attention_span(const attention_head *h, int64_t i0, int64_t i1)
{
    attention_keys span = attention_keys_of(h->args, i0, h->n);
    for (int64_t i = i0 + 1; i < i1; i++) {
        attention_keys k = attention_keys_of(h->args, i, h->n);
        if (k.from < span.from) span.from = k.from;
        if (k.to > span.to) span.to = k.to;
    }
    return span;
}

/* Of row i the keys that stand in the tile [j0, j1), counted from j0. */
LRA_FN attention_keys attention_part(const attention_head *h, int64_t i, int64_t j0, int64_t j1)
{
    attention_keys k = attention_keys_of(h->args, i, h->n);
    int64_t from = k.from > j0 ? k.from : j0, to = k.to < j1 ? k.to : j1;
    return from < to ? (attention_keys){from - j0, to - j0} : (attention_keys){0, 0};
}

/* s[j] = q_i k_j factor(|i-j|) + bias(|i-j|) for the keys of a row; s holds the products. */
static inline void attention_scores(const attention_head *h, int64_t i, int64_t j0,
                                    attention_keys part, real *s)
{
    for (int64_t j = part.from; j < part.to; j++) {
        int64_t d = i > j0 + j ? i - j0 - j : j0 + j - i;
        s[j] = s[j] * h->factor[d] + h->bias[d];
    }
}

/* The tile of products of rows [i0, i1) and keys [j0, j1). */
static inline void attention_products(const attention_head *h, int64_t i0, int64_t i1, int64_t j0,
                                      int64_t j1)
{
    r_gemm(false, true, i1 - i0, j1 - j0, h->K, h->q + i0 * h->K, h->K, h->k + j0 * h->K, h->K,
           false, h->tile, ATTENTION_KEYS);
}

/* Maximum and sum of exp(s - maximum) of a row, tile by tile. */
typedef struct {
    real max, sum;
} attention_sum;

/* s becomes exp(s - maximum so far); returns by what earlier terms of the row shrink. */
static inline real attention_exp(attention_keys part, real *s, attention_sum *sum)
{
    real max = sum->max, total = 0;
    for (int64_t j = part.from; j < part.to; j++) max = s[j] > max ? s[j] : max;
    real shrink = sum->max > -INFINITY ? r_exp(sum->max - max) : 0;
#pragma omp simd reduction(+ : total)
    for (int64_t j = part.from; j < part.to; j++) total += s[j] = r_exp(s[j] - max);
    *sum = (attention_sum){max, sum->sum * shrink + total};
    return shrink;
}

/* Nothing outside the keys of a row. */
static inline void attention_clear(attention_keys part, int64_t width, real *s)
{
    for (int64_t j = 0; j < part.from; j++) s[j] = 0;
    for (int64_t j = part.to; j < width; j++) s[j] = 0;
}

#endif
