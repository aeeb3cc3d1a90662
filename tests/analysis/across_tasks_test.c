/* Averages over tasks: values computed by hand, and whether the interval of the interquartile mean
 * covers the true value. */
#include "tests/fixtures/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/across_tasks.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/core/philox.h"
#include "reports/report.h"
#include "tests/fixtures/small_results.h"

enum { TASKS = 5, SEEDS = 3, N = 600 };

static void near(double a, double b, double most)
{
    if (!(fabs(a - b) <= most)) fail_msg("%.10g, expected %.10g", a, b);
}

TEST(the_middle_half_by_weight)
{
    const double value[] = {0, 1, 2, 3, 4, 5, 6, 7}, one[] = {1, 1, 1, 1, 1, 1, 1, 1};
    near(lra_middle_mean(8, value, one), (2 + 3 + 4 + 5) / 4.0, 1e-12);
    /* The middle half of 6 values: half of the second, the third and fourth, half of the fifth. */
    near(lra_middle_mean(6, value, one), (0.5 * 1 + 2 + 3 + 0.5 * 4) / 3, 1e-12);
    /* the middle half of the total weight 8 is from 2 to 6, which belongs to the third value */
    const double weight[] = {1, 1, 6};
    near(lra_middle_mean(3, value, weight), 2, 1e-12);
}

/* Makes a sample of which every seed s predicts the first right[s] rows correctly. */
static lra_sample *sample_of(int n_seeds, const int *right)
{
    static uint8_t row[LRA_MAX_SEEDS][N];
    const uint8_t *correct[LRA_MAX_SEEDS];
    for (int s = 0; s < n_seeds; s++) {
        for (int i = 0; i < N; i++) row[s][i] = i < right[s];
        correct[s] = row[s];
    }
    lra_sample *x = lra_sample_new(N, true);
    lra_sample_add_correct(x, n_seeds, correct);
    return x;
}

TEST(runs_of_five_tasks)
{
    static const int right[TASKS][SEEDS] = {
        {60, 66, 63}, {186, 180, 192}, {300, 306, 294}, {420, 426, 414}, {540, 534, 546}};
    lra_task_value task[TASKS];
    for (int t = 0; t < TASKS; t++) task[t] = (lra_task_value){sample_of(SEEDS, right[t]), 0};
    lra_estimate mean = lra_mean_over_tasks(TASKS, task);
    near(mean.value, (63 + 186 + 300 + 420 + 540) / 5.0 / N, 1e-12);
    /* Every run of the five tasks has weight 1/3, so the middle half reaches from 1.25 to 3.75 of
     * the total weight 5. It contains a quarter of the second task's worst run (180) and all of its
     * others (186, 192), all runs of the third task, and a quarter of the fourth task's best run
     * (426) and all of its others (414, 420). */
    double expected =
        (180 / 12.0 + 186 / 3.0 + 192 / 3.0 + 300 + 414 / 3.0 + 420 / 3.0 + 426 / 12.0) / 2.5 / N;
    lra_estimate x = lra_iqm_over_tasks(TASKS, task, 1, 2000), y;
    near(x.value, expected, 1e-12);
    assert_true(x.lo < x.value && x.value < x.hi);
    y = lra_iqm_over_tasks(TASKS, task, 1, 2000);
    assert_true(y.lo == x.lo && y.hi == x.hi);
    /* The functions return NaN for too few tasks, and for a task with too few seeds. */
    assert_true(isnan(lra_iqm_over_tasks(TASKS - 1, task, 1, 100).value));
    lra_sample_free((lra_sample *)(uintptr_t)task[2].sample);
    task[2].sample = sample_of(SEEDS - 1, right[2]);
    assert_true(isnan(lra_iqm_over_tasks(TASKS, task, 1, 100).value));
    for (int t = 0; t < TASKS; t++) lra_sample_free((lra_sample *)(uintptr_t)task[t].sample);
}

static double normal(lra_rng *r)
{
    double x, y;
    uint32_t first = lra_rng_u32(r);
    lra_normal2(first, lra_rng_u32(r), &x, &y);
    return x;
}

