/* Real Fourier transforms on a GPU, by cuFFT, which is loaded at its first use. Rows are
 * transformed in place,
 *   n reals -> n/2 + 1 complex numbers (re, im), X_k = sum_t x_t exp(-2 pi i k t/n), and back
 *   without 1/n.
 * A cuFFT plan, with its memory, is created at the first use of a size and cached. */
#ifndef LRA_CUDA_FFT_H
#define LRA_CUDA_FFT_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* n_rows transforms of n (even) reals. Rows are `row` floats apart; `row` is even and at least n +
 * 2. Errors are reported by the device later. */
void lra_cuda_fft(int64_t n, int64_t row, int64_t n_rows, float *x, bool back, void *stream);

#ifdef __cplusplus
}
#endif
#endif
