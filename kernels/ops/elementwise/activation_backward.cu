/* dx = dy act'(v) on a GPU. */
#include "kernels/ops/elementwise/activation_backward_cuda.h"

LRA_CUDA_BODY(activation_backward)
{
    const activation_backward_args *a = (const activation_backward_args *)c->y->args;
    int64_t n_rows = lra_rows(c->y), D = lra_width(c->y);
    bool has_v = a->act != LRA_ACT_NONE;
    const elem *v = has_v ? (const elem *)c->in[1] : NULL;
    const int32_t *length = a->has_length ? (const int32_t *)c->in[1 + has_v] : NULL;
    bool wide = D % LRA_LANES == 0 && is_aligned(c->in[0], v, c->out);
    LRA_LAUNCH(activation_backward_kernel, lra_grid(n_rows, LRA_BLOCK_WARPS), ROW_BLOCK, 0, stream,
               n_rows, D, wide, a->act, (const elem *)c->in[0], v, length,
               length ? c->y->shape.d[1] : 1, (elem *)c->out);
}
