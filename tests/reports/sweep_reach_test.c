/* Reach of the rungs of a sweep, for known curves. */
#include "tests/fixtures/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "reports/ladder/ladder_views.h"
#include "reports/report.h"
#include "reports/ladder/sweep_reach.h"
#include "tests/fixtures/synthetic_result.h"

enum { DISTANCES = 3, SEEDS = 3 };
static const int distance[DISTANCES] = {4, 8, 16};

static void near(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance)) fail_msg("%.6f, expected %.6f", value, expected);
}

/* Makes results of two kernels at three distances with these accuracies. */
static void make(const double share[2][DISTANCES], lra_result **list)
{
    for (int i = 0; i < 2 * DISTANCES * SEEDS; i++) {
        int k = i / SEEDS / DISTANCES, at = i / SEEDS % DISTANCES;
        lra_result *r = list[i] = made_result(5 + 4 * k, 2 + 4 * k, 10 * at + i % SEEDS,
                                              share[k][at]);
        r->seed = i % SEEDS;
        lra_free(r->config);
        lra_free(r->task_parameters);
        r->config = lra_format("model.kernel=%d\nseed=%d\ntask.distance=%d\n", (int)r->kernel,
                               i % SEEDS, distance[at]);
        r->task_parameters = lra_format("distance=%d\n", distance[at]);
        r->fingerprint[0] = (char)('a' + at);
    }
}

TEST(reaches)
{
    /* Gains 1, 0.6, 0.2 fall to one half at 8 times 2^(1/4); gains 1, 0.99, 0.98 never do. */
    static const double share[2][DISTANCES] = {{0.75, 0.55, 0.35}, {0.75, 0.745, 0.74}};
    lra_result *list[2 * DISTANCES * SEEDS];
    lra_ladder_view *v;
    lra_sweep *sweep;
    lra_err e = {{0}};
    const lra_ladder_scale scale = {.reference = NULL};
    make(share, list);
    assert_int_equal(lra_ladder_views(list, 18, &scale, &v, &e), DISTANCES);
    assert_int_equal(lra_sweeps_find(v, DISTANCES, &sweep, &e), 1);
    lra_sweep_reach *r = lra_sweep_reaches(sweep);
    near(r[0].half.value, 8 * exp2(0.25), 0.4);
    assert_true(r[0].half.lo < r[0].half.value && r[0].half.value < r[0].half.hi);
    assert_true(r[0].half.lo > 7 && r[0].half.hi < 13);
    near(r[0].solved, 4, 0);
    assert_true(isinf(r[1].half.value) && isinf(r[1].half.lo));
    lra_free(r);
    /* A field of 5 tokens includes distances up to 4, not 5. */
    assert_true(lra_sweep_covers(sweep, 0, 0));
    sweep->number[0] = 5;
    assert_false(lra_sweep_covers(sweep, 0, 0));
    lra_sweeps_free(sweep, 1);
    lra_ladder_views_free(v, DISTANCES);
    for (int i = 0; i < 18; i++) lra_result_free(list[i]);
}

/* Checks the distances solved by two rungs with these accuracies in `rows` test rows. */
static void expect_solved(const double share[2][DISTANCES], int64_t rows, double first,
                          double second)
{
    lra_result *list[2 * DISTANCES * SEEDS];
    lra_ladder_view *v;
    lra_sweep *sweep;
    lra_err e = {{0}};
    const lra_ladder_scale scale = {.reference = NULL};
    make(share, list);
    for (int i = 0; i < 18; i++) list[i]->n = rows;
    assert_int_equal(lra_ladder_views(list, 18, &scale, &v, &e), DISTANCES);
    assert_int_equal(lra_sweeps_find(v, DISTANCES, &sweep, &e), 1);
    lra_sweep_reach *r = lra_sweep_reaches(sweep);
    near(r[0].solved, first, 0);
    near(r[1].solved, second, 0);
    lra_free(r);
    lra_sweeps_free(sweep, 1);
    lra_ladder_views_free(v, DISTANCES);
    for (int i = 0; i < 18; i++) lra_result_free(list[i]);
}

/* A distance is solved if the entire interval is above 0.95: a gain of 0.96 alone is not
 * sufficient. */
TEST(solved_with_certainty)
{
    static const double share[2][DISTANCES] = {{0.75, 0.73, 0.3}, {0.75, 0.8, 0.73}};
    expect_solved(share, MADE_ROWS, 4, 8);
}

/* A rung that is right in every row solves every distance. Chance is computed from all test sets
 * together, because it varies in a test set of few rows. */
TEST(right_in_every_row)
{
    static const double share[2][DISTANCES] = {{1, 1, 0.25}, {1, 1, 1}};
    expect_solved(share, 800, 8, 16);
}

/* Returns the table of such results; the caller frees it. */
static char *table_of(const double share[2][DISTANCES], const char *format)
{
    lra_result *list[2 * DISTANCES * SEEDS];
    char *text = NULL;
    size_t size;
    lra_err e = {{0}};
    make(share, list);
    lra_report_input in = {.list = list, .n = 18};
    FILE *f = open_memstream(&text, &size);
    OK(lra_report_print(&lra_table_sweep, f, &in, format, &e));
    fclose(f);
    for (int i = 0; i < 18; i++) lra_result_free(list[i]);
    return text;
}

