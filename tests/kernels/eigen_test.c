/* Hermitian eigenvalues: known values, A V = V diag, unit vectors, their phase; the skew part of
 * HiPPO-LegS. */
#include "tests/fixtures/test.h"

#include <complex.h>
#include <math.h>
#include <stdlib.h>

#include "kernels/base/core/eigen.h"
#include "kernels/base/core/philox.h"

enum { MAX_N = 64 };
static double complex a[MAX_N * MAX_N], whole[MAX_N * MAX_N], v[MAX_N * MAX_N];
static double value[MAX_N];

/* Solves `whole`; checks that A V = V diag(value) and V* V = 1 within `tolerance` times the largest
 * eigenvalue. */
static void solve(int n, double tolerance)
{
    lra_err e = {{0}};
    for (int i = 0; i < n * n; i++) a[i] = whole[i];
    OK(lra_eigen_hermitian(n, a, value, v, &e));
    double largest = fmax(1e-300, fmax(fabs(value[0]), fabs(value[n - 1])));
    for (int k = 0; k < n; k++) {
        if (k) assert_true(value[k] >= value[k - 1]);
        for (int i = 0; i < n; i++) {
            double complex s = 0, dot = 0;
            for (int j = 0; j < n; j++) s += whole[i * n + j] * v[j * n + k];
            for (int j = 0; j < n; j++) dot += conj(v[j * n + i]) * v[j * n + k];
            if (!(cabs(s - value[k] * v[i * n + k]) <= tolerance * largest))
                fail_msg("A v differs from the vector of value %d of %d by %g of %g", k, n,
                         cabs(s - value[k] * v[i * n + k]), largest);
            assert_true(cabs(dot - (i == k)) <= tolerance);
        }
        if (cabs(v[k]) > 1e-12) assert_true(cimag(v[k]) == 0 && creal(v[k]) > 0);
    }
}

TEST(known_values)
{
    const double complex two[] = {2, I, -I, 2}; /* its eigenvalues are 1 and 3 */
    for (int i = 0; i < 4; i++) whole[i] = two[i];
    solve(2, 1e-15);
    assert_true(fabs(value[0] - 1) < 1e-15 && fabs(value[1] - 3) < 1e-15);
    /* adjacency matrix of a chain: eigenvalues 2 cos(pi k / (n + 1)) */
    enum { N = 20 };
    for (int i = 0; i < N * N; i++) whole[i] = abs(i / N - i % N) == 1;
    solve(N, 1e-14);
    for (int k = 0; k < N; k++)
        assert_true(fabs(value[k] + 2 * cos(3.14159265358979323846 * (k + 1) / (N + 1))) < 1e-14);
    whole[0] = 7;
    solve(1, 0);
    assert_true(value[0] == 7 && v[0] == 1);
    for (int i = 0; i < 9; i++) whole[i] = 0;
    solve(3, 0);
    /* a multiple of the unit matrix: equal eigenvalues */
    for (int i = 0; i < 9; i++) whole[i] = i / 3 == i % 3 ? 5 : 0;
    solve(3, 0);
}

TEST(random_ones)
{
    lra_rng r = lra_rng_new(3, 1, 0);
    for (int n = 2; n <= MAX_N; n += 31)
        for (int i = 0; i < n; i++)
            for (int j = i; j < n; j++) {
                double complex z = lra_rng_u01(&r) - 0.5 + I * (i == j ? 0 : lra_rng_u01(&r) - 0.5);
                whole[i * n + j] = z, whole[j * n + i] = conj(z);
                if (i == n - 1) solve(n, 1e-13);
            }
}

/* -i times the skew part of HiPPO-LegS: eigenvalues are pairs +-mu, and the eigenvector of -mu is
 * the conjugate. */
TEST(hippo)
{
    enum { N = 64 };
    for (int n = 0; n < N; n++)
        for (int k = 0; k < N; k++) {
            double p = sqrt((n + 0.5) * (k + 0.5));
            whole[n * N + k] = n == k ? 0 : -I * (n > k ? -p : p);
        }
    solve(N, 1e-13);
    for (int k = 0; k < N / 2; k++) {
        assert_true(fabs(value[k] + value[N - 1 - k]) < 1e-12 * value[N - 1]);
        for (int i = 0; i < N; i++)
            assert_true(cabs(v[i * N + k] - conj(v[i * N + N - 1 - k])) < 1e-10);
    }
}

TEST(what_is_not_finite)
{
    lra_err e = {{0}};
    for (int i = 0; i < 4; i++) a[i] = i == 1 ? NAN : 1;
    assert_true(lra_eigen_hermitian(2, a, value, v, &e) != 0);
    assert_string_equal(e.msg, "a matrix of 2 rows is not finite");
}
