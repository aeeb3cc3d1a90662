/* Distributions of our own against published values, and against those of distributions.h (GSL,
 * where it is linked). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "analysis/distributions.h"
#include "analysis/distributions_builtin.h"

#define PI 3.14159265358979323846

static void expect(double got, double want, double tolerance, const char *what, double a, double b)
{
    if (!(fabs(got - want) <= tolerance * fmax(fabs(want), 1e-300)) && got != want)
        fail_msg("%s(%g, %g) is %.17g, expected %.17g", what, a, b, got, want);
}

static void published_values(void **state)
{
    (void)state;
    expect(lra_own_normal_quantile(0.975), 1.959963984540054, 1e-14, "normal", 0.975, 0);
    expect(lra_own_t_quantile(1, 0.975), 12.706204736174698, 1e-13, "t", 1, 0.975);
    expect(lra_own_t_quantile(2, 0.975), 4.302652729749462, 1e-13, "t", 2, 0.975);
    expect(lra_own_t_quantile(4, 0.975), 2.7764451051977987, 1e-13, "t", 4, 0.975);
    expect(lra_own_t_quantile(30, 0.05), -1.6972608865939574, 1e-13, "t", 30, 0.05);
    expect(lra_own_binomial_cdf(2, 0.5, 5), 0.5, 1e-14, "binomial", 2, 5);
    expect(lra_own_binomial_cdf(0, 0.5, 10), 1.0 / 1024, 1e-13, "binomial", 0, 10);
    for (double p = 1e-15; p < 0.5; p *= 7) { /* closed forms of one and two degrees of freedom */
        expect(lra_own_t_quantile(1, p), -1 / tan(PI * p), 1e-12, "t", 1, p);
        expect(lra_own_t_quantile(2, p), (2 * p - 1) / sqrt(2 * p * (1 - p)), 1e-12, "t", 2, p);
    }
    assert_true(lra_own_normal_quantile(0.5) == 0 && lra_own_t_quantile(3, 0.5) == 0);
    assert_true(lra_own_binomial_cdf(7, 0.3, 7) == 1);
    assert_true(isinf(lra_own_normal_quantile(1)) && isnan(lra_own_t_quantile(3, 1.5)));
}

static void equal_the_library(void **state)
{
    (void)state;
    static const double p[] = {1e-12, 1e-6, 1e-3,  0.025,  0.2,     0.4,
                               0.7,   0.95, 0.975, 0.9999, 1 - 1e-9};
    static const double df[] = {1, 1.3, 2, 2.7, 4, 11, 37.5, 400, 1e5};
    for (int i = 0; i < (int)(sizeof p / sizeof *p); i++) {
        expect(lra_own_normal_quantile(p[i]), lra_normal_quantile(p[i]), 1e-12, "normal", p[i], 0);
        for (int k = 0; k < (int)(sizeof df / sizeof *df); k++)
            if (p[i] >= 1e-3 && p[i] < 1 - 1e-3) /* the library's far tails are known to 5 digits */
                expect(lra_own_t_quantile(df[k], p[i]), lra_t_quantile(df[k], p[i]), 1e-9, "t",
                       df[k], p[i]);
    }
    static const unsigned n[] = {1, 5, 30, 777, 10000};
    for (int i = 0; i < 5; i++)
        for (unsigned k = 0; k < n[i]; k += n[i] / 7 + 1)
            expect(lra_own_binomial_cdf(k, 0.5, n[i]), lra_binomial_cdf(k, 0.5, n[i]), 1e-9,
                   "binomial", k, n[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_values),
        cmocka_unit_test(equal_the_library),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
