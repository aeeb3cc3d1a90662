/* distance_mask on a GPU: one thread for each element. */
#include "kernels/ops/cuda_common.h"
#include "kernels/ops/longconv/distance_mask_body.h"

static __global__ void near_kernel(int64_t n, near_view v, lra_type t, const void *x,
                                   const int32_t *limit, void *y)
{
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += (int64_t)gridDim.x * blockDim.x)
        t_store(y, t, i, is_near(&v, i, limit[0]) ? t_load(x, t, i) : R(0.0));
}

LRA_CUDA_BODY(distance_mask)
{
    int64_t n = lra_elements(c->y);
    LRA_LAUNCH(near_kernel, lra_grid(n, LRA_BLOCK), LRA_BLOCK, 0, stream, n, near_view_of(c->y),
               c->y->type, c->in[0], (const int32_t *)c->in[1], c->out);
}
