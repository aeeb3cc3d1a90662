/* Moving average on a GPU. A thread computes eight adjacent channels of a position and sums its
 * window, which stays in the caches. The memory traffic counts every element once read and once
 * written. */
#include "kernels/ops/cuda_common.h"
#include "kernels/ops/attention/positions_body.h"

/* x, y: (rows of T positions, D); groups: groups of eight channels per row. */
static __global__ void moving_average_kernel(moving_average_args a, int64_t rows, int64_t T,
                                             int64_t D, int64_t groups, bool wide,
                                             const int32_t *length, const elem *x, elem *y)
{
    int64_t at = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    for (; at < rows * groups; at += (int64_t)gridDim.x * blockDim.x) {
        int64_t row = at / groups, d = at % groups * LRA_LANES, t = row % T, low, high;
        int64_t n = length ? length[row / T] : T;
        real v[LRA_LANES], sum[LRA_LANES] = {0};
        smooth_span(&a, t, n, &low, &high);
        for (int64_t s = low; s < high && t < n; s++) {
            load8(x, ELEM_TYPE, (row - t + s) * D + d, D - d, wide, v);
            for (int k = 0; k < LRA_LANES; k++) sum[k] += v[k];
        }
        for (int k = 0; k < LRA_LANES; k++) sum[k] /= (real)a.width;
        store8(y, ELEM_TYPE, row * D + d, D - d, wide, sum);
    }
}

/* Sources: x (B,T,..), [length]. */
LRA_CUDA_BODY(moving_average)
{
    const moving_average_args *a = (const moving_average_args *)c->y->args;
    int64_t T = c->y->shape.d[1], rows = c->y->shape.d[0] * T, D = lra_elements(c->y) / rows;
    int64_t groups = (D + LRA_LANES - 1) / LRA_LANES;
    bool wide = D % LRA_LANES == 0 && is_aligned(c->in[0], c->out, NULL);
    LRA_LAUNCH(moving_average_kernel, lra_grid(rows * groups, LRA_BLOCK), LRA_BLOCK, 0, stream, *a,
               rows, T, D, groups, wide, a->has_length ? (const int32_t *)c->in[1] : NULL,
               (const elem *)c->in[0], (elem *)c->out);
}