/* A rung that does not solve the shortest distance has no reach. */
TEST(nothing_learned)
{
    static const double share[2][DISTANCES] = {{0.255, 0.25, 0.25}, {0.75, 0.3, 0.25}};
    char *text = table_of(share, "csv");
    if (!strstr(text, "reach_d50,reach_d50_lo,reach_d50_hi,reach_len") ||
        !strstr(text, ",,,,distance,listops,resconv,") || strstr(text, "nan"))
        fail_msg("%s", text);
    free(text);
}

/* A rung counts as above chance if its entire interval is; fields of 5 and 13 include distance 4,
 * that of 13 also distance 8. */
TEST(learned_is_certainly_above_chance)
{
    static const double share[2][DISTANCES] = {{0.26, 0.26, 0.75}, {0.75, 0.26, 0.26}};
    char *text = table_of(share, "text");
    if (!strstr(text, "distance: 4: 1 of 2, 8: 0 of 1, 16: 0 of 0") ||
        !strstr(text, "does not cover the distance: 4: 0 of 0, 8: 0 of 1, 16: 1 of 2"))
        fail_msg("%s", text);
    free(text);
}

/* Replaces the setting `distance` of the results by another key, and sets the numbers of seeds. */
static void set_key(lra_result **list, const char *key)
{
    for (int i = 0; i < 18; i++) {
        int at = i / SEEDS % DISTANCES;
        lra_free(list[i]->config);
        lra_free(list[i]->task_parameters);
        list[i]->config = lra_format("model.kernel=%d\nseed=%d\ntask.%s=%d\n", (int)list[i]->kernel,
                                     i % SEEDS, key, distance[at]);
        list[i]->task_parameters = lra_format("%s=%d\n", key, distance[at]);
    }
}

/* Returns the verdict of a sweep over `key`, one line per paragraph, for seeds below n_seeds; the
 * caller frees it. */
static char *verdict_of(const double share[2][DISTANCES], const char *key, int n_seeds)
{
    lra_result *list[2 * DISTANCES * SEEDS], *kept[2 * DISTANCES * SEEDS];
    char *text = NULL;
    int n = 0;
    size_t size;
    lra_err e = {{0}};
    make(share, list);
    set_key(list, key);
    for (int i = 0; i < 18; i++)
        if (list[i]->seed < n_seeds) kept[n++] = list[i];
    lra_report_input in = {.list = kept, .n = n};
    FILE *f = open_memstream(&text, &size);
    OK(lra_report_print(&lra_table_sweep, f, &in, "json", &e));
    fclose(f);
    for (int i = 0; i < 18; i++) lra_result_free(list[i]);
    return text;
}

static void expect_verdict(const double share[2][DISTANCES], const char *key, int n_seeds,
                           const char *const sentence[3])
{
    char *text = verdict_of(share, key, n_seeds);
    for (int i = 0; i < 3; i++)
        if (!strstr(text, sentence[i])) fail_msg("'%s' is not in %.1500s", sentence[i], text);
    free(text);
}

TEST(verdicts)
{
    static const double learned[2][DISTANCES] = {{0.75, 0.25, 0.25}, {0.75, 0.75, 0.25}},
                        luck[2][DISTANCES] = {{0.75, 0.55, 0.25}, {0.75, 0.75, 0.25}},
                        nothing[2][DISTANCES] = {{0.25, 0.25, 0.25}, {0.25, 0.25, 0.25}},
                        falls[2][DISTANCES] = {{0.5, 0.5, 0.5}, {0.75, 0.6, 0.5}},
                        stays[2][DISTANCES] = {{0.5, 0.5, 0.5}, {0.6, 0.7, 0.6}};
    expect_verdict(
        learned, "distance", 3,
        (const char *const[]){
            "Of 3 pairs of a rung and a distance that its receptive field covers, 3 are "
            "significantly better than chance (95 % intervals); of 3 pairs whose distance it does "
            "not cover, which can only be at chance (the null value), 0 are.",
            "The longest distance at which a rung is shown to keep 0.95 of its gain over chance is "
            "8, of K = 9 (reach 6).",
            "This describes these models after this many steps"});
    expect_verdict(luck, "distance", 1,
                   (const char *const[]){"(the null value), 1 are (2.5 % are expected by chance).",
                                         "is 8, of K = 9 (reach 6).",
                                         "6 of these 6 values have one seed"});
    expect_verdict(nothing, "distance", 3,
                   (const char *const[]){"covers, 0 are significantly better than chance",
                                         "No rung is shown to keep 0.95",
                                         "does not show that its reach is too small"});
    expect_verdict(falls, "length", 3,
                   (const char *const[]){
                       "6 of 6 rungs, each at one value of the setting, are significantly better "
                       "than chance",
                       "The widest rung, K = 9 (reach 6), has accuracy", ": a change of -2"});
    expect_verdict(stays, "length", 3,
                   (const char *const[]){"6 of 6 rungs", ", which is not shown to differ from 0.",
                                         "This describes these models after"});
}
