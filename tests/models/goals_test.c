/* Training for every goal, on a tiny task of its own: the task is learned, the sums over rows agree
 * with the reported values, and a run that is interrupted and continued has bitwise the same
 * results and the same log. */
#include "tests/fixtures/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "datasets/loader/chance.h"
#include "models/training/loaded_model.h"
#include "tests/fixtures/goal_run.h"
#include "tests/fixtures/sanitized.h"

/* The test value must reach at least half of the possible improvement over chance. */
TEST(every_goal_is_learned)
{
    if (sanitized) skip(); /* with sanitizers, the training code is covered by rows_add_up */
    static const double expected[N_TINY_TASKS] = {0.9, 0.9, 0.5, 0.9, 1.2};
    for (int goal = 0; goal < N_TINY_TASKS; goal++) {
        run r;
        open_run(&r, (lra_goal)goal, "learn", 30);
        const lra_metric *m = lra_task_metric(r.data->task);
        lra_train_report report = train(&r);
        double value = m->value(&report.test), chance = lra_dataset_chance(r.data, LRA_TEST_SPLIT);
        if (!lra_metric_better(m, value, expected[goal]) || !lra_metric_better(m, value, chance))
            fail_msg("%s: %s %g, expected %g or better, chance %g", r.data->task->name, m->name,
                     value, expected[goal], chance);
        lra_train_report_free(&report);
        close_run(&r);
    }
}

/* The values of rows add up to that of the split, and the best epoch is the best of the history. */
TEST(rows_add_up)
{
    static const int64_t target_mask[N_TINY_TASKS] = {32, 32, 32, 0, 202};
    for (int goal = 0; goal < N_TINY_TASKS; goal++) {
        run r;
        open_run(&r, (lra_goal)goal, "rows", 3);
        const lra_metric *m = lra_task_metric(r.data->task);
        lra_train_report report = train(&r);
        lra_sums sums = {0};
        for (int64_t i = 0; i < report.n_rows; i++) lra_sums_add(&sums, &report.row[i]);
        assert_int_equal(sums.n, report.test.n);
        assert_true(fabs(sums.loss - report.test.loss) <= 1e-9 * fabs(sums.loss));
        assert_int_equal(sums.right, report.test.right);
        if (target_mask[goal]) assert_int_equal(sums.n, target_mask[goal]);
        assert_int_equal(report.n_rows, goal == LRA_GOAL_NEXT ? 26 : 32);
        for (int64_t i = 0; i < report.n_epochs; i++)
            assert_false(lra_metric_better(m, report.history[i].val_value, report.best_val));
        assert_true(report.history[report.training.best_epoch - 1].val_value == report.best_val);
        assert_int_equal(report.output != NULL, goal <= LRA_GOAL_VALUE);
        lra_train_report_free(&report);
        close_run(&r);
    }
}

/* The predictions in the report give the reported squared errors. */
TEST(numbers_are_those_of_the_rows)
{
    run r;
    open_run(&r, LRA_GOAL_VALUE, "numbers", 2);
    lra_train_report report = train(&r);
    const lra_sequences *rows = &r.data->split[LRA_TEST_SPLIT];
    for (int64_t i = 0; i < rows->n; i++) {
        double d = (double)report.output[i] - (double)rows->target[i];
        assert_int_equal(report.row[i].n, 1);
        assert_true(fabs(report.row[i].loss - d * d) < 1e-12);
        assert_true(report.row[i].target == (double)rows->target[i]);
    }
    lra_train_report_free(&report);
    close_run(&r);
}

/* A mean target far from 0 causes no loss: the initial output of the head is the mean of the
 * training targets, as in the constant prediction. */
