/* Number of batches per update, early stopping, and the length of a plateau. */
#include "tests/fixtures/test.h"

#include <math.h>

#include "kernels/base/formats/h5.h"
#include "models/training/run_status.h"
#include "tests/fixtures/goal_run.h"

/* ---- accumulation ---------------------------------------------------------------------------- */

/* Four batches of two rows give the same update as one of eight. */
TEST(four_parts_are_a_batch)
{
    for (int goal = 0; goal <= LRA_GOAL_VALUE; goal++) {
        run whole, parts;
        open_run(&whole, (lra_goal)goal, "eight", 3);
        open_run(&parts, (lra_goal)goal, "four", 3);
        lra_config_set(whole.model, "dropout", "0.0");
        lra_config_set(parts.model, "dropout", "0.0");
        parts.spec.batch = 2;
        parts.spec.accumulate = 4;
        lra_train_report a = train(&whole), b = train(&parts);
        assert_int_equal(a.training.steps, b.training.steps);
        for (int i = 0; i < 3; i++) {
            assert_true(fabs(a.history[i].val_loss - b.history[i].val_loss) < 1e-4);
            assert_true(fabs(a.history[i].train_loss - b.history[i].train_loss) < 1e-4);
        }
        assert_true(fabs(a.history[2].val_loss - a.history[0].val_loss) > 1e-2);
        lra_train_report_free(&a);
        lra_train_report_free(&b);
        close_run(&whole);
        close_run(&parts);
    }
}

/* Trains one update: of two batches with one row each, which are equal, or of one batch with one
 * row. */
static double one_update(const char *dropout, int64_t accumulate)
{
    run r;
    open_run(&r, LRA_GOAL_CLASS, accumulate > 1 ? "two" : "one", 1);
    const uint16_t token[] = {1, 2, 3, 4, 5, 0};
    lra_sequences_free(&r.data->split[LRA_TRAIN_SPLIT]);
    r.data->split[LRA_TRAIN_SPLIT] = (lra_sequences){0};
    for (int64_t i = 0; i < accumulate; i++)
        lra_sequences_add_tokens(&r.data->split[LRA_TRAIN_SPLIT], token, 6, 1);
    lra_config_set(r.model, "dropout", dropout);
    r.spec.batch = 1;
    r.spec.accumulate = accumulate;
    lra_train_report report = train(&r);
    assert_int_equal(report.training.steps, 1);
    double loss = report.history[0].val_loss;
    lra_train_report_free(&report);
    remove_below(r.spec.folder);
    close_run(&r);
    return loss;
}

TEST(parts_drop_out_differently)
{
    assert_true(fabs(one_update("0.0", 1) - one_update("0.0", 2)) < 1e-6);
    assert_true(fabs(one_update("0.5", 1) - one_update("0.5", 2)) > 1e-4);
}

/* 0.58 of 50 rows are a batch of 29, although the product is below 29 in double precision. */
TEST(a_fraction_fills_a_batch)
{
    lra_err e = {{0}};
    run r;
    open_run(&r, LRA_GOAL_CLASS, "share", 1);
    r.data->split[LRA_TRAIN_SPLIT].n = 50;
    r.spec.fraction = 0.58;
    assert_true(0.58 * 50 < 29);
    r.spec.batch = 29;
    lra_train_report report = train(&r);
    assert_int_equal(report.training.steps, 1);
    lra_train_report_free(&report);
    r.spec.batch = 30;
    assert_int_equal(lra_train(&r.spec, &r.device, &report, &e), LRA_USAGE);
    assert_string_equal(e.msg, "batch 30 is larger than the training set of 29");
    close_run(&r);
}

/* ---- early stopping -------------------------------------------------------------------------- */

TEST(stops_when_nothing_gets_better)
{
    run whole, parts;
    lra_err e = {{0}};
    lra_train_report a, b;
    open_run(&whole, LRA_GOAL_CLASS, "stuck", 20);
    open_run(&parts, LRA_GOAL_CLASS, "stuck-parts", 20);
    whole.spec.early_stop = parts.spec.early_stop = 3;
    whole.spec.schedule.rate = parts.spec.schedule.rate = 1e-12;
    a = train(&whole);
    assert_int_equal(a.training.best_epoch, 1);
    assert_int_equal(a.n_epochs, 4); /* the best epoch, and three epochs without improvement */
    parts.spec.stop_after = 27;
    assert_int_equal(lra_train(&parts.spec, &parts.device, &b, &e), LRA_STOPPED);
    parts.spec.stop_after = 0;
    b = train(&parts);
    assert_int_equal(b.n_epochs, 4);
    assert_true(a.hash == b.hash);
    lra_train_report_free(&b);
    b = train(&parts); /* a finished run is not trained again */
    assert_int_equal(b.n_epochs, 4);
    assert_true(a.hash == b.hash);
    lra_train_report_free(&a);
    lra_train_report_free(&b);
    close_run(&whole);
    close_run(&parts);
}

