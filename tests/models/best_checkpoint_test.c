/* Measurements at the end of a training run: by the selected weights, even if they are not the last
 * ones, on the test split, the validation split and a sample of the training rows. */
#include "tests/fixtures/test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "datasets/prepare.h"
#include "datasets/registry.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/os/terminal.h"
#include "kernels/cpu/device.h"
#include "models/training/checkpoint.h"
#include "models/training/session.h"
#include "tests/fixtures/folder.h"
#include "tests/fixtures/tiny_run.h"

enum { TRAIN = 640, VAL = 200, TEST = 150, CLASSES = 10 };

static lra_device device;
static tiny_run run;
static lra_train_report report;

/* The first epoch learns; then the learning rate is multiplied by 30 and by 900, so that later
 * weights are worse. */
static int set_up(void **state)
{
    lra_err e = {{0}};
    lra_terminal_init(LRA_LOG_QUIET);
    make_folder(state);
    lra_config *task = lra_task_config(&lra_task_listops, "quick", &e);
    lra_config_set_int(task, "train", TRAIN);
    lra_config_set_int(task, "val", VAL);
    lra_config_set_int(task, "test", TEST);
    int rc = tiny_run_open(
        &run, folder, "seed=1\n",
        "layers=1 width=8 hidden=8 kernel=3 dilation=1 groups=1 causal=0 dropout=0.5", &e);
    lra_dataset_free(run.data);
    lra_config_free(run.task);
    run.task = task;
    run.data = lra_dataset_open(&lra_task_listops, task, folder, NULL, &e);
    run.spec.data = run.data;
    run.spec.batch = 16;
    run.spec.schedule = (lra_schedule){
        .kind = &lra_schedule_multistep, .rate = 0.01, .factor = 30, .every = 1, .epochs = 3};
    run.spec.checkpoint_every = 1e6;
    if (rc != 0 || !run.data || lra_cpu_device(&device, 1, &e) != 0) fail_msg("%s", e.msg);
    OK(lra_train(&run.spec, &device, &report, &e));
    return 0;
}

static int tear_down(void **state)
{
    lra_train_report_free(&report);
    tiny_run_close(&run);
    return remove_folder(state);
}

/* Returns the logits of a split by the weights of best.h5 or of the last checkpoint; the caller
 * frees them. */
static float *logits_by(bool best, int split, lra_sums *total)
{
    lra_err e = {{0}};
    lra_session s;
    lra_run_state now = {0};
    bool found;
    OK(lra_session_open(&s, &run.spec, &device, &e));
    int rc = best ? lra_best_read(&run.spec, s.params, &e)
                  : lra_checkpoint_read(&run.spec, &now, s.params, &found, &e);
    lra_loader *l = lra_session_loader(&s, split, false);
    float *out = lra_alloc_array((size_t)lra_loader_rows(l) * CLASSES, sizeof *out);
    if (rc == 0) rc = lra_session_evaluate(&s, l, total, out, NULL, &e);
    OK(rc);
    lra_loader_free(l);
    lra_session_close(&s);
    lra_free(now.history);
    return out;
}

static double accuracy_of(const float *logits, const lra_sequences *rows)
{
    int64_t right = 0;
    for (int64_t i = 0; i < rows->n; i++) {
        int best = 0;
        for (int c = 1; c < CLASSES; c++)
            if (logits[i * CLASSES + c] > logits[i * CLASSES + best]) best = c;
        right += best == rows->label[i];
    }
    return (double)right / (double)rows->n;
}

TEST(test_rows_by_the_selected_weights)
{
    lra_sums best, last;
    assert_true(report.training.best_epoch < report.n_epochs);
    float *expected = logits_by(true, LRA_TEST_SPLIT, &best);
    float *others = logits_by(false, LRA_TEST_SPLIT, &last);
    assert_int_equal(report.n_rows, TEST);
    assert_memory_equal(report.output, expected, TEST * CLASSES * sizeof *expected);
    assert_memory_not_equal(report.output, others, TEST * CLASSES * sizeof *others);
    assert_int_equal(report.test.right, best.right);
    lra_free(expected);
    lra_free(others);
}

/* The accuracy of the validation outputs is the value by which the weights were selected; that of
 * the last weights differs. */
TEST(validation_rows_by_the_selected_weights)
{
    assert_int_equal(report.n_val, VAL);
    double found = accuracy_of(report.val_output, &run.data->split[LRA_VAL_SPLIT]);
    assert_true(fabs(found - report.best_val) < 1e-12);
    assert_true(fabs(found - report.history[report.training.best_epoch - 1].val_value) < 1e-12);
    assert_true(fabs(found - report.history[report.n_epochs - 1].val_value) > 1e-3);
}

/* The training rows are measured as in evaluation, without dropout; the losses during training
 * differ. */
