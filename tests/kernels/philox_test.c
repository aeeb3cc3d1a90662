/* Random numbers: the published known answers of Philox4x32-10 (kat_vectors of Random123), exact
 * uniformity of integers, moments of normals; a value depends only on its address (key and
 * counter). */
#include "tests/fixtures/test.h"

#include <math.h>
#include <stdlib.h>

#include "kernels/base/core/philox.h"

static void assert_words(lra_philox r, uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
    const uint32_t expected[4] = {a, b, c, d};
    for (int i = 0; i < 4; i++) assert_int_equal(r.v[i], expected[i]);
}

TEST(known_answers)
{
    const uint32_t f = 0xffffffffu;
    assert_words(lra_philox_at(0, 0, 0, 0, 0, 0), 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8);
    assert_words(lra_philox_at(f, f, f, f, f, f), 0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd);
    /* key and counter are the digits of pi */
    assert_words(
        lra_philox_at(0xa4093822, 0x299f31d0, 0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344),
        0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1);
}

TEST(a_stream_depends_on_its_address_alone)
{
    lra_rng a = lra_rng_new(1, 2, 3), same = lra_rng_new(1, 2, 3);
    lra_rng others[3] = {lra_rng_new(2, 2, 3), lra_rng_new(1, 3, 3), lra_rng_new(1, 2, 4)};
    int equal[3] = {0, 0, 0};
    for (int i = 0; i < 1000; i++) {
        uint32_t w = lra_rng_u32(&a);
        assert_int_equal(w, lra_rng_u32(&same));
        for (int k = 0; k < 3; k++) equal[k] += lra_rng_u32(&others[k]) == w;
    }
    for (int k = 0; k < 3; k++) assert_true(equal[k] <= 1);
}

/* Returns Pearson's statistic for n cells, with mean n - 1 and standard deviation sqrt(2 (n -
 * 1)). */
static double chi_square(uint32_t n, int draws)
{
    int count[64] = {0};
    lra_rng r = lra_rng_new(11, n, 0);
    double expected = (double)draws / n, sum = 0;
    for (int i = 0; i < draws; i++) {
        uint32_t w = lra_rng_below(&r, n);
        assert_true(w < n);
        count[w]++;
    }
    for (uint32_t i = 0; i < n; i++) sum += pow(count[i] - expected, 2) / expected;
    return sum;
}

TEST(integers_are_uniform)
{
    const uint32_t sizes[] = {2, 3, 7, 10, 64};
    for (int i = 0; i < 5; i++) {
        double freedom = sizes[i] - 1;
        assert_true(fabs(chi_square(sizes[i], 200000) - freedom) < 5 * sqrt(2 * freedom));
    }
    lra_rng r = lra_rng_new(1, 1, 1);
    for (int i = 0; i < 100; i++) assert_int_equal(lra_rng_below(&r, 1), 0);
}

/* For n = 3 * 2^30, scaling by a multiplication alone would give one residue modulo 3 twice as
 * often as the others. */
TEST(large_ranges_are_not_biased)
{
    int count[3] = {0}, draws = 90000;
    lra_rng r = lra_rng_new(5, 0, 0);
    for (int i = 0; i < draws; i++) count[lra_rng_below(&r, 3u << 30) % 3]++;
    for (int k = 0; k < 3; k++) assert_true(abs(count[k] - draws / 3) < 5 * 142);
}

TEST(normals_have_the_moments_of_normals)
{
    enum { N = 200000 };
    double sum[5] = {0};
    lra_rng r = lra_rng_new(3, 1, 4);
    for (int i = 0; i < N / 2; i++) {
        double x[2];
        uint32_t a = lra_rng_u32(&r), b = lra_rng_u32(&r);
        lra_normal2(a, b, &x[0], &x[1]);
        for (int k = 0; k < 2; k++) {
            assert_true(isfinite(x[k]));
            for (int p = 1; p <= 4; p++) sum[p] += pow(x[k], p) / N;
        }
    }
    /* five standard errors: the variances of x, x^2, x^3, x^4 are 1, 2, 15, 96 */
    const double expected[5] = {0, 0, 1, 0, 3}, variance[5] = {0, 1, 2, 15, 96};
    for (int p = 1; p <= 4; p++)
        assert_true(fabs(sum[p] - expected[p]) < 5 * sqrt(variance[p] / N));
}

TEST(extreme_words_stay_in_range)
{
    double x, y;
    assert_true(lra_u01f(0xffffffffu) < 1.0f);
    assert_true(lra_u01(0xffffffffu) < 1.0);
    assert_true(lra_u01_open(0) > 0.0);
    assert_true(lra_u01_open(0xffffffffu) <= 1.0);
    lra_normal2(0, 0, &x, &y);
    assert_true(isfinite(x) && isfinite(y));
}

TEST(words_at_once_are_those_one_by_one)
{
    for (int before = 0; before < 5; before++)
        for (int n = 0; n < 14; n++) {
            lra_rng a = lra_rng_new(3, 4, 5), b = a;
            uint32_t word[14];
            for (int i = 0; i < before; i++) assert_int_equal(lra_rng_u32(&a), lra_rng_u32(&b));
            lra_rng_fill(&a, n, word);
            for (int i = 0; i < n; i++) assert_int_equal(word[i], lra_rng_u32(&b));
            assert_int_equal(lra_rng_u32(&a), lra_rng_u32(&b));
        }
}
