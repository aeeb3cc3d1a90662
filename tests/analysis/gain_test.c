/* Gains under restrictions: known curves and thresholds, coverage of the intervals, models at
 * chance. */
#include "tests/fixtures/test.h"

#include <math.h>

#include "analysis/gain.h"
#include "analysis/radius.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/core/philox.h"

enum { N = 4000 };

/* Makes the predictions of n restrictions. A row is right with probability chance + share * (full -
 * chance); the random number of a row is the same for all restrictions, so that they agree on rows
 * as those of a real model do. */
static lra_sample *made(int n, const double *share, double chance, double full, int64_t rows)
{
    lra_sample *s = lra_sample_new(rows, true);
    uint8_t *right = lra_alloc((size_t)rows + 1);
    const uint8_t *list[] = {right};
    for (int k = 0; k < n + 2; k++) {
        double of = k < n ? share[k] : k == n ? 1 : 0;
        for (int64_t i = 0; i < rows; i++) {
            lra_rng rng = lra_rng_new(5, 1, (uint64_t)i);
            right[i] = lra_rng_u01(&rng) < chance + of * (full - chance);
        }
        if (k == n + 1)
            lra_sample_add_fixed(s, right);
        else
            lra_sample_add_correct(s, 1, list);
    }
    lra_free(right);
    return s;
}

TEST(a_known_curve)
{
    const double x[] = {0, 1, 2, 4, 8, 16}, share[] = {0, 0.2, 0.5, 0.92, 0.96, 1};
    lra_sample *s = made(6, share, 0.5, 0.9, N);
    lra_gain g;
    lra_gain_compute(s, x, 3, &g);
    assert_int_equal(g.n, 6);
    assert_false(g.at_chance);
    for (int i = 0; i < 6; i++) {
        assert_true(fabs(g.gain[i].value - share[i]) < 0.05);
        assert_true(lra_holds_value(&g.gain[i]));
        assert_true(g.gain[i].hi - g.gain[i].lo < 0.1);
    }
    assert_true(g.gain[5].value == 1 && g.gain[5].lo == 1 && g.gain[5].hi == 1);
    /* the value is 0.5, exactly the threshold */
    assert_true(g.least[0].value == 2 || g.least[0].value == 4);
    assert_true(g.least[1].value == 4);
    assert_true(g.least[2].value == 8 || g.least[2].value == 16);
    assert_true(g.least[3].value == 16 && g.least[3].lo == 16);
    /* The area by the trapezoidal rule over log2 x from 0 to 4, from the gains. */
    double area = 0;
    for (int i = 2; i < 6; i++) area += (g.gain[i - 1].value + g.gain[i].value) / 8;
    assert_true(fabs(g.area.value - area) < 1e-12);
    /* the area of a curve that is 0 except 1 at the last x */
    assert_true(fabs(g.whole_area - 1.0 / 8) < 1e-12);
    lra_sample_free(s);
}

TEST(no_gain_at_chance)
{
    const double x[] = {1, 2}, share[] = {1, 1};
    lra_sample *s = made(2, share, 0.5, 0.505, 300);
    lra_gain g;
    lra_gain_compute(s, x, 3, &g);
    assert_true(g.at_chance);
    assert_true(isnan(g.gain[0].value) && isnan(g.least[0].value) && isnan(g.area.value));
    assert_true(isnan(g.costs_from.value) && isnan(g.costs_to.lo));
    lra_sample_free(s);
}

/* A threshold that no restriction reaches has the value infinity. */
TEST(thresholds_out_of_reach)
{
    const double x[] = {1, 2}, share[] = {0.1, 0.6};
    lra_sample *s = made(2, share, 0.2, 0.9, N);
    lra_gain g;
    lra_gain_compute(s, x, 3, &g);
    assert_true(g.least[0].value == 2 && isinf(g.least[1].value) && isinf(g.least[3].hi));
    lra_sample_free(s);
}

/* Permutations reduce the gain at all widths above a limit, at all widths below a limit, at a value
 * that equals the threshold, and not at all. */
