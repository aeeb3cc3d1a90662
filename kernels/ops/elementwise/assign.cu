/* state = value on a GPU, unless the optimiser update of this step was skipped. */
#include "kernels/ops/cuda_common.h"

static __global__ void assign_kernel(int64_t n, const real *gate, const real *value, real *state,
                                     real *written)
{
    bool open = !gate || *gate != 0;
    int64_t first = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    int64_t step = (int64_t)gridDim.x * blockDim.x;
    if (first == 0) *written = open;
    if (!open) return;
    for (int64_t i = first; i < n; i += step) state[i] = value[i];
}

LRA_CUDA_BODY(assign)
{
    int64_t n = lra_elements(c->y->src[0]);
    LRA_LAUNCH(assign_kernel, lra_grid(n, LRA_BLOCK), LRA_BLOCK, 0, stream, n,
               (const real *)c->gate, (const real *)c->in[1], (real *)(uintptr_t)c->in[0],
               (real *)c->out);
}
