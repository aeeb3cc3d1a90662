/* one_hot on a GPU: one thread for each element. */
#include "kernels/ops/cuda_common.h"

static __global__ void one_hot_kernel(int64_t n, int64_t C, lra_type t, const int32_t *index,
                                      void *y)
{
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += (int64_t)gridDim.x * blockDim.x)
        t_store(y, t, i, i % C == index[i / C] ? R(1.0) : R(0.0));
}

LRA_CUDA_BODY(one_hot)
{
    int64_t n = lra_elements(c->y);
    LRA_LAUNCH(one_hot_kernel, lra_grid(n, LRA_BLOCK), LRA_BLOCK, 0, stream, n, lra_width(c->y),
               c->y->type, (const int32_t *)c->in[0], c->out);
}
