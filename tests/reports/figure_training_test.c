/* Figure training: means over seeds up to the last epoch that all have, single seeds, selected
 * epochs, in the metric's unit; results that do not fit into one figure. */
#include "tests/fixtures/test.h"

#include <string.h>

#include "kernels/base/core/mem.h"
#include "reports/report.h"
#include "tests/fixtures/figures.h"
#include "tests/fixtures/golden.h"
#include "tests/fixtures/small_results.h"

enum { RESULTS = 8 };
static lra_result *results[RESULTS];

/* Makes a result of `epochs` epochs of ten steps: losses 2, 1.5, .. and accuracies 0.25, 0.5, ..,
 * to all of which `more` is added. */
static lra_result *trained(const char *model, int seed, int epochs, double more)
{
    lra_result *r = small_result("quick", 0, seed, 30);
    lra_free(r->model);
    lra_free(r->config);
    lra_free(r->history);
    r->model = lra_copy_text(model), r->config = lra_format("model=%s\nseed=%d\n", model, seed);
    r->n_epochs = epochs, r->training.best_epoch = 2;
    r->history = lra_alloc_array((size_t)epochs * LRA_HISTORY_COLUMNS, sizeof *r->history);
    for (int k = 0; k < epochs; k++) {
        double *row = r->history + k * LRA_HISTORY_COLUMNS;
        row[LRA_HISTORY_STEP] = 10 * (k + 1);
        row[LRA_HISTORY_TRAIN_LOSS] = 2 - 0.5 * k + more;
        row[LRA_HISTORY_VAL_VALUE] = 0.25 * (k + 1) + more;
    }
    return r;
}

static int make_results(void **state)
{
    (void)state;
    results[0] = trained("s4d", 0, 3, 0);
    results[1] = trained("s4d", 1, 2, 0.125);
    for (int i = 2; i < RESULTS; i++) {
        char name[2] = {(char)('a' + i), 0};
        results[i] = trained(name, 0, 2, 0);
    }
    return 0;
}

static int free_results(void **state)
{
    (void)state;
    return small_results_free(RESULTS, results);
}

TEST(means_seeds_and_selected_epochs)
{
    const lra_report_input in = {.list = results, .n = 3};
    char *dat, *gp = drawn_figure(&lra_figure_training, &in, &dat);
    static const char one[] = "\n10 2.000000 25.000000\n20 1.500000 50.000000\n",
                      mean[] = "\n10 2.062500 31.250000\n20 1.562500 56.250000\n\n\n",
                      each[] = "\n30 1.000000 75.000000\n\n10 2.125000 37.500000\n",
                      selected[] = "\n20 1.500000 50.000000\n20 1.625000 62.500000\n? ? ?\n";
    const char *of_c = strstr(dat, one), *of_s4d = strstr(dat, "# s4d");
    assert_true(of_c && of_s4d && of_c < of_s4d);
    /* the mean ends at the last epoch that both seeds have */
    assert_non_null(strstr(of_s4d, mean));
    assert_non_null(strstr(of_s4d, each));
    assert_non_null(strstr(of_s4d, selected));
    assert_non_null(strstr(gp, "validation accuracy (%)"));
    /* data block 4 has the lines of the seeds of s4d */
    assert_non_null(strstr(gp, "index 4 using 1:2 with lines"));
    /* a single seed is drawn as the mean only */
    assert_null(strstr(gp, "index 1 using 1:2 with lines lc rgb '#"));
    lra_free(dat);
    lra_free(gp);
}

/* Without lines of seeds the script still begins with a plot command. */
TEST(one_seed_each)
{
    const lra_report_input in = {.list = results + 2, .n = 3};
    char *dat, *gp = drawn_figure(&lra_figure_training, &in, &dat);
    assert_non_null(strstr(gp, "plot NaN, \\\n     'training.dat' index 0 using 1:2 with lines"));
    assert_non_null(strstr(gp, "plot NaN, \\\n     'training.dat' index 0 using 1:3 with lines"));
    assert_null(strstr(gp, "\n, "));
    lra_free(dat);
    lra_free(gp);
}

