/* Complex Fourier transforms of LANES sequences at once, one in each SIMD lane, in place; n is a
 * power of two, at least FFT_LEAST.
 *   forth: X_k = sum_t x_t exp(-2 pi i k t/n), in the order of decimation in frequency
 *   back: the inverse, reads that order and returns n times the sequences (Cooley & Tukey 1965,
 *     Gentleman & Sande 1966)
 * Pointwise products are independent of the order, so nothing is reordered. A stage splits a
 * sequence into eight sequences, which are transformed one after the other, down to 2, 4 or 8
 * numbers that stay in registers. Only the first stages thus access data that exceeds the caches.
 * The radix is 8, because stores are the bottleneck (a complex number takes two AVX-512 stores, of
 * two cycles each): radix 4 has the same number of additions and 1.5 times the stages.
 * The first stage reads the caller's input, and the last stage of the inverse writes its result.
 * Products are computed while the numbers of the last stage are in registers: see long_conv.c. */
#ifndef LRA_OPS_LONGCONV_FFT_LANES_TEMPLATE_H
#define LRA_OPS_LONGCONV_FFT_LANES_TEMPLATE_H

#include "kernels/cpu/fft.h"
#include "kernels/ops/lanes_template.h"

#if LRA_TYPE_f64
#define fft_roots lra_fft_roots_f64
#else
#define fft_roots lra_fft_roots_f32
#endif

enum { FFT_BITS = 40, FFT_LEAST = 16 };
/* Tables of the roots of unity for transforms of n, n/8, n/64, .. numbers. */
typedef struct {
    int64_t n;
    const real *root[FFT_BITS / 3 + 1];
} fft_plan;

typedef struct {
    lanes re, im;
} fft_number;