/* ---- plateaus -------------------------------------------------------------------------------- */

/* No epoch improves by the threshold 1: the rate is halved after every third epoch, also if the run
 * is interrupted in between. */
TEST(epochs_of_a_plateau_are_counted_on)
{
    run whole, parts;
    open_run(&whole, LRA_GOAL_CLASS, "plateau", 9);
    open_run(&parts, LRA_GOAL_CLASS, "plateau-parts", 9);
    whole.spec.schedule.threshold = parts.spec.schedule.threshold = 1;
    whole.spec.schedule.final_share = parts.spec.schedule.final_share = 0;
    lra_train_report a = train(&whole);
    for (int i = 1; i < 9; i++) /* the first epoch always counts as an improvement */
        assert_true(fabs(a.history[i].rate / 0.02 - pow(0.5, (i - 1) / 3)) < 1e-6);
    remove_below(whole.spec.folder);
    lra_train_report_free(&a);
    same_in_parts(&whole, &parts);
}

/* The learning rates of a run follow from its own validation values, both for metrics of which more
 * is better and for those of which less is better. */
TEST(the_better_side_counts)
{
    static const lra_goal goals[] = {LRA_GOAL_CLASS, LRA_GOAL_VALUE, LRA_GOAL_TOKENS};
    int n_lower = 0;
    for (int g = 0; g < 3; g++) {
        run r;
        open_run(&r, goals[g], "side", 10);
        r.spec.schedule.warmup = 0, r.spec.schedule.final_share = 0;
        r.spec.schedule.patience = 0, r.spec.schedule.threshold = 0;
        lra_train_report a = train(&r);
        const lra_metric *metric = lra_task_metric(r.data->task);
        double best = 0, rate = 0.02;
        int n_better = 0;
        for (int64_t i = 0; i < a.n_epochs; i++) {
            double value = a.history[i].val_value;
            bool better = i == 0 || (metric->lower ? value < best : value > best);
            assert_true(fabs(a.history[i].rate / rate - 1) < 1e-6);
            if (better) best = value;
            if (!better) rate *= 0.5;
            n_better += better;
        }
        assert_true(n_better > 1);
        n_lower += metric->lower;
        lra_train_report_free(&a);
        close_run(&r);
    }
    assert_true(n_lower > 0 && n_lower < 3);
}

/* The training time of a run is the sum over all sessions. */
TEST(seconds_add_up)
{
    lra_err e = {{0}};
    run r;
    double before = 0;
    open_run(&r, LRA_GOAL_CLASS, "seconds", 3);
    for (int stop = 4; stop < 20; stop += 4) {
        lra_train_report a;
        double seconds = 0;
        r.spec.stop_after = stop;
        assert_int_equal(lra_train(&r.spec, &r.device, &a, &e), LRA_STOPPED);
        char *path = lra_format("%s/checkpoint.h5", r.spec.folder);
        lra_h5 *f = lra_h5_open(path, NULL, &e);
        if (!f || lra_h5_get_real(f, "/", "seconds", &seconds, &e) != 0) fail_msg("%s", e.msg);
        assert_true(seconds > before);
        before = seconds;
        lra_h5_close(f);
        lra_free(path);
    }
    r.spec.stop_after = 0;
    lra_train_report a = train(&r);
    assert_true(a.training.seconds > before);
    lra_train_report_free(&a);
    close_run(&r);
}

/* ---- how long yet ---------------------------------------------------------------------------- */

/* The estimate of the remaining time is proportional to the remaining steps: ten steps of thirty
 * took a measured time, and the estimate for ten more is the same. */
TEST(what_is_left_follows_from_what_was_made)
{
    lra_run_status s;
    lra_run_reporter *r = lra_run_reporter_new(folder, "a run", 3, 30);
    double first = lra_now();
    lra_run_reporter_at(r, 1, 10, "accuracy 1 %");
    double begun = lra_now();
    while (lra_now() < begun + 0.02) {}
    double last = lra_now();
    lra_run_reporter_at(r, 2, 20, "accuracy 2 %");
    double end = lra_now();
    assert_true(lra_run_status_read(folder, &s));
    assert_string_equal(s.value, "accuracy 2 %");
    assert_true(s.epoch == 2 && s.epochs == 3 && s.step == 20 && s.steps == 30);
    if (!(s.left > last - begun - 1e-3 && s.left < end - first + 1e-3))
        fail_msg("%g s are left, expected %g to %g", s.left, last - begun, end - first);
    lra_run_reporter_free(r, true);
}

GROUP(make_folder, remove_folder);
