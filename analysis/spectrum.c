/* Spectra of kernels, singular values, and convolution-like matrices. */
#include "analysis/spectrum.h"

#include <gsl/gsl_blas.h>
#include <gsl/gsl_eigen.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_fft_real.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/core/gsl.h"
#include "kernels/base/core/mem.h"

/* ---- frequencies ----------------------------------------------------------------------------- */

void lra_spectrum(int64_t rows, int64_t n, const double *k, double *centroid, double *band)
{
    int64_t size = 2;
    while (size < 2 * n) size *= 2;
    double *z = lra_alloc_array((size_t)size, sizeof *z);
    double *power = lra_alloc_array((size_t)size / 2 + 1, sizeof *power), sum = 0, first = 0,
           up = 0;
    for (int64_t r = 0; r < rows; r++) {
        memset(z, 0, (size_t)size * sizeof *z);
        for (int64_t i = 0; i < n; i++) z[i] = k[r * n + i];
        if (gsl_fft_real_radix2_transform(z, 1, (size_t)size) != GSL_SUCCESS)
            LRA_BUG("a transform of %lld points, expected a power of two", (long long)size);
        /* GSL stores the real part of frequency f at index f, its imaginary part at size - f. */
        power[0] += z[0] * z[0], power[size / 2] += z[size / 2] * z[size / 2];
        for (int64_t f = 1; f < size / 2; f++) power[f] += z[f] * z[f] + z[size - f] * z[size - f];
    }
    /* every other frequency also represents its mirror image */
    power[0] /= 2, power[size / 2] /= 2;
    for (int64_t f = 0; f <= size / 2; f++) sum += power[f], first += (double)f * power[f];
    *centroid = first / sum / (double)size;
    int64_t f = 0;
    for (; f < size / 2; f++)
        if ((up += power[f]) >= 0.95 * sum) break;
    *band = (double)f / (double)size;
    lra_free(power);
    lra_free(z);
}

/* ---- singular values ------------------------------------------------------------------------- */

/* Returns the entropy of the normalised square roots of n eigenvalues. */
static double entropy_of_roots(int64_t n, const double *value)
{
    double most = 0, sum = 0, entropy = 0;
    for (int64_t i = 0; i < n; i++) most = fmax(most, value[i]);
    double least = 1e-12 * most; /* smaller eigenvalues are rounding errors */
    for (int64_t i = 0; i < n; i++) sum += value[i] > least ? sqrt(value[i]) : 0;
    for (int64_t i = 0; i < n; i++) {
        double share = value[i] > least ? sqrt(value[i]) / sum : 0;
        if (share > 0) entropy -= share * log(share);
    }
    return sum > 0 ? entropy : NAN;
}

/* The singular values are the square roots of the eigenvalues of A A^T, or of A^T A if that is
 * smaller. A^T A is computed from the transposed matrix, because GSL multiplies rows faster than
 * columns. */
double lra_effective_rank(int64_t rows, int64_t columns, const double *a)
{
    size_t n = (size_t)(rows < columns ? rows : columns),
           m = (size_t)(rows < columns ? columns : rows);
    double *wide = lra_alloc_array(n * (m + n + 1), sizeof *wide), *gram = wide + n * m,
           *value = gram + n * n, trace = 0;
    gsl_matrix_const_view matrix = gsl_matrix_const_view_array(a, (size_t)rows, (size_t)columns);
    gsl_matrix_view turned = gsl_matrix_view_array(wide, n, m),
                    square = gsl_matrix_view_array(gram, n, n);
    gsl_vector_view values = gsl_vector_view_array(value, n);
    gsl_eigen_symm_workspace *w = lra_gsl_workspace(gsl_eigen_symm_alloc(n), "singular values");
    if (rows > columns) gsl_matrix_transpose_memcpy(&turned.matrix, &matrix.matrix);
    int status = gsl_blas_dsyrk(CblasLower, CblasNoTrans, 1,
                                rows > columns ? &turned.matrix : &matrix.matrix, 0,
                                &square.matrix);
    for (size_t i = 0; i < n; i++) trace += gram[i * n + i];
    /* with values that are not finite, GSL's iteration would not end */
    bool finite = status == GSL_SUCCESS && isfinite(trace);
    if (finite) status = gsl_eigen_symm(&square.matrix, &values.vector, w);
    gsl_eigen_symm_free(w);
    double entropy = finite && status == GSL_SUCCESS ? entropy_of_roots((int64_t)n, value) : NAN;
    lra_free(wide);
    return exp(entropy);
}

/* ---- matrices -------------------------------------------------------------------------------- */

/* Computes sums of squared deviations: out[0] from the mean of each diagonal, out[1] from the
 * overall mean. off: without the main diagonal. */
static void deviations(int64_t T, const double *x, bool off, double out[2])
{
    double *sum = lra_alloc_array(2 * (size_t)T, sizeof *sum), all = 0,
           n = (double)(off ? T * T - T : T * T);
    for (int64_t i = 0; i < T; i++)
        for (int64_t j = 0; j < T; j++)
            if (i != j || !off) sum[i - j + T] += x[i * T + j], all += x[i * T + j];
    out[0] = out[1] = 0;
    for (int64_t i = 0; i < T; i++)
        for (int64_t j = 0; j < T; j++) {
            if (i == j && off) continue;
            double v = x[i * T + j], m = sum[i - j + T] / (double)(T - llabs(i - j));
            out[0] += (v - m) * (v - m), out[1] += (v - all / n) * (v - all / n);
        }
    lra_free(sum);
}

lra_toeplitz lra_toeplitz_share(int64_t T, const double *x)
{
    double whole[2], off[2], n = (double)T;
    deviations(T, x, false, whole);
    deviations(T, x, true, off);
    return (lra_toeplitz){1 - whole[0] / whole[1],
                          1 - whole[0] / ((n - 1) * (n - 1)) / (whole[1] / (n * n - 1)),
                          1 - off[0] / off[1]};
}
