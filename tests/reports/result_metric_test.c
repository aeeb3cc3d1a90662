/* Metrics: known values, chance, intervals; result files of every kind, and those of versions that
 * had only accuracy (tests/golden/1); the table of all results. */
#include "tests/fixtures/test.h"

#include <math.h>
#include <string.h>

#include "tests/fixtures/synthetic_result.h"
#include "datasets/loader/chance.h"
#include "kernels/base/formats/h5.h"
#include "kernels/base/core/philox.h"
#include "kernels/cpu/device.h"
#include "models/training/checkpoint.h"
#include "models/training/session.h"
#include "reports/ladder/ladder_views.h"
#include "reports/report.h"
#include "reports/results/result_metric.h"
#include "tests/fixtures/figures.h"
#include "tests/fixtures/folder.h"
#include "tests/fixtures/golden.h"
#include "tests/fixtures/tiny_run.h"
#include "tests/fixtures/tiny_tasks.h"

static void near(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-12 * fmax(1, fabs(expected))))
        fail_msg("%.17g, expected %.17g", value, expected);
}

static const lra_metric *metric(const char *name)
{
    lra_err e = {{0}};
    const lra_metric *m = lra_metric_find(name, &e);
    NOT_NULL(m);
    return m;
}

/* ---- values ---------------------------------------------------------------------------------- */

/* Predictions 1, 2, 3, 5 of the targets 1, 2, 3, 4: the sum of squared errors is 1, that of squared
 * deviations of the targets 5. */
static const lra_sums numbers = {.n = 4, .loss = 1, .target = 10, .square = 30};

TEST(known_values)
{
    const lra_sums classes = {.n = 8, .right = 6}, nats = {.n = 2, .loss = 3 * log(2)};
    near(metric("accuracy")->value(&classes), 0.75);
    near(metric("rmse")->value(&numbers), 0.5);
    near(metric("r2")->value(&numbers), 0.8);
    near(metric("bits-per-byte")->value(&nats), 1.5);
    near(metric("bits-per-character")->value(&nats), 1.5);
    near(metric("perplexity")->value(&nats), 2.8284271247461903);
    const lra_sums none = {0}, one = {.n = 2, .loss = 1, .target = 6, .square = 18};
    near(metric("accuracy")->value(&none), 0);
    assert_true(isnan(metric("rmse")->value(&none)));
    /* one target has no variance, so that R2 is undefined */
    assert_true(isnan(metric("r2")->value(&one)));
}

TEST(directions)
{
    assert_true(lra_metric_better(metric("accuracy"), 0.6, 0.5));
    assert_true(lra_metric_better(metric("r2"), -1, -2));
    assert_true(lra_metric_better(metric("rmse"), 1, 2));
    assert_false(lra_metric_better(metric("rmse"), 2, 2));
    assert_true(lra_metric_better(metric("perplexity"), 1e9, NAN));
    assert_false(lra_metric_better(metric("r2"), NAN, 0));
    lra_err e;
    assert_null(lra_metric_find("rsme", &e));
}

/* Chance of the tiny tasks: half of the labels; the mean of the training targets; five equally
 * likely tokens. */
TEST(chance_of_every_goal)
{
    for (int goal = 0; goal < N_TINY_TASKS; goal++) {
        lra_dataset *d = tiny_dataset((lra_goal)goal);
        const lra_sequences *train = &d->split[LRA_TRAIN_SPLIT], *test = &d->split[LRA_TEST_SPLIT];
        double chance = lra_dataset_chance(d, LRA_TEST_SPLIT), mean = 0, error = 0;
        if (goal == LRA_GOAL_VALUE) {
            for (int64_t i = 0; i < train->n; i++)
                mean += (double)train->target[i] / (double)train->n;
            for (int64_t i = 0; i < test->n; i++)
                error += pow((double)test->target[i] - mean, 2) / (double)test->n;
        }
        const double expected[N_TINY_TASKS] = {0.5, 0.5, sqrt(error), 0, 5};
        near(chance, expected[goal]);
        lra_dataset_free(d);
    }
}

/* ---- results --------------------------------------------------------------------------------- */

enum { ROWS = 400 };

