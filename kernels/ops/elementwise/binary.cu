/* a + b, a - b, a b, a / b on a GPU. */
#include "kernels/ops/cuda_common.h"

#define BODY(name, operator)                                                                       \
    EACH_KERNEL(name##_kernel, a[k] operator b[k])                                                 \
    LRA_CUDA_BODY(name)                                                                            \
    {                                                                                              \
        each_args e = each_of(c, c->in[0], c->in[1]);                                              \
        EACH_LAUNCH(name##_kernel, e, stream);                                                     \
    }
BODY(add, +)
BODY(sub, -)
BODY(mul, *)
BODY(div, /)
