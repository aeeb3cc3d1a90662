/* Arguments of ops, for ops whose C and CUDA files both read them. */
#ifndef LRA_OPS_ARGS_H
#define LRA_OPS_ARGS_H

#include "kernels/graph/op.h"

typedef struct {
    lra_act act;
    bool has_length;
} activation_backward_args;

/* Factor of the learning rate, and weight decay, of one parameter, from its specification. */
typedef struct {
    double factor; /* multiplies the learning rate of the optimiser step */
    double decay;
} adamw_group;

typedef struct {
    lra_adamw_spec spec;
    int n;
    adamw_group group[];
} adamw_args;

typedef struct {
    double scale, shift;
} affine_args;

typedef struct {
    double eps, momentum;
    bool has_length, training;
    int which; /* state that batch_norm_move updates: 0 = mean, 1 = variance */
} batch_norm_args;

typedef struct {
    int from, to; /* dimensions [from, to) of x are summed */
} reduce_sum_args;

typedef struct {
    lra_act act;
    bool has_bias, has_length;
    int64_t groups, dilation;
} conv_args;

typedef struct {
    int64_t groups, dilation;
    bool has_length;
} conv_dx_args;

typedef struct {
    int64_t K, groups, dilation;
    bool has_length;
} conv_dw_args;

typedef struct {
    double rate;
    bool tied;
    uint32_t key; /* key of the random draws: hash of the forward node's path */
} dropout_args;

typedef struct {
    lra_chunk_part part;
    int64_t J;
} lsh_buckets_args;

typedef struct {
    int64_t m, K;
    uint32_t key; /* key of the random draws: hash of the node's path */
} orthogonal_args;

typedef struct {
    double eps;
} layer_norm_args;

/* Element i of the axis is at distance |i - zero| step. */
typedef struct {
    int axis;
    int64_t zero, step;
} distance_mask_args;

typedef struct {
    lra_act act;
    bool has_bias, has_residual;
} linear_args;

typedef struct {
    int64_t T, heads, block, random, layer;
} bigbird_blocks_args;
/* Maximum number of visible blocks of a query block: itself and its neighbours, both ends, random
 * blocks. */
static inline int64_t bigbird_blocks_most(const bigbird_blocks_args *a)
{
    return 3 + 2 + a->random;
}

typedef struct {
    lra_gate_act f;
} gate_args;

typedef struct {
    bool a_t, b_t, has_residual;
} matmul_args;

typedef struct {
    int64_t C;
} one_hot_args;

typedef struct {
    lra_pool_kind kind;
    bool has_length;
    int64_t T; /* length of the pooled sequence, set for the gradient only */
} pool_args;

/* slice: y is elements [from, from + n) of the axis. pad: y has n elements along the axis, and the
 * source starts at `from`. */
typedef struct {
    int axis;
    int64_t from, n;
} slice_args;

typedef struct {
    int axes[LRA_MAX_RANK];
} permute_args;

typedef struct {
    int64_t times;
    bool back; /* true: computes the gradient, sums of dy */
} upsample_args;

#endif
