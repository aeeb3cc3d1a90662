/* dx = dy act'(v) on a GPU, zero for t >= length. */
#include "kernels/ops/activation.h"
#include "kernels/ops/cuda_fn.h"

static __global__ void act_dx_kernel(int64_t n_rows, int64_t D, bool wide, lra_act act,
                                     const elem *dy, const elem *v, const int32_t *length,
                                     int64_t T, elem *dx)
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

LRA_CUDA_BODY(act_dx)
{
    const act_dx_args *a = (const act_dx_args *)c->y->args;
    int64_t n_rows = lra_rows(c->y), D = lra_width(c->y);
    bool has_v = a->act != LRA_ACT_NONE;
    const elem *v = has_v ? (const elem *)c->in[1] : NULL;
    const int32_t *length = a->has_length ? (const int32_t *)c->in[1 + has_v] : NULL;
    bool wide = D % LRA_LANES == 0 && is_aligned(c->in[0], v, c->out);
    LRA_LAUNCH(act_dx_kernel, lra_grid(n_rows, LRA_BLOCK_WARPS), ROW_BLOCK, 0, stream, n_rows, D,
               wide, a->act, (const elem *)c->in[0], v, length, length ? c->y->shape.d[1] : 1,
               (elem *)c->out);
}
