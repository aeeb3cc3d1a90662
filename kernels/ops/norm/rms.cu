/* rms and its gradient on a GPU: one warp per row. */
#include "kernels/ops/cuda_common.h"

LRA_DEV real inverse_rms(const void *x, lra_type t, int64_t first, int64_t D, real eps)
{
    real s = 0;
    for (int64_t d = threadIdx.x; d < D; d += LRA_WARP) {
        real v = t_load(x, t, first + d);
        s += v * v;
    }
    return 1 / r_sqrt(warp_sum(s) / (real)D + eps);
}

static __global__ void rms_kernel(int64_t rows, int64_t D, real eps, lra_type t, const void *x,
                                  void *y)
{
    for (EACH_ROW(row, rows)) {
        real r = inverse_rms(x, t, row * D, D, eps);
        for (int64_t i = row * D + threadIdx.x; i < (row + 1) * D; i += LRA_WARP)
            t_store(y, t, i, t_load(x, t, i) * r);
    }
}

static __global__ void grad_kernel(int64_t rows, int64_t D, real eps, lra_type t, const void *dy,
                                   const void *x, void *dx)
{
    for (EACH_ROW(row, rows)) {
        real r = inverse_rms(x, t, row * D, D, eps), s = 0;
        for (int64_t i = row * D + threadIdx.x; i < (row + 1) * D; i += LRA_WARP)
            s += t_load(dy, t, i) * t_load(x, t, i);
        s = warp_sum(s) * r * r / (real)D;
        for (int64_t i = row * D + threadIdx.x; i < (row + 1) * D; i += LRA_WARP)
            t_store(dx, t, i, r * (t_load(dy, t, i) - t_load(x, t, i) * s));
    }
}

LRA_CUDA_BODY(rms)
{
    int64_t D = lra_width(c->y), rows = lra_rows(c->y);
    LRA_LAUNCH(rms_kernel, lra_grid(rows, LRA_BLOCK_WARPS), ROW_BLOCK, 0, stream, rows, D,
               (real)((const layer_norm_args *)c->y->args)->eps, c->y->type, c->in[0], c->out);
}

/* sources: dy, x */
LRA_CUDA_BODY(rms_grad)
{
    int64_t D = lra_width(c->y), rows = lra_rows(c->y);
    LRA_LAUNCH(grad_kernel, lra_grid(rows, LRA_BLOCK_WARPS), ROW_BLOCK, 0, stream, rows, D,
               (real)((const layer_norm_args *)c->y->args)->eps, c->y->type, c->in[0], c->in[1],
               c->out);
}
