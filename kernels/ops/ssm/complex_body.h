/* Complex arithmetic in double, for C and CUDA. */
#ifndef LRA_OPS_SSM_COMPLEX_BODY_H
#define LRA_OPS_SSM_COMPLEX_BODY_H

#include "kernels/ops/real.h"

typedef struct {
    double re, im;
} c_number;

LRA_FN c_number c_of(double re, double im)
{
    c_number z;
    z.re = re, z.im = im;
    return z;
}
LRA_FN c_number c_add(c_number a, c_number b)
{
    return c_of(a.re + b.re, a.im + b.im);
}
LRA_FN c_number c_mul(c_number a, c_number b)
{
    return c_of(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re);
}
LRA_FN c_number c_scale(c_number a, double s)
{
    return c_of(a.re * s, a.im * s);
}
LRA_FN c_number c_conj(c_number a)
{
    return c_of(a.re, -a.im);
}
LRA_FN c_number c_div(c_number a, c_number b)
{
    return c_scale(c_mul(a, c_conj(b)), 1 / (b.re * b.re + b.im * b.im));
}
LRA_FN c_number c_exp(c_number a)
{
    double size = exp(a.re);
    return c_of(size * cos(a.im), size * sin(a.im));
}

LRA_FN c_number c_log(c_number a)
{
    return c_of(log(a.re * a.re + a.im * a.im) / 2, atan2(a.im, a.re));
}

/* a^n for n >= 0, by repeated squaring. */
LRA_FN c_number c_power(c_number a, int64_t n)
{
    c_number y = c_of(1, 0);
    for (; n > 0; n /= 2, a = c_mul(a, a))
        if (n % 2) y = c_mul(y, a);
    return y;
}

#endif
