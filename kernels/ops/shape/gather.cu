/* gather and scatter on a GPU.  An index out of range, which is a bug, gives NaN. */
#include "kernels/ops/cuda_common.h"

static __global__ void gather_kernel(int64_t n, int64_t M, int64_t T, int64_t D, bool wide,
                                     lra_type t, const void *x, const int32_t *index, void *y)
{
    for (EACH_ROW(row, n)) {
        int64_t from = index[row];
        bool inside = from >= 0 && from < T;
        for (EACH_LANE8(d, D)) {
            real v[LRA_LANES];
            for (int k = 0; k < LRA_LANES; k++) v[k] = bits_real(0x7FC00000u);
            if (inside) load8(x, t, (row / M * T + from) * D + d, D - d, wide, v);
            store8(y, t, row * D + d, D - d, wide, v);
        }
    }
}

LRA_CUDA_BODY(gather)
{
    const lra_shape *s = &c->y->shape;
    int64_t n = s->d[0] * s->d[1], D = s->d[2];
    bool wide = D % LRA_LANES == 0 && is_aligned(c->in[0], NULL, c->out);
    LRA_LAUNCH(gather_kernel, lra_grid(n, LRA_BLOCK_WARPS), ROW_BLOCK, 0, stream, n, s->d[1],
               c->y->src[0]->shape.d[1], D, wide, c->y->type, c->in[0], (const int32_t *)c->in[1],
               c->out);
}

/* One warp for each row of dx. It adds the rows of dy that were gathered from this row, in
 * order. */
static __global__ void scatter_kernel(int64_t n, int64_t M, int64_t T, int64_t D, bool wide,
                                      lra_type t, const void *dy, const int32_t *index, void *dx)
{
    for (EACH_ROW(row, n)) {
        const int32_t *from = index + row / T * M;
        for (EACH_LANE8(d, D)) {
            real s[LRA_LANES] = {0}, v[LRA_LANES];
            for (int64_t m = 0; m < M; m++) {
                if (from[m] != row % T) continue;
                load8(dy, t, (row / T * M + m) * D + d, D - d, wide, v);
                for (int k = 0; k < LRA_LANES; k++) s[k] += v[k];
            }
            store8(dx, t, row * D + d, D - d, wide, s);
        }
    }
}

LRA_CUDA_BODY(scatter)
{
    const lra_shape *s = &c->y->shape;
    int64_t n = s->d[0] * s->d[1], D = s->d[2];
    bool wide = D % LRA_LANES == 0 && is_aligned(c->in[0], NULL, c->out);
    LRA_LAUNCH(scatter_kernel, lra_grid(n, LRA_BLOCK_WARPS), ROW_BLOCK, 0, stream, n,
               c->y->src[1]->shape.d[1], s->d[1], D, wide, c->y->type, c->in[0],
               (const int32_t *)c->in[1], c->out);
}
