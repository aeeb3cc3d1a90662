/* exp, tanh and the normal distribution in float32 without branches, tables or calls, so that loops over them become
 * vector code at every instruction level (a loop marked `omp simd`, nothing else in it that calls).  Formulas, with
 * errors in units of the last place (ulp, 2^-24 relative), found by tests/math_test.c:
 *   exp(x) = 2^n e^r, n = round(x / ln 2), |r| <= ln 2 / 2, e^r a polynomial of degree 6 (3e-9 exactly): 1 ulp with
 *     fused multiply-add, 2 without; 0 below -86.99, where a result would be below 2^-125.5; infinity from 88.73 on
 *   tanh(x) = m/(m + 2), m = exp(2x) - 1 without cancellation: 4 ulp
 *   P(x < z), z = -|x|: exp(-x^2/2) g((|x| - 3)/(|x| + 3)), g a polynomial of degree 9 (8e-9 exactly), so that the
 *     small tail has no cancellation; the large one is 1 minus it: 4 ulp for x > -2, below 4 + x^2/2
 * NaN stays NaN.  Polynomials: minimax fits. */
#ifndef LRA_OPS_MATH_FN_H
#define LRA_OPS_MATH_FN_H

#include <math.h>
#include <stdint.h>
#include <string.h>

/* x = n ln 2 + r; returns r, and 2^(n-1) in half: n goes to 128, and 2^128 would not fit.  0 for n = -126.
 * Adding 1.5 2^23 leaves the nearest integer in the low bits; here 126 more, so that they are an exponent. */
LRA_FN float math_reduce(float x, float *half)
{
    const float shift = 12582912.0f + 126;
    float shifted = x * 1.44269504f + shift, n = shifted - shift;
    uint32_t bits;
    memcpy(&bits, &shifted, sizeof bits);
    bits <<= 23;
    memcpy(half, &bits, sizeof bits);
    return x - n * 0.693359375f - n * -2.12194440e-4f;
}

/* 2 (e^r - 1 - r)/r^2 for |r| <= 0.347. */
LRA_FN float math_series(float r)
{
    float p = 2 * 1.38144648e-3f;
    p = p * r + 2 * 8.36878062e-3f;
    p = p * r + 2 * 4.16683943e-2f;
    p = p * r + 2 * 0.166665201f;
    return p * r + 2 * 0.499999934f;
}

LRA_FN float math_exp(float x)
{
    float half, y = x < -87.3f ? -87.3f : x; /* n = -126 */
    y = y > 89 ? 89 : y;                     /* n = 128, and beyond the largest float */
    float r = math_reduce(y, &half);
    return half * ((math_series(r) * r + 2) * r + 2);
}

LRA_FN float math_tanh(float x)
{
    float y = fabsf(x), half;
    y = y > 10 ? 10 : y; /* 1 in float32 from 9.01 on */
    float r = math_reduce(2 * y, &half);
    float m = half * (2 * r + r * r * math_series(r)) + (2 * half - 1);
    return copysignf(m / (m + 2), x);
}

/* The share of a normal distribution below x; density, sqrt(2 pi) times as large: exp(-x^2/2). */
LRA_FN float math_normal(float x, float *density)
{
    float y = fabsf(x);
    y = y > 14 ? 14 : y; /* the tail is 0 from 13.2 on */
    float t = (y - 3) / (y + 3), e = math_exp(-0.5f * y * y);
    float g = 5.36834027e-5f;
    g = g * t + 1.1554911e-4f;
    g = g * t - 3.39500178e-4f;
    g = g * t - 9.83762397e-4f;
    g = g * t + 2.90456324e-3f;
    g = g * t + 6.13207123e-3f;
    g = g * t - 4.62132921e-2f;
    g = g * t + 0.123225031f;
    g = g * t - 0.206402619f;
    g = g * t + 0.121513948f;
    *density = e;
    g *= e;
    return x > 0 ? 1 - g : g;
}

#endif
