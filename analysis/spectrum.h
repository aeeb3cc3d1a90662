/* Spectra of kernels, of sets of kernels, and of matrices that may be convolutions. */
#ifndef LRA_ANALYSIS_SPECTRUM_H
#define LRA_ANALYSIS_SPECTRUM_H

#include <stdbool.h>
#include <stdint.h>

/* Of |FFT k|^2, summed over the rows of k (rows, n), each followed by zeros to a power of two from
 * 2 n on: its mean frequency, and that below which 95 % of it lie; cycles a step, 0 to 0.5. */
void lra_spectrum(int64_t rows, int64_t n, const double *k, double *centroid, double *band);

/* exp of the entropy of the singular values of a (rows, columns), each over their sum: how many
 * different rows there are (Roy and Vetterli 2007).  NAN: all are 0. */
double lra_effective_rank(int64_t rows, int64_t columns, const double *a);

/* Is x (T,T) a convolution?  With m(i-j) its mean on each diagonal,
 *   r2       = 1 - sum (x - m)^2 / sum (x - mean x)^2           independent noise: 2/(T+1)
 *   adjusted = 1 - (sum (x - m)^2/(T-1)^2) / (sum (x - mean x)^2/(T^2-1))      independent noise: 0
 *   off      = r2 without the main diagonal, which alone gives a high one */
typedef struct {
    double r2, adjusted, off;
} lra_toeplitz;
lra_toeplitz lra_toeplitz_share(int64_t T, const double *x);

#endif