TEST(a_head_of_numbers_starts_at_the_mean)
{
    run r;
    open_run(&r, LRA_GOAL_VALUE, "mean", 1);
    for (int s = 0; s < LRA_N_SPLITS; s++)
        for (int64_t i = 0; i < r.data->split[s].n; i++) r.data->split[s].target[i] += 80;
    r.spec.schedule.rate = r.spec.optimizer.rate = 1e-12;
    double chance = lra_dataset_chance(r.data, LRA_TEST_SPLIT);
    lra_train_report report = train(&r);
    double rmse = lra_task_metric(r.data->task)->value(&report.test);
    if (rmse > 2 * chance) fail_msg("RMSE %g at the start, of the constant %g", rmse, chance);
    lra_train_report_free(&report);
    /* Evaluation with the initial weights gives the initial error again. */
    lra_err e;
    const lra_sequences *rows = &r.data->split[LRA_TEST_SPLIT];
    lra_sums *row = lra_alloc_array((size_t)rows->n, sizeof *row), all = {0};
    OK(lra_evaluate(&r.spec, &r.device, LRA_INITIAL_WEIGHTS, LRA_TEST_SPLIT, NULL, row, &e));
    for (int64_t i = 0; i < rows->n; i++) lra_sums_add(&all, &row[i]);
    assert_true(fabs(lra_task_metric(r.data->task)->value(&all) - rmse) < 1e-4 * rmse);
    lra_free(row);
    close_run(&r);
}

TEST(goes_on_with_the_same_bits)
{
    for (int goal = 0; goal < N_TINY_TASKS; goal++) {
        run whole, parts;
        open_run(&whole, (lra_goal)goal, "whole", 3);
        open_run(&parts, (lra_goal)goal, "parts", 3);
        same_in_parts(&whole, &parts);
    }
}

/* The log contains the name of the metric, its direction, and its value for constant
 * predictions. */
TEST(the_log_names_the_metric)
{
    run r;
    open_run(&r, LRA_GOAL_NEXT, "log", 1);
    lra_train_report report = train(&r);
    char *log = log_of(&r);
    static const char start[] =
        "{\"epoch\":1,\"step\":16,\"metric\":\"perplexity\",\"lower_is_better\":true,\"chance\":";
    assert_memory_equal(log, start, sizeof start - 1);
    assert_true(fabs(strtod(log + sizeof start - 1, NULL) - 5) < 1e-12);
    assert_non_null(strstr(log, "\"val_perplexity\":"));
    lra_free_large(log);
    lra_train_report_free(&report);
    close_run(&r);
}

TEST(a_model_that_sees_the_answer_is_refused)
{
    run r;
    lra_err e = {{0}};
    lra_train_report report;
    open_run(&r, LRA_GOAL_NEXT, "refused", 1);
    lra_config_set_int(r.model, "causal", 0);
    assert_int_equal(lra_train(&r.spec, &r.device, &report, &e), LRA_USAGE);
    assert_string_equal(e.msg, "model 'resconv' sees later tokens, which the task predicts; "
                               "it must be causal (--set causal=1)");
    close_run(&r);
}

/* The message names a setting of the model that solves the problem, and this setting does. */
TEST(the_setting_that_helps_is_named)
{
    static const struct {
        const lra_model *model;
        const char *changes, *cure, *end;
    } seeing[] = {{&lra_model_lstm, "directions=2", "directions=1",
                   "; it must be causal (--set directions=1)"},
                  {&lra_model_las, "smoothing=centred", "smoothing=causal",
                   "; it must be causal (--set smoothing=causal)"},
                  {&lra_model_s4, "causal=0", "causal=1", "; it must be causal (--set causal=1)"},
                  {&lra_model_linformer, "", NULL, "which the task predicts"}};
    const lra_network_spec spec = {.head = LRA_HEAD_NEXT, .vocab = 5, .outputs = 5};
    for (size_t i = 0; i < sizeof seeing / sizeof *seeing; i++) {
        lra_err e;
        const lra_model *m = seeing[i].model;
        lra_config *c = lra_keys_config(m->keys);
        lra_keys_apply(m->keys, c, m->tiny);
        lra_keys_apply(m->keys, c, seeing[i].changes);
        assert_int_equal(lra_network_check(m, c, &spec, &e), LRA_USAGE);
        size_t n = strlen(e.msg), end = strlen(seeing[i].end);
        if (n < end || strcmp(e.msg + n - end, seeing[i].end) != 0)
            fail_msg("'%s', expected it to end with '%s'", e.msg, seeing[i].end);
        if (seeing[i].cure) {
            lra_keys_apply(m->keys, c, seeing[i].cure);
            assert_int_equal(lra_network_check(m, c, &spec, &e), 0);
        }
        lra_config_free(c);
    }
}

GROUP(make_folder, remove_folder);
