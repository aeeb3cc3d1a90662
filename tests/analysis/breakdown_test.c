/* Breakdowns of accuracy by group, against known answers. */
#include "tests/fixtures/test.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/breakdown.h"
#include "kernels/base/core/philox.h"

static void near(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance)) fail_msg("%.6f, expected %.6f", value, expected);
}

/* Two groups of four rows. Group 0: 3 predictions are right, the baseline has 1 right, the model is
 * better on 2 rows. Group 1: all predictions are right, the baseline has none. */
TEST(small_table)
{
    const int32_t label[] = {0, 0, 0, 1, 2, 2, 1, 1, 0}, group[] = {0, 0, 0, 0, 1, 1, 1, 1, 7};
    const int32_t predicted[] = {0, 0, 1, 1, 2, 2, 1, 1, 1}, rival[] = {0, 1, 1, 2, 0, 0, 0, 0, 0};
    lra_breakdown_data d = {.n = 9, .n_classes = 3, .n_seeds = 1, .label = label};
    d.predicted[0] = predicted;
    lra_breakdown_row row[4];
    lra_breakdown_compute(&d, 3, group, rival, row);
    assert_true(row[0].n == 9 && row[1].n == 4 && row[2].n == 4 && row[3].n == 0);
    near(row[0].accuracy.value, 7.0 / 9, 1e-12);
    near(row[1].majority, 0.75, 1e-12);
    near(row[1].accuracy.value, 0.75, 1e-12);
    lra_estimate wilson = lra_wilson(3, 4, 0.95);
    near(row[1].accuracy.lo, wilson.lo, 1e-12);
    near(row[1].rival, 0.25, 1e-12);
    near(row[1].difference.value, 0.5, 1e-12);
    near(row[1].p, 0.5, 1e-12);   /* exact McNemar test of 2 discordant pairs against 0: p = 2/4 */
    near(row[2].p, 0.125, 1e-12); /* 4 discordant pairs against 0: p = 2/16 */
    near(row[0].p, lra_mcnemar(6, 1), 1e-12);
    assert_true(isnan(row[3].accuracy.value) && isnan(row[3].p));

    int64_t count[3 * 3 * 3];
    lra_breakdown_confusion(&d, 3, group, count);
    assert_int_equal(count[0 * 9 + 0 * 3 + 0], 2);
    assert_int_equal(count[0 * 9 + 0 * 3 + 1], 1);
    assert_int_equal(count[1 * 9 + 2 * 3 + 2], 2);
    assert_int_equal(count[2 * 9], 0);
}

/* p values and intervals agree: p < 0.05 exactly if the 95 % interval excludes 0, also for few
 * seeds. */
TEST(p_and_interval_agree)
{
    enum { N = 400, S = 2 };
    static int32_t label[N], rival[N], predicted[S][N];
    int n_shown = 0, n_not = 0;
    for (int k = 0; k < 200; k++) {
        lra_rng rng = lra_rng_new(5, 1, (uint64_t)k);
        lra_breakdown_data d = {.n = N, .n_classes = 2, .n_seeds = S, .label = label};
        double share[S];
        for (int s = 0; s < S; s++) {
            d.predicted[s] = predicted[s];
            share[s] = 0.5 + 0.01 * (k % 7) + 0.02 * lra_rng_u01(&rng);
        }
        for (int i = 0; i < N; i++) {
            rival[i] = lra_rng_u01(&rng) < 0.5;
            for (int s = 0; s < S; s++) predicted[s][i] = lra_rng_u01(&rng) >= share[s];
        }
        lra_breakdown_row row[1];
        lra_breakdown_compute(&d, 0, label, rival, row);
        bool shown = row[0].difference.lo > 0 || row[0].difference.hi < 0;
        if (shown != (row[0].p < 0.05))
            fail_msg("%.4f to %.4f, p %.4f", row[0].difference.lo, row[0].difference.hi, row[0].p);
        n_shown += shown, n_not += !shown;
    }
    assert_true(n_shown > 5 && n_not > 50);
    /* Two seeds have very different accuracies, both far from the baseline's: the interval contains
     * 0, and p is above 0.05. */
    lra_breakdown_data d = {.n = N, .n_classes = 2, .n_seeds = S, .label = label};
    for (int i = 0; i < N; i++) {
        rival[i] = i % 10 < 9; /* the baseline is right on 10 % of the rows */
        predicted[0][i] = i % 10 >= 8, predicted[1][i] = i % 10 >= 4;
    }
    for (int s = 0; s < S; s++) d.predicted[s] = predicted[s];
    lra_breakdown_row row[1];
    lra_breakdown_compute(&d, 0, label, rival, row);
    assert_true(row[0].difference.lo < 0 && row[0].difference.value > 0.4 && row[0].p > 0.05);
}

