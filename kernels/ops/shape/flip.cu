/* flip on a GPU: one thread for each element. */
#include "kernels/ops/axis_view_body.h"
#include "kernels/ops/cuda_common.h"

template <typename T> static __global__ void flip_kernel(axis_view v, const T *x, T *y)
{
    int64_t n = v.O * v.R * v.I;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += (int64_t)gridDim.x * blockDim.x) {
        int64_t r = i / v.I % v.R;
        y[i] = x[i + (v.R - 1 - 2 * r) * v.I];
    }
}

LRA_CUDA_BODY(flip)
{
    axis_view v = axis_of(c->y);
    unsigned grid = lra_grid(v.O * v.R * v.I, LRA_BLOCK);
    if (lra_type_size(c->y->type) == 2)
        LRA_LAUNCH(flip_kernel<uint16_t>, grid, LRA_BLOCK, 0, stream, v, (const uint16_t *)c->in[0],
                   (uint16_t *)c->out);
    else
        LRA_LAUNCH(flip_kernel<uint32_t>, grid, LRA_BLOCK, 0, stream, v, (const uint32_t *)c->in[0],
                   (uint32_t *)c->out);
}
