/* Statistics against known answers: intervals, tests, means and contrasts, replicates,
 * information. */
#include "tests/fixtures/test.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/distributions.h"
#include "analysis/information.h"
#include "analysis/jackknife.h"
#include "analysis/sample.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/core/philox.h"

static void near(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance)) fail_msg("%.6f, expected %.6f", value, expected);
}

TEST(wilson)
{
    lra_estimate a = lra_wilson(1260, 2000, 0.95); /* 63 %, with a 95 % interval of +- 2.1 points */
    near((a.hi - a.lo) / 2, 0.0211, 0.0001);
    lra_estimate b = lra_wilson(3111.3, 3457, 0.95); /* 90 %, with a 95 % interval of +- 1 point */
    near((b.hi - b.lo) / 2, 0.01, 0.0001);
    lra_estimate c = lra_wilson(0, 10, 0.95);
    near(c.lo, 0, 1e-12);
    near(c.hi, 0.2775, 0.0001);
}

TEST(percentiles)
{
    double x[41];
    for (int i = 0; i <= 40; i++) x[i] = 40 - i;
    lra_estimate e = lra_percentile(20, 41, x, 0.95);
    near(e.lo, 1, 1e-12);
    near(e.hi, 39, 1e-12);
    /* infinity: a replicate in which the threshold is not reached */
    for (int i = 38; i <= 40; i++) x[i] = INFINITY;
    e = lra_percentile(20, 41, x, 0.95);
    near(e.lo, 1, 1e-12);
    assert_true(isinf(e.hi));
}

TEST(mcnemar)
{
    near(lra_mcnemar(1, 9), 0.021484375, 1e-12); /* two-sided: 2 (1 + 10)/1024 */
    near(lra_mcnemar(5, 5), 1, 0);
    near(lra_mcnemar(0, 0), 1, 0);
}

/* ---- means and contrasts --------------------------------------------------------------------- */

enum { N = 1000 };

/* The variance of a difference by hand: two series of three and two seeds on four examples. */
TEST(the_formula)
{
    static const uint8_t a[3][4] = {{1, 1, 0, 0}, {1, 1, 1, 0}, {1, 1, 1, 1}},
                         b[2][4] = {{1, 0, 0, 0}, {1, 1, 0, 0}};
    const uint8_t *of_a[] = {a[0], a[1], a[2]}, *of_b[] = {b[0], b[1]};
    lra_sample *s = lra_sample_new(4, true);
    lra_sample_add_correct(s, 3, of_a);
    lra_sample_add_correct(s, 2, of_b);
    near(s->series[0].value, 0.75, 1e-12);
    near(s->series[0].sd, 0.25, 1e-12);
    /* The means over seeds of the four examples are 1, 1, 2/3, 1/3 in the first series and 1, 1/2,
     * 0, 0 in the second; the differences 0, 1/2, 2/3, 1/3 have the mean 3/8. */
    lra_variance v = lra_contrast_variance(s, (double[LRA_MAX_SERIES]){1, -1});
    double mean = 0.375, rest[] = {0, 1.0 / 2, 2.0 / 3, 1.0 / 3}, sum = 0;
    for (int i = 0; i < 4; i++) sum += (rest[i] - mean) * (rest[i] - mean);
    near(v.examples, sum / 3 / 4, 1e-12);
    /* variance of the seeds' values, over the number of seeds */
    double of_seeds[] = {0.0625 / 3, 0.03125 / 2};
    near(v.seeds, of_seeds[0] + of_seeds[1], 1e-12);
    near(v.df, v.seeds * v.seeds / (of_seeds[0] * of_seeds[0] / 2 + of_seeds[1] * of_seeds[1]),
         1e-9);
    lra_estimate x = lra_sample_difference(s, 0, 1, 0.95);
    double t = lra_t_quantile(v.df, 0.975);
    near(x.value, 0.375, 1e-12);
    near(x.hi - x.value, sqrt(1.959964 * 1.959964 * v.examples + t * t * v.seeds), 1e-6);
    near(x.value - x.lo, x.hi - x.value, 1e-12);
    lra_sample_free(s);
}

