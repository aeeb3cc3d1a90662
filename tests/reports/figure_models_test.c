/* Figure models: a bar for each model and task at its position, with a label that distinguishes the
 * models; results that do not fit into one figure. */
#include "tests/fixtures/test.h"

#include <string.h>

#include "kernels/base/core/mem.h"
#include "reports/report.h"
#include "tests/fixtures/figures.h"
#include "tests/fixtures/golden.h"
#include "tests/fixtures/small_results.h"

enum { RESULTS = 10 };
static lra_result *results[RESULTS];

static lra_result *result(const char *task, const char *model, const char *setting, int right)
{
    lra_result *r = small_result("quick", 0, 0, right);
    lra_free(r->task);
    lra_free(r->model);
    lra_free(r->config);
    r->task = lra_copy_text(task), r->model = lra_copy_text(model);
    r->config = lra_format("model=%s\nmodel.positions=%s\nseed=0\ntask=%s\n", model, setting, task);
    return r;
}

static int make_results(void **state)
{
    (void)state;
    results[0] = result("listops", "transformer", "learned", 20);
    results[1] = result("listops", "transformer", "rotary", 30);
    results[2] = result("text", "transformer", "learned", 40);
    results[3] = result("text", "transformer", "rotary", 45);
    results[4] = result("text", "s4d", "none", 25);
    for (int i = 5; i < RESULTS; i++) {
        char name[2] = {(char)('a' + i), 0};
        results[i] = result("listops", name, "none", 10);
    }
    return 0;
}

static int free_results(void **state)
{
    (void)state;
    return small_results_free(RESULTS, results);
}

/* Three models of two tasks: the bars are at 0 and 1 and, after a gap of 1.6, at 4.6, 5.6 and 6.6,
 * in the order of their first task. */
TEST(bars_stand_where_they_belong)
{
    const lra_report_input in = {.list = results, .n = 5};
    char *dat, *gp = drawn_figure(&lra_figure_models, &in, &dat);
    const char *learned = strstr(dat, "# transformer positions=learned"),
               *rotary = strstr(dat, "# transformer positions=rotary"),
               *s4d = strstr(dat, "# s4d:");
    assert_true(learned && rotary && s4d && learned < rotary && rotary < s4d);
    assert_non_null(strstr(learned, "\n0 40.000000 "));
    assert_non_null(strstr(learned, "\n4.6 80.000000 "));
    assert_non_null(strstr(rotary, "\n1 60.000000 "));
    assert_non_null(strstr(rotary, "\n5.6 90.000000 "));
    assert_non_null(strstr(s4d, "\n6.6 50.000000 "));
    assert_null(strstr(s4d, "listops"));
    assert_non_null(strstr(gp, "'listops' 1, 'text' 5.6"));
    lra_free(dat);
    lra_free(gp);
}

/* Bars of different models differ in lightness, and the chance line is visible on all of them. */
TEST(bars_and_chance_are_seen_in_grey)
{
    const lra_report_input in = {.list = results, .n = 5};
    char *dat, *gp = drawn_figure(&lra_figure_models, &in, &dat);
    for (int i = 0; i < 3; i++) {
        char *bars = lra_format("index %d using 1:2 with boxes fc rgb '%s' " LRA_PLOT_EDGE, i,
                                lra_plot_fill(i, 3, false));
        assert_non_null(strstr(gp, bars));
        lra_free(bars);
    }
    const char *white = strstr(gp, "nohead lw 3.5 dt 1 lc rgb '#ffffff' front"),
               *black = strstr(gp, "nohead lw 1.5 dt (8,4) lc rgb '#000000' front");
    assert_true(white && black && white < black);
    lra_free(dat);
    lra_free(gp);
}

TEST(what_does_not_fit)
{
    lra_err e = {{0}};
    const lra_report_input many = {.list = results, .n = RESULTS};
    assert_int_equal(write_figure(&lra_figure_models, ".", &many, &e), -1);
    assert_non_null(
        strstr(e.msg, "one figure holds at most 6 models, 'transformer positions=rotary' is one "
                      "more"));
    const lra_report_input few = {.list = results, .n = 3};
    results[2]->metric = lra_metric_find("rmse", &e);
    assert_int_equal(write_figure(&lra_figure_models, ".", &few, &e), -1);
    assert_non_null(strstr(e.msg, "have different metrics (accuracy, "));
    results[2]->metric = NULL;
    results[1]->fingerprint[0] = 'x';
    assert_int_equal(write_figure(&lra_figure_models, ".", &few, &e), -1);
    assert_non_null(strstr(e.msg, "results of task 'listops' on different data"));
    results[1]->fingerprint[0] = '0';
    results[1]->preset[0] = 'Q';
    assert_int_equal(write_figure(&lra_figure_models, ".", &few, &e), -1);
    assert_non_null(strstr(e.msg, "results of presets '"));
    results[1]->preset[0] = 'q';
    /* fine-tuned with other settings, which the name does not contain */
    lra_free(results[1]->config);
    results[1]->config = lra_format("%strain.related=x\n", results[0]->config);
    assert_int_equal(write_figure(&lra_figure_models, ".", &few, &e), -1);
    assert_non_null(strstr(e.msg, "two results of model"));
}

GROUP(make_results, free_results);
