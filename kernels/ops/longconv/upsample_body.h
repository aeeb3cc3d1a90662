/* Weights of linear interpolation, shared by the C and CUDA bodies. */
#ifndef LRA_OPS_LONGCONV_UPSAMPLE_BODY_H
#define LRA_OPS_LONGCONV_UPSAMPLE_BODY_H

#include "kernels/ops/args.h"
#include "kernels/ops/typed.h"

/* Sizes: the shorter tensor has `rows` rows of s numbers; the longer one has rows of s times
 * `times` numbers. */
typedef struct {
    int64_t rows, s, times;
} upsample_view;

static inline upsample_view upsample_of(const lra_tensor *y)
{
    const upsample_args *a = (const upsample_args *)y->args;
    int64_t n = y->shape.d[y->shape.n - 1], s = a->back ? n : n / a->times, all = 1;
    for (int i = 0; i < y->shape.n - 1; i++) all *= y->shape.d[i];
    return (upsample_view){all, s, a->times};
}

/* Signed distance of value k of a block from the block's centre, as a share of the block, in (-1/2,
 * 1/2). */
LRA_FN real upsample_off(int64_t k, int64_t times)
{
    return ((real)k + (real)0.5) / (real)times - (real)0.5;
}

/* Returns value k of block j of the upsampled row x. */
LRA_FN real upsample_value(const void *x, lra_type t, upsample_view v, int64_t j, int64_t k)
{
    real off = upsample_off(k, v.times), far = off < 0 ? -off : off;
    int64_t other = off < 0 ? j - 1 : j + 1;
    if (other < 0 || other >= v.s) other = j;
    return (1 - far) * t_load(x, t, j) + far * t_load(x, t, other);
}

/* Returns the gradient of element j of a row of x, from the gradients dy of its block, of the right
 * half of the previous block, and of the left half of the next block. In the left half of the first
 * block and the right half of the last block there is no neighbour to interpolate with, so that dy
 * contributes with weight 1 to the element of that block. */
LRA_FN real upsample_sum(const void *dy, lra_type t, upsample_view v, int64_t j)
{
    real sum = 0;
    for (int64_t k = 0; k < v.times; k++) {
        real off = upsample_off(k, v.times), far = off < 0 ? -off : off;
        int64_t inner = off < 0 ? j + 1 : j - 1, end = off < 0 ? 0 : v.s - 1;
        sum += (1 - far) * t_load(dy, t, j * v.times + k);
        if (inner >= 0 && inner < v.s) sum += far * t_load(dy, t, inner * v.times + k);
        if (j == end) sum += far * t_load(dy, t, j * v.times + k);
    }
    return sum;
}

#endif
