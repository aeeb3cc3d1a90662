/* The formulas of math_body.h for one type F. Included by math_body.h for float and by
 * lanes_template.h for vectors of float. The includer defines F_BITS and F_INT, the unsigned and
 * the signed integer type of F's size; F_MAX(a, b) and F_MIN(a, b), which are b if one operand is
 * NaN; and F_NAME(name). */

LRA_FN F_BITS F_NAME(to_bits)(F x)
{
    F_BITS u;
    memcpy(&u, &x, sizeof u);
    return u;
}
LRA_FN F F_NAME(from_bits)(F_BITS u)
{
    F x;
    memcpy(&x, &u, sizeof x);
    return x;
}

LRA_FN F F_NAME(abs)(F x)
{
    return F_NAME(from_bits)(F_NAME(to_bits)(x) & 0x7FFFFFFFu);
}

/* Reduction x = n ln 2 + r. Returns r, and 2^(n-1) in half (n is at most 128, and 2^128 would
 * overflow); half is 0 for n = -126.
 * Adding 1.5 2^23 leaves the nearest integer in the low bits. Here 126 more is added, so that these
 * bits form a biased exponent. */
LRA_FN F F_NAME(reduce)(F x, F *half)
{
    const float shift = 12582912.0f + 126;
    F shifted = x * 1.44269504f + shift, n = shifted - shift;
    *half = F_NAME(from_bits)(F_NAME(to_bits)(shifted) << 23);
    return x - n * 0.693359375f - n * -2.12194440e-4f;
}

/* Polynomial for 2 (e^r - 1 - r)/r^2, |r| <= 0.347. */
LRA_FN F F_NAME(series)(F r)
{
    F p = 2 * 1.38144648e-3f * r + 2 * 8.36878062e-3f;
    p = p * r + 2 * 4.16683943e-2f;
    p = p * r + 2 * 0.166665201f;
    return p * r + 2 * 0.499999934f;
}

LRA_FN F F_NAME(exp)(F x)
{
    F half,
        /* bounds for which n = -126 .. 128; 2^128 exceeds the largest float */
        y = F_MIN(89, F_MAX(-87.3f, x));
    F r = F_NAME(reduce)(y, &half);
    return half * ((F_NAME(series)(r) * r + 2) * r + 2);
}

LRA_FN F F_NAME(tanh)(F x)
{
    F half, y = F_MIN(10, F_NAME(abs)(x)); /* tanh is 1 in float32 from 9.01 on */
    F r = F_NAME(reduce)(2 * y, &half);
    F m = half * (2 * r + r * r * F_NAME(series)(r)) + (2 * half - 1);
    return F_NAME(from_bits)(F_NAME(to_bits)(m / (m + 2)) | (F_NAME(to_bits)(x) & 0x80000000u));
}

/* Cumulative normal distribution at x. density: exp(-x^2/2), the density times sqrt(2 pi). */
LRA_FN F F_NAME(normal)(F x, F *density)
{
    F y = F_MIN(14, F_NAME(abs)(x)); /* the tail is 0 in float32 from 13.2 on */
    F t = (y - 3) / (y + 3), e = F_NAME(exp)(-0.5f * y * y);
    F g = 5.36834027e-5f * t + 1.1554911e-4f;
    g = g * t - 3.39500178e-4f;
    g = g * t - 9.83762397e-4f;
    g = g * t + 2.90456324e-3f;
    g = g * t + 6.13207123e-3f;
    g = g * t - 4.62132921e-2f;
    g = g * t + 0.123225031f;
    g = g * t - 0.206402619f;
    g = (g * t + 0.121513948f) * e;
    *density = e;
    F_BITS behind = (F_BITS)((F_INT)F_NAME(to_bits)(x) >> 31), small = F_NAME(to_bits)(g);
    F_BITS large = F_NAME(to_bits)(1 - g);
    return F_NAME(from_bits)((small & behind) | (large & ~behind));
}
