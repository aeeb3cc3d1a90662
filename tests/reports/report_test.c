/* Reports: published numbers, result files, tables from generated results. */
#include "tests/fixtures/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/os/file.h"
#include "kernels/base/core/mem.h"
#include "reports/ladder/ladder_names.h"
#include "reports/ladder/ladder_views.h"
#include "reports/results/published.h"
#include "reports/report.h"
#include "tests/fixtures/figures.h"
#include "tests/fixtures/golden.h"
#include "tests/fixtures/small_results.h"

enum { N = SMALL_ROWS, C = SMALL_CLASSES };

TEST(published_numbers)
{
    double x = lra_published("locality", "1", "resconv", "kernel=5", "listops", "accuracy");
    assert_true(fabs(x - 45.24) < 1e-9);
    assert_true(fabs(lra_published("locality", "1", "mega", NULL, "listops", "accuracy") - 63.14) <
                1e-9);
    assert_true(
        isnan(lra_published("locality", "1", "resconv", "kernel=6", "listops", "accuracy")));
    /* The paper prints a cross: the value is NaN, not 0. */
    assert_true(isnan(lra_published("las", "2", "reformer", NULL, "path-x", "accuracy")));
}

/* Tasks have the names of this program, independent of the papers; the best value is the largest or
 * the smallest, depending on the metric. */
TEST(the_best_published_value)
{
    static const struct {
        const char *task, *metric, *model;
        bool causal;
        double value;
    } known[] = {{"path-x", "accuracy", "mega", false, 97.98},
                 {"path-x-256", "accuracy", "s4", false, 87.11},
                 {"wikitext-103", "perplexity", "vanilla-attention", true, 20.20},
                 {"text8", "bits-per-character", "las", true, 1.3332},
                 {"enwik8", "bits-per-byte", "las", true, 1.2826},
                 {"speech-commands", "accuracy", "s4", false, 96.52},
                 {"speech-commands", "accuracy", "s4", true, 95.09},
                 {"bidmc-hr", "r2", "s4", false, 0.999}};
    lra_err e = {{0}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const lra_metric *m = lra_metric_find(known[i].metric, &e);
        lra_published_best best = lra_published_find_best(known[i].task, known[i].causal, m);
        if (fabs(best.value - known[i].value) > 1e-9 || strcmp(best.model, known[i].model) != 0)
            fail_msg("%s: %g of '%s'", known[i].task, best.value, best.model);
    }
    const lra_metric *m = lra_metric_find("rmse", &e);
    assert_true(isnan(lra_published_find_best("bidmc-hr", false, m).value));
    assert_true(isnan(lra_published_find_best("xor", false, m).value));
}

TEST(results_are_read_as_written)
{
    lra_err e = {{0}};
    lra_result *a = small_result("quick", 5, 1, 30);
    assert_int_equal(lra_result_write("report_test.h5", a, &e), 0);
    lra_result *b = lra_result_read("report_test.h5", &e);
    NOT_NULL(b);
    assert_string_equal(a->config, b->config);
    assert_int_equal(b->reach, 12);
    assert_memory_equal(a->logits, b->logits, N * C * sizeof(float));
    assert_string_equal(b->baseline_name[0], "majority-by-operator");
    size_t n;
    char *bytes = lra_file_read("report_test.h5", 1 << 24, &n, &e);
    for (size_t cut = 0; cut < n; cut += 211) {
        assert_int_equal(lra_file_write("report_cut.h5", bytes, cut, &e), 0);
        assert_null(lra_result_read("report_cut.h5", &e));
    }
    remove("report_test.h5");
    remove("report_cut.h5");
    lra_free_large(bytes);
    lra_result_free(a);
    lra_result_free(b);
}

