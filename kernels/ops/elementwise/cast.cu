/* Conversion between real and elem on a GPU. */
#include "kernels/ops/cuda_common.h"

static __global__ void cast_kernel(int64_t n, bool wide, lra_type from, const void *x, lra_type to,
                                   void *y)
{
    for (EACH8(i, n)) {
        real v[LRA_LANES];
        load8(x, from, i, n - i, wide, v);
        store8(y, to, i, n - i, wide, v);
    }
}

LRA_CUDA_BODY(cast)
{
    int64_t n = lra_elements(c->y);
    LRA_LAUNCH(cast_kernel, lra_grid(n, LRA_BLOCK * LRA_LANES), LRA_BLOCK, 0, stream, n,
               is_aligned(c->in[0], NULL, c->out), c->y->src[0]->type, c->in[0], c->y->type,
               c->out);
}