TEST(holm)
{
    /* The example of Holm (1979): the four p values 0.01, 0.04, 0.03, 0.005 are adjusted to 0.03,
     * 0.06, 0.06, 0.02. */
    double p[] = {0.01, 0.04, NAN, 0.03, 0.005};
    lra_holm(5, p);
    near(p[0], 0.03, 1e-12);
    near(p[1], 0.06, 1e-12);
    assert_true(isnan(p[2]));
    near(p[3], 0.06, 1e-12);
    near(p[4], 0.02, 1e-12);
    double one[] = {0.7, 0.8};
    lra_holm(2, one);
    near(one[0], 1, 1e-12);
}

enum { N = 3000 };

/* 60 % of the predictions are those of the heuristic, the others random. */
TEST(agreement)
{
    static int32_t label[N], stratum[N], heuristic[N], predicted[3][N];
    lra_rng r = lra_rng_new(3, 2, 0);
    for (int i = 0; i < N; i++) {
        label[i] = (int32_t)lra_rng_below(&r, 4);
        stratum[i] = i % 2;
        heuristic[i] = lra_rng_below(&r, 2) ? label[i] : (label[i] + 1) % 4;
        for (int s = 0; s < 3; s++)
            predicted[s][i] = lra_rng_u01(&r) <= 0.6 ? heuristic[i] : (int32_t)lra_rng_below(&r, 4);
    }
    lra_breakdown_data d = {.n = N, .n_classes = 4, .n_seeds = 3, .label = label};
    for (int s = 0; s < 3; s++) d.predicted[s] = predicted[s];
    lra_agreement a;
    lra_breakdown_agreement(&d, 2, stratum, heuristic, &a);
    near(a.all.value, 0.7, 0.02);
    near(a.same.value, 0.7, 0.03);
    near(a.right.value, 0.1, 0.02);
    near(a.all_null, 0.25, 0.01);
    near(a.same_null, 0.25, 0.02);
    near(a.right_null, 0.25, 0.02);
    assert_true(a.right.lo < a.right.value && a.right.value < a.right.hi);
    assert_true(a.all.lo < a.all.value && a.all.value < a.all.hi);
    assert_true(a.all.hi - a.all.lo < 0.06);
    lra_breakdown_agreement(&d, 2, stratum, label, &a);
    assert_int_equal(a.n_errors, 0);
    assert_true(isnan(a.same.value) && isnan(a.right_null));
}

/* The interval has a width although every prediction is right. */
TEST(all_right)
{
    int32_t label[30], group[30];
    for (int i = 0; i < 30; i++) label[i] = i % 3, group[i] = 0;
    lra_breakdown_data d = {.n = 30, .n_classes = 3, .n_seeds = 3, .label = label};
    for (int s = 0; s < 3; s++) d.predicted[s] = label;
    lra_breakdown_row row[2];
    lra_breakdown_compute(&d, 1, group, label, row);
    near(row[1].accuracy.lo, lra_wilson(30, 30, 0.95).lo, 1e-12);
    near(row[1].p, 1, 0);
    near(row[1].difference.value, 0, 0); /* none of the 30 pairs is discordant */
    near(row[1].difference.hi, lra_wilson(0, 30, 0.95).hi, 1e-12);
    near(row[1].difference.lo, -row[1].difference.hi, 1e-12);
}

/* Coverage of the intervals of a mean over three seeds. With 300 draws, a coverage of 93 % is
 * compatible with the true value 95 %. */
TEST(coverage)
{
    enum { DRAWS = 300, EXAMPLES = 200 };
    static int32_t label[EXAMPLES], zero[EXAMPLES], predicted[3][EXAMPLES];
    int held = 0;
    lra_rng r = lra_rng_new(7, 7, 7);
    for (int t = 0; t < DRAWS; t++) {
        for (int i = 0; i < EXAMPLES; i++) {
            /* half of the examples are easy, half are hard */
            double p = lra_rng_below(&r, 2) ? 0.9 : 0.3;
            for (int s = 0; s < 3; s++) predicted[s][i] = lra_rng_u01(&r) <= p ? 0 : 1;
        }
        lra_breakdown_data d = {.n = EXAMPLES, .n_classes = 2, .n_seeds = 3, .label = label};
        for (int s = 0; s < 3; s++) d.predicted[s] = predicted[s];
        lra_breakdown_row row[2];
        lra_breakdown_compute(&d, 1, zero, zero, row);
        held += row[1].accuracy.lo <= 0.6 && 0.6 <= row[1].accuracy.hi;
    }
    if (held < DRAWS * 93 / 100) fail_msg("%d of %d intervals hold the mean", held, DRAWS);
}
