/* row_max, its gradient and argmax on a GPU: one warp per row. */
#include "kernels/ops/cuda_common.h"

/* Index of the first largest number of a row; every thread of the warp receives it. */
LRA_DEV int32_t warp_argmax(const void *x, lra_type t, int64_t row, int64_t D)
{
    int32_t best = (int32_t)(threadIdx.x < D ? threadIdx.x : 0);
    real v = t_load(x, t, row * D + best);
    for (int64_t d = threadIdx.x + LRA_WARP; d < D; d += LRA_WARP) {
        real w = t_load(x, t, row * D + d);
        if (w > v) v = w, best = (int32_t)d;
    }
    for (int other = LRA_WARP / 2; other; other /= 2) {
        real w = __shfl_xor_sync(~0u, v, other);
        int32_t at = __shfl_xor_sync(~0u, best, other);
        if (w > v || (w == v && at < best)) v = w, best = at;
    }
    return best;
}

static __global__ void max_kernel(int64_t rows, int64_t D, lra_type t, const void *x, void *y,
                                  int32_t *index)
{
    for (EACH_ROW(row, rows)) {
        int32_t best = warp_argmax(x, t, row, D);
        if (threadIdx.x != 0) continue;
        if (index)
            index[row] = best;
        else
            t_store(y, t, row, t_load(x, t, row * D + best));
    }
}

static __global__ void grad_kernel(int64_t rows, int64_t D, lra_type t, const void *dy,
                                   const void *x, void *dx)
{
    for (EACH_ROW(row, rows)) {
        int32_t best = warp_argmax(x, t, row, D);
        for (int64_t d = threadIdx.x; d < D; d += LRA_WARP)
            t_store(dx, t, row * D + d, d == best ? t_load(dy, t, row) : R(0.0));
    }
}

LRA_CUDA_BODY(row_max)
{
    int64_t D = lra_width(c->y->src[0]), rows = lra_elements(c->y);
    LRA_LAUNCH(max_kernel, lra_grid(rows, LRA_BLOCK_WARPS), ROW_BLOCK, 0, stream, rows, D,
               c->y->type, c->in[0], c->out, (int32_t *)NULL);
}

/* sources: dy, x */
LRA_CUDA_BODY(row_max_grad)
{
    int64_t D = lra_width(c->y), rows = lra_rows(c->y);
    LRA_LAUNCH(grad_kernel, lra_grid(rows, LRA_BLOCK_WARPS), ROW_BLOCK, 0, stream, rows, D,
               c->y->type, c->in[0], c->in[1], c->out);
}

LRA_CUDA_BODY(argmax)
{
    int64_t D = lra_width(c->y->src[0]), rows = lra_elements(c->y);
    LRA_LAUNCH(max_kernel, lra_grid(rows, LRA_BLOCK_WARPS), ROW_BLOCK, 0, stream, rows, D,
               c->y->src[0]->type, c->in[0], (void *)NULL, (int32_t *)c->out);
}
