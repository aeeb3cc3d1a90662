/* The float32 functions of kernels/ops/math_body.h compared with libm in double, in units of the
 * last place (ulp). */
#include "tests/fixtures/test.h"

#include <float.h>
#include <math.h>

#define LRA_FN static inline
#include "kernels/ops/math_body.h"

static float tail(float x)
{
    float density;
    return math_normal(x, &density);
}
static float density(float x)
{
    float d;
    (void)math_normal(x, &d);
    return d;
}
static double exact_tail(double x)
{
    return 0.5 * erfc(-x / sqrt(2));
}
static double exact_density(double x)
{
    return exp(-0.5 * x * x);
}

/* Returns the largest error of f in ulp over every STEP-th float in [lo, hi], including denormal
 * magnitudes. An additional error of `more` ulp per unit of x^2/2 is allowed, because x^2 is
 * rounded before the exponential is computed. */
static double worst(float (*f)(float), double (*exact)(double), float lo, float hi, double more)
{
    enum { STEP = 4099, INFINITE = 0x7F800000 };
    double most = 0;
    for (uint32_t i = 0; i < 2u * INFINITE; i += STEP) {
        uint32_t bits = i < INFINITE ? i : (i - INFINITE) | 0x80000000u;
        float x;
        memcpy(&x, &bits, sizeof x);
        if (x < lo || x > hi) continue;
        double y = exact((double)x);
        if (fabs(y) < FLT_MIN) continue;
        double unit = ldexp(1, ilogb(y) - (FLT_MANT_DIG - 1));
        double error = fabs((double)f(x) - y) / unit - more * 0.5 * (double)x * (double)x;
        if (!(error <= most)) most = error;
    }
    return most;
}

TEST(accuracy)
{
    const struct {
        const char *name;
        float (*f)(float);
        double (*exact)(double);
        float lo, hi;
        double bound, more;
    } cases[] = {{"exp", math_exp, exp, -86.98f, 88.722f, 1.5, 0},
                 {"tanh", math_tanh, tanh, -20, 20, 4, 0},
                 {"normal", tail, exact_tail, -2, 20, 5.5, 0},
                 {"normal, tail", tail, exact_tail, -12.5f, -2, 5.5, 1},
                 {"density", density, exact_density, -13, 13, 2, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double error = worst(cases[i].f, cases[i].exact, cases[i].lo, cases[i].hi, cases[i].more);
        print_message("%s on [%g, %g]: %.2f ulp\n", cases[i].name, (double)cases[i].lo,
                      (double)cases[i].hi, error);
        if (!(error <= cases[i].bound)) fail_msg("%s: %g ulp", cases[i].name, error);
    }
}

TEST(limits)
{
    float (*const all[])(float) = {math_exp, math_tanh, tail, density};
    for (int i = 0; i < 4; i++) assert_true(isnan(all[i](NAN)) && isnan(all[i](-NAN)));
    assert_true(math_exp(0) == 1 && math_exp(89) == INFINITY && math_exp(INFINITY) == INFINITY);
    assert_true(isfinite(math_exp(88.72f)) && math_exp(88.73f) == INFINITY);
    assert_true(math_exp(-86.98f) > 0 && math_exp(-87) == 0 && math_exp(-INFINITY) == 0);
    assert_true(math_exp(FLT_MAX) == INFINITY && math_exp(-FLT_MAX) == 0);
    assert_true(math_tanh(INFINITY) == 1 && math_tanh(-INFINITY) == -1 && math_tanh(30) == 1);
    assert_true(math_tanh(0) == 0 && signbit(math_tanh(-0.0f)) && math_tanh(1e-40f) == 1e-40f);
    assert_true(tail(0) == 0.5f && tail(INFINITY) == 1 && tail(-INFINITY) == 0 && tail(7) == 1);
    assert_true(density(0) == 1 && density(INFINITY) == 0 && density(-FLT_MAX) == 0);
}