/* Makes a result with the targets 0, 1, .. 9 repeatedly, and normal errors with this standard
 * deviation, which differ between seeds. */
static lra_result *number_result(const char *name, int64_t seed, double deviation)
{
    lra_result *r = lra_alloc(sizeof *r);
    r->task = lra_copy_text("made-up"), r->model = lra_copy_text("resconv");
    r->preset = lra_copy_text("quick"), r->precision = lra_copy_text("f32");
    r->fingerprint = lra_copy_text("0123456789abcdef"), r->run = lra_copy_text("fedcba9876543210");
    r->config = lra_format("model.kernel=5\nseed=%d\ntask=made-up\n", (int)seed);
    r->deviations = lra_copy_text("");
    r->seed = seed, r->kernel = 5, r->reach = 12, r->max_length = 100, r->training.seconds = 61;
    r->metric = metric(name), r->chance = 3, r->batch = 20;
    r->history = lra_alloc_array(7, sizeof(double)), r->n_epochs = r->training.best_epoch = 1;
    r->n = ROWS, r->row = lra_alloc_array(ROWS, sizeof *r->row);
    lra_rng rng = lra_rng_new((uint64_t)seed, 1, 2);
    for (int i = 0; i < ROWS; i++) {
        double a = lra_rng_u01(&rng), b = lra_rng_u01(&rng), y = i % 10;
        double error = deviation * sqrt(-2 * log(a)) * cos(6.283185307179586 * b);
        r->row[i] = (lra_sums){.n = 1, .loss = error * error, .target = y, .square = y * y};
    }
    return r;
}

/* The batches with (target, prediction) (1,1), (2,2) and (3,3), (5,4) have R2 = 1 and -1; a
 * variance of 0 is replaced by 1e-5. */
TEST(r2_of_single_batches)
{
    lra_sums row[] = {{1, 0, 0, 1, 1}, {1, 0, 0, 2, 4}, {1, 0, 0, 3, 9}, {1, 0, 1, 4, 16}};
    lra_result r = {.metric = metric("rmse"), .n = 4, .row = row, .batch = 2};
    near(lra_result_batch_r2(&r), 0);
    near(lra_result_value(&r, metric("r2")), 0.8);
    r.n = 3, row[2].loss = 5; /* the last row is an incomplete batch and is left out */
    near(lra_result_batch_r2(&r), 1);
    r.batch = 8; /* three rows are used if they are the only batch, although it is incomplete */
    near(lra_result_batch_r2(&r), 1 - (5.0 / 3) / (14.0 / 3 - 4));
    r.batch = 0;
    assert_true(isnan(lra_result_batch_r2(&r)));
}

/* The RMSE of normal errors has the standard error s / sqrt(2 n). */
TEST(interval_of_one_rmse)
{
    lra_result *r = number_result("rmse", 0, 2);
    lra_estimate v = lra_results_value(&r, 1);
    double half = 1.96 * 2 / sqrt(2.0 * ROWS);
    assert_true(v.lo < v.value && v.value < v.hi);
    assert_true(fabs((v.hi - v.lo) / 2 / half - 1) < 0.15);
    for (int i = 0; i < ROWS; i++) r->row[i].loss = 4;
    v = lra_results_value(&r, 1);
    assert_true(fabs(v.value - 2) < 1e-9 && isnan(v.lo) &&
                isnan(v.hi)); /* without variation there is no interval */
    lra_result_free(r);
}

/* The interval of the mean of three seeds includes the variation between them. */
TEST(interval_over_seeds)
{
    lra_result *list[3];
    for (int s = 0; s < 3; s++) list[s] = number_result("rmse", s, 1 + s);
    lra_estimate one = lra_results_value(list, 1), all = lra_results_value(list, 3);
    double mean = 0;
    for (int s = 0; s < 3; s++) mean += lra_result_value(list[s], list[s]->metric) / 3;
    near(all.value, mean);
    assert_true(all.lo < 1.5 && all.hi > 2.5);
    assert_true(one.hi - one.lo < 0.3);
    for (int s = 0; s < 3; s++) lra_result_free(list[s]);
}

