/* Activation functions and their slopes, shared by the elementwise ops and by the epilogues of products:
 *   relu max(x, 0) · gelu x (1 + erf(x/sqrt 2))/2 · gelu_tanh x (1 + tanh(u))/2 with
 *   u = sqrt(2/pi) (x + 0.044715 x^3) · silu x sigmoid(x)
 * Hendrycks & Gimpel, arXiv:1606.08415; SiLU: Elfwing et al., arXiv:1702.03118.
 * The slope of relu at 0 is 0. */
#ifndef LRA_OPS_ACTIVATION_H
#define LRA_OPS_ACTIVATION_H

#include "kernels/graph/op.h"
#include "kernels/ops/real.h"

LRA_FN real act_sigmoid(real x)
{
    return 1 / (1 + r_exp(-x));
}

LRA_FN real act_relu(real x)
{
    return x < 0 ? 0 : x; /* NaN stays NaN */
}
LRA_FN real act_relu_slope(real x)
{
    return x > 0 ? R(1.0) : R(0.0);
}

/* Phi(x), the normal distribution, and exp(-x^2/2). */
LRA_FN real act_normal(real x, real *density)
{
#if LRA_PASS == 64 || defined(__CUDACC__)
    *density = r_exp(R(-0.5) * x * x);
    return R(0.5) * (1 + r_erf(x * R(0.70710678118654752440)));
#else
    return math_normal(x, density);
#endif
}
LRA_FN real act_gelu(real x)
{
    real density;
    return x * act_normal(x, &density);
}
LRA_FN real act_gelu_slope(real x)
{
    real density, phi = act_normal(x, &density);
    return phi + x * R(0.39894228040143267794) * density;
}

LRA_FN real act_gelu_tanh(real x)
{
    real u = R(0.79788456080286535588) * (x + R(0.044715) * x * x * x);
    return R(0.5) * x * (1 + r_tanh(u));
}
LRA_FN real act_gelu_tanh_slope(real x)
{
    real u = R(0.79788456080286535588) * (x + R(0.044715) * x * x * x);
    real du = R(0.79788456080286535588) * (1 + R(0.134145) * x * x);
    real t = r_tanh(u);
    return R(0.5) * (1 + t) + R(0.5) * x * (1 - t * t) * du;
}

LRA_FN real act_silu(real x)
{
    return x * act_sigmoid(x);
}
LRA_FN real act_silu_slope(real x)
{
    real s = act_sigmoid(x);
    return s * (1 + x * (1 - s));
}

/* The activation, and its derivative, both at x (the value before the activation). */
LRA_FN real act_value(lra_act act, real x)
{
    switch (act) {
    case LRA_ACT_NONE: return x;
    case LRA_ACT_RELU: return act_relu(x);
    case LRA_ACT_GELU: return act_gelu(x);
    case LRA_ACT_GELU_TANH: return act_gelu_tanh(x);
    case LRA_ACT_SILU: return act_silu(x);
    }
    return x;
}
LRA_FN real act_slope(lra_act act, real x)
{
    switch (act) {
    case LRA_ACT_NONE: return 1;
    case LRA_ACT_RELU: return act_relu_slope(x);
    case LRA_ACT_GELU: return act_gelu_slope(x);
    case LRA_ACT_GELU_TANH: return act_gelu_tanh_slope(x);
    case LRA_ACT_SILU: return act_silu_slope(x);
    }
    return 1;
}

#endif
