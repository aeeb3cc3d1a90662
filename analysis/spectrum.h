/* Spectra of kernels, effective ranks of sets of kernels, and matrices that may be convolutions. */
#ifndef LRA_ANALYSIS_SPECTRUM_H
#define LRA_ANALYSIS_SPECTRUM_H

#include <stdbool.h>
#include <stdint.h>

/* Computes the power spectrum |FFT k|^2, summed over the rows of k (rows, n), which are zero-padded
 * to the next power of two that is at least 2 n. centroid: mean frequency; band: frequency below
 * which 95 % of the power lies; both in cycles per token, 0 to 0.5. */
void lra_spectrum(int64_t rows, int64_t n, const double *k, double *centroid, double *band);

/* Returns the effective rank of a (rows, columns): exp of the entropy of its normalised singular
 * values (Roy and Vetterli 2007). NAN: all are 0, or one is not finite. */
double lra_effective_rank(int64_t rows, int64_t columns, const double *a);

/* Measures whether x (T,T) is a convolution (Toeplitz matrix).  With m(i-j), the mean of x on each
 * diagonal,
 *   r2       = 1 - sum (x - m)^2 / sum (x - mean x)^2           independent noise: 2/(T+1)
 *   adjusted = 1 - (sum (x - m)^2/(T-1)^2) / (sum (x - mean x)^2/(T^2-1))      independent noise: 0
 *   off      = r2 without the main diagonal, which alone can make r2 large */
typedef struct {
    double r2, adjusted, off;
} lra_toeplitz;
lra_toeplitz lra_toeplitz_share(int64_t T, const double *x);

#endif
