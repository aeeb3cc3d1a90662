/* cumsum on a GPU: one thread for each column, in the order of the axis. */
#include "kernels/ops/axis_view_body.h"
#include "kernels/ops/cuda_common.h"

static __global__ void cumsum_kernel(axis_view v, bool back, lra_type t, const void *x, void *y)
{
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < v.O * v.I;
         i += (int64_t)gridDim.x * blockDim.x) {
        int64_t first = i / v.I * v.R * v.I + i % v.I;
        real s = 0;
        for (int64_t r = 0; r < v.R; r++) {
            int64_t at = first + (back ? v.R - 1 - r : r) * v.I;
            s += t_load(x, t, at);
            t_store(y, t, at, s);
        }
    }
}

LRA_CUDA_BODY(cumsum)
{
    axis_view v = axis_of(c->y);
    LRA_LAUNCH(cumsum_kernel, lra_grid(v.O * v.I, LRA_BLOCK), LRA_BLOCK, 0, stream, v,
               ((const axis_args *)c->y->args)->back, c->y->type, c->in[0], c->out);
}
