/* Elementwise functions of one variable: value and derivative.
 * To add one: name_f(x) and name_d(z), one line in UNARY_OPS, one in ops.def, its builder in ops.h.
 * The second argument of X says what the derivative is a function of: the source x or the result y. */
#ifndef LRA_OPS_UNARY_FN_H
#define LRA_OPS_UNARY_FN_H

#include "kernels/ops/real.h"

#define UNARY_OPS(X)                                                                               \
    X(relu, y, "away")                                                                             \
    X(gelu, x, "normal")                                                                           \
    X(gelu_tanh, x, "normal")                                                                      \
    X(silu, x, "normal")                                                                           \
    X(tanh, y, "normal")                                                                           \
    X(sigmoid, y, "normal")                                                                        \
    X(exp, y, "normal")

LRA_FN real relu_f(real x)
{
    return x > 0 ? x : 0;
}
LRA_FN real relu_d(real y)
{
    return y > 0 ? 1 : 0;
}

/* gelu(1) = 0.841345 */
LRA_FN real gelu_f(real x)
{
    return R(0.5) * x * (1 + r_erf(x * R(0.70710678118654752)));
}
LRA_FN real gelu_d(real x)
{
    real density = R(0.39894228040143268) * r_exp(R(-0.5) * x * x);
    return R(0.5) * (1 + r_erf(x * R(0.70710678118654752))) + x * density;
}

LRA_FN real gelu_tanh_f(real x)
{
    return R(0.5) * x * (1 + r_tanh(R(0.79788456080286536) * (x + R(0.044715) * x * x * x)));
}
LRA_FN real gelu_tanh_d(real x)
{
    real t = r_tanh(R(0.79788456080286536) * (x + R(0.044715) * x * x * x));
    real inner = R(0.79788456080286536) * (1 + R(0.134145) * x * x);
    return R(0.5) * (1 + t) + R(0.5) * x * (1 - t * t) * inner;
}

LRA_FN real sigmoid_f(real x)
{
    return 1 / (1 + r_exp(-x));
}
LRA_FN real sigmoid_d(real y)
{
    return y * (1 - y);
}

LRA_FN real silu_f(real x)
{
    return x * sigmoid_f(x);
}
LRA_FN real silu_d(real x)
{
    real s = sigmoid_f(x);
    return s * (1 + x * (1 - s));
}

LRA_FN real tanh_f(real x)
{
    return r_tanh(x);
}
LRA_FN real tanh_d(real y)
{
    return 1 - y * y;
}

LRA_FN real exp_f(real x)
{
    return r_exp(x);
}
LRA_FN real exp_d(real y)
{
    return y;
}

#endif
