/* Cyclic Jacobi rotations: each makes one pair of elements 0, sweeps over all pairs converge
 * quadratically. */
#include "kernels/base/core/eigen.h"

#include <float.h>
#include <math.h>

enum { MAX_SWEEPS = 60 };

/* Columns p and q of m: (x_p, x_q) <- (c x_p - conj(s) x_q, s x_p + c x_q). */
static void rotate_columns(int64_t n, double complex *m, int64_t p, int64_t q, double c,
                           double complex s)
{
    for (int64_t i = 0; i < n; i++) {
        double complex x = m[i * n + p], y = m[i * n + q];
        m[i * n + p] = c * x - conj(s) * y;
        m[i * n + q] = s * x + c * y;
    }
}

/* Same for rows, with the conjugate rotation, so that A <- U* A U. */
static void rotate_rows(int64_t n, double complex *m, int64_t p, int64_t q, double c,
                        double complex s)
{
    for (int64_t i = 0; i < n; i++) {
        double complex x = m[p * n + i], y = m[q * n + i];
        m[p * n + i] = c * x - s * y;
        m[q * n + i] = conj(s) * x + c * y;
    }
}

/* tan of the angle that makes a_pq 0: the smaller root of t^2 + 2 t (a_qq - a_pp)/(2 |a_pq|) -
 * 1. */
static void make_zero(int64_t n, double complex *a, double complex *v, int64_t p, int64_t q)
{
    double complex off = a[p * n + q];
    double size = cabs(off), difference = creal(a[q * n + q]) - creal(a[p * n + p]);
    double theta = difference / (2 * size);
    double t = (theta < 0 ? -1 : 1) / (fabs(theta) + hypot(1, theta));
    double c = 1 / hypot(1, t);
    double complex s = t * c * off / size;
    rotate_columns(n, a, p, q, c, s);
    rotate_rows(n, a, p, q, c, s);
    rotate_columns(n, v, p, q, c, s);
    a[p * n + q] = a[q * n + p] = 0;
}

/* Ascending values, vectors with them; the first component that is not 0 real and positive. */
static void order(int64_t n, double *value, double complex *v)
{
    for (int64_t k = 0; k < n; k++) {
        int64_t least = k;
        for (int64_t j = k + 1; j < n; j++)
            if (value[j] < value[least]) least = j;
        double swap = value[k];
        value[k] = value[least], value[least] = swap;
        for (int64_t i = 0; i < n; i++) {
            double complex x = v[i * n + k];
            v[i * n + k] = v[i * n + least], v[i * n + least] = x;
        }
        int64_t first = 0;
        while (first + 1 < n && cabs(v[first * n + k]) < DBL_EPSILON) first++;
        double size = cabs(v[first * n + k]);
        double complex turn = size > 0 ? conj(v[first * n + k]) / size : 1;
        for (int64_t i = 0; i < n; i++) v[i * n + k] *= turn;
        v[first * n + k] = size;
    }
}

int lra_eigen_hermitian(int64_t n, double complex *a, double *value, double complex *v, lra_err *e)
{
    double total = 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = i; j < n; j++) {
            if (i == j) a[i * n + i] = creal(a[i * n + i]);
            a[j * n + i] = conj(a[i * n + j]);
            total += (i == j ? 1 : 2) * (creal(a[i * n + j]) * creal(a[i * n + j]) +
                                         cimag(a[i * n + j]) * cimag(a[i * n + j]));
        }
    if (!isfinite(total)) return lra_fail(e, "a matrix of %lld rows is not finite", (long long)n);
    for (int64_t i = 0; i < n * n; i++) v[i] = i / n == i % n;
    double small = DBL_EPSILON * DBL_EPSILON * total / ((double)n * (double)n + 1), off = INFINITY;
    for (int sweep = 0; sweep < MAX_SWEEPS && off > small; sweep++) {
        off = 0;
        for (int64_t p = 0; p < n; p++)
            for (int64_t q = p + 1; q < n; q++) {
                double complex x = a[p * n + q];
                double square = creal(x) * creal(x) + cimag(x) * cimag(x);
                off = fmax(off, square);
                if (square > small) make_zero(n, a, v, p, q);
            }
    }
    if (off > small)
        return lra_fail(e, "the eigenvalues of a matrix of %lld rows do not converge",
                        (long long)n);
    for (int64_t i = 0; i < n; i++) value[i] = creal(a[i * n + i]);
    order(n, value, v);
    return 0;
}
