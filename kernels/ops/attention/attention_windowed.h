/* Attention with a distance limit for the cases that the core op does not support: averaged
 * weights, products of features. */
#ifndef LRA_OPS_ATTENTION_ATTENTION_WINDOWED_H
#define LRA_OPS_ATTENTION_ATTENTION_WINDOWED_H

#include "kernels/ops/attention/attention.h"

typedef struct {
    attention_args a;
    bool product; /* a weight is the product of q and k, without normalisation */
    bool remask;  /* no weight after the query; a row is divided by its sum */
    bool has_length;
} attention_windowed_args;

/* Columns of the window [low, high) of query i into which the weight of key k is averaged. */
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

/* Keys that query i may see of n tokens: at most `limit` positions away, within its chunk. */
LRA_FN attention_range attention_windowed_window(const attention_windowed_args *a, int64_t i,
                                                 int64_t n, int64_t limit)
{
    int64_t chunk = a->a.chunk, low = chunk > 0 ? i / chunk * chunk : 0;
    int64_t high = chunk > 0 && low + chunk < n ? low + chunk : n;
    attention_range r = {i - limit > low ? i - limit : low, i + limit + 1};
    if (r.to > high) r.to = high;
    return r;
}

/* Distance limit of a head, at least 0; limit: (1), or one for each head. */
LRA_FN int64_t attention_windowed_limit(const attention_windowed_args *a, int64_t head,
                                        const int32_t *limit)
{
    int64_t own = limit[a->a.limits > 1 ? head : 0];
    return own < 0 ? 0 : own;
}

/* Keys of the window of query i that have a score. */
LRA_FN attention_range attention_windowed_keys(const attention_windowed_args *a,
                                               attention_range window, int64_t i)
{
    attention_range r = window;
    if (a->a.causal && r.to > i + 1) r.to = i + 1;
    return r;
}

/* The score of a product of q and k. */
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
/* lra_attention() under the distance limit of the graph; whole: the result without a limit, which
 * is returned if the graph has none.  q, k: the sources of the core, v: before averages. */
lra_tensor *attention_pairs_windowed(lra_tensor *whole, lra_tensor *q, lra_tensor *k, lra_tensor *v,
                                     lra_tensor *limit, lra_tensor *length,
                                     const attention_windowed_args *a);
#ifdef __cplusplus
}
#endif
#endif
