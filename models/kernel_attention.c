/* Linear attention: weights are products of features. */
#include "models/kernel_attention.h"

#include <math.h>

#include "kernels/graph/distance_limit.h"
#include "kernels/graph/mixing.h"
#include "kernels/graph/op.h"
#include "models/layers.h"

/* Swaps positions and heads: (B,T,H,M) to (B,H,T,M), or back. */
static lra_tensor *turned(lra_tensor *x)
{
    return lra_permute(x, 4, (int[]){0, 2, 1, 3});
}

/* Returns n + `added` where n <= `least`, else n. */
static lra_tensor *raised(lra_tensor *n, double added, double least)
{
    if (isinf(least)) return lra_affine(n, 1, added);
    lra_tensor *bound = lra_affine(lra_ones(n->graph, n->type, n->shape), least, 0);
    lra_tensor *larger = lra_argmax(lra_concat(2, (lra_tensor *[]){bound, lra_detach(n)}, 3));
    lra_tensor *small = lra_slice(lra_one_hot(larger, 2), 3, 0, 1);
    return lra_add(n, lra_affine(small, added, 0));
}

lra_tensor *lra_kernel_attention(const lra_build *b, lra_tensor *q, lra_tensor *k, lra_tensor *v,
                                 double added, double least)
{
    lra_shape s = lra_tensor_shape(v);
    int64_t V = s.d[s.n - 1];
    s.d[s.n - 1] = 1;
    /* A channel of ones is appended to v; its sum is the normaliser n. */
    lra_tensor *one[] = {v, lra_ones(b->graph, v->type, s)};
    lra_tensor *values = lra_concat(2, one, 3);
    lra_tensor *limit = lra_next_limits(b->graph, lra_tensor_shape(q).d[2]);
    k = lra_layer_mask(k, b->length);
    lra_mixing m = {LRA_MIX_FEATURES, .query = turned(q), .key = turned(k), .value = v};
    lra_tensor *y = lra_matmul(m.query, lra_matmul_t(m.key, true, turned(values), false));
    lra_declare_mixing(y, &m);
    if (limit) y = turned(lra_products_windowed(turned(y), q, k, values, limit));
    lra_tensor *n = raised(lra_slice(y, 3, V, 1), added, least);
    return turned(lra_div(lra_slice(y, 3, 0, V), n));
}
