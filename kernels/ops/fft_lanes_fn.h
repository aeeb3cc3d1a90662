/* Complex Fourier transforms of LANES sequences at once, one in each lane, in place; n a power of
 * two from 4 on.
 *   forth: X_k = sum_t x_t exp(-2 pi i k t/n), in the order that decimation in frequency leaves them; back takes that
 *   order, and gives n times the sequences (Cooley & Tukey 1965, Gentleman & Sande 1966; radix 4, at the end 2).
 * Products need no other order, so nothing is moved.  A stage splits the sequence in four that are
 * transformed one after the other, down to the last numbers: what no cache holds is read and
 * written only by the first stages.
 * Number t stands at z + 2 t: real parts, then imaginary parts. */
#ifndef LRA_OPS_FFT_LANES_FN_H
#define LRA_OPS_FFT_LANES_FN_H

#include "kernels/cpu/fft.h"
#include "kernels/ops/lanes_fn.h"

#if LRA_PASS == 64
#define fft_roots lra_fft_roots_f64
#else
#define fft_roots lra_fft_roots_f32
#endif

enum { FFT_BITS = 40 };
/* Roots of n, n/4, n/16, ..; behind the last stage of radix 4 there is nothing, or one of radix
 * 2. */
typedef struct {
    int64_t n;
    const real *root[FFT_BITS / 2];
} fft_plan;

typedef struct {
    lanes re, im;
} fft_number;

static inline fft_plan fft_plan_of(int64_t n)
{
    fft_plan p = {.n = n};
    for (int i = 0; n >= 4; i++, n /= 4) p.root[i] = fft_roots(n);
    return p;
}

LRA_ROW_FN fft_number fft_plus(fft_number a, fft_number b)
{
    return (fft_number){a.re + b.re, a.im + b.im};
}
LRA_ROW_FN fft_number fft_minus(fft_number a, fft_number b)
{
    return (fft_number){a.re - b.re, a.im - b.im};
}
/* i (a - b) */
LRA_ROW_FN fft_number fft_turned(fft_number a, fft_number b)
{
    return (fft_number){b.im - a.im, a.re - b.re};
}
LRA_ROW_FN fft_number fft_times(fft_number a, real re, real im)
{
    return (fft_number){a.re * re - a.im * im, a.re * im + a.im * re};
}

/* z[0], z[q], z[2q], z[3q] become their four sums, times roots. */
LRA_ROW_FN void fft_split(fft_number *z, int64_t q, const real *w)
{
    fft_number a = fft_plus(z[0], z[2 * q]), b = fft_minus(z[0], z[2 * q]);
    fft_number c = fft_plus(z[q], z[3 * q]), d = fft_turned(z[q], z[3 * q]);
    z[0] = fft_plus(a, c);
    z[q] = fft_times(fft_minus(b, d), w[0], w[1]);
    z[2 * q] = fft_times(fft_minus(a, c), w[2], w[3]);
    z[3 * q] = fft_times(fft_plus(b, d), w[4], w[5]);
}
/* The same backwards, four times the numbers. */
LRA_ROW_FN void fft_join(fft_number *z, int64_t q, const real *w)
{
    fft_number y1 = fft_times(z[q], w[0], -w[1]), y2 = fft_times(z[2 * q], w[2], -w[3]);
    fft_number y3 = fft_times(z[3 * q], w[4], -w[5]);
    fft_number a = fft_plus(z[0], y2), b = fft_minus(z[0], y2);
    fft_number c = fft_plus(y1, y3), d = fft_turned(y1, y3);
    z[0] = fft_plus(a, c);
    z[q] = fft_plus(b, d);
    z[2 * q] = fft_minus(a, c);
    z[3 * q] = fft_minus(b, d);
}

/* Transforms of 2 and of 4 numbers; turn: 1 forth, -1 back. */
LRA_ROW_FN void fft_pair(fft_number *z)
{
    fft_number a = z[0], b = z[1];
    z[0] = fft_plus(a, b), z[1] = fft_minus(a, b);
}
LRA_ROW_FN void fft_four(fft_number *z, const int turn)
{
    fft_number a = fft_plus(z[0], z[2]), b = fft_minus(z[0], z[2]);
    fft_number c = fft_plus(z[1], z[3]), d = fft_turned(z[1], z[3]);
    z[0] = fft_plus(a, c);
    z[1] = turn > 0 ? fft_minus(b, d) : fft_plus(b, d);
    z[2] = fft_minus(a, c);
    z[3] = turn > 0 ? fft_plus(b, d) : fft_minus(b, d);
}

/* The four parts of q <= 4 numbers that the last split left. */
LRA_ROW_FN void fft_last(int64_t q, fft_number *z, const int turn)
{
    for (int k = 0; k < 4 && q == 2; k++) fft_pair(z + 2 * k);
    for (int k = 0; k < 4 && q == 4; k++) fft_four(z + 4 * k, turn);
}

/* Stage `at` and those behind it, of n >= 4 numbers. */
static void fft_forth_from(const fft_plan *p, int at, int64_t n, fft_number *z)
{
    int64_t q = n / 4;
    for (int64_t i = 0; i < q; i++) fft_split(z + i, q, p->root[at] + 6 * i);
    if (q <= 4)
        fft_last(q, z, 1);
    else
        for (int k = 0; k < 4; k++) fft_forth_from(p, at + 1, q, z + k * q);
}
static void fft_back_from(const fft_plan *p, int at, int64_t n, fft_number *z)
{
    int64_t q = n / 4;
    if (q <= 4)
        fft_last(q, z, -1);
    else
        for (int k = 0; k < 4; k++) fft_back_from(p, at + 1, q, z + k * q);
    for (int64_t i = 0; i < q; i++) fft_join(z + i, q, p->root[at] + 6 * i);
}

#endif
