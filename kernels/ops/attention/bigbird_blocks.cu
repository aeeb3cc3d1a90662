/* Lists of visible blocks on a GPU: one thread for each query block of a head. */
#include "kernels/ops/attention/bigbird_blocks_body.h"
#include "kernels/ops/cuda_common.h"

static __global__ void bigbird_blocks_kernel(bigbird_blocks_args a, int64_t n, int64_t blocks,
                                             int64_t most, const int32_t *length, int32_t *y)
{
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += (int64_t)gridDim.x * blockDim.x) {
        int64_t b = i / (a.heads * blocks), head = i / blocks % a.heads;
        int32_t all = (int32_t)((length[b] + a.block - 1) / a.block);
        bigbird_blocks_row(&a, head, (int32_t)(i % blocks), all, (int)most, y + i * most);
    }
}

LRA_CUDA_BODY(bigbird_blocks)
{
    const int64_t *d = c->y->shape.d, n = d[0] * d[1] * d[2];
    LRA_LAUNCH(bigbird_blocks_kernel, lra_grid(n, LRA_BLOCK), LRA_BLOCK, 0, stream,
               *(const bigbird_blocks_args *)c->y->args, n, d[2], d[3], (const int32_t *)c->in[0],
               (int32_t *)c->out);
}
