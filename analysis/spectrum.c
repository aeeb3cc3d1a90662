/* Spectra. */
#include "analysis/spectrum.h"

#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/core/mem.h"

/* ---- frequencies ----------------------------------------------------------------------------- */

/* In place, n a power of two (Cooley and Tukey): double precision, a few thousand points. */
static void transform(int64_t n, double complex *z)
{
    for (int64_t i = 1, j = 0; i < n; i++) {
        int64_t bit = n >> 1;
        for (; j & bit; bit >>= 1) j ^= bit;
        j ^= bit;
        if (i >= j) continue;
        double complex swap = z[i];
        z[i] = z[j], z[j] = swap;
    }
    for (int64_t size = 2; size <= n; size *= 2) {
        double complex turn = cexp(-2 * acos(-1) / (double)size * I);
        for (int64_t from = 0; from < n; from += size) {
            double complex at = 1;
            for (int64_t k = from; k < from + size / 2; k++, at *= turn) {
                double complex odd = at * z[k + size / 2];
                z[k + size / 2] = z[k] - odd;
                z[k] += odd;
            }
        }
    }
}

void lra_spectrum(int64_t rows, int64_t n, const double *k, double *centroid, double *band)
{
    int64_t size = 2;
    while (size < 2 * n) size *= 2;
    double complex *z = lra_alloc_array((size_t)size, sizeof *z);
    double *power = lra_alloc_array((size_t)size / 2 + 1, sizeof *power), sum = 0, first = 0,
           up = 0;
    for (int64_t r = 0; r < rows; r++) {
        memset(z, 0, (size_t)size * sizeof *z);
        for (int64_t i = 0; i < n; i++) z[i] = k[r * n + i];
        transform(size, z);
        for (int64_t f = 0; f <= size / 2; f++) power[f] += creal(z[f] * conj(z[f]));
    }
    power[0] /= 2, power[size / 2] /= 2; /* the others represent a frequency and its mirror image */
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

/* Reduces a symmetric (n,n) matrix to tridiagonal form by Householder reflections: diagonal and
 * subdiagonal (`beside`). */
static void tridiagonal(int64_t n, double *a, double *diagonal, double *beside)
{
    double *p = lra_alloc_array((size_t)n, sizeof *p);
    for (int64_t i = n - 1; i > 0; i--) { /* row i: everything left of its neighbour becomes 0 */
        double *v = a + i * n, norm = 0, dot = 0;
        for (int64_t k = 0; k < i; k++) norm += v[k] * v[k];
        diagonal[i] = v[i];
        double side = v[i - 1] > 0 ? -sqrt(norm) : sqrt(norm);
        beside[i] = side;
        v[i - 1] -= side;
        double half = (norm - side * (v[i - 1] + side)); /* v.v / 2 */
        if (half <= 0) continue;
        for (int64_t r = 0; r < i; r++) {
            p[r] = 0;
            for (int64_t k = 0; k < i; k++) p[r] += (r >= k ? a[r * n + k] : a[k * n + r]) * v[k];
            p[r] /= half;
            dot += p[r] * v[r];
        }
        for (int64_t r = 0; r < i; r++) p[r] -= dot / (2 * half) * v[r];
        for (int64_t r = 0; r < i; r++)
            for (int64_t k = 0; k <= r; k++) a[r * n + k] -= v[r] * p[k] + p[r] * v[k];
    }
    diagonal[0] = a[0], beside[0] = 0;
    lra_free(p);
}

/* Number of eigenvalues of the tridiagonal matrix below x (Sturm sequence). */
static int64_t below(int64_t n, const double *diagonal, const double *beside, double x)
{
    int64_t count = 0;
    double q = 1;
    for (int64_t i = 0; i < n; i++) {
        q = diagonal[i] - x - (i ? beside[i] * beside[i] / q : 0);
        if (q == 0) q = 1e-300;
        count += q < 0;
    }
    return count;
}

/* Entropy of the square roots of the eigenvalues, each found by bisection. */
static double entropy_of_roots(int64_t n, const double *diagonal, const double *beside)
{
    double most = 0, sum = 0, *root = lra_alloc_array((size_t)n, sizeof *root), entropy = 0;
    for (int64_t i = 0; i < n; i++)
        most = fmax(most,
                    fabs(diagonal[i]) + fabs(beside[i]) + (i + 1 < n ? fabs(beside[i + 1]) : 0));
    for (int64_t i = 0; i < n; i++) {
        double low = 0, high = most;
        for (int step = 0; step < 52 && high - low > 1e-13 * most; step++) {
            double middle = (low + high) / 2;
            if (below(n, diagonal, beside, middle) > i)
                high = middle;
            else
                low = middle;
        }
        root[i] = low > 1e-12 * most ? sqrt(high) : 0; /* below that: rounding */
        sum += root[i];
    }
    for (int64_t i = 0; i < n; i++)
        if (root[i] > 0) entropy -= root[i] / sum * log(root[i] / sum);
    lra_free(root);
    return sum > 0 ? entropy : NAN;
}

double lra_effective_rank(int64_t rows, int64_t columns, const double *a)
{
    int64_t n = rows < columns ? rows : columns;
    double *gram = lra_alloc_array((size_t)(n * (n + 2)), sizeof *gram), *diagonal = gram + n * n;
    if (rows <= columns) {
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j <= i; j++)
                for (int64_t k = 0; k < columns; k++)
                    gram[i * n + j] += a[i * columns + k] * a[j * columns + k];
    } else {
        for (int64_t k = 0; k < rows; k++)
            for (int64_t i = 0; i < n; i++)
                for (int64_t j = 0; j <= i; j++)
                    gram[i * n + j] += a[k * columns + i] * a[k * columns + j];
    }
    tridiagonal(n, gram, diagonal, diagonal + n);
    double entropy = entropy_of_roots(n, diagonal, diagonal + n);
    lra_free(gram);
    return exp(entropy);
}

/* ---- matrices -------------------------------------------------------------------------------- */

/* Sums of squared deviations from the mean of each diagonal and from the overall mean; off: without
 * the main diagonal. */
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
