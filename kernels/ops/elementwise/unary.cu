/* Elementwise functions of one variable on a GPU; formulas: unary_body.h. */
#include "kernels/ops/cuda_common.h"
#include "kernels/ops/elementwise/unary_body.h"

#define BODIES(name, from, fill)                                                                   \
    EACH_KERNEL(name##_kernel, name##_f(a[k]))                                                     \
    EACH_KERNEL(name##_grad_kernel, a[k] * name##_d(b[k]))                                         \
    LRA_CUDA_BODY(name)                                                                            \
    {                                                                                              \
        each_args e = each_of(c, c->in[0], NULL);                                                  \
        EACH_LAUNCH(name##_kernel, e, stream);                                                     \
    }                                                                                              \
    LRA_CUDA_BODY(name##_grad)                                                                     \
    {                                                                                              \
        each_args e = each_of(c, c->in[0], c->in[1]);                                              \
        EACH_LAUNCH(name##_grad_kernel, e, stream);                                                \
    }
UNARY_OPS(BODIES)

EACH_KERNEL(affine_kernel, e.p *a[k] + e.q)
LRA_CUDA_BODY(affine)
{
    const affine_args *a = (const affine_args *)c->y->args;
    each_args e = each_of(c, c->in[0], NULL);
    e.p = (real)a->scale, e.q = (real)a->shift;
    EACH_LAUNCH(affine_kernel, e, stream);
}
