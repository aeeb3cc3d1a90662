/* The transform of fft.h for one type; included by fft.c with REAL and NAME(x) defined.
 * A real transform of n numbers is a complex one of m = n/2 numbers, whose real part is the even
 * elements and whose imaginary part is the odd elements. Its frequencies k and m - k together give
 * two frequencies of the result. The complex transform is Stockham's (autosort): each stage reads
 * one array and writes another, so that nothing is reordered. A stage of radix r combines r numbers
 * that are len/r apart. */

typedef struct {
    REAL re, im;
} NAME(number);

typedef struct {
    int64_t n, m;
    NAME(number) * root; /* (n) roots of unity: root[k] = exp(-2 pi i k/n) */
} NAME(plan);

static inline NAME(number) NAME(times)(NAME(number) a, NAME(number) b)
{
    return (NAME(number)){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

/* Fourier transform of r = radix numbers: b_k = sum_j a_j w[j k mod r]. The array w holds the r
 * powers of exp(-+2 pi i/r). The radix is a compile-time constant after inlining. */
static inline __attribute__((always_inline)) void NAME(butterfly)(const int radix, REAL sign,
                                                                  const NAME(number) * w,
                                                                  const NAME(number) * a,
                                                                  NAME(number) * b)
{
    if (radix == 4) {
        NAME(number) s = {a[0].re + a[2].re, a[0].im + a[2].im};
        NAME(number) d = {a[0].re - a[2].re, a[0].im - a[2].im};
        NAME(number) t = {a[1].re + a[3].re, a[1].im + a[3].im};
        NAME(number)
        u = {sign * (a[1].im - a[3].im), sign * (a[3].re - a[1].re)}; /* u = -+i (a1 - a3) */
        b[0] = (NAME(number)){s.re + t.re, s.im + t.im};
        b[1] = (NAME(number)){d.re + u.re, d.im + u.im};
        b[2] = (NAME(number)){s.re - t.re, s.im - t.im};
        b[3] = (NAME(number)){d.re - u.re, d.im - u.im};
        return;
    }
    for (int k = 0; k < radix; k++) {
        b[k] = a[0];
        for (int j = 1; j < radix; j++) {
            NAME(number) v = NAME(times)(a[j], w[j * k % radix]);
            b[k].re += v.re, b[k].im += v.im;
        }
    }
}

/* One stage, for m/len interleaved sequences of length len: transforms radix numbers that are
 * len/radix apart, then multiplies them by root^(ik). */
static inline __attribute__((always_inline)) void NAME(stage)(const NAME(plan) * p, const int radix,
                                                              int64_t len, REAL sign,
                                                              const NAME(number) *restrict from,
                                                              NAME(number) *restrict to)
{
    int64_t s = p->m / len, part = len / radix, turn = p->n / len;
    NAME(number) w[5];
    for (int j = 0; j < radix; j++) {
        w[j] = p->root[j * (p->n / radix)];
        w[j].im *= sign;
    }
    for (int64_t i = 0; i < part; i++) {
        NAME(number) twist[5];
        for (int k = 1; k < radix; k++) {
            twist[k] = p->root[i * k * turn];
            twist[k].im *= sign;
        }
        const NAME(number) *in = from + s * i;
        NAME(number) *out = to + s * radix * i;
        for (int64_t q = 0; q < s; q++) {
            NAME(number) a[5], b[5];
            for (int j = 0; j < radix; j++) a[j] = in[q + s * part * j];
            NAME(butterfly)(radix, sign, w, a, b);
            out[q] = b[0];
            for (int k = 1; k < radix; k++) out[q + s * k] = NAME(times)(b[k], twist[k]);
        }
    }
}

/* Complex transform. The result is in one of the two arrays; returns that array. */
static NAME(number) *
    NAME(complex)(const NAME(plan) * p, REAL sign, NAME(number) * x, NAME(number) * other)
{
    for (int64_t len = p->m; len > 1;) {
        int radix = len % 4 == 0 ? 4 : len % 2 == 0 ? 2 : len % 3 == 0 ? 3 : 5;
        switch (radix) {
        case 2: NAME(stage)(p, 2, len, sign, x, other); break;
        case 3: NAME(stage)(p, 3, len, sign, x, other); break;
        case 4: NAME(stage)(p, 4, len, sign, x, other); break;
        default: NAME(stage)(p, 5, len, sign, x, other); break;
        }
        len /= radix;
        NAME(number) *swap = x;
        x = other, other = swap;
    }
    return x;
}

static void NAME(forth)(const NAME(plan) * p, NAME(number) * x, NAME(number) * other)
{
    NAME(number) *z = NAME(complex)(p, 1, x, other), *y = z == x ? other : x;
    int64_t m = p->m;
    for (int64_t k = 0; k <= m; k++) {
        NAME(number)
        a = z[k % m], b = z[(m - k) % m]; /* even = (a + conj b)/2, odd = (a - conj b)/2i */
        NAME(number) even = {(a.re + b.re) / 2, (a.im - b.im) / 2};
        NAME(number) odd = {(a.im + b.im) / 2, (b.re - a.re) / 2};
        odd = NAME(times)(odd, p->root[k]);
        y[k] = (NAME(number)){even.re + odd.re, even.im + odd.im};
    }
    if (y != x) memcpy(x, y, (size_t)(m + 1) * sizeof *x);
}

static void NAME(back)(const NAME(plan) * p, NAME(number) * x, NAME(number) * other)
{
    int64_t m = p->m;
    x[0].im = x[m].im = 0; /* imaginary parts of frequencies 0 and n/2 are 0 for real sequences */
    for (int64_t k = 0; k < m; k++) {
        NAME(number) a = x[k], b = x[m - k], root = p->root[k];
        NAME(number) even = {a.re + b.re, a.im - b.im}, odd = {a.re - b.re, a.im + b.im};
        root.im = -root.im;
        odd = NAME(times)(odd, root);
        other[k] = (NAME(number)){even.re - odd.im, even.im + odd.re};
    }
    NAME(number) *z = NAME(complex)(p, -1, other, x);
    if (z != x) memcpy(x, z, (size_t)m * sizeof *x);
}
