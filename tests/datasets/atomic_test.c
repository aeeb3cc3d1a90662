/* Atomic tasks: targets follow from the inputs by definition, models see position and mark,
 * training rows are new in every epoch, validation rows are fixed. */
#include "tests/fixtures/test.h"

#include <math.h>
#include <string.h>

#include "datasets/loader/batch.h"
#include "datasets/prepare.h"
#include "datasets/registry.h"
#include "kernels/base/core/mem.h"
#include "tests/fixtures/refused_parameters.h"

static const lra_task *const tasks[] = {&lra_task_cumsum, &lra_task_cummax, &lra_task_select,
                                        &lra_task_copy};
enum { TASKS = 4, SELECT = 2, COPY = 3, LENGTH = 40, MARKS = 6, DISTANCE = 7 };

static lra_dataset *data_of(const lra_task *t)
{
    lra_err e = {{0}};
    lra_config *c = lra_task_config(t, "quick", &e);
    lra_config_set(c, "length", "40");
    if (lra_config_has(c, "marks")) lra_config_set(c, "marks", "6");
    if (lra_config_has(c, "distance")) lra_config_set(c, "distance", "7");
    lra_config_set(c, "train", "64");
    lra_config_set(c, "val", "20");
    lra_config_set(c, "test", "20");
    lra_dataset *d = lra_dataset_make(t, c, &e);
    NOT_NULL(d);
    lra_config_free(c);
    return d;
}

static void expect_near(double found, double expected)
{
    if (fabs(found - expected) > 1e-6) fail_msg("%.9g, expected %.9g", found, expected);
}

/* Checks the scale of a signal: all values are divided by the largest magnitude, which is then
 * 1. */
static void check_scale(const float *x, int64_t n, int width)
{
    double most = 0;
    for (int64_t i = 0; i < n; i++) most = fmax(most, fabs((double)x[i * width]));
    expect_near(most, 1);
}

static void check_running(const float *x, const float *y, int task)
{
    double sum = 0, most = -2;
    check_scale(x, LENGTH, 1);
    for (int i = 0; i < LENGTH; i++) {
        if (task == COPY && i < DISTANCE) {
            assert_true(isnan(y[i]));
            continue;
        }
        sum += (double)x[i];
        most = fmax(most, (double)x[i]);
        const double expected[] = {sum / sqrt(i + 1), most, 0,
                                   i < DISTANCE ? 0 : (double)x[i - DISTANCE]};
        expect_near((double)y[i], expected[task]);
    }
}

/* Checks the targets y of task select. value (n, 2): number and mark of each position. */
static void check_select(const float *value, const float *y)
{
    int at = LENGTH + MARKS;
    check_scale(value, LENGTH + MARKS, 2);
    for (int i = 0; i < LENGTH + MARKS; i++) {
        assert_true(isnan(y[i]));
        assert_true(value[2 * i + 1] == 0 || value[2 * i + 1] == 1);
        if (value[2 * i + 1] == 1) expect_near((double)y[at++], (double)value[2 * i]);
    }
    assert_int_equal(at, LENGTH + 2 * MARKS);
    for (int i = LENGTH + MARKS; i < LENGTH + 2 * MARKS; i++)
        assert_true(value[2 * i] == 0 && value[2 * i + 1] == 0);
}

TEST(targets_follow_from_inputs)
{
    for (int k = 0; k < TASKS; k++) {
        lra_dataset *d = data_of(tasks[k]);
        for (int s = 0; s < LRA_N_SPLITS; s++)
            for (int64_t i = 0; i < d->split[s].n; i++) {
                lra_row row = lra_sequences_row(&d->split[s], i);
                assert_int_equal(row.n, k == SELECT ? LENGTH + 2 * MARKS : LENGTH);
                if (k == SELECT)
                    check_select(row.value, row.target);
                else
                    check_running(row.value, row.target, k);
            }
        lra_dataset_free(d);
    }
}

