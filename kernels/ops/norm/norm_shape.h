/* Code shared by the gradients of norms. Their sources are dy, x, ...; the sums of dy xhat (dgain)
 * and of dy (dbias) are one tensor (2,D). */
#ifndef LRA_OPS_NORM_NORM_SHAPE_H
#define LRA_OPS_NORM_NORM_SHAPE_H

#include "kernels/graph/op.h"
#include "kernels/ops/real.h"

static inline int norm_dx_shape(lra_tensor *y, lra_err *e)
{
    (void)e;
    y->shape = y->src[1]->shape;
    y->type = y->src[1]->type;
    return 0;
}

static inline int norm_dgain_shape(lra_tensor *y, lra_err *e)
{
    (void)e;
    y->shape = LRA_SHAPE(2, lra_width(y->src[1]));
    y->type = lra_real(y->graph);
    return 0;
}

/* Scratch in bytes: n sums over the rows of x for each block of rows, in numbers of `size`
 * bytes. */
static inline int64_t norm_sums_scratch(const lra_tensor *x, int n, size_t size)
{
    int64_t n_blocks = (lra_rows(x) + LRA_ROW_BLOCK - 1) / LRA_ROW_BLOCK;
    return n_blocks * n * lra_width(x) * (int64_t)size;
}

static inline int64_t norm_dgain_scratch(const lra_tensor *y, int n_threads)
{
    (void)n_threads;
    return norm_sums_scratch(y->src[1], 2, lra_type_size(lra_real(y->graph)));
}

/* View of row i of a (2,D) tensor, of shape (D). */
static inline lra_tensor *norm_sums_row(lra_tensor *both, int64_t i)
{
    return lra_reshape(lra_slice(both, 0, i, 1), LRA_SHAPE(lra_width(both)));
}

#endif