static lra_result *through_a_file(const lra_result *r)
{
    lra_err e = {{0}};
    char *path = lra_format("%s/result.h5", folder);
    OK(lra_result_write(path, r, &e));
    lra_result *again = lra_result_read(path, &e);
    NOT_NULL(again);
    lra_free(path);
    return again;
}

TEST(numbers_are_read_as_written)
{
    lra_result *r = number_result("r2", 1, 2);
    r->n_numbers = 1;
    r->number = lra_alloc_array(ROWS, sizeof(float));
    r->target = lra_alloc_array(ROWS, sizeof(float));
    for (int i = 0; i < ROWS; i++) r->number[i] = (float)i, r->target[i] = i % 7 ? 1.5f : NAN;
    lra_result *again = through_a_file(r);
    assert_ptr_equal(again->metric, r->metric);
    assert_true(again->chance == 3);
    assert_int_equal(again->batch, 20);
    assert_int_equal(again->n, ROWS);
    assert_memory_equal(again->row, r->row, ROWS * sizeof *r->row);
    assert_memory_equal(again->number, r->number, ROWS * sizeof(float));
    assert_memory_equal(again->target, r->target, ROWS * sizeof(float));
    assert_int_equal(again->n_classes, 0);
    lra_result_free(again);
    lra_err e = {{0}};
    char *path = lra_format("%s/answer.h5", folder);
    r->number[3] = NAN;
    assert_int_not_equal(lra_result_write(path, r, &e), 0);
    assert_non_null(strstr(e.msg, "'/test/number': row 4 of"));
    r->number[3] = 0, r->row[5].loss = INFINITY;
    assert_int_not_equal(lra_result_write(path, r, &e), 0);
    assert_non_null(strstr(e.msg, "'/test/rows': row 6 of"));
    lra_free(path);
    lra_result_free(r);
}

/* A row that counts two right predictions out of one is rejected. */
TEST(sums_that_cannot_be)
{
    lra_err e = {{0}};
    char *path = lra_format("%s/result.h5", folder);
    lra_result *r = number_result("perplexity", 1, 2);
    r->row[7].right = 2;
    assert_int_equal(lra_result_write(path, r, &e), 0);
    assert_null(lra_result_read(path, &e));
    assert_non_null(strstr(e.msg, "row 7 has 2 right answers of 1"));
    lra_result_free(r);
    lra_free(path);
}

/* ---- files from before ----------------------------------------------------------------------- */

static char *golden_path(int format, const char *name)
{
    const char *source = getenv("LRA_SOURCE");
    return lra_format("%s/tests/golden/%d/%s", source ? source : ".", format, name);
}

TEST(old_results_are_accuracies)
{
    lra_err e = {{0}};
    char *path = golden_path(1, "result.h5");
    lra_result *r = lra_result_read(path, &e);
    NOT_NULL(r);
    char *text = lra_result_text(r);
    assert_string_equal(text, "accuracy 66.67 % (39.06 to 86.19, 1 seed, 8 of 12), chance 25.00 %");
    lra_free(text);
    lra_free(path);
    lra_result_free(r);
}

/* Returns the state of the interrupted run in a golden checkpoint. */
static lra_run_state read_checkpoint(int format)
{
    lra_err e = {{0}};
    char *path = golden_path(format, "checkpoint.h5"),
         *copy = lra_format("%s/checkpoint.h5", folder);
    size_t n;
    char *bytes = lra_file_read(path, 1 << 20, &n, &e);
    assert_int_equal(lra_file_write(copy, bytes, n, &e), 0);
    lra_h5 *f = lra_h5_open(path, "checkpoint", &e);
    assert_int_equal(lra_h5_format(f), format);
    char *config = lra_h5_get_text(f, "/config", &e);
    char *print = lra_h5_attr_text(f, "/", "fingerprint", &e);
    lra_h5_close(f);

    tiny_run run;
    lra_device device;
    lra_session session;
    lra_run_state now = {0};
    bool found;
    assert_int_equal(lra_cpu_device(&device, 1, &e), 0);
    int rc = tiny_run_open(
        &run, folder, config,
        "layers=1 width=4 hidden=4 kernel=3 dilation=1 groups=1 causal=0 dropout=0.0", &e);
    if (rc == 0) rc = lra_session_open(&session, &run.spec, &device, &e);
    OK(rc);
    snprintf(run.data->fingerprint, sizeof run.data->fingerprint, "%s", print);
    OK(lra_checkpoint_read(&run.spec, &now, session.params, &found, &e));
    assert_true(found);
    lra_session_close(&session);
    tiny_run_close(&run);
    lra_free(config);
    lra_free(print);
    lra_free_large(bytes);
    lra_free(path);
    lra_free(copy);
    return now;
}

