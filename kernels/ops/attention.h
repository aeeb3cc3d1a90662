/* What the attention ops share: the arguments of a node, and builders of one for the other's gradient. */
#ifndef LRA_OPS_ATTENTION_H
#define LRA_OPS_ATTENTION_H

#include "kernels/graph/op.h"
#include "kernels/ops/real.h"

/* Of the core ops: rotation and smoothing are ops of their own, before the core. */
typedef struct {
    bool causal, has_length;
    double scale;
    int64_t chunk, window;       /* 0: none */
    int smooth;                  /* the profile alone: width of the average, 1: none */
    double decay[LRA_MAX_HEADS]; /* factor exp(-decay |i-j|) of a score */
    double slope[LRA_MAX_HEADS]; /* slope |i-j| is subtracted from it */
} attention_args;

/* What the CUDA kernels leave of a query for the gradients of keys: maximum, 1/sum, dy y. */
enum { ATTENTION_LEFT = 3 };

/* Keys [from, to) that query i may see in an example of n tokens. */
typedef struct {
    int64_t from, to;
} attention_keys;

LRA_FN attention_keys attention_near(const attention_args *a, int64_t i, int64_t n)
{
    attention_keys k = {0, n};
    if (a->chunk > 0) {
        k.from = i / a->chunk * a->chunk;
        if (k.from + a->chunk < k.to) k.to = k.from + a->chunk;
    }
    if (a->window > 0) {
        if (i - a->window > k.from) k.from = i - a->window;
        if (i + a->window + 1 < k.to) k.to = i + a->window + 1;
    }
    return k;
}
LRA_FN attention_keys attention_keys_of(const attention_args *a, int64_t i, int64_t n)
{
    attention_keys k = attention_near(a, i, n);
    if (a->causal && i + 1 < k.to) k.to = i + 1;
    return k;
}
/* Queries [from, to) that see key j; both ends grow with j, as those of the keys do with i. */
LRA_FN attention_keys attention_queries_of(const attention_args *a, int64_t j, int64_t n)
{
    attention_keys k = attention_near(a, j, n);
    if (a->causal && j > k.from) k.from = j;
    return k;
}
/* The one or the other: what row i meets. */
LRA_FN attention_keys attention_met(bool by_key, const attention_args *a, int64_t i, int64_t n)
{
    return by_key ? attention_queries_of(a, i, n) : attention_keys_of(a, i, n);
}

/* Shape checks of q, k, v and what has their shape: (B,T,H,K), elem; then length. */
int attention_check(const lra_tensor *y, int n_like_q, lra_err *e);
/* Pairs of query and key of one example of T tokens. */
double attention_pairs(const attention_args *a, int64_t T);
/* (3,B,T,H,K): the gradients of q, k and v. */
lra_tensor *attention_grad_node(lra_tensor *y, lra_tensor *dy);

#endif