/* Both series have the same two seeds: only the spread of the differences within seeds counts. */
TEST(paired_seeds)
{
    static const double row[4][2] = {{1, 3}, {5, 7}, {0, 2}, {4.5, 6.5}};
    const double *of_a[] = {row[0], row[1]}, *of_b[] = {row[2], row[3]};
    lra_sample *s = lra_sample_new(2, false);
    lra_sample_add_rows(s, 2, of_a);
    lra_sample_add_rows(s, 2, of_b);
    double g[LRA_MAX_SERIES] = {1, -1};
    near(lra_contrast_variance(s, g).seeds, 8.0 / 2 + 10.125 / 2, 1e-12);
    s->paired = true;
    lra_variance v = lra_contrast_variance(s, g);
    near(v.seeds, 0.125 / 2, 1e-12); /* the differences of the two seeds are 1 and 0.5 */
    near(v.df, 1, 0);
    lra_sample_free(s);
}

/* An interval has a width even if no value varies. */
TEST(nothing_varies)
{
    static uint8_t right[50], wrong[50];
    for (int i = 0; i < 50; i++) right[i] = 1;
    const uint8_t *of_right[] = {right, right, right}, *of_wrong[] = {wrong, wrong};
    lra_sample *s = lra_sample_new(50, true);
    lra_sample_add_correct(s, 3, of_right);
    lra_sample_add_correct(s, 3, of_right);
    lra_sample_add_correct(s, 2, of_wrong);
    near(lra_sample_value(s, 0).lo, lra_wilson(50, 50, 0.95).lo, 1e-12);
    near(lra_sample_value(s, 2).hi, lra_wilson(0, 50, 0.95).hi, 1e-12);
    lra_estimate x = lra_sample_difference(s, 0, 1, 0.95);
    near(x.hi, lra_wilson(0, 50, 0.95).hi, 1e-12);
    near(x.lo, -x.hi, 1e-12);
    lra_sample_free(s);
}

/* A series with one seed gets the spread of the other series' seeds; if it is the only series, it
 * has no spread. */
TEST(one_seed)
{
    static uint8_t row[4][N];
    for (int i = 0; i < N; i++)
        for (int k = 0; k < 4; k++) row[k][i] = i % 10 < 4 + k;
    const uint8_t *first[] = {row[0]}, *three[] = {row[1], row[2], row[3]};
    lra_sample *s = lra_sample_new(N, true);
    lra_sample_add_correct(s, 1, first);
    double g[LRA_MAX_SERIES] = {1};
    near(lra_contrast_variance(s, g).seeds, 0, 0);
    near(lra_sample_value(s, 0).hi, lra_wilson(400, N, 0.95).hi, 1e-12);
    lra_sample_add_correct(s, 3, three);
    lra_variance v = lra_contrast_variance(s, g);
    near(v.seeds, 0.01, 1e-12);
    near(v.df, 2, 0);
    assert_true(lra_sample_seeds_dominate(s, 1) && !lra_sample_seeds_dominate(s, 0));
    lra_sample_free(s);
}

/* The bootstrap replicates have the covariance of the examples' rows over n plus that of the seeds,
 * from which the interaction of examples and seeds is removed. */
TEST(replicates)
{
    enum { B = 20000 };
    /* examples are redrawn for small n, and replaced by a normal vector for large n */
    for (int n = 400; n <= N; n += 600) {
        static uint8_t row[6][N];
        lra_rng r = lra_rng_new(5, 5, (uint64_t)n);
        for (int i = 0; i < n; i++)
            for (int k = 0; k < 6; k++)
                row[k][i] = lra_rng_u01(&r) < 0.3 + 0.4 * (i % 2) + 0.02 * (k % 3);
        const uint8_t *of_a[] = {row[0], row[1], row[2]}, *of_b[] = {row[3], row[4], row[5]};
        lra_sample *s = lra_sample_new(n, true);
        lra_sample_add_correct(s, 3, of_a);
        lra_sample_add_correct(s, 3, of_b);
        lra_sample_add_number(s, 0.1);
        s->series[0].own_sd = s->series[1].own_sd = 0;
        double *drawn = lra_alloc_array(B * 3, sizeof *drawn), sum = 0, square = 0;
        lra_sample_draw(s, 7, B, drawn);
        for (int b = 0; b < B; b++) {
            double x = drawn[3 * b] - drawn[3 * b + 1];
            sum += x, square += x * x;
            near(drawn[3 * b + 2], 0.1, 1e-12);
        }
        double mean = sum / B,
               expected = lra_contrast_variance(s, (double[LRA_MAX_SERIES]){1, -1}).examples;
        near(mean, s->series[0].value - s->series[1].value, 0.001);
        near((square / B - mean * mean) / expected, 1, 0.05);
        /* Student's t with 2 degrees of freedom exceeds 4.303 in absolute value with probability 5
         * %. */
        s->series[0].own_sd = 1;
        int beyond = 0;
        lra_sample_draw(s, 7, B, drawn);
        for (int b = 0; b < B; b++)
            beyond += fabs(drawn[3 * b] - s->series[0].value) > 4.3027 / sqrt(3);
        near((double)beyond / B, 0.05, 0.006);
        lra_free(drawn);
        lra_sample_free(s);
    }
}

