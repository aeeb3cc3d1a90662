/* Elementwise functions of one variable: value and derivative.
 * To add a function, write name_f(x) and name_d(z), one line in UNARY_OPS, two lines in ops.def,
 * and its builder in ops.h. The second argument of X in UNARY_OPS selects the argument of the
 * derivative: the source x or the result y. The third argument selects how test samples are filled.
 * Activations of layers: activation.h. */
#ifndef LRA_OPS_ELEMENTWISE_UNARY_BODY_H
#define LRA_OPS_ELEMENTWISE_UNARY_BODY_H

#include "kernels/ops/elementwise/activation.h"

#define UNARY_OPS(X)                                                                               \
    X(relu, y, "away")                                                                             \
    X(elu_one, y, "normal")                                                                        \
    X(gelu, x, "normal")                                                                           \
    X(gelu_tanh, x, "normal")                                                                      \
    X(silu, x, "normal")                                                                           \
    X(tanh, y, "normal")                                                                           \
    X(sigmoid, y, "normal")                                                                        \
    X(exp, y, "normal")                                                                            \
    X(softplus, x, "normal")                                                                       \
    X(log, x, "positive")                                                                          \
    X(sqrt, y, "positive")                                                                         \
    X(sin, x, "normal")                                                                            \
    X(cos, x, "normal")

#define relu_f      act_relu
#define relu_d      act_relu_slope
#define elu_one_f   act_elu_one
#define elu_one_d   act_elu_one_slope
#define gelu_f      act_gelu
#define gelu_d      act_gelu_slope
#define gelu_tanh_f act_gelu_tanh
#define gelu_tanh_d act_gelu_tanh_slope
#define silu_f      act_silu
#define silu_d      act_silu_slope
#define sigmoid_f   act_sigmoid
#define tanh_f      r_tanh
#define exp_f       r_exp
#define log_f       r_log
#define sqrt_f      r_sqrt
#define sin_f       r_sin
#define cos_f       r_cos

LRA_FN real tanh_d(real y)
{
    return 1 - y * y;
}
LRA_FN real sigmoid_d(real y)
{
    return y * (1 - y);
}
LRA_FN real exp_d(real y)
{
    return y;
}
#if LRA_TYPE_f64
#define r_log1p log1p
#else
#define r_log1p log1pf
#endif
LRA_FN real softplus_f(real x)
{
    return r_max(x, 0) + r_log1p(r_exp(-r_abs(x)));
}
LRA_FN real softplus_d(real x)
{
    return act_sigmoid(x);
}
LRA_FN real log_d(real x)
{
    return 1 / x;
}
LRA_FN real sqrt_d(real y)
{
    return R(0.5) / y;
}
LRA_FN real sin_d(real x)
{
    return r_cos(x);
}
LRA_FN real cos_d(real x)
{
    return -r_sin(x);
}

#endif
