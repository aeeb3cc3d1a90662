/* One mode of a diagonal state-space kernel, in double, for C and CUDA: its initial value, its
 * rotation and decay per lag, and the derivatives of both with respect to the parameters. */
#ifndef LRA_OPS_SSM_SSM_KERNEL_BODY_H
#define LRA_OPS_SSM_SSM_KERNEL_BODY_H

#include <stdbool.h>

#include "kernels/ops/ssm/complex_body.h"

/* Rules for a mode's exponent x and the gain of its weight c, with z = dt a:
 *   SUM       x = a,                        gain = 1
 *   HELD      x = z,                        gain = dt phi(z): zero-order hold of the input
 *   BILINEAR  x = ln((1 + z/2)/(1 - z/2)),  gain = dt/(1 - z/2)
 *   SHARES    x = a,                        gain = 1/sum_(m < T) exp(a m) = phi(a)/(T phi(T a)) */
typedef enum { SSM_SUM, SSM_HELD, SSM_BILINEAR, SSM_SHARES } ssm_rule;

/* L: lags, S: rows of a, H: values of dt, R: rows of c, N: modes of a row, T: length of rule
 * SHARES. */
typedef struct {
    ssm_rule rule;
    int64_t L, S, H, R, N, T;
} ssm_kernel_args;

/* True for the rules that have a third source, dt. Their modes represent conjugate pairs. */
LRA_FN bool ssm_has_dt(const ssm_kernel_args *s)
{
    return s->rule == SSM_HELD || s->rule == SSM_BILINEAR;
}

/* Sum of a short power series, 1 + x/n1 (1 + x/n2 (1 + ..)); ratio: the ratios of its
 * coefficients. */
LRA_FN c_number c_series(c_number x, int n, const double *ratio)
{
    c_number y = c_of(1, 0);
    for (int i = n - 1; i >= 0; i--) y = c_add(c_of(1, 0), c_mul(c_scale(x, ratio[i]), y));
    return y;
}

/* phi = (e^x - 1)/x and its derivative. Near 0, where both cancel, they are computed from their
 * power series. */
LRA_FN void ssm_phi(c_number x, c_number *phi, c_number *slope)
{
    const double value[] = {1. / 2, 1. / 3, 1. / 4, 1. / 5, 1. / 6, 1. / 7};
    const double change[] = {2. / 3, 3. / 8, 4. / 15, 5. / 24, 6. / 35, 7. / 48};
    if (x.re * x.re + x.im * x.im < 1e-4) {
        *phi = c_series(x, 6, value);
        *slope = c_scale(c_series(x, 6, change), 0.5);
        return;
    }
    c_number e = c_exp(x);
    *phi = c_div(c_add(e, c_of(-1, 0)), x);
    *slope = c_div(c_add(e, c_scale(*phi, -1)), x);
}

/* A mode: k[l] = scale Re c gain exp(x l). The fields do not depend on c, so that rows with the
 * same a and dt share them. */
typedef struct {
    c_number a, x, gain;
    c_number turn, slope; /* turn = dx/dz; slope = dgain/dz for a fixed dt, where z = dt a */
    double dt, scale;
} ssm_mode;

/* Computes x, gain and their derivatives with respect to z, by the rule. dt and a of the mode must
 * be set. */
LRA_FN void ssm_follow(const ssm_kernel_args *s, ssm_mode *m, c_number z)
{
    c_number one = c_of(1, 0), half = c_scale(z, 0.5), phi, change, all, slope;
    m->x = z, m->turn = one, m->gain = one, m->slope = c_of(0, 0);
    if (s->rule == SSM_HELD) {
        ssm_phi(z, &phi, &change);
        m->gain = c_scale(phi, m->dt);
        m->slope = c_scale(change, m->dt);
    } else if (s->rule == SSM_BILINEAR) {
        c_number up = c_add(one, half), down = c_div(one, c_add(one, c_scale(half, -1)));
        m->x = c_log(c_mul(up, down));
        m->turn = c_div(down, up);
        m->gain = c_scale(down, m->dt);
        m->slope = c_scale(c_mul(m->gain, down), 0.5);
    } else if (s->rule == SSM_SHARES) {
        ssm_phi(z, &phi, &change);
        ssm_phi(c_scale(z, (double)s->T), &all, &slope);
        m->gain = c_scale(c_div(phi, all), 1 / (double)s->T);
        c_number fall = c_scale(c_div(slope, all), -(double)s->T);
        m->slope = c_mul(m->gain, c_add(c_div(change, phi), fall));
    }
}

LRA_FN double ssm_scale(const ssm_kernel_args *s)
{
    return ssm_has_dt(s) ? 2 : 1;
}

/* Mode n of row r. a: (2,S,N), dt: (H). Nullable: dt */
LRA_FN ssm_mode ssm_mode_at(const ssm_kernel_args *s, const real *a, const real *dt, int64_t r,
                            int64_t n)
{
    int64_t at = (r % s->S) * s->N + n;
    ssm_mode m;
    m.a = c_of((double)a[at], (double)a[s->S * s->N + at]);
    m.dt = ssm_has_dt(s) ? (double)dt[r % s->H] : 1;
    m.scale = ssm_scale(s);
    ssm_follow(s, &m, c_scale(m.a, m.dt));
    return m;
}
/* Weight c of mode n of row r. c: (2,R,N) */
LRA_FN c_number ssm_weight_at(const ssm_kernel_args *s, const real *c, int64_t r, int64_t n)
{
    int64_t here = r * s->N + n;
    return c_of((double)c[here], (double)c[s->R * s->N + here]);
}

/* Computes the gradients of a mode's parameters from G_i = scale sum_l l^i dk_l exp(x l), with w =
 * c gain. out: (5,R,N) = c (re, im), a (re, im), dt. */
LRA_FN void ssm_mode_gradient(const ssm_kernel_args *s, const ssm_mode *m, c_number c, c_number g0,
                              c_number g1, int64_t at, real *out)
{
    int64_t plane = s->R * s->N;
    c_number w = c_mul(c, m->gain), slope = c_mul(c, m->slope);
    c_number dw = c_conj(g0), dc = c_mul(c_conj(m->gain), dw);
    c_number dz = c_add(c_conj(c_mul(c_mul(w, m->turn), g1)), c_mul(c_conj(slope), dw));
    double by_z = c_mul(c_conj(m->a), dz).re, by_gain = c_mul(c_conj(w), dw).re;
    out[at] = (real)dc.re, out[plane + at] = (real)dc.im;
    out[2 * plane + at] = (real)(m->dt * dz.re), out[3 * plane + at] = (real)(m->dt * dz.im);
    out[4 * plane + at] = (real)(ssm_has_dt(s) ? by_z + by_gain / m->dt : 0);
}

#endif
