/* Eigenvalues and eigenvectors of Hermitian matrices, in double, by GSL. For small matrices on the
 * host, before training. Errors are about 1e-14 of the largest eigenvalue. */
#ifndef LRA_BASE_CORE_EIGEN_H
#define LRA_BASE_CORE_EIGEN_H

#include <complex.h>
#include <stdint.h>

#include "kernels/base/core/err.h"

/* A = V diag(value) V*.  a: (n,n), row-major, overwritten; value: (n), ascending; v: (n,n), v[i n +
 * k] is component i of eigenvector k, which has length 1; its first component that is not 0 is real
 * and positive. Only the upper triangle of a is read, and the real part of its diagonal. Fails if a
 * value is not finite. */
int lra_eigen_hermitian(int64_t n, double complex *a, double *value, double complex *v, lra_err *e);

#endif
