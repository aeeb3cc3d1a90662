/* dx = dy act'(v), zero for t >= length, as a separate kernel: for the op itself, and for products
 * whose kernel cannot fuse it. */
#ifndef LRA_OPS_ELEMENTWISE_ACTIVATION_BACKWARD_CUDA_H
#define LRA_OPS_ELEMENTWISE_ACTIVATION_BACKWARD_CUDA_H

#include "kernels/ops/elementwise/activation.h"
#include "kernels/ops/cuda_common.h"

/* dx and dy may be the same array.  Nullable: v, length */
static __global__ void activation_backward_kernel(int64_t n_rows, int64_t D, bool wide, lra_act act,
                                                  const elem *dy, const elem *v,
                                                  const int32_t *length, int64_t T, elem *dx)
{
    for (EACH_ROW(row, n_rows)) {
        bool padding = length && row % T >= length[row / T];
        for (EACH_LANE8(d, D)) {
            real a[LRA_LANES] = {0}, b[LRA_LANES] = {0};
            int64_t i = row * D + d;
            if (!padding) {
                load8(dy, ELEM_TYPE, i, D - d, wide, a);
                if (v) load8(v, ELEM_TYPE, i, D - d, wide, b);
                for (int k = 0; k < LRA_LANES; k++) a[k] *= act_slope(act, b[k]);
            }
            store8(dx, ELEM_TYPE, i, D - d, wide, a);
        }
    }
}

#endif
