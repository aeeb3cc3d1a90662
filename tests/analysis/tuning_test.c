/* Choice of a value from trials: equal scores, divergence, windows and their ends. The interval of
 * a window's width contains the true width in at least 95 % of simulated experiments. */
#include "tests/fixtures/test.h"

#include <math.h>

#include "analysis/tuning.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/core/philox.h"

enum { VALUES = 5 };
static const double grid[VALUES] = {0.00025, 0.0005, 0.001, 0.002, 0.004};

static bool is(double a, double b)
{
    return fabs(a - b) < 1e-9;
}

TEST(the_best_value)
{
    const double rises[] = {0.1, 0.2, 0.3, 0.4, 0.5}, equal[] = {0.1, 0.5, 0.2, 0.5, 0.5};
    const double one[] = {NAN, NAN, NAN, 0.1, NAN}, none[] = {NAN, NAN, NAN, NAN, NAN};
    assert_int_equal(lra_tuning_best(VALUES, grid, rises, 0.001), 4);
    /* 0.0005 and 0.002 are equally near to 0.001: the smaller one */
    assert_int_equal(lra_tuning_best(VALUES, grid, equal, 0.001), 1);
    assert_int_equal(lra_tuning_best(VALUES, grid, equal, 0.002), 3);
    assert_int_equal(lra_tuning_best(VALUES, grid, one, 0.001), 3);
    assert_int_equal(lra_tuning_best(VALUES, grid, none, 0.001), -1);
}

TEST(the_window)
{
    const double peak[] = {0.30, 0.395, 0.40, 0.36, NAN}, alone[] = {0.1, 0.1, 0.4, 0.1, 0.1},
                 none[] = {NAN, NAN, NAN, NAN, NAN}, gap[] = {0.4, 0.1, 0.4, 0.4, 0.1};
    lra_tuning_window w = lra_tuning_window_of(VALUES, grid, peak, NULL, NULL, 0.01);
    assert_true(w.first == 1 && w.last == 2 && is(w.width.octaves, 1));
    assert_false(w.width.from_edge);
    assert_true(isnan(w.lo.octaves) && isnan(w.hi.octaves)); /* no rows */
    w = lra_tuning_window_of(VALUES, grid, peak, NULL, NULL, 0.05);
    assert_true(is(w.width.octaves, 2));
    assert_false(w.width.from_edge); /* beyond 0.002 training diverges: that end is known */
    w = lra_tuning_window_of(VALUES, grid, peak, NULL, NULL, 0.1);
    assert_true(is(w.width.octaves, 3) && w.width.from_edge);
    w = lra_tuning_window_of(VALUES, grid, alone, NULL, NULL, 0.05);
    assert_true(is(w.width.octaves, 0) && !w.width.from_edge);
    w = lra_tuning_window_of(VALUES, grid, gap, NULL, NULL, 0.05);
    assert_true(w.first == 2 && w.last == 3); /* a range of neighbours */
    w = lra_tuning_window_of(VALUES, grid, none, NULL, NULL, 0.05);
    assert_true(isnan(w.width.octaves) && w.first > w.last);
}

/* Predictions of n_seeds runs of each value for `rows` examples: a row of difficulty h is right
 * with the probability score + noise of the seed + (h - 1/2) * 0.3. */
static lra_sample *drawn(const double *score, int n_seeds, double sd, int64_t rows, lra_rng *rng,
                         int *series)
{
    enum { MOST_SEEDS = 8 };
    lra_sample *s = lra_sample_new(rows, true);
    double *hard = lra_alloc_array((size_t)rows, sizeof *hard);
    uint8_t *right[MOST_SEEDS];
    for (int64_t i = 0; i < rows; i++) hard[i] = 0.3 * (lra_rng_u01(rng) - 0.5);
    for (int k = 0; k < n_seeds; k++) right[k] = lra_alloc((size_t)rows);
    for (int v = 0; v < VALUES; v++) {
        for (int k = 0; k < n_seeds; k++) {
            double a, b;
            lra_normal2(lra_rng_u32(rng), lra_rng_u32(rng), &a, &b);
            for (int64_t i = 0; i < rows; i++)
                right[k][i] = lra_rng_u01(rng) < score[v] + sd * a + hard[i];
        }
        series[v] = lra_sample_add_correct(s, n_seeds, (const uint8_t *const *)right);
    }
    for (int k = 0; k < n_seeds; k++) lra_free(right[k]);
    lra_free(hard);
    s->paired = true;
    return s;
}

/* Share of the experiments whose interval contains the true width. *width: mean width of the
 * intervals. */
static double covered(const double *score, double margin, int n_seeds, double sd, double *width)
{
    enum { EXPERIMENTS = 400, ROWS = 500 };
    double truth = lra_tuning_window_of(VALUES, grid, score, NULL, NULL, margin).width.octaves;
    int n = 0;
    *width = 0;
    for (int x = 0; x < EXPERIMENTS; x++) {
        lra_rng rng = lra_rng_new(7, (uint32_t)n_seeds, (uint64_t)x);
        int series[VALUES];
        double observed[VALUES];
        lra_sample *s = drawn(score, n_seeds, sd, ROWS, &rng, series);
        for (int v = 0; v < VALUES; v++) observed[v] = s->series[series[v]].value;
        lra_tuning_window w = lra_tuning_window_of(VALUES, grid, observed, s, series, margin);
        assert_true(w.lo.octaves <= w.width.octaves && w.width.octaves <= w.hi.octaves);
        n += w.lo.octaves <= truth + 1e-9 && truth <= w.hi.octaves + 1e-9;
        *width += (w.hi.octaves - w.lo.octaves) / EXPERIMENTS;
        lra_sample_free(s);
    }
    return (double)n / EXPERIMENTS;
}

TEST(intervals_contain_the_true_width)
{
    static const double curve[][VALUES] = {{0.30, 0.395, 0.40, 0.36, 0.20},
                                           {0.35, 0.38, 0.391, 0.40, 0.395},
                                           {0.40, 0.40, 0.40, 0.40, 0.40},
                                           {0.20, 0.35, 0.55, 0.35, 0.20}};
    for (int c = 0; c < 4; c++)
        for (int m = 0; m < 2; m++) {
            double margin = m ? 0.05 : 0.01, width[2];
            /* one seed: the interval is conditional on it, so that its noise is 0 here */
            double one = covered(curve[c], margin, 1, 0, &width[0]),
                   more = covered(curve[c], margin, 5, 0.01, &width[1]);
            print_message("curve %d, %g: 1 seed %.3f (%.2f octaves), 5 seeds %.3f (%.2f)\n", c,
                          margin, one, width[0], more, width[1]);
            assert_true(one >= 0.95 && more >= 0.95);
        }
}

/* A clear peak with many rows: the interval is the window. */
TEST(a_clear_peak)
{
    const double peak[VALUES] = {0.20, 0.40, 0.60, 0.60, 0.30};
    lra_rng rng = lra_rng_new(8, 1, 0);
    int series[VALUES];
    double observed[VALUES];
    lra_sample *s = drawn(peak, 3, 0.001, 20000, &rng, series);
    for (int v = 0; v < VALUES; v++) observed[v] = s->series[series[v]].value;
    lra_tuning_window w = lra_tuning_window_of(VALUES, grid, observed, s, series, 0.05);
    assert_true(is(w.width.octaves, 1) && is(w.lo.octaves, 1) && is(w.hi.octaves, 1));
    lra_sample_free(s);
}
