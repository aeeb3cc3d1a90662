/* Distributions, quantiles and errors of GSL: published values, closed forms, infinite
 * arguments. */
#include "tests/fixtures/test.h"

#include <gsl/gsl_errno.h>
#include <math.h>
#include <string.h>

#include "analysis/decay.h"
#include "analysis/distributions.h"
#include "analysis/quantile.h"
#include "analysis/spectrum.h"
#include "kernels/base/core/gsl.h"

#define PI 3.14159265358979323846

static void expect(double got, double want, double tolerance, const char *what, double a, double b)
{
    if (!(fabs(got - want) <= tolerance * fmax(fabs(want), 1e-300)) && got != want)
        fail_msg("%s(%g, %g) is %.17g, expected %.17g", what, a, b, got, want);
}

TEST(published_values)
{
    expect(lra_normal_quantile(0.975), 1.959963984540054, 1e-14, "normal", 0.975, 0);
    expect(lra_t_quantile(1, 0.975), 12.706204736174698, 1e-12, "t", 1, 0.975);
    expect(lra_t_quantile(2, 0.975), 4.302652729749462, 1e-12, "t", 2, 0.975);
    expect(lra_t_quantile(4, 0.975), 2.7764451051977987, 1e-12, "t", 4, 0.975);
    expect(lra_t_quantile(30, 0.05), -1.6972608865939574, 1e-12, "t", 30, 0.05);
    expect(lra_binomial_cdf(2, 0.5, 5), 0.5, 1e-14, "binomial", 2, 5);
    expect(lra_binomial_cdf(0, 0.5, 10), 1.0 / 1024, 1e-13, "binomial", 0, 10);
    /* the quantiles of Student's t have closed forms for one and two degrees of freedom */
    for (double p = 1e-3; p < 0.5; p *= 1.7) {
        expect(lra_t_quantile(1, p), -1 / tan(PI * p), 1e-9, "t", 1, p);
        expect(lra_t_quantile(2, p), (2 * p - 1) / sqrt(2 * p * (1 - p)), 1e-9, "t", 2, p);
    }
    assert_true(lra_binomial_cdf(7, 0.3, 7) == 1);
}

/* Arguments outside of the domain give NaN and do not end the program. */
TEST(errors_are_values)
{
    lra_err e = {{0}};
    lra_gsl_start();
    assert_true(isnan(lra_t_quantile(3, 1.5)) && isnan(lra_normal_quantile(-1)));
    assert_int_equal(lra_gsl_check(GSL_SUCCESS, "a fit", &e), 0);
    assert_int_equal(lra_gsl_check(GSL_EDOM, "a fit", &e), LRA_FAILED);
    assert_string_equal(e.msg, "a fit: input domain error");
}

TEST(quantiles)
{
    double x[] = {7, 1, 4, INFINITY, 4};
    lra_sort(5, x);
    assert_true(x[0] == 1 && x[1] == 4 && x[2] == 4 && x[3] == 7 && isinf(x[4]));
    assert_true(lra_quantile(5, x, 0) == 1 && lra_quantile(5, x, 0.5) == 4);
    expect(lra_quantile(5, x, 0.125), 2.5, 1e-15, "quantile", 0.125, 0);
    /* linear interpolation would compute 0 * infinity = NaN */
    assert_true(lra_quantile(5, x, 0.75) == 7);
    assert_true(isinf(lra_quantile(5, x, 0.76)) && isinf(lra_quantile(5, x, 1)));
    assert_true(lra_quantile(1, x, 0.3) == 1);
    const double equal[] = {0.1, 0.1, 0.1};
    for (double q = 0; q <= 1; q += 0.01) assert_true(lra_quantile(3, equal, q) == 0.1);
}

/* A matrix that is 0 or has entries that are not finite has no effective rank. The iteration of GSL
 * would never end for it. */
TEST(ranks)
{
    double a[12] = {0};
    assert_true(isnan(lra_effective_rank(3, 4, a)));
    for (int i = 0; i < 3; i++) a[i * 4 + i] = -2;
    expect(lra_effective_rank(3, 4, a), 3, 1e-14, "rank", 3, 4);
    expect(lra_effective_rank(4, 3, (double[12]){1, 2, 3, 2, 4, 6, 3, 6, 9, 0, 0, 0}), 1, 1e-9,
           "rank", 4, 3);
    a[5] = NAN;
    assert_true(isnan(lra_effective_rank(3, 4, a)));
}

/* Weighted least squares: exact decay laws, and the effect of weights. */
TEST(decays)
{
    double d[8], y[8], w[8];
    for (int i = 0; i < 8; i++) d[i] = i + 1, y[i] = 3 * exp(-d[i] / 5), w[i] = i + 0.5;
    lra_decay f = lra_decay_fit(8, d, y, w);
    expect(f.tau, 5, 1e-12, "tau", 5, 0);
    expect(exp(f.level_exp), 3, 1e-12, "level", 3, 0);
    expect(f.r2_exp, 1, 1e-12, "R2", 1, 0);
    assert_int_equal(f.kind, LRA_DECAY_EXP);
    for (int i = 0; i < 8; i++) y[i] = 2 / d[i];
    f = lra_decay_fit(8, d, y, w);
    expect(f.beta, 1, 1e-12, "beta", 1, 0);
    assert_int_equal(f.kind, LRA_DECAY_POWER);
    /* of three points the last has almost no weight: the fit is the line through the others */
    const double at[] = {1, 2, 3}, to[] = {1, exp(-1), 1}, heavy[] = {1, 1, 1e-12};
    expect(lra_decay_fit(3, at, to, heavy).tau, 1, 1e-9, "tau", 1, 0);
    for (int i = 0; i < 8; i++) y[i] = 1;
    f = lra_decay_fit(8, d, y, w);
    assert_true(isinf(f.tau) && f.kind == LRA_DECAY_NONE && f.r2_exp == 0);
}