/* Returns the table as printed; the caller frees it. */
static char *print(const lra_report_table *table, lra_result *const *list, int n,
                   const char *format)
{
    lra_report_input in = {.list = list, .n = n};
    lra_err e = {{0}};
    FILE *f = fopen("report_table", "w");
    assert_non_null(f);
    OK(lra_report_print(table, f, &in, format, &e));
    fclose(f);
    return take_file("report_table");
}

TEST(tables_in_every_format)
{
    static const char *const formats[] = {"text", "markdown", "latex", "csv", "json"};
    static const int right[3] = {20, 35, 40};
    lra_result *list[6];
    for (int i = 0; i < 6; i++)
        list[i] = small_result("small", 1 + 4 * (i / 2), i % 2, right[i / 2] + i % 2);
    for (int f = 0; f < 5; f++) {
        char *name = lra_format("ladder.%s", formats[f]);
        check_golden(name, print(&lra_table_ladder, list, 6, formats[f]));
        lra_free(name);
    }
    for (int i = 0; i < 6; i++) lra_result_free(list[i]);
}

TEST(only_paper_results_stand_beside_published)
{
    lra_err e = {{0}};
    lra_result *list[] = {small_result("paper", 5, 0, 25), small_result("paper", 7, 0, 26),
                          small_result("quick", 5, 0, 40), small_result("quick", 7, 0, 45)};
    check_golden("T1.text", print(&lra_table_t1, list, 4, "text"));
    lra_report_input quick = {.list = list + 2, .n = 2};
    assert_int_equal(lra_report_print(&lra_table_t1, stdout, &quick, "text", &e), -1);
    assert_string_equal(e.msg,
                        "none of 2 results has preset 'paper'; table 'ladder' shows other presets");
    for (int i = 0; i < 2; i++) {
        lra_free(list[2 * i]->task);
        list[2 * i]->task = lra_copy_text("path-x");
        char *text = print(&lra_table_tasks, list + 2 * i, 2, "text");
        bool shown = strstr(text, " published ") && strstr(text, " 97.98 % mega ");
        if (shown != (i == 0)) fail_msg("%s", text);
        lra_free(text);
    }
    for (int i = 0; i < 4; i++) lra_result_free(list[i]);
}

/* References of gains: the widest rung, another run, the published value of MEGA; chance. */
TEST(scales)
{
    lra_err e = {{0}};
    lra_ladder_view *v;
    lra_result *list[] = {small_result("small", 5, 0, 25), small_result("small", 7, 0, 30)},
               *paper[] = {small_result("paper", 5, 0, 25), small_result("paper", 7, 0, 30)};
    lra_ladder_scale s = {.uniform = true};
    assert_int_equal(lra_ladder_views(list, 2, &s, &v, &e), 1);
    assert_true(fabs(v->data.chance - 1.0 / C) < 1e-12);
    assert_true(fabs(v->ladder.reference - 30.0 / N) < 1e-12);
    assert_true(fabs(v->ladder.row[0].gain.value - (25.0 / N - 0.25) / (30.0 / N - 0.25)) < 1e-12);
    lra_ladder_views_free(v, 1);

    s = (lra_ladder_scale){.reference = "other", .run = small_result("small", 31, 0, 40)};
    assert_int_equal(lra_ladder_views(list, 2, &s, &v, &e), 1);
    assert_true(fabs(v->ladder.reference - 40.0 / N) < 1e-12);
    assert_true(v->ladder.row[1].gain.value < 1);
    assert_true(v->ladder.row[1].gain.lo < v->ladder.row[1].gain.value);
    assert_string_equal(v->reference, "run listops-resconv-fedcba9876543210 seed 0");
    lra_ladder_views_free(v, 1);
    s.run->fingerprint[0] = 'x';
    assert_int_equal(lra_ladder_views(list, 2, &s, &v, &e), -1);
    assert_non_null(strstr(e.msg, "data x123456789abcdef, the ladder has task 'listops'"));
    lra_ladder_scale_close(&s);

    s = (lra_ladder_scale){.reference = "published"};
    assert_int_equal(lra_ladder_views(paper, 2, &s, &v, &e), 1);
    assert_true(fabs(v->ladder.reference - 0.6314) < 1e-12);
    lra_ladder_views_free(v, 1);
    assert_int_equal(lra_ladder_views(list, 2, &s, &v, &e), LRA_USAGE);
    assert_non_null(strstr(e.msg, "found preset 'small' and task 'listops'"));
    for (int i = 0; i < 2; i++) lra_result_free(list[i]), lra_result_free(paper[i]);
}

