/* The float32 functions of kernels/ops/math_fn.h against libm in double. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <float.h>
#include <math.h>

#define LRA_FN static inline
#include "kernels/ops/math_fn.h"

/* Largest relative error over [lo, hi], zero included as it is. */
static double worst(float (*f)(float), double (*exact)(double), double lo, double hi)
{
    enum { N = 200000 };
    double most = 0;
    for (int i = 0; i <= N; i++) {
        float x = (float)(lo + (hi - lo) * i / N);
        double y = exact((double)x), error = fabs((double)f(x) - y);
        if (y != 0) error /= fabs(y);
        if (error > most) most = error;
    }
    return most;
}

static void accuracy(void **state)
{
    (void)state;
    const struct {
        const char *name;
        float (*f)(float);
        double (*exact)(double);
        double lo, hi, bound;
    } cases[] = {
        {"exp", math_exp, exp, -87.3, 88.7, 4e-7}, {"exp", math_exp, exp, -1, 1, 3e-7},
        {"tanh", math_tanh, tanh, -12, 12, 4e-7},  {"tanh", math_tanh, tanh, -1e-3, 1e-3, 3e-7},
        {"erf", math_erf, erf, -5, 5, 4e-7},       {"erf", math_erf, erf, -1e-3, 1e-3, 3e-7}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double error = worst(cases[i].f, cases[i].exact, cases[i].lo, cases[i].hi);
        print_message("%s on [%g, %g]: %.2g\n", cases[i].name, cases[i].lo, cases[i].hi, error);
        if (error > cases[i].bound) fail_msg("%s: %g", cases[i].name, error);
    }
}

static void limits(void **state)
{
    (void)state;
    float (*const all[])(float) = {math_exp, math_tanh, math_erf};
    for (int i = 0; i < 3; i++) assert_true(isnan(all[i](NAN)));
    assert_true(math_exp(0) == 1 && math_exp(89) == INFINITY && math_exp(INFINITY) == INFINITY);
    assert_true(isfinite(math_exp(88.72f)) && math_exp(-INFINITY) == 0 && math_exp(-88) == 0);
    assert_true(math_tanh(INFINITY) == 1 && math_tanh(-INFINITY) == -1 && math_tanh(30) == 1);
    assert_true(math_erf(INFINITY) == 1 && math_erf(-INFINITY) == -1 && math_erf(6) == 1);
    assert_true(math_tanh(0) == 0 && math_erf(0) == 0 && signbit(math_erf(-0.0f)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accuracy),
        cmocka_unit_test(limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