/* The interaction of examples and seeds does not increase the variance of the seeds. */
TEST(interaction_is_removed)
{
    static uint8_t row[40][N];
    const uint8_t *of[40];
    lra_rng r = lra_rng_new(8, 8, 8);
    for (int k = 0; k < 40; k++) {
        of[k] = row[k];
        for (int i = 0; i < N; i++) row[k][i] = lra_rng_u01(&r) < 0.5;
    }
    lra_sample *s = lra_sample_new(N, true);
    lra_sample_add_correct(s, 40, of);
    near(s->series[0].sd, sqrt(0.25 / N), 0.004);
    assert_true(s->series[0].own_sd < 0.5 * s->series[0].sd);
    lra_sample_free(s);
}

static double square_root(const void *context, const double *sum)
{
    (void)context;
    return sqrt(sum[1] / sum[0]);
}

/* Root mean squared errors: the jackknife's pseudo-values agree with the delta method. The
 * pseudo-values of a mean are its terms. */
TEST(jackknife)
{
    static double row[N][2], out[N];
    double sum = 0, square = 0, mean = 0;
    lra_rng r = lra_rng_new(6, 6, 6);
    for (int i = 0; i < N; i++) {
        row[i][0] = 1, row[i][1] = lra_rng_u01(&r);
        mean += row[i][1] / N;
    }
    const lra_measure m = {2, N, square_root, NULL};
    lra_jackknife(&m, row[0], out);
    for (int i = 0; i < N; i++) sum += out[i] / N, square += out[i] * out[i] / N;
    near(sum, sqrt(mean), 1e-12);
    double delta = 0;
    for (int i = 0; i < N; i++) delta += (row[i][1] - mean) * (row[i][1] - mean) / N / (4 * mean);
    near((square - sum * sum) / delta, 1, 0.01);
}

/* The mean of two tasks: the variances are added and divided by the square of the number of
 * tasks. */
TEST(mean_of_tasks)
{
    const double value[] = {0.5, 0.7};
    const lra_variance v[] = {{4e-4, 1e-4, 2}, {0, 3e-4, 4}};
    lra_estimate x = lra_mean_of_tasks(2, value, v);
    double df = 1e-8 / (0.0625e-8 / 2 + 0.5625e-8 / 4), t = lra_t_quantile(df, 0.975);
    near(x.value, 0.6, 1e-12);
    near(x.hi - x.value, sqrt(1.959964 * 1.959964 * 1e-4 + t * t * 1e-4), 1e-6);
}

/* The training accuracy of the first series is 15 points above that of the second; their validation
 * accuracies are equal. The difference of the generalisation gaps is therefore 0.15. */
TEST(gaps)
{
    static uint8_t high[2][N], low[N];
    for (int i = 0; i < N; i++)
        high[0][i] = i % 10 < 6, high[1][i] = i % 10 < 7, low[i] = i % 10 < 5;
    lra_sample *train = lra_sample_new(N, true), *val = lra_sample_new(N, true);
    lra_sample_add_correct(train, 2, (const uint8_t *[]){high[0], high[1]});
    lra_sample_add_correct(train, 2, (const uint8_t *[]){low, low});
    lra_sample_add_correct(val, 2, (const uint8_t *[]){low, low});
    lra_sample_add_correct(val, 2, (const uint8_t *[]){low, low});
    lra_estimate x = lra_gap_difference(train, val);
    near(x.value, 0.15, 1e-12);
    /* quantile of Student's t with one degree of freedom, times the standard error of two seeds,
     * 0.0707 / sqrt(2) */
    double spread = 12.7062 * 0.05;
    near(x.hi - x.value,
         sqrt(spread * spread +
              3.8415 * lra_contrast_variance(train, (double[LRA_MAX_SERIES]){1, -1}).examples),
         1e-4);
    lra_sample_free(train);
    lra_sample_free(val);
}

/* ---- seeds that failed ----------------------------------------------------------------------- */

