/* The formulas of activation.h for one type F. Included by activation.h for real and by
 * activation_lanes_template.h for vectors of real. The includer defines: F_NAME(name), the name of
 * a function defined here; F_MATH(name), the name of a function used here (exp, tanh, normal);
 * F_MAX(a, b), which is b if one operand is NaN; F_STEP(x), which is 1 where x > 0, else 0. */

LRA_FN F F_NAME(sigmoid)(F x)
{
    return 1 / (1 + F_MATH(exp)(-x));
}
LRA_FN F F_NAME(sigmoid_slope)(F x)
{
    F s = F_NAME(sigmoid)(x);
    return s * (1 - s);
}

LRA_FN F F_NAME(relu)(F x)
{
    return F_MAX(0, x); /* F_MAX() returns x if x is NaN */
}
LRA_FN F F_NAME(relu_slope)(F x)
{
    return F_STEP(x);
}

/* elu(x) + 1: x + 1 above 0, e^x below. Its derivative, as a function of its value y, is min(y,
 * 1). */
LRA_FN F F_NAME(elu_one)(F x)
{
    F r = F_NAME(relu)(x);
    return r + F_MATH(exp)(x - r);
}
LRA_FN F F_NAME(elu_one_slope)(F y)
{
    return -F_MAX(-1, -y);
}

LRA_FN F F_NAME(gelu)(F x)
{
    F density;
    return x * F_MATH(normal)(x, &density);
}
LRA_FN F F_NAME(gelu_slope)(F x)
{
    F density, phi = F_MATH(normal)(x, &density);
    return phi + x * R(0.39894228040143267794) * density;
}

LRA_FN F F_NAME(gelu_tanh)(F x)
{
    F u = R(0.79788456080286535588) * (x + R(0.044715) * x * x * x);
    return R(0.5) * x * (1 + F_MATH(tanh)(u));
}
LRA_FN F F_NAME(gelu_tanh_slope)(F x)
{
    F u = R(0.79788456080286535588) * (x + R(0.044715) * x * x * x);
    F du = R(0.79788456080286535588) * (1 + R(0.134145) * x * x);
    F t = F_MATH(tanh)(u);
    return R(0.5) * (1 + t) + R(0.5) * x * (1 - t * t) * du;
}

LRA_FN F F_NAME(silu)(F x)
{
    return x * F_NAME(sigmoid)(x);
}
LRA_FN F F_NAME(silu_slope)(F x)
{
    F s = F_NAME(sigmoid)(x);
    return s * (1 + x * (1 - s));
}
