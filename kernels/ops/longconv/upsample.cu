/* upsample on a GPU: one thread for each number of the result. */
#include "kernels/ops/cuda_common.h"
#include "kernels/ops/longconv/upsample_body.h"

static __global__ void upsample_kernel(upsample_view v, bool back, lra_type t, const void *x,
                                       void *y)
{
    int64_t in = back ? v.s * v.times : v.s, out = back ? v.s : v.s * v.times;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < v.rows * out;
         i += (int64_t)gridDim.x * blockDim.x) {
        const void *row = t_at(x, t, i / out * in);
        int64_t at = i % out;
        t_store(y, t, i,
                back ? upsample_sum(row, t, v, at)
                     : upsample_value(row, t, v, at / v.times, at % v.times));
    }
}

LRA_CUDA_BODY(upsample)
{
    const upsample_args *a = (const upsample_args *)c->y->args;
    LRA_LAUNCH(upsample_kernel, lra_grid(lra_elements(c->y), LRA_BLOCK), LRA_BLOCK, 0, stream,
               upsample_of(c->y), a->back, c->y->type, c->in[0], c->out);
}