TEST(failed_seeds)
{
    bool learned[5];
    assert_int_equal(lra_seeds_learned(3, (double[]){0.9, 0.5, 0.91}, 0.5, 0.91, 0.01, learned), 2);
    assert_true(learned[0] && !learned[1] && learned[2]);
    /* A seed learned if it reaches half of the gain, or if its distance below the others is no
     * larger than the spread of the others. */
    assert_int_equal(lra_seeds_learned(3, (double[]){0.9, 0.75, 0.91}, 0.5, 0.91, 0.01, learned),
                     3);
    assert_int_equal(lra_seeds_learned(3, (double[]){0.9, 0.5, 0.7}, 0.5, 0.91, 0.01, learned), 3);
    assert_int_equal(
        lra_seeds_learned(5, (double[]){0.5, 0.9, 0.52, 0.91, 0.9}, 0.5, 0.91, 0.01, learned), 3);
    assert_int_equal(lra_seeds_learned(2, (double[]){0.5, 0.9}, 0.5, 0.91, 0.01, learned), 2);
    /* All seeds are at chance; two have exactly the same accuracy. */
    assert_int_equal(lra_seeds_learned(3, (double[]){0.495, 0.5, 0.5}, 0.5, 1, 0.01, learned), 3);
    /* The other seeds differ by 0.02; the threshold is ten times that, 0.2. */
    assert_int_equal(
        lra_seeds_learned(4, (double[]){0.65, 0.83, 0.85, 0.87}, 0.5, 0.9, 0.01, learned), 4);
    assert_int_equal(
        lra_seeds_learned(4, (double[]){0.61, 0.83, 0.85, 0.87}, 0.5, 0.9, 0.01, learned), 3);
    /* The gap is smaller than four standard errors of the mean of one seed. */
    assert_int_equal(lra_seeds_learned(3, (double[]){0.9, 0.5, 0.91}, 0.5, 0.91, 0.11, learned), 3);
    /* The threshold of a reference follows from its own better group: 0.6 is less than half of the
     * gain to 0.81. */
    assert_int_equal(lra_seeds_learned(3, (double[]){0.81, 0.6, 0.81}, 0.5, NAN, 0.01, learned), 2);
    assert_int_equal(lra_seeds_learned(3, (double[]){0.5, 0.49, 0.5}, 0.5, NAN, 0, learned), 3);
}

/* Results of five seeds do not have the flag few-seeds. */
TEST(few_seeds)
{
    static uint8_t row[5][N];
    const uint8_t *of[5];
    for (int k = 0; k < 5; k++) {
        of[k] = row[k];
        for (int i = 0; i < N; i++) row[k][i] = i % 10 < 2 + k;
    }
    for (int n = 1; n <= 5; n++) {
        lra_sample *s = lra_sample_new(N, true);
        lra_sample_add_correct(s, n, of);
        assert_int_equal(lra_sample_seeds_dominate(s, 0), n > 1 && n < 5);
        lra_sample_free(s);
    }
}

/* ---- information ----------------------------------------------------------------------------- */

/* Logits that are three times too large: the fitted temperature corrects them, and the losses are
 * then those of the true probabilities. */
TEST(temperature)
{
    enum { ROWS = 20000 };
    float *logits = lra_alloc_array(ROWS * 2, sizeof *logits);
    int32_t *label = lra_alloc_array(ROWS, sizeof *label);
    double *loss = lra_alloc_array(ROWS, sizeof *loss), sum = 0;
    lra_rng r = lra_rng_new(9, 9, 9);
    for (int i = 0; i < ROWS; i++) {
        label[i] = lra_rng_u01(&r) < 0.8; /* the odds of label 1 are 4 to 1 */
        logits[2 * i + 1] = (float)(3 * log(4));
    }
    double b = lra_temperature_fit(ROWS, 2, logits, label);
    near(b, 1.0 / 3, 0.01);
    lra_losses(ROWS, 2, logits, label, b, loss);
    for (int i = 0; i < ROWS; i++) sum += loss[i] / ROWS;
    near(sum, -0.8 * log(0.8) - 0.2 * log(0.2), 0.01);
    for (int i = 0; i < ROWS; i++) logits[2 * i + 1] = -logits[2 * i + 1];
    /* the logits are the opposite of the truth */
    near(lra_temperature_fit(ROWS, 2, logits, label), 0, 0);
    for (int i = 0; i < ROWS; i++) logits[2 * i + 1] = (float)(log(4) / 10);
    /* the logits are ten times too small */
    near(lra_temperature_fit(ROWS, 2, logits, label), 10, 0.3);
    const int32_t other[] = {0, 0, 1, 0}, own[] = {0, 1};
    lra_chance_losses(2, 2, own, 4, other, loss);
    near(loss[0], -log(4.0 / 6), 1e-12);
    near(loss[1], -log(2.0 / 6), 1e-12);
    lra_free(logits);
    lra_free(label);
    lra_free(loss);
}
