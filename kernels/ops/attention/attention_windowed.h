/* Attention with a distance limit, for the cases that the core op does not support: averaged
 * weights, and linear attention (products of feature maps). */
#ifndef LRA_OPS_ATTENTION_ATTENTION_WINDOWED_H
#define LRA_OPS_ATTENTION_ATTENTION_WINDOWED_H

#include "kernels/ops/attention/attention.h"

typedef struct {
    attention_args a;
    bool product; /* linear attention: a weight is the product q k, without normalisation */
    /* averaged weights are set to 0 after the query, and a row is divided by its remaining sum */
    bool remask;
    bool has_length;
} attention_windowed_args;

/* Columns of query i's window over which the moving average spreads the weight of key k. */
LRA_FN attention_range attention_windowed_columns(const attention_windowed_args *a,
                                                  attention_range window, int64_t i, int64_t k)
{
    int64_t P = a->a.smooth, first = a->a.smooth_past ? k - P + 1 : k - (P - 1) / 2;
    attention_range r = {first > window.from ? first : window.from, first + P};
    if (r.to > window.to) r.to = window.to;
    if (a->remask && r.to > i + 1) r.to = i + 1;
    if (r.to < r.from) r.to = r.from;
    return r;
}

/* Window of query i in an example of n tokens: keys at most `limit` positions away, within the
 * query's chunk. */
LRA_FN attention_range attention_windowed_window(const attention_windowed_args *a, int64_t i,
                                                 int64_t n, int64_t limit)
{
    int64_t chunk = a->a.chunk, low = chunk > 0 ? i / chunk * chunk : 0;
    int64_t high = chunk > 0 && low + chunk < n ? low + chunk : n;
    attention_range r = {i - limit > low ? i - limit : low, i + limit + 1};
    if (r.to > high) r.to = high;
    return r;
}

/* Distance limit of a head; negative limits count as 0. limit: (1), or one per head. */
LRA_FN int64_t attention_windowed_limit(const attention_windowed_args *a, int64_t head,
                                        const int32_t *limit)
{
    int64_t own = limit[a->a.limits > 1 ? head : 0];
    return own < 0 ? 0 : own;
}

/* Keys of query i's window that have a score: with causal attention those up to i. */
LRA_FN attention_range attention_windowed_keys(const attention_windowed_args *a,
                                               attention_range window, int64_t i)
{
    attention_range r = window;
    if (a->a.causal && r.to > i + 1) r.to = i + 1;
    return r;
}

/* Score of query i and key k, from the product q k. */
LRA_FN real attention_windowed_score(const attention_windowed_args *a, int64_t head, real product,
                                     int64_t i, int64_t k)
{
    real d = (real)(i > k ? i - k : k - i);
    if (a->product) return product;
    real factor = (real)a->a.scale;
    if (a->a.decay[head] != 0) factor *= r_exp(-(real)a->a.decay[head] * d);
    return product * factor - (real)a->a.slope[head] * d;
}

#ifdef __cplusplus
extern "C" {
#endif
/* Applies the distance limit of the graph to lra_attention(). whole: the result without a limit,
 * which is returned if the graph has none. q, k: sources of the core op; v: values before the
 * moving average. */
lra_tensor *attention_pairs_windowed(lra_tensor *whole, lra_tensor *q, lra_tensor *k, lra_tensor *v,
                                     lra_tensor *limit, lra_tensor *length,
                                     const attention_windowed_args *a);
#ifdef __cplusplus
}
#endif
#endif
