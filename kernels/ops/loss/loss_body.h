/* Terms of mse and l1 as functions of prediction and target, their derivatives, and the number of
 * blocks of a sum. */
#ifndef LRA_OPS_LOSS_LOSS_BODY_H
#define LRA_OPS_LOSS_LOSS_BODY_H

#include "kernels/ops/real.h"

static inline int64_t n_blocks_of(int64_t n, int64_t block)
{
    return (n + block - 1) / block;
}

LRA_FN real mse_f(real d)
{
    return d * d;
}
LRA_FN real mse_d(real d)
{
    return 2 * d;
}
LRA_FN real l1_f(real d)
{
    return r_abs(d);
}
LRA_FN real l1_d(real d)
{
    return (real)((d > 0) - (d < 0));
}

#endif
