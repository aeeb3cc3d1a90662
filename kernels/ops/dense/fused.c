/* Decides which nodes the CUDA device runs as one kernel (kernels/cuda/fused.h). */
#include "kernels/cuda/fused.h"

#include "kernels/ops/args.h"
#include "kernels/ops/real.h"

#if LRA_RECORD
static bool has(const lra_tensor *const *group, int n, const lra_op *op)
{
    for (int i = 0; i < n; i++)
        if (group[i]->op == op) return true;
    return false;
}

/* Number of rows of each example. Sets B to the number of examples. y: the product or its
 * activation backward. */
static int64_t rows_of(const lra_tensor *y, int64_t *B)
{
    *B = y->shape.n == 3 ? y->shape.d[0] : 1;
    return lra_rows(y) / *B;
}

/* True if dy w^T has sizes that the tensor-core kernel supports. */
static bool is_dense(const lra_tensor *y)
{
    const matmul_args *a = y->args;
    int64_t B, N, K;
    if (y->op != &lra_op_matmul || y->type != LRA_BF16) return false;
    N = lra_width(y), K = lra_width(y->src[0]);
    return !a->a_t && a->b_t && !a->has_residual && y->src[1]->shape.n == 2 && N % 8 == 0 &&
           K % 8 == 0 && N >= 16 && K >= 16 && K <= LRA_DENSE_MOST &&
           rows_of(y, &B) <= INT32_MAX / 2;
}

static lra_fuse fuses_dense(const lra_tensor *const *group, int n, const lra_tensor *x)
{
    if (n == 1 && x->op == &lra_op_activation_backward && x->src[0] == group[0])
        return LRA_FUSE_ELIDED;
    if (n != 2 || x->op != &lra_op_reduce_sum || x->src[0] != group[1]) return LRA_FUSE_NOT;
    const reduce_sum_args *a = x->args; /* the sum must run over all rows */
    return a->from == 0 && a->to == group[1]->shape.n - 1 ? LRA_FUSE_STORED : LRA_FUSE_NOT;
}

static lra_fuse fuses_norm(const lra_tensor *const *group, int n, const lra_tensor *x)
{
    const lra_tensor *dx = group[0];
    if (has(group, n, x->op)) return LRA_FUSE_NOT;
    if (x->op == &lra_op_add_n)
        return x->n_src == 2 && x->type == dx->type && (x->src[0] == dx) != (x->src[1] == dx)
                   ? LRA_FUSE_ELIDED
                   : LRA_FUSE_NOT;
    const layer_norm_args *a = x->args, *b = dx->args;
    return x->op == &lra_op_layer_norm_dgain && x->src[0] == dx->src[0] &&
                   x->src[1] == dx->src[1] && a->eps == b->eps
               ? LRA_FUSE_STORED
               : LRA_FUSE_NOT;
}

lra_fuse lra_cuda_fuses(const lra_tensor *const *group, int n, const lra_tensor *next)
{
    const lra_tensor *first = group[0];
    if (first->op == &lra_op_layer_norm_dx && lra_width(first) <= LRA_NORM_WIDEST)
        return fuses_norm(group, n, next);
    return is_dense(first) ? fuses_dense(group, n, next) : LRA_FUSE_NOT;
}

int64_t lra_cuda_fused_scratch(const lra_tensor *const *group, int n)
{
    const lra_tensor *y = group[0];
    int64_t B, T = rows_of(y, &B), rows = lra_rows(y);
    int64_t parts = B * ((T + LRA_DENSE_ROWS - 1) / LRA_DENSE_ROWS);
    if (has(group, n, &lra_op_layer_norm_dgain))
        parts = 2 * ((rows + LRA_ROW_BLOCK - 1) / LRA_ROW_BLOCK);
    else if (!has(group, n, &lra_op_reduce_sum))
        return 0;
    return parts * lra_width(y) * (int64_t)sizeof(float);
}

const lra_call *lra_fused_of(const lra_call *calls, int n, const lra_op *op)
{
    for (int i = 0; i < n; i++)
        if (calls[i].y->op == op) return &calls[i];
    return NULL;
}
#endif
