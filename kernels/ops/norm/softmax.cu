/* softmax over the last dimension and its gradient on a GPU: one warp per row. */
#include "kernels/ops/cuda_common.h"

static __global__ void softmax_kernel(int64_t rows, int64_t D, lra_type t, const void *x, void *y)
{
    for (EACH_ROW(row, rows)) {
        real m = t_load(x, t, row * D), s = 0;
        for (int64_t d = threadIdx.x; d < D; d += LRA_WARP) m = r_max(m, t_load(x, t, row * D + d));
        m = warp_max(m);
        for (int64_t d = threadIdx.x; d < D; d += LRA_WARP)
            s += r_exp(t_load(x, t, row * D + d) - m);
        real r = 1 / warp_sum(s);
        for (int64_t d = threadIdx.x; d < D; d += LRA_WARP)
            t_store(y, t, row * D + d, r_exp(t_load(x, t, row * D + d) - m) * r);
    }
}

LRA_CUDA_BODY(softmax)
{
    int64_t D = lra_width(c->y), rows = lra_rows(c->y);
    LRA_LAUNCH(softmax_kernel, lra_grid(rows, LRA_BLOCK_WARPS), ROW_BLOCK, 0, stream, rows, D,
               c->y->type, c->in[0], c->out);
}

static __global__ void grad_kernel(int64_t rows, int64_t D, lra_type t, const void *dy,
                                   const void *y, void *dx)
{
    for (EACH_ROW(row, rows)) {
        real s = 0;
        for (int64_t i = row * D + threadIdx.x; i < (row + 1) * D; i += LRA_WARP)
            s += t_load(dy, t, i) * t_load(y, t, i);
        s = warp_sum(s);
        for (int64_t i = row * D + threadIdx.x; i < (row + 1) * D; i += LRA_WARP)
            t_store(dx, t, i, t_load(y, t, i) * (t_load(dy, t, i) - s));
    }
}

/* sources: dy, y */
LRA_CUDA_BODY(softmax_grad)
{
    int64_t D = lra_width(c->y), rows = lra_rows(c->y);
    LRA_LAUNCH(grad_kernel, lra_grid(rows, LRA_BLOCK_WARPS), ROW_BLOCK, 0, stream, rows, D,
               c->y->type, c->in[0], c->in[1], c->out);
}
