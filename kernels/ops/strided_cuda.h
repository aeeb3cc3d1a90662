/* Copies y[i] = x[strided index of i] on a GPU, for permute and broadcast. */
#ifndef LRA_OPS_STRIDED_CUDA_H
#define LRA_OPS_STRIDED_CUDA_H

#include "kernels/ops/cuda_common.h"

/* Sizes of y, and the strides of x along each dimension. */
typedef struct {
    int n;
    int64_t size[LRA_MAX_RANK], stride[LRA_MAX_RANK];
} strided;

LRA_DEV int64_t strided_at(const strided *s, int64_t i)
{
    int64_t from = 0;
    for (int k = s->n - 1; k >= 0; k--) {
        from += i % s->size[k] * s->stride[k];
        i /= s->size[k];
    }
    return from;
}

/* Loop over n elements with all threads of the grid, one at a time: for (EACH(i, n)). */
#define EACH(i, n)                                                                                 \
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;                                    \
    i < (n);                                                                                       \
    i += (int64_t)gridDim.x * blockDim.x

#endif
