/* Activation functions and their derivatives, shared by the elementwise ops and by the epilogues of
 * products:
 *   relu max(x, 0) · gelu x (1 + erf(x/sqrt 2))/2 · gelu_tanh x (1 + tanh(u))/2 with
 *   u = sqrt(2/pi) (x + 0.044715 x^3) · silu x sigmoid(x)
 * Formulas: activation_source_body.h; vectors: activation_lanes_template.h.
 * Sources: Hendrycks & Gimpel, arXiv:1606.08415; SiLU: Elfwing et al., arXiv:1702.03118.
 * The derivative of relu at 0 is 0. */
#ifndef LRA_OPS_ELEMENTWISE_ACTIVATION_H
#define LRA_OPS_ELEMENTWISE_ACTIVATION_H

#include "kernels/graph/op.h"
#include "kernels/ops/real.h"

/* Phi(x), the cumulative normal distribution. density: exp(-x^2/2). */
LRA_FN real act_normal(real x, real *density)
{
#if LRA_TYPE_f64 || defined(__CUDACC__)
    *density = r_exp(R(-0.5) * x * x);
    return R(0.5) * (1 + r_erf(x * R(0.70710678118654752440)));
#else
    return math_normal(x, density);
#endif
}

#define act_exp      r_exp
#define act_tanh     r_tanh
#define F            real
#define F_NAME(name) act_##name
#define F_MATH(name) act_##name
#define F_MAX(a, b)  ((b) < (a) ? (a) : (b))
#define F_STEP(x)    ((x) > 0 ? R(1.0) : R(0.0))
#include "kernels/ops/elementwise/activation_source_body.h"
#undef F
#undef F_NAME
#undef F_MATH
#undef F_MAX
#undef F_STEP

/* act_value(): the activation at x. act_slope(): its derivative at x, the value before the
 * activation. */
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