/* An interrupted run of an older program is read with its state. */
TEST(old_checkpoints_are_read)
{
    lra_run_state now = read_checkpoint(1);
    assert_int_equal(now.epoch, 1);
    assert_int_equal(now.batch, 1022);
    assert_int_equal(now.sums.right, 2112);
    assert_int_equal(now.sums.n, 8176);
    assert_true(now.sums.loss == 0 && now.sums.target == 0);
    assert_true(now.best_val == 0.25 && now.schedule.best == 0.25);
    assert_int_equal(now.best_epoch, 0);
    lra_free(now.history);
}

TEST(checkpoints_of_format_2_are_read)
{
    lra_run_state now = read_checkpoint(2);
    assert_int_equal(now.epoch, 2);
    assert_int_equal(now.batch, 3);
    assert_int_equal(now.sums.right, 7);
    assert_int_equal(now.best_epoch, 1); /* row of the history of the second epoch */
    assert_int_equal(now.n_epochs, 2);
    assert_int_equal(now.history[1].step, 16);
    assert_true(now.history[1].val_value == 0.225 && now.history[1].seconds == 3.25);
    lra_free(now.history);
}

/* ---- the table ------------------------------------------------------------------------------- */

static char *print_table(const lra_report_table *table, lra_result *const *list, int n,
                         const char *format)
{
    lra_report_input in = {.list = list, .n = n};
    lra_err e = {{0}};
    FILE *f = fopen("metric_table", "w");
    assert_non_null(f);
    OK(lra_report_print(table, f, &in, format, &e));
    fclose(f);
    return take_file("metric_table");
}

TEST(one_table_of_all_tasks)
{
    lra_err e = {{0}};
    char *path = golden_path(1, "result.h5");
    lra_result *list[6] = {lra_result_read(path, &e)};
    NOT_NULL(list[0]);
    list[0]->training.seconds = 5;
    for (int i = 1; i < 4; i++) list[i] = number_result("rmse", i, 1);
    list[4] = number_result("perplexity", 0, 1), list[5] = number_result("r2", 0, 5);
    lra_free(list[4]->task), list[4]->task = lra_copy_text("words");
    lra_free(list[5]->task), list[5]->task = lra_copy_text("steps");
    list[5]->chance = 0;
    check_golden("tasks.text", print_table(&lra_table_tasks, list, 6, "text"));
    check_golden("tasks.csv", print_table(&lra_table_tasks, list, 6, "csv"));
    check_golden("models.text", print_table(&lra_table_models, list, 6, "text"));
    check_golden("models.csv", print_table(&lra_table_models, list, 6, "csv"));
    for (int i = 0; i < 6; i++) lra_result_free(list[i]);
    lra_free(path);
}

/* ---- the ladder ------------------------------------------------------------------------------ */

/* Errors of 2.5, 2 and 1 with chance 3: the gain is (3 - RMSE) / (3 - RMSE of the widest rung), and
 * LI is its mean over log2 of reach up to the widest rung, which does not see all 100 steps. Less
 * is better, and the interval of the growth agrees. */
