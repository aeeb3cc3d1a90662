/* One channel of a diagonal-plus-low-rank kernel, in double, for C and CUDA. The spectrum at
 * frequency j < L/2 depends on sums over the modes of a channel, at the point i Y of the imaginary
 * axis, Y = 2 tan(pi j/L)/dt:
 *   r[v] = sum_n v_n/(iY - a_n) + conj(v_n)/(iY - conj a_n) = sum_n (A_n + i Y B_n)/D_n,
 *   A = -2 Re(v conj a),  B = 2 Re v,  D = |a|^2 - Y^2 - 2 i Y Re a.
 * v is b q, p q, and for each direction b c and p c. All these sums share 1/D. */
#ifndef LRA_OPS_SSM_DPLR_KERNEL_BODY_H
#define LRA_OPS_SSM_DPLR_KERNEL_BODY_H

#include "kernels/ops/ssm/complex_body.h"

enum { DPLR_SIDES = 2, DPLR_BQ = 0, DPLR_PQ = 1, DPLR_BC = 2, DPLR_PC = 3 };
enum { DPLR_SUMS = 2 + 2 * DPLR_SIDES };

/* L: lags, H: channels, R: rows of c (channels times directions), N: modes. */
typedef struct {
    int64_t L, H, R, N;
} dplr_args;

typedef struct {
    const real *a, *b, *p, *q, *c, *dt;
} dplr_sources;

static inline dplr_sources dplr_sources_of(const void *const *in)
{
    dplr_sources s = {(const real *)in[0], (const real *)in[1], (const real *)in[2],
                      (const real *)in[3], (const real *)in[4], (const real *)in[5]};
    return s;
}

LRA_FN int dplr_sides(const dplr_args *s)
{
    return (int)(s->R / s->H);
}
LRA_FN int dplr_sums(const dplr_args *s)
{
    return 2 + 2 * dplr_sides(s);
}

LRA_FN double dplr_tan(const dplr_args *s, int64_t j)
{
    return tan(3.14159265358979323846 * (double)j / (double)s->L);
}

/* Parameters and coefficients of mode n of a channel. */
typedef struct {
    c_number a, b, p, q, c[DPLR_SIDES];
    c_number v[DPLR_SUMS];
    double A[DPLR_SUMS], B[DPLR_SUMS];
} dplr_mode;

LRA_FN c_number dplr_number(const real *x, int64_t at, int64_t plane)
{
    return c_of((double)x[at], (double)x[plane + at]);
}

LRA_FN void dplr_mode_at(const dplr_args *s, const dplr_sources *in, int64_t h, int64_t n,
                         dplr_mode *m)
{
    int64_t at = h * s->N + n, plane = s->H * s->N;
    m->a = dplr_number(in->a, at, plane), m->b = dplr_number(in->b, at, plane);
    m->p = dplr_number(in->p, at, plane), m->q = dplr_number(in->q, at, plane);
    m->v[DPLR_BQ] = c_mul(m->b, m->q), m->v[DPLR_PQ] = c_mul(m->p, m->q);
    for (int k = 0; k < dplr_sides(s); k++) {
        m->c[k] = dplr_number(in->c, k * plane + at, s->R * s->N);
        m->v[2 * k + DPLR_BC] = c_mul(m->b, m->c[k]);
        m->v[2 * k + DPLR_PC] = c_mul(m->p, m->c[k]);
    }
    for (int i = 0; i < dplr_sums(s); i++) {
        m->A[i] = -2 * (m->v[i].re * m->a.re + m->v[i].im * m->a.im);
        m->B[i] = 2 * m->v[i].re;
    }
}

/* 1/D for the mode's a, at the point i Y of the imaginary axis. */
LRA_FN c_number dplr_inverse(c_number a, double Y)
{
    double re = a.re * a.re + (a.im - Y) * (a.im + Y), im = -2 * Y * a.re;
    double one = 1 / (re * re + im * im);
    return c_of(re * one, -im * one);
}

/* Value of the spectrum of a direction, computed from the sums r; t = tan(pi j/L). */
LRA_FN c_number dplr_spectrum(const c_number *r, int side, double t)
{
    c_number low = c_div(c_mul(r[DPLR_BQ], r[2 * side + DPLR_PC]), c_add(c_of(1, 0), r[DPLR_PQ]));
    return c_mul(c_of(1, t), c_add(r[2 * side + DPLR_BC], c_scale(low, -1)));
}