/* Marks are uniform over all positions, and numbers are negative with probability one half. */
TEST(marks_are_uniform)
{
    lra_err e = {{0}};
    lra_config *c = lra_config_parse("length=20 marks=4 train=12000 val=1 test=1 data-seed=5", &e);
    lra_dataset *d = lra_dataset_make(&lra_task_select, c, &e);
    double count[24] = {0}, chi = 0, first = 0;
    for (int64_t i = 0; i < d->split[0].n; i++) {
        lra_row row = lra_sequences_row(&d->split[0], i);
        for (int t = 0; t < 24; t++) count[t] += (double)row.value[2 * t + 1];
        first += (double)row.value[0];
    }
    double expected = 12000.0 * 4 / 24;
    for (int t = 0; t < 24; t++) chi += (count[t] - expected) * (count[t] - expected) / expected;
    assert_true(chi < 49.7); /* quantile of chi-square with 23 degrees of freedom for p = 0.001 */
    assert_true(fabs(first / 12000) < 0.02);
    lra_dataset_free(d);
    lra_config_free(c);
}

/* Inputs of a model (numbers, mark, cosine, sine) and its targets. */
TEST(models_see_position)
{
    for (int k = 0; k < TASKS; k++) {
        lra_dataset *d = data_of(tasks[k]);
        lra_buckets b = lra_buckets_find(d);
        lra_loader_spec s = {.data = d, .split = LRA_VAL_SPLIT, .buckets = &b, .batch = 4};
        lra_loader *l = lra_loader_new(&s);
        const lra_batch *batch = lra_loader_get(l, 0);
        lra_row row = lra_sequences_row(&d->split[LRA_VAL_SPLIT], batch->row[1]);
        int C = tasks[k]->input.channels;
        int64_t T = b.length[batch->bucket];
        assert_int_equal(C, row.width + 2);
        for (int64_t t = 0; t < row.n; t++) {
            const float *seen = batch->value + (T + t) * C;
            double angle = 6.283185307179586 * (double)t / (double)row.n;
            for (int w = 0; w < row.width; w++)
                assert_true(seen[w] == row.value[t * row.width + w]);
            expect_near((double)seen[C - 2], cos(angle));
            expect_near((double)seen[C - 1], sin(angle));
            bool target_mask = !isnan(row.target[t]);
            assert_true(batch->target_mask[T + t] == (target_mask ? 1.0f : 0.0f));
            if (target_mask) assert_true(batch->target[T + t] == row.target[t]);
        }
        lra_loader_free(l);
        lra_dataset_free(d);
    }
}

/* Training rows differ between epochs, and are the same if an epoch is repeated. */
TEST(training_rows_are_fresh)
{
    for (int k = 0; k < TASKS; k++) {
        lra_dataset *d = data_of(tasks[k]);
        lra_buckets b = lra_buckets_find(d);
        lra_loader_spec s = {
            .data = d, .buckets = &b, .batch = 8, .seed = 3, .training = true, .augment = true};
        double first[2] = {0};
        assert_true(tasks[k]->data.fresh);
        for (int pass = 0; pass < 3; pass++) { /* epoch 0, then 1, then 0 again */
            lra_loader *l = lra_loader_new(&s);
            lra_loader_epoch(l, pass % 2);
            const lra_batch *batch = lra_loader_get(l, 0);
            double sum = 0;
            for (int64_t i = 0; i < batch->n * b.length[batch->bucket]; i++)
                sum += (double)batch->target[i] * (double)(i % 97);
            if (pass == 2) assert_true(sum == first[0]);
            if (pass == 1) assert_true(sum != first[0]);
            first[pass % 2] = sum;
            lra_loader_free(l);
        }
        lra_dataset_free(d);
    }
}

TEST(bad_parameters_are_refused)
{
    task_refuses_change(&lra_task_select, NULL, "marks=513", "marks is 513, expected 1 to 512");
    task_refuses_change(&lra_task_select, NULL, "length=1", "an integer from 2 to 65536");
    task_refuses_change(&lra_task_copy, NULL, "distance=512", "distance is 512, expected 1 to 511");
}
