/* exp, tanh and erf in float32 without branches or tables, so that loops over them become vector code; libm's
 * are calls.  Relative errors below 3e-7 (tanh, erf) and 2e-7 (exp); NaN stays NaN, exp gives 0 below
 * 2^-126 and infinity above the largest float.
 *   exp(x) = 2^n e^r, n = round(x / ln 2), |r| <= ln 2 / 2, e^r by its Taylor sum to r^7/7!
 *   tanh(x) = m/(m + 2), m = exp(2x) - 1 without cancellation
 *   erf(x) = 2/sqrt(pi) sum (-1)^k x^(2k+1)/(k! (2k+1)) below 1, 1 - exp(-x^2) g((x-2)/(x+2)) above, g a
 *   least-squares fit of exp(x^2) erfc(x) on [1, 4] (error of erf there 3e-11 in exact arithmetic). */
#ifndef LRA_OPS_MATH_FN_H
#define LRA_OPS_MATH_FN_H

#include <math.h>
#include <stdint.h>
#include <string.h>

/* e^r - 1 for |r| <= 0.35. */
LRA_FN float math_series(float r)
{
    float p = 1.0f / 5040;
    p = p * r + 1.0f / 720;
    p = p * r + 1.0f / 120;
    p = p * r + 1.0f / 24;
    p = p * r + 1.0f / 6;
    p = p * r + 0.5f;
    return r + r * r * p;
}

/* x = n ln 2 + r; returns r, and 2^n in scale.  Adding 1.5 2^23 leaves the nearest integer in the low bits. */
LRA_FN float math_reduce(float x, float *scale)
{
    const float shift = 12582912.0f;
    float shifted = x * 1.44269504f + shift, n = shifted - shift;
    uint32_t bits;
    memcpy(&bits, &shifted, sizeof bits);
    bits = (bits - 0x4B400000u + 127u) << 23;
    memcpy(scale, &bits, sizeof bits);
    return x - n * 0.693359375f - n * -2.12194440e-4f;
}

LRA_FN float math_exp(float x)
{
    float half, y = x > 89 ? 89 : x < -87.33654f ? -87.33654f : x;
    float r = math_reduce(0.5f * y, &half); /* 2^128 would not fit: the square of its root */
    float root = half + half * math_series(r);
    y = root * root;
    return x < -87.33654f ? 0 : y;
}

LRA_FN float math_tanh(float x)
{
    float y = fabsf(x), scale;
    y = y > 10 ? 10 : y; /* 1 in float32 from 9.01 on */
    float q = math_series(math_reduce(2 * y, &scale));
    float m = scale * q + (scale - 1);
    return copysignf(m / (m + 2), x);
}

LRA_FN float math_erf(float x)
{
    float y = fabsf(x), s = y > 1 ? 1 : y, z = s * s;
    float series = 1.0f / (3628800.0f * 21);
    series = series * z - 1.0f / (362880.0f * 19);
    series = series * z + 1.0f / (40320.0f * 17);
    series = series * z - 1.0f / (5040.0f * 15);
    series = series * z + 1.0f / (720.0f * 13);
    series = series * z - 1.0f / (120.0f * 11);
    series = series * z + 1.0f / (24.0f * 9);
    series = series * z - 1.0f / (6.0f * 7);
    series = series * z + 1.0f / (2.0f * 5);
    series = series * z - 1.0f / 3;
    series = series * z + 1;
    float small = 1.12837917f * s * series;
    float w = y > 4 ? 4 : y, t = (w - 2) / (w + 2); /* 1 in float32 from 3.92 on */
    float g = 1.02962384e-4f;
    g = g * t + 7.3161589e-3f;
    g = g * t + 3.76745716e-3f;
    g = g * t - 7.89812494e-2f;
    g = g * t + 2.4165748e-1f;
    g = g * t - 4.27185874e-1f;
    g = g * t + 2.55395677e-1f;
    float large = 1 - math_exp(-w * w) * g;
    return copysignf(y > 1 ? large : small, x);
}

#endif
