/* Complex Fourier transforms by one thread block in shared memory, in place: decimation in
 * frequency for the transform, decimation in time for the inverse (Cooley & Tukey 1965, Gentleman &
 * Sande 1966). The transform leaves the frequencies in bit-reversed order, which the inverse
 * expects, so that nothing is reordered. Stages have radix 16 and 8, in registers.
 *   X_k = sum_t x_t exp(-2 pi i k t/n), inverse without 1/n; n from 1024 to 8192, a power of two */
#ifndef LRA_OPS_LONGCONV_FFT_CUDA_H
#define LRA_OPS_LONGCONV_FFT_CUDA_H

#include "kernels/ops/cuda_common.h"

enum { LF_OWN = 16 }; /* complex numbers per thread */

typedef struct {
    float re, im;
} lf_complex;

/* ---- transforms of R numbers in registers ---------------------------------------------------- */

LRA_DEV lf_complex lf_times(lf_complex a, lf_complex b)
{
    return lf_complex{a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

/* Returns v exp(-2 pi i k/16), or v exp(+2 pi i k/16) with `back`; 0 <= k < 8. k is a compile-time
 * constant. */
LRA_DEV lf_complex lf_turn(lf_complex v, int k, bool back)
{
    const float cosine[8] = {1, 0.92387953f,  0.70710678f,  0.38268343f,
                             0, -0.38268343f, -0.70710678f, -0.92387953f};
    const float sine[8] = {0, 0.38268343f, 0.70710678f, 0.92387953f,
                           1, 0.92387953f, 0.70710678f, 0.38268343f};
    float s = back ? -sine[k] : sine[k];
    if (k == 0) return v;
    if (k == 4) return back ? lf_complex{-v.im, v.re} : lf_complex{v.im, -v.re};
    return lf_complex{v.re * cosine[k] + v.im * s, v.im * cosine[k] - v.re * s};
}

/* log2 R, the number of stages of radix 2 */
#define LF_BITS(R) ((R) == 16 ? 4 : 3)

/* Transform of R numbers. Its frequencies are in bit-reversed order. */
template <int R> LRA_DEV void lf_forth(lf_complex v[R])
{
    LRA_UNROLL for (int bit = LF_BITS(R) - 1; bit >= 0; bit--)
        LRA_UNROLL for (int n = 0; n < R / 2; n++)
    {
        int half = 1 << bit, i = n & (half - 1), at = 2 * n - i;
        lf_complex a = v[at], b = v[at + half];
        v[at] = lf_complex{a.re + b.re, a.im + b.im};
        v[at + half] = lf_turn(lf_complex{a.re - b.re, a.im - b.im}, 8 * i >> bit, false);
    }
}

/* Inverse transform of R numbers, from bit-reversed order, without the factor 1/R. */
template <int R> LRA_DEV void lf_back(lf_complex v[R])
{
    LRA_UNROLL for (int bit = 0; bit < LF_BITS(R); bit++) LRA_UNROLL for (int n = 0; n < R / 2; n++)
    {
        int half = 1 << bit, i = n & (half - 1), at = 2 * n - i;
        lf_complex a = v[at], b = lf_turn(v[at + half], 8 * i >> bit, true);
        v[at] = lf_complex{a.re + b.re, a.im + b.im};
        v[at + half] = lf_complex{a.re - b.re, a.im - b.im};
    }
}

/* Multiplies number i, whose frequency is k = bit-reversed i, by root^k. This is done bit by bit to
 * save registers. */
template <int R> LRA_DEV void lf_twist(lf_complex v[R], lf_complex root)
{
    LRA_UNROLL for (int bit = LF_BITS(R) - 1; bit >= 0; bit--)
    {
        LRA_UNROLL for (int i = 0; i < R; i++) if (i >> bit & 1) v[i] = lf_times(v[i], root);
        root = lf_times(root, root);
    }
}

/* ---- transforms of n numbers in shared memory ------------------------------------------------ */

/* The numbers of a transform in shared memory, used by a block of n / LF_OWN threads. re and im are
 * separate arrays with a gap after every 32 numbers. */
typedef struct {
    int n;
    float *re, *im;
    const lf_complex *root; /* (n) roots of unity: exp(-2 pi i k/n) */
} lf_space;

static inline size_t lf_shared(int64_t n)
{
    return (size_t)(n + n / 32) * 2 * sizeof(float);
}
LRA_DEV lf_space lf_open(int64_t n, float *shared, const lf_complex *root)
{
    return lf_space{(int)n, shared, shared + n + n / 32, root};
}
LRA_DEV void lf_put(const lf_space *s, int i, lf_complex v)
{
    s->re[i + i / 32] = v.re, s->im[i + i / 32] = v.im;
}
LRA_DEV lf_complex lf_get(const lf_space *s, int i)
{
    return lf_complex{s->re[i + i / 32], s->im[i + i / 32]};
}

/* Two rows of T numbers, which are the real and the imaginary part of a sequence. Nullable: b,
 * whose numbers are then zero. */
typedef struct {
    int64_t T;
    elem *a, *b;
} lf_rows;

LRA_DEV lf_complex lf_read(const lf_rows *r, int t)
{
    if (t >= r->T) return lf_complex{0, 0};
    return lf_complex{e_load(r->a[t]), r->b ? e_load(r->b[t]) : R(0.0)};
}
LRA_DEV void lf_write(const lf_rows *r, int t, lf_complex v)
{
    if (t >= r->T) return;
    r->a[t] = e_store(v.re);
    if (r->b) r->b[t] = e_store(v.im);
}

/* One stage: transforms of N numbers that are `step` apart. EDGE: the first stage, which reads from
 * rows, or with BACK the last stage of the inverse, which writes to rows. */
template <int N, bool BACK, bool EDGE>
LRA_DEV void lf_stage(const lf_space *s, int step, const lf_rows *rows)
{
    __syncthreads();
    for (int g = threadIdx.x; g < s->n / N; g += blockDim.x) {
        int j = g & (step - 1), first = (g - j) * N + j;
        lf_complex v[N], root = s->root[j * (s->n / (N * step))];
        LRA_UNROLL for (int i = 0; i < N; i++)
            v[i] = EDGE && !BACK ? lf_read(rows, first + i * step) : lf_get(s, first + i * step);
        if (BACK) {
            root.im = -root.im;
            lf_twist<N>(v, root);
            lf_back<N>(v);
        } else {
            lf_forth<N>(v);
            lf_twist<N>(v, root);
        }
        LRA_UNROLL for (int i = 0; i < N; i++) if (EDGE && BACK)
            lf_write(rows, first + i * step, v[i]);
        else lf_put(s, first + i * step, v[i]);
    }
}
template <bool BACK>
LRA_DEV void lf_any_stage(const lf_space *s, bool sixteen, int step, const lf_rows *rows)
{
    if (sixteen && rows)
        lf_stage<16, BACK, true>(s, step, rows);
    else if (sixteen)
        lf_stage<16, BACK, false>(s, step, rows);
    else if (rows)
        lf_stage<8, BACK, true>(s, step, rows);
    else
        lf_stage<8, BACK, false>(s, step, rows);
}

/* Number of stages of radix 16, not counting the last stage (radix 16 on adjacent numbers). The
 * remaining stages have radix 8. */
LRA_DEV int lf_sixteens(int n)
{
    int bits = 0;
    while (LF_OWN << bits < n) bits++;
    return bits - 3 * ((bits + 3) / 4);
}
/* All stages of the transform but the last. The first stage reads from rows or, if rows is NULL,
 * from shared memory. The result stays in shared memory. */
LRA_DEV void lf_forth_but_last(const lf_space *s, const lf_rows *rows)
{
    int sixteens = lf_sixteens(s->n);
    for (int size = s->n; size > LF_OWN; sixteens--, rows = NULL) {
        size /= sixteens > 0 ? 16 : 8;
        lf_any_stage<false>(s, sixteens > 0, size, rows);
    }
    __syncthreads();
}
LRA_DEV void lf_back_but_last(const lf_space *s, const lf_rows *rows)
{
    int eights = s->n >> 4 * lf_sixteens(s->n); /* up to this size the stages have radix 8 */
    for (int size = LF_OWN; size < s->n;) {
        int step = size;
        size *= step < eights ? 8 : 16;
        lf_any_stage<true>(s, step >= eights, step, size == s->n ? rows : NULL);
    }
    __syncthreads();
}

/* Last stage of the transform, on the 16 adjacent numbers of each thread. */
LRA_DEV void lf_take(const lf_space *s, lf_complex v[LF_OWN])
{
    LRA_UNROLL for (int i = 0; i < LF_OWN; i++) v[i] = lf_get(s, threadIdx.x * LF_OWN + i);
    lf_forth<LF_OWN>(v);
}
LRA_DEV void lf_give(const lf_space *s, lf_complex v[LF_OWN])
{
    lf_back<LF_OWN>(v);
    LRA_UNROLL for (int i = 0; i < LF_OWN; i++) lf_put(s, threadIdx.x * LF_OWN + i, v[i]);
}

#endif
