/* Constant tensors on a GPU, written in words of 2 or 4 bytes. */
#include "kernels/ops/cuda_common.h"

template <class WORD> static __global__ void fill_kernel(int64_t n, WORD value, WORD *y)
{
    int64_t step = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) y[i] = value;
}

/* Fills the result with the 4-byte number `bits`. Its upper half is the same number in bf16. */
static void fill(const lra_call *c, uint32_t bits, void *stream)
{
    int64_t n = lra_elements(c->y);
    unsigned grid = lra_grid(n, 4 * LRA_BLOCK);
    if (c->y->type == LRA_BF16)
        LRA_LAUNCH(fill_kernel, grid, LRA_BLOCK, 0, stream, n, (uint16_t)(bits >> 16),
                   (uint16_t *)c->out);
    else
        LRA_LAUNCH(fill_kernel, grid, LRA_BLOCK, 0, stream, n, bits, (uint32_t *)c->out);
}

LRA_CUDA_BODY(zeros)
{
    fill(c, 0, stream);
}

LRA_CUDA_BODY(ones)
{
    fill(c, c->y->type == LRA_I32 ? 1 : 0x3F800000u, stream);
}
