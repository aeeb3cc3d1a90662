/* argsort on a GPU: the rank of an element is the number of elements that sort before it. Each
 * element needs D comparisons, which are shared by the threads of a warp. */
#include "kernels/ops/cuda_common.h"

LRA_DEV bool goes_before(const void *x, lra_type t, int64_t a, int64_t b)
{
    if (t == LRA_I32) {
        int32_t p = ((const int32_t *)x)[a], q = ((const int32_t *)x)[b];
        return p < q || (p == q && a < b);
    }
    real p = t_load(x, t, a), q = t_load(x, t, b);
    return p < q || (p == q && a < b);
}

static __global__ void rank_kernel(int64_t n, int64_t D, lra_type t, const void *x, int32_t *y)
{
    for (EACH_ROW(i, n)) { /* one warp for element i */
        int64_t first = i / D * D;
        int before = 0;
        for (int64_t d = threadIdx.x; d < D; d += LRA_WARP)
            before += goes_before(x, t, first + d, i);
        for (int other = LRA_WARP / 2; other; other /= 2)
            before += __shfl_xor_sync(~0u, before, other);
        if (threadIdx.x == 0) y[first + before] = (int32_t)(i - first);
    }
}

LRA_CUDA_BODY(argsort)
{
    int64_t n = lra_elements(c->y);
    LRA_LAUNCH(rank_kernel, lra_grid(n, LRA_BLOCK_WARPS), ROW_BLOCK, 0, stream, n, lra_width(c->y),
               c->y->src[0]->type, c->in[0], (int32_t *)c->out);
}
