/* lsh_buckets on a GPU: one thread for each number of the result. */
#include "kernels/ops/attention/lsh_buckets_body.h"
#include "kernels/ops/cuda_common.h"

static __global__ void lsh_buckets_kernel(int64_t n, int64_t each, lsh_buckets_view v,
                                          const int32_t *order, const int32_t *length, int32_t *y)
{
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += (int64_t)gridDim.x * blockDim.x)
        chunk_write(&v, order, length, i / each, i % each, y);
}

LRA_CUDA_BODY(lsh_buckets)
{
    int64_t n = lra_elements(c->y), each = n / c->y->src[0]->shape.d[0];
    LRA_LAUNCH(lsh_buckets_kernel, lra_grid(n, LRA_BLOCK), LRA_BLOCK, 0, stream, n, each,
               lsh_buckets_view_of(c->y), (const int32_t *)c->in[0],
               (const int32_t *)(c->y->n_src > 1 ? c->in[1] : NULL), (int32_t *)c->out);
}