static inline fft_plan fft_plan_of(int64_t n)
{
    fft_plan p = {.n = n};
    for (int i = 0; n > 8; i++, n /= 8) p.root[i] = fft_roots(n);
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
/* Returns i a for turn = 1, -i a for turn = -1. */
LRA_ROW_FN fft_number fft_turned(fft_number a, const int turn)
{
    return turn > 0 ? (fft_number){-a.im, a.re} : (fft_number){a.im, -a.re};
}
/* Returns a exp(turn i pi/4). fft_three_eighths() returns a exp(turn 3 i pi/4). */
LRA_ROW_FN fft_number fft_eighth(fft_number a, const int turn)
{
    const real half = R(0.70710678118654752440);
    fft_number b = turn > 0 ? (fft_number){a.re - a.im, a.re + a.im}
                            : (fft_number){a.re + a.im, a.im - a.re};
    return (fft_number){b.re * half, b.im * half};
}
LRA_ROW_FN fft_number fft_three_eighths(fft_number a, const int turn)
{
    return fft_turned(fft_eighth(a, turn), turn);
}
/* Returns a b, or a conj(b) if `conjugate` is true. */
LRA_ROW_FN fft_number fft_product(fft_number a, fft_number b, const bool conjugate)
{
    return conjugate ? (fft_number){a.re * b.re + a.im * b.im, a.im * b.re - a.re * b.im}
                     : (fft_number){a.re * b.re - a.im * b.im, a.im * b.re + a.re * b.im};
}

/* ---- transforms of 2, 4 and 8 numbers in registers; turn: -1 forward, 1 inverse -------------- */

LRA_ROW_FN void fft_two(fft_number *z)
{
    fft_number a = z[0], b = z[1];
    z[0] = fft_plus(a, b), z[1] = fft_minus(a, b);
}
LRA_ROW_FN void fft_four(fft_number *z, const int turn)
{
    fft_number a = fft_plus(z[0], z[2]), b = fft_minus(z[0], z[2]);
    fft_number c = fft_plus(z[1], z[3]), d = fft_turned(fft_minus(z[1], z[3]), turn);
    z[0] = fft_plus(a, c), z[1] = fft_plus(b, d);
    z[2] = fft_minus(a, c), z[3] = fft_minus(b, d);
}
/* Transform of 8 numbers; the frequencies are in the order 0 2 4 6 1 3 5 7. half: the last four
 * numbers are zero and are not read. */
LRA_ROW_FN void fft_eight_forth(fft_number *z, const bool half)
{
    LANES_UNROLL for (int i = 0; i < 4; i++)
    {
        fft_number a = z[i], b = z[i + 4];
        z[i] = half ? a : fft_plus(a, b);
        z[i + 4] = half ? a : fft_minus(a, b);
    }
    z[5] = fft_eighth(z[5], -1), z[6] = fft_turned(z[6], -1), z[7] = fft_three_eighths(z[7], -1);
    fft_four(z, -1), fft_four(z + 4, -1);
}
/* Inverse of fft_eight_forth(), without the factor 1/8. half: only the first four numbers are
 * computed. */
LRA_ROW_FN void fft_eight_back(fft_number *z, const bool half)
{
    fft_four(z, 1), fft_four(z + 4, 1);
    z[5] = fft_eighth(z[5], 1), z[6] = fft_turned(z[6], 1), z[7] = fft_three_eighths(z[7], 1);
    LANES_UNROLL for (int i = 0; i < 4; i++)
    {
        fft_number a = z[i], b = z[i + 4];
        z[i] = fft_plus(a, b);
        if (!half) z[i + 4] = fft_minus(a, b);
    }
}

/* Transform of the last n numbers (2, 4 or 8) in registers. */
LRA_ROW_FN void fft_leaf_forth(fft_number *z, const int n)
{
    if (n == 2) fft_two(z);
    if (n == 4) fft_four(z, -1);
    if (n == 8) fft_eight_forth(z, false);
}
LRA_ROW_FN void fft_leaf_back(fft_number *z, const int n)
{
    if (n == 2) fft_two(z);
    if (n == 4) fft_four(z, 1);
    if (n == 8) fft_eight_back(z, false);
}
/* Calls f(n, ...) with a constant n: 2, 4 or 8. */
#define FFT_LEAF(n, f, ...)                                                                        \
    do {                                                                                           \
        if ((n) == 2)                                                                              \
            f(2, __VA_ARGS__);                                                                     \
        else if ((n) == 4)                                                                         \
            f(4, __VA_ARGS__);                                                                     \
        else                                                                                       \
            f(8, __VA_ARGS__);                                                                     \
    } while (0)

/* ---- stages ---------------------------------------------------------------------------------- */

/* fft_take(), fft_give(): copy 8 numbers, q apart, to and from registers. fft_split(), fft_join():
 * radix-8 step and its inverse; w: the seven roots of unity of this index. */
LRA_ROW_FN void fft_take(const fft_number *z, int64_t q, fft_number *v)
{
    LANES_UNROLL for (int i = 0; i < 8; i++) v[i] = z[i * q];
}
LRA_ROW_FN void fft_give(fft_number *z, int64_t q, const fft_number *v)
{
    LANES_UNROLL for (int i = 0; i < 8; i++) z[i * q] = v[i];
}
LRA_ROW_FN void fft_split(fft_number *v, const real *w, const bool half)
{
    fft_eight_forth(v, half);
    LANES_UNROLL for (int i = 1; i < 8; i++)
    {
        fft_number root = {lanes_of(w[2 * i - 2]), lanes_of(w[2 * i - 1])};
        v[i] = fft_product(v[i], root, false);
    }
}
LRA_ROW_FN void fft_join(fft_number *v, const real *w, const bool half)
{
    LANES_UNROLL for (int i = 1; i < 8; i++)
    {
        fft_number root = {lanes_of(w[2 * i - 2]), lanes_of(w[2 * i - 1])};
        v[i] = fft_product(v[i], root, true);
    }
    fft_eight_back(v, half);
}
/* A complete stage of the transform of 8 q numbers or, with back, of its inverse. */
LRA_ROW_FN void fft_stage(fft_number *z, int64_t q, const real *root, const bool back)
{
    for (int64_t i = 0; i < q; i++) {
        fft_number v[8];
        fft_take(z + i, q, v);
        if (back)
            fft_join(v, root + FFT_ROOTS * i, false);
        else
            fft_split(v, root + FFT_ROOTS * i, false);
        fft_give(z + i, q, v);
    }
}

/* ---- full transforms ------------------------------------------------------------------------- */

LRA_ROW_FN void fft_leaf(const int n, fft_number *z, const bool back)
{
    fft_number v[8];
    for (int i = 0; i < n; i++) v[i] = z[i];
    if (back)
        fft_leaf_back(v, n);
    else
        fft_leaf_forth(v, n);
    for (int i = 0; i < n; i++) z[i] = v[i];
}
/* All stages of a transform of n numbers; `at`: index of the stage and of its table of roots. */
static void fft_forth_from(const fft_plan *p, int at, int64_t n, fft_number *z)
{
    int64_t q = n / 8;
    if (n <= 8) {
        FFT_LEAF(n, fft_leaf, z, false);
        return;
    }
    fft_stage(z, q, p->root[at], false);
    for (int k = 0; k < 8; k++) fft_forth_from(p, at + 1, q, z + k * q);
}
static void fft_back_from(const fft_plan *p, int at, int64_t n, fft_number *z)
{
    int64_t q = n / 8;
    if (n <= 8) {
        FFT_LEAF(n, fft_leaf, z, true);
        return;
    }
    for (int k = 0; k < 8; k++) fft_back_from(p, at + 1, q, z + k * q);
    fft_stage(z, q, p->root[at], true);
}

#endif