/* Script and data of the figure: one ladder with all of its lines, and a ladder of preset `paper`
 * with published points. */
TEST(figure_scripts)
{
    static const char *const presets[] = {"small", "paper"};
    for (int p = 0; p < 2; p++) {
        lra_err e = {{0}};
        lra_result *list[] = {small_result(presets[p], 1, 0, 12),
                              small_result(presets[p], 5, 0, 25),
                              small_result(presets[p], 31, 0, 40)};
        lra_report_input in = {.list = list, .n = 3};
        OK(write_figure(&lra_figure_loc_t1, ".", &in, &e));
        char *gp = lra_format("loc-T1.%s.gp", presets[p]),
             *dat = lra_format("loc-T1.%s.dat", presets[p]);
        check_golden(gp, take_file("loc-T1.gp"));
        check_golden(dat, take_file("loc-T1.dat"));
        lra_free(gp);
        lra_free(dat);
        for (int i = 0; i < 3; i++) lra_result_free(list[i]);
    }
}

/* Ladders of one task are labelled by their settings, those of several tasks by the task only. */
TEST(names_of_ladders)
{
    lra_err e = {{0}};
    lra_ladder_view *v;
    const lra_ladder_scale scale = {0};
    lra_result *list[4];
    for (int i = 0; i < 4; i++) {
        list[i] = small_result("small", i % 2 ? 5 : 9, 0, 30 + i);
        list[i]->fingerprint[0] = i < 2 ? 'a' : 'b';
        list[i]->task_parameters = lra_format("distance=%d\nlength=20\n", i < 2 ? 4 : 8);
    }
    for (int tasks = 1; tasks <= 2; tasks++) {
        assert_int_equal(lra_ladder_views(list, 4, &scale, &v, &e), 2);
        char *shared = lra_ladders_shared_name(v, 2), *own = lra_ladder_own_name(v, 2, 1);
        const char *expected = tasks == 1 ? "listops, small, resconv, f32, 1 seed"
                                          : "small, resconv, f32, 1 seed";
        assert_memory_equal(shared, expected, strlen(expected));
        expected = tasks == 1 ? "distance 8" : "recall";
        assert_memory_equal(own, expected, strlen(expected));
        lra_free(shared);
        lra_free(own);
        lra_ladder_views_free(v, 2);
        for (int i = 2; i < 4; i++) {
            lra_free(list[i]->task);
            list[i]->task = lra_copy_text("recall");
        }
    }
    for (int i = 0; i < 4; i++) lra_result_free(list[i]);
}

/* The chance line is drawn if all ladders have the same chance, and the axis then includes it. */
TEST(chance_of_several_ladders)
{
    lra_err e = {{0}};
    lra_result *list[4];
    for (int i = 0; i < 4; i++) {
        list[i] = small_result("small", i % 2 ? 5 : 9, 0, 30 + i);
        list[i]->fingerprint[0] = i < 2 ? 'a' : 'b';
        list[i]->task_parameters = lra_format("distance=%d\nlength=20\n", i < 2 ? 16 : 8);
    }
    const lra_report_input in = {.list = list, .n = 4};
    OK(write_figure(&lra_figure_loc_t1, ".", &in, &e));
    char *text = take_file("loc-T1.gp"), *line = strstr(text, "dt " LRA_DASH_CHANCE " lc rgb"),
         *gain = strstr(text, "gain over chance");
    assert_true(line && gain && line < gain && strstr(text, "set label 'chance' at screen"));
    const char *near = strstr(text, "'distance 8"), *far = strstr(text, "'distance 16");
    assert_true(near && far && near < far);
    remove("loc-T1.dat");
    lra_free_large(text);
    for (int i = 0; i < 4; i++) lra_result_free(list[i]);
}

