/* Real Fourier transforms of our own, with the layout of fft.h, for builds without FFTW (-DLRA_GPL=OFF).
 *   n reals -> n/2 + 1 complex numbers, X_k = sum_t x_t exp(-2 pi i k t/n), and back without 1/n
 * n: an even product of 2, 3 and 5.  Known: within 4e-7 of FFTW in float32, 1e-15 in float64, relative to the
 * largest output (tests/fft_test.c), at a quarter to a sixth of its speed. */
#ifndef LRA_CPU_FFT_BUILTIN_H
#define LRA_CPU_FFT_BUILTIN_H

#include <stdint.h>

void lra_own_fft_f32(int64_t n, float *x);
void lra_own_fft_back_f32(int64_t n, float *x);
void lra_own_fft_f64(int64_t n, double *x);
void lra_own_fft_back_f64(int64_t n, double *x);

#endif
