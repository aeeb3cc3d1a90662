/* Loss of the selected weights on training rows, for tasks with one long row: of all its windows,
 * or of a sample if there are many. */
#include "tests/fixtures/test.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "kernels/base/core/mem.h"
#include "models/training/checkpoint.h"
#include "models/training/session.h"
#include "tests/fixtures/goal_run.h"
#include "datasets/prepare.h"

/* windows have one token: there are 400 more than the sample has */
enum { TOKENS = LRA_TRAIN_SAMPLE + 401 };

static int make_long(const lra_config *c, lra_sequences split[LRA_N_SPLITS], lra_err *e)
{
    (void)c, (void)e;
    static uint16_t token[TOKENS];
    lra_rng r = lra_rng_new(5, 0x57A1, 0);
    /* mostly the next token, sometimes a random one, so that the windows differ */
    for (int t = 1; t < TOKENS; t++) {
        uint32_t any = lra_rng_below(&r, 5), next = (token[t - 1] + 1u) % 5;
        token[t] = (uint16_t)(lra_rng_below(&r, 4) ? next : any);
    }
    for (int s = 0; s < LRA_N_SPLITS; s++)
        lra_sequences_add_tokens(&split[s], token, s == LRA_TRAIN_SPLIT ? TOKENS : 100, 0);
    return 0;
}

static void open_long(run *r, const char *name, double fraction)
{
    static lra_task task;
    lra_err e;
    open_run(r, LRA_GOAL_NEXT, name, 1);
    lra_dataset_free(r->data);
    task = tiny_tasks[LRA_GOAL_NEXT];
    task.data.make = make_long;
    lra_config *c = lra_keys_config(task.keys);
    lra_config_set_int(c, "context", 1);
    r->data = lra_dataset_make(&task, c, &e);
    lra_config_free(c);
    r->spec.data = r->data;
    r->spec.batch = 64;
    r->spec.fraction = fraction;
}

/* Evaluates every window of the training row by the selected weights; the caller frees the
 * array. */
static lra_sums *every_window(run *r, int64_t *n)
{
    lra_err e = {{0}};
    lra_session s;
    lra_sums total;
    OK(lra_session_open(&s, &r->spec, &r->device, &e));
    OK(lra_best_read(&r->spec, s.params, &e));
    lra_loader *l = lra_session_loader(&s, LRA_TRAIN_SPLIT, false);
    *n = lra_loader_rows(l);
    lra_sums *row = lra_alloc_array((size_t)*n, sizeof *row);
    OK(lra_session_evaluate(&s, l, &total, NULL, row, &e));
    lra_loader_free(l);
    lra_session_close(&s);
    return row;
}

/* Stores the windows of the sample, by a loader with the options that training uses. */
static void windows_of_the_sample(const run *r, int64_t *to)
{
    const lra_buckets buckets = lra_buckets_find(r->data);
    lra_loader_spec s = {
        .data = r->data, .buckets = &buckets, .batch = r->spec.batch, .sample = LRA_TRAIN_SAMPLE};
    lra_loader *l = lra_loader_new(&s);
    assert_int_equal(lra_loader_rows(l), LRA_TRAIN_SAMPLE);
    int64_t n = 0;
    for (int64_t i = 0; i < lra_loader_batches(l); i++) {
        const lra_batch *b = lra_loader_get(l, i);
        for (int64_t k = 0; k < r->spec.batch; k++)
            if (b->row[k] >= 0) to[n++] = b->row[k];
    }
    assert_int_equal(n, LRA_TRAIN_SAMPLE);
    lra_loader_free(l);
}

TEST(a_sample_of_many_windows)
{
    static int64_t window[LRA_TRAIN_SAMPLE];
    run r;
    int64_t n, n_skipped = 0;
    lra_sums sum = {0};
    open_long(&r, "many", 0);
    lra_train_report report = train(&r);
    assert_int_equal(report.n_train, LRA_TRAIN_SAMPLE);
    lra_sums *all = every_window(&r, &n);
    assert_int_equal(n, TOKENS - 1);
    windows_of_the_sample(&r, window);
    for (int i = 0; i < LRA_TRAIN_SAMPLE; i++) {
        n_skipped += window[i] - (i ? window[i - 1] + 1 : 0);
        /* the position in the batch differs, and with it the rounding */
        assert_true(fabs(report.train_row[i].loss - all[window[i]].loss) < 1e-5);
        lra_sums_add(&sum, &all[window[i]]);
    }
    assert_int_equal(n_skipped + TOKENS - 2 - window[LRA_TRAIN_SAMPLE - 1],
                     TOKENS - 1 - LRA_TRAIN_SAMPLE);
    assert_int_equal(report.train.n, LRA_TRAIN_SAMPLE); /* each window has one token */
    assert_true(fabs(report.train.loss - sum.loss) < 1e-6 * sum.loss);
    /* The entropy of the next token is 0.777. */
    assert_true(report.train.loss / LRA_TRAIN_SAMPLE > 0.74);
    assert_true(report.train.loss / LRA_TRAIN_SAMPLE < 0.9);
    lra_free(all);
    lra_train_report_free(&report);
    close_run(&r);
}

/* All windows are used if there are few; for a fraction of the stream only its beginning, which was
 * used for training. */
TEST(every_window_of_a_fraction)
{
    run r;
    int64_t n;
    lra_sums sum = {0};
    open_long(&r, "half", 0.5);
    lra_train_report report = train(&r);
    lra_sums *all = every_window(&r, &n);
    assert_int_equal(report.n_train, TOKENS / 2 - 1);
    assert_int_equal(report.train.n, TOKENS / 2 - 1);
    for (int i = 0; i < report.n_train; i++) {
        assert_true(report.train_row[i].loss == all[i].loss);
        lra_sums_add(&sum, &all[i]);
    }
    assert_true(fabs(report.train.loss - sum.loss) < 1e-6 * sum.loss);
    lra_free(all);
    lra_train_report_free(&report);
    close_run(&r);
}

GROUP(make_folder, remove_folder);