/* Draws a task of accuracy p; the accuracies of its seeds have the standard deviation sd. */
static lra_sample *draw_task(lra_rng *r, double p, double sd)
{
    static uint8_t row[SEEDS][N];
    const uint8_t *correct[SEEDS];
    double level[SEEDS];
    for (int s = 0; s < SEEDS; s++) level[s] = p + sd * normal(r), correct[s] = row[s];
    for (int i = 0; i < N; i++) {
        /* in three of four examples, all seeds use the same random number */
        double luck = lra_rng_u01(r);
        for (int s = 0; s < SEEDS; s++) row[s][i] = (i % 4 ? luck : lra_rng_u01(r)) < level[s];
    }
    lra_sample *x = lra_sample_new(N, true);
    lra_sample_add_correct(x, SEEDS, correct);
    return x;
}

/* The accuracies of the tasks differ so much that the order of runs does not depend on seeds: the
 * true interquartile mean then follows from the tasks' true accuracies. */
TEST(the_interval_holds_the_truth)
{
    static const double p[TASKS] = {0.15, 0.35, 0.5, 0.65, 0.85}, sd[] = {0.003, 0.02};
    const double truth = (0.75 * p[1] + p[2] + 0.75 * p[3]) / 2.5;
    enum { SETS = 300 };
    for (int k = 0; k < 2; k++) {
        int held = 0;
        for (int set = 0; set < SETS; set++) {
            lra_rng r = lra_rng_new(17, (uint32_t)k, (uint64_t)set);
            lra_task_value task[TASKS];
            for (int t = 0; t < TASKS; t++)
                task[t] = (lra_task_value){draw_task(&r, p[t], sd[k]), 0};
            lra_estimate x = lra_iqm_over_tasks(TASKS, task, (uint64_t)set, 400);
            held += x.lo <= truth && truth <= x.hi;
            for (int t = 0; t < TASKS; t++)
                lra_sample_free((lra_sample *)(uintptr_t)task[t].sample);
        }
        print_message("seed sd %g: %.1f %% of %d\n", sd[k], 100.0 * held / SETS, SETS);
        assert_true(held >= 0.92 * SETS && held < SETS);
    }
}

/* The table of results contains both means: five tasks of one model with three seeds; one run has
 * another precision. */
TEST(tables_show_both_means)
{
    static const char *const names[] = {"listops", "image", "text", "pathfinder", "retrieval"};
    enum { MOST = TASKS * SEEDS + 1 };
    lra_result *list[MOST];
    lra_err err;
    int n = 0;
    for (int t = 0; t < TASKS; t++)
        for (int s = 0; s < SEEDS; s++) {
            lra_result *r = list[n++] = small_result("small", 5, s, 10 + 5 * t + s);
            lra_free(r->task);
            r->task = lra_copy_text(names[t]);
            lra_free(r->config);
            r->config = lra_format("model.kernel=5\nseed=%d\ntask=%s\n", s, names[t]);
        }
    list[n] = small_result("small", 5, 0, 49);
    lra_free(list[n]->precision);
    list[n++]->precision = lra_copy_text("bf16");
    lra_report_input in = {.list = list, .n = n};
    lra_table **made;
    assert_int_equal(lra_table_tasks.make(&in, &made, &err), 1);
    FILE *f = tmpfile();
    char text[8192];
    assert_int_equal(lra_table_print(made[0], "text", f, &err), 0);
    rewind(f);
    text[fread(text, 1, sizeof text - 1, f)] = 0;
    fclose(f);
    assert_non_null(strstr(text, "mean over 5 tasks"));
    assert_non_null(strstr(text, "resconv K = 5 (small, f32) 42.00 % ("));
    const char *iqm = strstr(text, "interquartile mean over 5 tasks");
    assert_non_null(iqm);
    assert_non_null(strstr(iqm, "resconv K = 5 (small, f32) 42.00 % ("));
    assert_null(strstr(text, "(small, bf16)"));
    lra_tables_free(made, 1);
    for (int i = 0; i < n; i++) lra_result_free(list[i]);
}