TEST(a_ladder_of_errors)
{
    static const int kernel[] = {3, 5, 17};
    static const double deviation[] = {2.5, 2, 1};
    lra_result *list[3];
    lra_err e = {{0}};
    lra_ladder_view *v;
    const lra_ladder_scale scale = {.reference = NULL};
    double rmse[3];
    for (int i = 0; i < 3; i++) {
        list[i] = number_result("rmse", 1, deviation[i]);
        lra_free(list[i]->config);
        list[i]->config = lra_format("model.kernel=%d\nseed=1\ntask=made-up\n", kernel[i]);
        list[i]->kernel = kernel[i], list[i]->reach = 2 * (kernel[i] - 1);
        rmse[i] = lra_result_value(list[i], list[i]->metric);
    }
    if (lra_ladder_views(list, 3, &scale, &v, &e) != 1) fail_msg("%s", e.msg);
    const lra_ladder *l = &v->ladder;
    double step[] = {1, 2, 0}, li = 0;
    for (int i = 0; i < 3; i++) {
        double gain = (3 - rmse[i]) / (3 - rmse[2]);
        lra_estimate value = lra_ladder_values(v, l->row[i].accuracy);
        near(value.value, rmse[i]);
        near(l->row[i].gain.value, gain);
        assert_true(value.lo < value.value && value.value < value.hi);
        li += gain * step[i] / 3;
    }
    near(l->li.value, li);
    assert_true(l->span && l->end == 32);
    near(lra_ladder_value(v, l->reference), rmse[2]);
    lra_estimate growth = lra_ladder_values(v, l->widest_minus_narrowest);
    near(growth.value, rmse[2] - rmse[0]);
    assert_true(growth.lo < growth.value && growth.hi < 0);
    lra_ladder_views_free(v, 1);
    check_golden("ladder-rmse.text", print_table(&lra_table_ladder, list, 3, "text"));
    const lra_ladder_scale uniform = {.uniform = true};
    assert_int_equal(lra_ladder_views(list, 3, &uniform, &v, &e), LRA_USAGE);
    assert_int_equal(lra_ladder_accuracy_views(list, 3, &scale, &v, &e), -1);
    for (int i = 0; i < 3; i++) lra_result_free(list[i]);
}

/* For a metric of which less is better, the chance line of a sweep is at the error of constant
 * predictions, not at its negative. */
TEST(a_sweep_of_errors)
{
    lra_result *list[4];
    lra_err e = {{0}};
    for (int i = 0; i < 4; i++) {
        list[i] = number_result("rmse", 1, 1 + i % 2);
        list[i]->kernel = i % 2 ? 5 : 9, list[i]->reach = 3 * (list[i]->kernel - 1);
        lra_free(list[i]->config);
        list[i]->config = lra_format("model.kernel=%d\nseed=1\n", (int)list[i]->kernel);
        list[i]->task_parameters = lra_format("distance=%d\n", i < 2 ? 4 : 8);
        list[i]->fingerprint[0] = i < 2 ? 'a' : 'b';
    }
    lra_report_input in = {.list = list, .n = 4};
    OK(write_figure(&lra_figure_sweep, folder, &in, &e));
    size_t n;
    char *path = lra_format("%s/sweep.gp", folder), *text = lra_file_read(path, 1 << 20, &n, &e);
    if (!strstr(text, "from graph 0, first 3 to graph 1, first 3 ")) fail_msg("%s", text);
    lra_free_large(text);
    lra_free(path);
    for (int i = 0; i < 4; i++) lra_result_free(list[i]);
}

/* The seeds of a row may start from different pretrained runs. */
TEST(seeds_of_a_row_may_have_other_origins)
{
    static const char *const lines[][2] = {{"train.from=a1\n", "train.from=b2\n"},
                                           {"train.matched=a1\n", "train.matched=b2\n"},
                                           {"train.related=a1\n", "train.related=b2\n"},
                                           {"train.rate=0.1\n", "train.rate=0.2\n"}};
    for (int i = 0; i < 4; i++) {
        lra_result *list[2];
        lra_result_group *groups;
        for (int k = 0; k < 2; k++) {
            list[k] = made_result(5, 8, k, 0.5);
            lra_free(list[k]->config);
            list[k]->config = lra_format("seed=%d\n%s", k, lines[i][k]);
        }
        int n = lra_results_group(list, 2, &groups);
        assert_int_equal(n, i < 2 ? 1 : 2);
        assert_int_equal(groups[0].n, i < 2 ? 2 : 1);
        lra_result_groups_free(groups, n);
        for (int k = 0; k < 2; k++) lra_result_free(list[k]);
    }
}

GROUP(make_folder, remove_folder);