/* Computes the gradients of the sums from the gradients of the spectra. */
LRA_FN void dplr_pull(const dplr_args *s, const c_number *r, double t, const c_number *spectrum,
                      c_number *sums)
{
    c_number m = c_div(c_of(1, 0), c_add(c_of(1, 0), r[DPLR_PQ]));
    c_number low = c_conj(c_mul(r[DPLR_BQ], m));
    sums[DPLR_BQ] = sums[DPLR_PQ] = c_of(0, 0);
    for (int k = 0; k < dplr_sides(s); k++) {
        c_number g = c_mul(c_of(1, -t), spectrum[k]), back = c_scale(c_mul(low, g), -1);
        c_number other = c_conj(c_mul(r[2 * k + DPLR_PC], m));
        sums[2 * k + DPLR_BC] = g;
        sums[2 * k + DPLR_PC] = back;
        sums[DPLR_BQ] = c_add(sums[DPLR_BQ], c_scale(c_mul(other, g), -1));
        sums[DPLR_PQ] = c_add(sums[DPLR_PQ], c_scale(c_mul(other, back), -1));
    }
}

/* Gradient of a mode, summed over the frequencies: with respect to A and B of each sum, to D, and
 * to Y. */
typedef struct {
    double A[DPLR_SUMS], B[DPLR_SUMS], D, Y;
} dplr_change;

/* Computes the gradients of a mode's parameters. last: gradient of the spectra at L/2, where K =
 * sum_n dt Re(b_n c_n). out: planes (H,N) of a, b, p, q (re, im), dt, then re and im of c for each
 * direction. */
LRA_FN void dplr_mode_gradient(const dplr_args *s, const dplr_mode *m, const dplr_change *d,
                               double dt, const double *last, int64_t at, real *out)
{
    int64_t plane = s->H * s->N;
    int sides = dplr_sides(s);
    c_number da = c_of(2 * m->a.re * d->D - 2 * d->Y, 2 * m->a.im * d->D), db = c_of(0, 0);
    c_number dp = db, dq = db, dv[DPLR_SUMS];
    double scale = 0, steps = 0;
    for (int i = 0; i < dplr_sums(s); i++) {
        dv[i] = c_of(-2 * m->a.re * d->A[i] + 2 * d->B[i], -2 * m->a.im * d->A[i]);
        da = c_add(da, c_scale(m->v[i], -2 * d->A[i]));
        scale += dv[i].re * m->v[i].re + dv[i].im * m->v[i].im;
    }
    /* r is invariant if v, a and Y are scaled by one factor */
    scale += da.re * m->a.re + da.im * m->a.im;
    for (int k = 0; k < sides; k++) {
        dv[2 * k + DPLR_BC].re += dt * last[k];
        steps += m->v[2 * k + DPLR_BC].re * last[k];
    }
    db = c_mul(dv[DPLR_BQ], c_conj(m->q)), dp = c_mul(dv[DPLR_PQ], c_conj(m->q));
    dq = c_add(c_mul(dv[DPLR_BQ], c_conj(m->b)), c_mul(dv[DPLR_PQ], c_conj(m->p)));
    for (int k = 0; k < sides; k++) {
        c_number dc = c_add(c_mul(dv[2 * k + DPLR_BC], c_conj(m->b)),
                            c_mul(dv[2 * k + DPLR_PC], c_conj(m->p)));
        db = c_add(db, c_mul(dv[2 * k + DPLR_BC], c_conj(m->c[k])));
        dp = c_add(dp, c_mul(dv[2 * k + DPLR_PC], c_conj(m->c[k])));
        out[(9 + k) * plane + at] = (real)dc.re;
        out[(9 + sides + k) * plane + at] = (real)dc.im;
    }
    out[at] = (real)da.re, out[plane + at] = (real)da.im;
    out[2 * plane + at] = (real)db.re, out[3 * plane + at] = (real)db.im;
    out[4 * plane + at] = (real)dp.re, out[5 * plane + at] = (real)dp.im;
    out[6 * plane + at] = (real)dq.re, out[7 * plane + at] = (real)dq.im;
    out[8 * plane + at] = (real)(scale / dt + steps);
}

#endif
