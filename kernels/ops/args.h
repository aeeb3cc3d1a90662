/* Arguments of ops that both their C and their CUDA bodies read. */
#ifndef LRA_OPS_ARGS_H
#define LRA_OPS_ARGS_H

#include "kernels/graph/op.h"

typedef struct {
    lra_act act;
    bool has_length;
} activation_backward_args;

/* Rate and decay of one parameter, from its spec. */
typedef struct {
    double factor; /* of the rate of the step */
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
    int which; /* batch_norm_move: 0 mean, 1 variance */
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
    uint32_t key; /* of the path of the forward node */
} dropout_args;

typedef struct {
    lra_chunk_part part;
    int64_t J;
} lsh_buckets_args;

typedef struct {
    int64_t m, K;
    uint32_t key; /* of the path of the node */
} orthogonal_args;

typedef struct {
    double eps;
} layer_norm_args;

/* Element i of the axis is at the distance |i - zero| step. */
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
/* Length of a row of the list: neighbours, both ends, random blocks. */
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
    int64_t T; /* of the source; for the gradient */
} pool_args;

/* slice: n of y; pad: n of y, the source starts at `from` */
typedef struct {
    int axis;
    int64_t from, n;
} slice_args;

typedef struct {
    int axes[LRA_MAX_RANK];
} permute_args;

typedef struct {
    int64_t times;
    bool back; /* the gradient: sums of dy */
} upsample_args;

#endif
