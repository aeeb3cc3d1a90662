/* Hermitian eigenvalues by GSL: Householder reflections to tridiagonal form, then implicit QR
 * steps. */
#include "kernels/base/core/eigen.h"

#include <float.h>
#include <gsl/gsl_eigen.h>
#include <math.h>

#include "kernels/base/core/gsl.h"

/* Normalises the phase of each vector: its first component that is not 0 becomes real and
 * positive. */
static void turn_vectors(int64_t n, double complex *v)
{
    for (int64_t k = 0; k < n; k++) {
        int64_t first = 0;
        while (first + 1 < n && cabs(v[first * n + k]) < DBL_EPSILON) first++;
        double size = cabs(v[first * n + k]);
        double complex turn = size > 0 ? conj(v[first * n + k]) / size : 1;
        for (int64_t i = 0; i < n; i++) v[i * n + k] *= turn;
        v[first * n + k] = size;
    }
}

/* Completes a from its upper triangle. Returns the sum of absolute values. */
static double mirror(int64_t n, double complex *a)
{
    double total = 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = i; j < n; j++) {
            if (i == j) a[i * n + i] = creal(a[i * n + i]);
            a[j * n + i] = conj(a[i * n + j]);
            total += cabs(a[i * n + j]);
        }
    return total;
}

int lra_eigen_hermitian(int64_t n, double complex *a, double *value, double complex *v, lra_err *e)
{
    if (!isfinite(mirror(n, a))) /* GSL would iterate for ever */
        return lra_fail(e, "a matrix of %lld rows is not finite", (long long)n);
    size_t N = (size_t)n;
    gsl_eigen_hermv_workspace *w = lra_gsl_workspace(gsl_eigen_hermv_alloc(N), "eigenvalues");
    gsl_matrix_complex_view matrix = gsl_matrix_complex_view_array((double *)a, N, N),
                            vectors = gsl_matrix_complex_view_array((double *)v, N, N);
    gsl_vector_view values = gsl_vector_view_array(value, N);
    int status = gsl_eigen_hermv(&matrix.matrix, &values.vector, &vectors.matrix, w);
    if (status == 0)
        status = gsl_eigen_hermv_sort(&values.vector, &vectors.matrix, GSL_EIGEN_SORT_VAL_ASC);
    gsl_eigen_hermv_free(w);
    if (lra_gsl_check(status, "eigenvalues", e) != 0) return LRA_FAILED;
    turn_vectors(n, v);
    return 0;
}