/* The axis also has a valid range if the history has only one epoch. */
TEST(one_epoch)
{
    lra_result *r = trained("s4d", 0, 1, 0);
    const lra_report_input in = {.list = &r, .n = 1};
    r->training.best_epoch = 1;
    char *dat, *gp = drawn_figure(&lra_figure_training, &in, &dat);
    int axes = 0;
    for (const char *at = gp; (at = strstr(at, "set yrange [")) != NULL; at++, axes++) {
        double lo, hi;
        assert_int_equal(sscanf(at, "set yrange [%lf:%lf]", &lo, &hi), 2);
        assert_true(lo < hi);
    }
    assert_int_equal(axes, 2);
    lra_free(dat);
    lra_free(gp);
    lra_result_free(r);
}

/* Labels of ticks do not overlap, for any number of steps. */
TEST(ticks_are_far_apart)
{
    lra_err e = {{0}};
    const lra_report_input in = {.list = results + 2, .n = 1};
    results[2]->history[LRA_HISTORY_COLUMNS + LRA_HISTORY_STEP] = 98765;
    OK(write_figure(&lra_figure_training, ".", &in, &e));
    results[2]->history[LRA_HISTORY_COLUMNS + LRA_HISTORY_STEP] = 20;
    char *dat = take_file("training.dat"), *gp = take_file("training.gp");
    assert_non_null(strstr(gp, "set xtics 20000\n"));
    lra_free(dat);
    lra_free(gp);
}

/* Kernel sizes of one model are drawn in the colours of a ramp; models are distinguished by
 * dashes. */
TEST(kernels_are_in_order)
{
    lra_err e = {{0}};
    for (int k = 0; k < 2; k++) {
        lra_result *list[] = {trained("resconv", 0, 2, 0), trained("resconv", 1, 2, 0)};
        for (int i = 0; i < 2; i++) {
            lra_free(list[i]->config);
            list[i]->kernel = k ? 5 + 4 * i : 5;
            list[i]->config = lra_format("model=resconv\nmodel.width=%d\n", 8 + i);
        }
        const lra_report_input in = {.list = list, .n = 2};
        OK(write_figure(&lra_figure_training, ".", &in, &e));
        char *dat = take_file("training.dat"), *gp = take_file("training.gp");
        char *ramp = lra_format("lc rgb '%s' dt 1 lw 2.2", lra_plot_ramp(1, 2)),
             *other = lra_format("lc rgb '%s' dt %s lw 2.2", lra_plot_styles[1].color,
                                 lra_plot_styles[1].dash);
        assert_int_equal(strstr(gp, ramp) != NULL, k == 1);
        assert_int_equal(strstr(gp, other) != NULL, k == 0);
        lra_free(ramp);
        lra_free(other);
        lra_free(dat);
        lra_free(gp);
        for (int i = 0; i < 2; i++) lra_result_free(list[i]);
    }
}

TEST(what_does_not_fit)
{
    lra_err e = {{0}};
    const lra_report_input many = {.list = results, .n = RESULTS};
    assert_int_equal(write_figure(&lra_figure_training, ".", &many, &e), -1);
    assert_non_null(strstr(e.msg, "7 models, one figure holds at most 6"));
    const lra_report_input two = {.list = results, .n = 3};
    results[2]->fingerprint[0] = 'x';
    assert_int_equal(write_figure(&lra_figure_training, ".", &two, &e), -1);
    assert_non_null(strstr(e.msg, "name results on the same data"));
    results[2]->fingerprint[0] = '0';
    results[2]->n_epochs = 0;
    assert_int_equal(write_figure(&lra_figure_training, ".", &two, &e), -1);
    assert_non_null(strstr(e.msg, "was not trained"));
    results[2]->n_epochs = 2;
}

GROUP(make_results, free_results);