TEST(training_rows_by_the_selected_weights)
{
    lra_sums best, rows = {0};
    float *logits = logits_by(true, LRA_TRAIN_SPLIT, &best);
    assert_int_equal(report.n_train, TRAIN);
    for (int i = 0; i < TRAIN; i++) lra_sums_add(&rows, &report.train_row[i]);
    assert_int_equal(report.train.right, best.right);
    assert_true(report.train.loss == best.loss);
    assert_int_equal(rows.right, best.right);
    assert_int_equal(rows.n, TRAIN);
    double share = (double)best.right / TRAIN;
    assert_true(fabs(share - accuracy_of(logits, &run.data->split[LRA_TRAIN_SPLIT])) < 1e-12);
    assert_true(fabs(share - report.history[report.training.best_epoch - 1].train_value) > 1e-3);
    lra_free(logits);
}

/* ---- the sample ------------------------------------------------------------------------------ */

/* Returns the row indices of a sample of the training rows; the caller frees them. */
static int64_t *sample(const lra_dataset *d, double fraction, int64_t wanted, int64_t *n)
{
    const lra_buckets buckets = lra_buckets_find(d);
    lra_loader_spec s = {
        .data = d, .buckets = &buckets, .batch = 16, .fraction = fraction, .sample = wanted};
    lra_loader *l = lra_loader_new(&s);
    *n = lra_loader_rows(l);
    int64_t *rows = lra_alloc_array((size_t)*n + 1, sizeof *rows);
    memcpy(rows, lra_loader_used(l), (size_t)*n * sizeof *rows);
    int64_t given = 0;
    for (int64_t i = 0; i < lra_loader_batches(l); i++)
        for (int k = 0; k < 16; k++) given += lra_loader_get(l, i)->row[k] >= 0;
    assert_int_equal(given, *n);
    lra_loader_free(l);
    return rows;
}

static bool contains(const int64_t *rows, int64_t n, int64_t row)
{
    for (int64_t i = 0; i < n; i++)
        if (rows[i] == row) return true;
    return false;
}

/* The number of rows of every label in a stratified sample is proportional to its frequency, up to
 * one row; another seed gives another sample. */
TEST(strata)
{
    enum { ROWS = 10 };
    const lra_buckets buckets = lra_buckets_find(run.data);
    const lra_sequences *all = &run.data->split[LRA_TRAIN_SPLIT];
    int64_t used[2][ROWS], same = 0;
    for (int seed = 0; seed < 2; seed++) {
        lra_loader_spec s = {.data = run.data,
                             .buckets = &buckets,
                             .batch = 16,
                             .sample = ROWS,
                             .sample_seed = (uint64_t)seed,
                             .stratified = true};
        lra_loader *l = lra_loader_new(&s);
        double of_all[CLASSES] = {0}, of_sample[CLASSES] = {0};
        assert_int_equal(lra_loader_rows(l), ROWS);
        memcpy(used[seed], lra_loader_used(l), sizeof used[seed]);
        for (int64_t i = 0; i < all->n; i++) of_all[all->label[i]] += (double)ROWS / (double)all->n;
        for (int i = 0; i < ROWS; i++) {
            assert_true(i == 0 || used[seed][i] > used[seed][i - 1]);
            of_sample[all->label[used[seed][i]]]++;
        }
        for (int c = 0; c < CLASSES; c++) assert_true(fabs(of_sample[c] - of_all[c]) < 1);
        lra_loader_free(l);
    }
    for (int i = 0; i < ROWS; i++) same += contains(used[0], ROWS, used[1][i]);
    assert_true(same < ROWS);
}

/* The sample is the same for every seed of a run, differs for other data, and consists of all rows
 * if there are no more than requested. */
TEST(the_sample_follows_from_the_data)
{
    int64_t n, m, all, same = 0;
    lra_dataset other = *run.data;
    int64_t *a = sample(run.data, 0, 100, &n), *b = sample(run.data, 0, 100, &m);
    assert_int_equal(n, 100);
    assert_memory_equal(a, b, 100 * sizeof *a);
    for (int i = 1; i < 100; i++) assert_true(a[i] > a[i - 1]);
    assert_true(a[0] >= 0 && a[99] < TRAIN && a[99] - a[0] > TRAIN / 2);
    snprintf(other.fingerprint, sizeof other.fingerprint, "0123456789abcdef");
    int64_t *c = sample(&other, 0, 100, &m), *d = sample(run.data, 0, TRAIN, &all);
    for (int i = 0; i < 100; i++) same += contains(a, 100, c[i]);
    assert_true(same < 50);
    assert_int_equal(all, TRAIN);
    lra_free(a);
    lra_free(b);
    lra_free(c);
    lra_free(d);
}

/* If a run is trained on a fraction of the rows, the sample has only rows of this fraction. */
TEST(the_sample_of_a_fraction)
{
    int64_t n, m;
    int64_t *half = sample(run.data, 0.5, 0, &n), *some = sample(run.data, 0.5, 40, &m);
    assert_int_equal(n, TRAIN / 2);
    assert_int_equal(m, 40);
    for (int i = 0; i < 40; i++) assert_true(contains(half, n, some[i]));
    lra_free(half);
    lra_free(some);
}

GROUP(set_up, tear_down);