static unsigned luminance(const char *color)
{
    unsigned r, g, b;
    assert_int_equal(sscanf(color, "#%2x%2x%2x", &r, &g, &b), 3);
    return 299 * r + 587 * g + 114 * b;
}

/* Colours of a ramp also differ in grey. */
TEST(ramps_go_from_light_to_dark)
{
    for (int n = 1; n <= LRA_PLOT_STYLES; n++)
        for (int i = 1; i < n; i++)
            assert_true(luminance(lra_plot_ramp(i, n)) + 15000 <
                        luminance(lra_plot_ramp(i - 1, n)));
}

/* Gains relative to a reference near chance are unbounded; the range of the axis is limited. */
TEST(a_figure_against_a_reference_near_chance)
{
    for (int right = 13; right < 16; right++) { /* accuracies from chance, 13 of 50, upwards */
        lra_err e = {{0}};
        lra_result *list[] = {small_result("small", 5, 0, 5), small_result("small", 31, 0, 45)};
        lra_report_input in = {.list = list, .n = 2};
        in.scale = (lra_ladder_scale){.reference = "other",
                                      .run = small_result("small", 9, 0, right)};
        OK(write_figure(&lra_figure_loc_t1, ".", &in, &e));
        char *text = take_file("loc-T1.gp");
        if (!strstr(text, "'gain undefined: the reference is'") ||
            !strstr(text, "'not clearly above chance'"))
            fail_msg("%s", text);
        double lo, hi;
        for (const char *at = text; (at = strstr(at, "range [")) != NULL; at++)
            if (sscanf(at, "range [%lf:%lf]", &lo, &hi) != 2 || !(lo < hi) || !isfinite(hi - lo))
                fail_msg("%.40s", at);
        lra_free_large(text);
        remove("loc-T1.dat");
        lra_ladder_scale_close(&in.scale);
        for (int i = 0; i < 2; i++) lra_result_free(list[i]);
    }
}

/* Images: the pixel below is T tokens away, and the table shows which kernels reach it; the check
 * compares with baselines that ignore the order. */
TEST(reach_of_images)
{
    lra_err e = {{0}};
    lra_result *list[3];
    static const int kernel[] = {5, 11, 21}, right[] = {20, 30, 40};
    for (int i = 0; i < 3; i++) {
        list[i] = small_result("quick", kernel[i], 0, right[i]);
        list[i]->grid = 32, list[i]->max_length = 1024;
        lra_free(list[i]->baseline_name[0]);
        list[i]->baseline_name[0] = lra_copy_text("marker-distance");
    }
    assert_int_equal(lra_result_write("report_test.h5", list[0], &e), 0);
    lra_result *again = lra_result_read("report_test.h5", &e);
    assert_non_null(again);
    assert_int_equal(again->grid, 32);
    remove("report_test.h5");
    char *text = print(&lra_table_ladder, list, 3, "text");
    assert_non_null(strstr(text, "images of 32 x 32 pixels, read row by row: the pixel below is "
                                 "within reach from K = 21 (R = 60) on"));
    assert_non_null(strstr(text, "than chance: 2 of 3 (not K = 5); marker-distance: 2 of 3"));
    lra_free_large(text);
    text = print(&lra_table_ladder, list, 2, "text");
    assert_non_null(strstr(text, "the pixel below is within reach in no rung"));
    lra_free_large(text);
    double accuracy;
    assert_string_equal(lra_result_simple_baseline(again, &accuracy), "marker-distance");
    lra_result_free(again);
    for (int i = 0; i < 3; i++) lra_result_free(list[i]);
}
