/* Real Fourier transforms on one thread, in place:
 *   n reals -> n/2 + 1 complex numbers (re, im), X_k = sum_t x_t exp(-2 pi i k t/n), and back
 *   without 1/n.
 * n: an even product of 2, 3 and 5. Rows are lra_fft_row(n) elements apart. These functions serve
 * tables and tests. Long convolutions, where speed matters, have transforms in vectors of the
 * instruction level (kernels/ops/longconv/fft_lanes_template.h). */
#ifndef LRA_CPU_FFT_H
#define LRA_CPU_FFT_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The smallest even product of 2, 3 and 5 that is at least n. */
int64_t lra_fft_size(int64_t n);
/* Number of elements from one row to the next. */
int64_t lra_fft_row(int64_t n);

/* Roots of unity for radix 8: for i < n/8 the powers 2, 4, 6, 1, 3, 5 and 7 of exp(-2 pi i/n)^i,
 * (re, im), FFT_ROOTS reals each. n: a power of two, at least 8. */
enum { FFT_ROOTS = 14 };
const float *lra_fft_roots_f32(int64_t n);
const double *lra_fft_roots_f64(int64_t n);

void lra_fft_f32(int64_t n, float *x);
void lra_fft_back_f32(int64_t n, float *x);
void lra_fft_f64(int64_t n, double *x);
void lra_fft_back_f64(int64_t n, double *x);

#ifdef __cplusplus
}
#endif

#endif