TEST(costs)
{
    const double x[] = {1, 2, 4, 8, 16};
    const double share[][5] = {
        {1, 0.99, 0.8, 0.3, 0.1}, {0, 0.2, 0.8, 0.99, 1}, {1, 1, 0.95, 0.5, 0.5}, {1, 1, 1, 1, 1}};
    lra_gain g[4];
    for (int k = 0; k < 4; k++) {
        lra_sample *s = made(5, share[k], 0.2, 0.9, N);
        lra_gain_compute(s, x, 3, &g[k]);
        assert_true(lra_holds_value(&g[k].costs_from) && lra_holds_value(&g[k].costs_to));
        lra_sample_free(s);
    }
    /* The widths 1, 2, 4, 8, 16 are measured: the first costly width is between 3 and 4. */
    assert_true(g[0].costs_from.value == 4 && g[0].costs_from.lo == 3 && g[0].costs_from.hi == 4);
    assert_true(g[0].costs_to.value == 16);
    assert_true(g[1].costs_to.value == 4 && g[1].costs_to.lo == 4 && g[1].costs_to.hi == 7);
    /* the value is 0.95, exactly the threshold */
    assert_true(g[2].costs_from.lo == 3 && g[2].costs_from.hi == 8);
    assert_true(isinf(g[3].costs_from.value) && isinf(g[3].costs_from.lo));
    assert_true(g[3].costs_to.value == 0 && g[3].costs_to.hi == 0);
}

TEST(axes)
{
    double x[LRA_GAIN_POINTS];
    assert_int_equal(lra_gain_axis(0, 6, x), 5);
    assert_true(x[0] == 0 && x[1] == 1 && x[2] == 2 && x[3] == 4 && x[4] == 6);
    assert_int_equal(lra_gain_axis(2, 8, x), 3);
    assert_true(x[0] == 2 && x[1] == 4 && x[2] == 8);
    assert_int_equal(lra_gain_axis(0, 16384, x), 16);
    assert_int_equal(lra_gain_axis(0, (int64_t)1 << 40, x), LRA_GAIN_POINTS);
    assert_true(x[LRA_GAIN_POINTS - 1] == (double)((int64_t)1 << 40));
}

/* The masses of two examples are added without normalization: 10 at distance 0, 5 at 3 and 5 at
 * 7. */
TEST(radii)
{
    const double mass[2 * 8] = {10, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5}, none[8] = {0};
    assert_true(lra_radius(2, 8, mass, 0.2, 1).value == 0);
    assert_true(lra_radius(2, 8, mass, 0.5, 1).value == 0);
    assert_true(lra_radius(2, 8, mass, 0.51, 1).value == 3);
    lra_estimate r = lra_radius(2, 8, mass, 0.99, 1);
    assert_true(r.value == 7 && r.lo == 3 && r.hi == 7);
    assert_true(lra_radius(1, 8, mass, 0.99, 1).value == 3 &&
                isnan(lra_radius(1, 8, mass, 1, 1).lo));
    assert_true(isnan(lra_radius(1, 8, none, 0.5, 1).value));
    const double other[8] = {1, 1, 1, 4, 2, 1, 1, 1}, x[8] = {99, 1, 1, 7, 5, 0, 0, 99};
    assert_true(lra_peak(8, x, other) == 4);
    assert_true(isnan(lra_peak(8, x, none)));
    /* Near the end of the receptive field of stacked windows both masses are close to 0, and their
     * ratio has no meaning. */
    const double before[16] = {9, 9, 8, 7, 5, 1e-2, 1e-4, 1e-8};
    const double after[16] = {9, 1, 1, 1, 2, 5, 1e-2, 1e-5};
    assert_true(lra_peak(16, after, before) == 5);
    assert_true(lra_peak_middle(8) == 2.5 && lra_peak_middle(9) == 2.5);
    assert_true(lra_peak_middle(2) == 1 && isnan(lra_peak_middle(1)));
}

/* The modal position is the most frequent one, and the smallest if several are equally frequent. If
 * three positions occur once each, bootstrap samples can have any of them as mode. */
TEST(usual_places)
{
    const int64_t places[] = {7, 3, 7, 9, 3}, alike[] = {4, 4, 4}, few[] = {8, 2, 5};
    lra_estimate r = lra_modal_position(5, places, 1);
    assert_true(r.value == 3 && r.lo == 3 && r.hi == 9);
    r = lra_modal_position(3, alike, 1);
    assert_true(r.value == 4 && r.lo == 4 && r.hi == 4);
    r = lra_modal_position(3, few, 1);
    assert_true(r.value == 2 && r.lo == 2 && r.hi == 8);
    assert_true(isnan(lra_modal_position(1, few, 1).lo) &&
                isnan(lra_modal_position(0, few, 1).value));
}
