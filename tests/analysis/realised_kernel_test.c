/* Attention heads that realise kernels (theorem B.1 of the LaS paper), against known answers. */
#include "tests/fixtures/test.h"

#include <math.h>

#include "analysis/realised_kernel.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/core/philox.h"

enum { MOST = 600 };
static const double rounding = 2e-6; /* of float32, for scores down to ln 1e-6 */

static lra_realised realise(int behind, int ahead, const double *k)
{
    lra_realised r;
    assert_true(lra_realise(&(lra_kernel){1, behind, ahead, k}, &r));
    return r;
}

TEST(a_positive_kernel_needs_one_head)
{
    double k[MOST];
    for (int i = 0; i < 100; i++) k[i] = exp(-i / 20.);
    lra_realised r = realise(0, 100, k);
    assert_int_equal(r.T, 100);
    assert_true(r.negative == 0);
    assert_true(r.one > 0 && r.one < rounding);
    assert_true(r.two == r.one);
    double most = 0;
    for (int d = 0; d < 100; d++) most = fmax(most, r.by_distance[d]);
    assert_true(most == r.one);
}

/* A kernel with different values in both directions: transposed weights would have errors above
 * 1. */
TEST(both_directions_are_realised)
{
    static const int behind[] = {0, 3, 40, 7}, ahead[] = {33, 40, 3, 1};
    for (int n = 0; n < 4; n++) {
        double k[MOST];
        lra_rng r = lra_rng_new(5, (uint32_t)n, 0);
        for (int i = 0; i < behind[n] + ahead[n]; i++) k[i] = 0.01 + lra_rng_u01(&r);
        assert_true(realise(behind[n], ahead[n], k).one < rounding);
    }
}

/* The energy of (-1/2)^d in odd lags is a fifth of the sum. */
TEST(negative_values_need_a_second_head)
{
    double k[40];
    for (int i = 0; i < 40; i++) k[i] = pow(-0.5, i);
    lra_realised r = realise(0, 40, k);
    assert_true(fabs(r.negative - 0.2) < 1e-12);
    assert_true(r.one < rounding && r.two < rounding);
    for (int i = 0; i < 40; i++) k[i] = -1 - i;
    r = realise(0, 40, k);
    assert_true(r.negative == 1 && isnan(r.one) && isnan(r.by_distance[3]));
    assert_true(r.two < rounding);
}

/* Values that decay below the least score are compared with 1e-6 of the largest value. */
TEST(tiny_values_are_rounding_errors)
{
    double k[500];
    for (int i = 0; i < 500; i++) k[i] = exp(-i);
    lra_realised r = realise(0, 500, k);
    assert_true(r.one < 1e-5);
    assert_true(r.by_distance[499] < 1e-20);
}

TEST(long_kernels_are_cut)
{
    double k[MOST];
    for (int i = 0; i < MOST; i++) k[i] = i < LRA_REALISED_TOKENS ? 1 : -100;
    lra_realised r = realise(0, MOST, k);
    assert_int_equal(r.T, LRA_REALISED_TOKENS);
    assert_true(r.negative == 0 && r.one < 2e-5);
}

TEST(undefined_kernels)
{
    lra_realised r;
    const double zero[4] = {0}, infinite[4] = {1, INFINITY}, unknown[2] = {NAN, 1};
    assert_false(lra_realise(&(lra_kernel){1, 0, 4, zero}, &r));
    assert_false(lra_realise(&(lra_kernel){1, 2, 2, infinite}, &r));
    assert_false(lra_realise(&(lra_kernel){1, 1, 1, unknown}, &r));
}
