/* Runs of a command: settings that make a run a different one, and the description of the run in
 * its result. */
#include "tests/fixtures/test.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "datasets/loader/permute.h"
#include "kernels/base/core/history.h"
#include "kernels/base/cli/program.h"
#include "kernels/base/os/terminal.h"
#include "models/training/session.h"
#include "probes/run/job.h"
#include "probes/run/job_options.h"
#include "probes/run/train_job.h"
#include "reports/results/result.h"
#include "tests/fixtures/folder.h"

static const lra_option *const tables[] = {lra_job_options, lra_common_options, NULL};
static const lra_command command = {"test", "", "", "", NULL, 0, -1, tables};
static const char sizes[] = "train=64 val=20 test=20 epochs=2 batch=16 layers=1 width=8 hidden=8";

static lra_arena *words; /* memory of the parsed words, to which options refer */

/* Opens a small run with one thread; the options must outlive the job. */
static lra_options *open_job(lra_job *j, const char *precision)
{
    lra_err e = {{0}};
    char *argv[32];
    int n = 0;
    argv[n++] = lra_arena_format(words, "--out=%s", folder);
    argv[n++] = lra_arena_format(words, "--precision=%s", precision);
    argv[n++] = lra_arena_text(words, "--threads=1");
    argv[n++] = lra_arena_text(words, "--device=cpu");
    for (const char *at = sizes; *at;) {
        size_t length = strcspn(at, " ");
        argv[n++] = lra_arena_format(words, "--set=%.*s", (int)length, at);
        at += length + (at[length] == ' ');
    }
    lra_options *o = lra_options_parse(&command, n, argv, &e);
    *j = (lra_job){.dry = false};
    if (!o || lra_job_open(j, o, &e) != 0 || lra_job_load_data(j, &e) != 0) fail_msg("%s", e.msg);
    return o;
}

static lra_result *train(const lra_job *j)
{
    lra_err e = {{0}};
    OK(lra_job_train(j, 1, &e));
    char *run = lra_job_folder(j, 1), *path = lra_format("%s/result.h5", run);
    lra_result *r = lra_result_read(path, &e);
    NOT_NULL(r);
    lra_free(run);
    lra_free(path);
    return r;
}

static void close_job(lra_job *j, lra_options *o)
{
    lra_job_close(j);
    lra_options_free(o);
}

/* Validation and test splits omit the rows of an incomplete last batch. */
TEST(what_fills_no_batch_is_left_out)
{
    lra_err e = {{0}};
    lra_job j;
    lra_options *o = open_job(&j, "f32");
    assert_int_equal(j.data->split[LRA_VAL_SPLIT].n, 20);
    lra_dataset_free(j.data);
    j.data = NULL;
    lra_config_set(j.train_config, "eval-drop-last", "1");
    OK(lra_job_load_data(&j, &e));
    assert_int_equal(j.data->split[LRA_TRAIN_SPLIT].n, 64);
    assert_int_equal(j.data->split[LRA_VAL_SPLIT].n, 16);
    assert_int_equal(j.data->split[LRA_TEST_SPLIT].n, 16);
    /* rows as loaded from prepared data, before the incomplete batch is removed */
    j.data->split[LRA_TEST_SPLIT].n = 20;
    assert_int_equal(lra_job_use_data(&j, j.data, &e), 0);
    assert_int_equal(j.data->split[LRA_TEST_SPLIT].n, 16);
    close_job(&j, o);
}

/* A run in bf16 is a different run from one in float32; so is a run whose weights are only measured
 * in bf16. */
TEST(what_makes_another_run)
{
    lra_job j;
    char hash[4][17];
    lra_options *o = open_job(&j, "f32");
    lra_free(lra_job_config(&j, 1, hash[0]));
    j.precision = "bf16";
    lra_free(lra_job_config(&j, 1, hash[1]));
    j.precision = "f32";
    j.weights_path = "w.safetensors";
    lra_free(lra_job_config(&j, 1, hash[2]));
    j.evaluate = true;
    lra_free(lra_job_config(&j, 1, hash[3]));
    j.weights_path = NULL;
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < i; k++) assert_string_not_equal(hash[i], hash[k]);
    close_job(&j, o);
}

/* The result of the other precision is in a separate file, which is not used for this one. */
TEST(each_precision_has_its_result)
{
    lra_job j;
    lra_options *o = open_job(&j, "f32");
    lra_result *a = train(&j);
    close_job(&j, o);
    o = open_job(&j, "bf16");
    lra_result *b = train(&j);
    close_job(&j, o);
    assert_string_equal(a->precision, "f32");
    assert_string_equal(b->precision, "bf16");
    assert_string_not_equal(a->run, b->run);
    assert_memory_not_equal(a->logits, b->logits, (size_t)(a->n * a->n_classes) * sizeof(float));
    lra_result_free(a);
    lra_result_free(b);
}

/* A run with permuted labels is a different run: they are used for training and selection, and the
 * true labels for the test. */
TEST(labels_that_are_permuted)
{
    lra_job j;
    char hash[2][17];
    lra_options *o = open_job(&j, "f32");
    lra_free(lra_job_config(&j, 1, hash[0]));
    lra_config_set(j.train_config, "permute-labels", "1");
    lra_free(lra_job_config(&j, 1, hash[1]));
    assert_string_not_equal(hash[0], hash[1]);
    lra_result *r = train(&j);
    const lra_sequences *val = &j.data->split[LRA_VAL_SPLIT],
                        *test = &j.data->split[LRA_TEST_SPLIT];
    int64_t *from = lra_label_permutation(val->n, 1, LRA_VAL_SPLIT), right = 0;
    assert_memory_equal(r->label, test->label, (size_t)r->n * sizeof *r->label);
    assert_int_equal(r->n_val, val->n);
    for (int64_t i = 0; i < r->n_val; i++) {
        const float *logits = r->val_logits + i * r->n_classes;
        int best = 0;
        for (int c = 1; c < r->n_classes; c++) best = logits[c] > logits[best] ? c : best;
        assert_int_equal(r->val_label[i], val->label[from[i]]);
        right += best == r->val_label[i];
    }
    const double *epoch = r->history + (r->training.best_epoch - 1) * LRA_HISTORY_COLUMNS;
    assert_true(fabs(epoch[LRA_HISTORY_VAL_VALUE] - (double)right / (double)r->n_val) < 1e-12);
    assert_non_null(strstr(r->config, "train.permute-labels=1\n"));
    assert_non_null(strstr(r->deviations, "labels of training and validation rows are permuted"));
    lra_free(from);
    lra_result_free(r);
    close_job(&j, o);
}

/* Returns line i of the log of a result; the caller releases it by json_decref(). */
static json_t *log_line(const lra_result *r, int64_t i)
{
    lra_err e;
    size_t n;
    char *path = lra_format("%s/runs/%s-%s-%s/log.jsonl", folder, r->task, r->model, r->run);
    char *text = lra_file_read(path, 1 << 20, &n, &e), *at = text;
    assert_non_null(text);
    for (int64_t k = 0; k < i; k++) at = strchr(at, '\n') + 1;
    json_t *line = json_loads(at, JSON_DISABLE_EOF_CHECK, NULL);
    assert_non_null(line);
    lra_free_large(text);
    lra_free(path);
    return line;
}

TEST(the_history_is_the_log)
{
    static const char *const keys[LRA_HISTORY_COLUMNS] = {
        "step", "train_loss", "train_accuracy", "val_loss", "val_accuracy", "rate", "seconds"};
    lra_job j;
    lra_options *o = open_job(&j, "f32");
    lra_result *r = train(&j);
    assert_int_equal(r->n_epochs, 2);
    assert_true(r->training.best_epoch == 1 || r->training.best_epoch == 2);
    for (int64_t i = 0; i < r->n_epochs; i++) {
        json_t *line = log_line(r, i);
        assert_int_equal(json_integer_value(json_object_get(line, "epoch")), i + 1);
        for (int c = 0; c < LRA_HISTORY_COLUMNS; c++)
            assert_true(json_number_value(json_object_get(line, keys[c])) ==
                        r->history[i * LRA_HISTORY_COLUMNS + c]);
        const char *time = json_string_value(json_object_get(line, "time"));
        assert_int_equal(strlen(time), 20);
        assert_true(time[10] == 'T' && time[19] == 'Z');
        json_decref(line);
    }
    char *path = lra_format("%s/runs/%s-%s-%s/result.h5", folder, r->task, r->model, r->run);
    lra_err e = {{0}};
    lra_h5 *f = lra_h5_open(path, NULL, &e);
    double *number = NULL;
    int64_t n = 0;
    if (!f || lra_h5_get_table(f, "/history", "epoch", &n, &number, &e) != 0) fail_msg("%s", e.msg);
    assert_int_equal(n, 2);
    /* epochs are counted from 1 in the file as well */
    for (int i = 0; i < 2; i++) assert_true(number[i] == i + 1);
    lra_free(number);
    lra_h5_close(f);
    lra_free(path);
    lra_result_free(r);
    close_job(&j, o);
}

TEST(what_a_result_says_of_its_origin)
{
    lra_job j;
    lra_options *o = open_job(&j, "f32");
    lra_result *r = train(&j);
    const lra_origin *a = &r->origin;
    assert_string_equal(a->device, "cpu");
    assert_true(*a->device_name && *a->level && *a->revision && *a->compiler && *a->build);
    assert_int_equal(a->threads, 1);
    assert_non_null(strstr(a->program, "lra-probe "));
    assert_non_null(strstr(a->libraries, "HDF5 "));
    assert_int_equal(strlen(a->date), 20);
    if (lra_file_exists("/proc/self/cmdline"))
        assert_memory_equal(a->command, "job_result_test", 15);
    /* A checkpoint contains the same description except for the date. */
    lra_err e = {{0}};
    lra_origin b;
    char *path = lra_format("%s/runs/%s-%s-%s/best.h5", folder, r->task, r->model, r->run);
    lra_h5 *f = lra_h5_open(path, "checkpoint", &e);
    if (!f || lra_origin_read(f, &b, &e) != 0) fail_msg("%s", e.msg);
    lra_h5_close(f);
    assert_string_equal(a->device_name, b.device_name);
    assert_string_equal(a->libraries, b.libraries);
    assert_non_null(b.date);
    lra_origin_free(&b);
    lra_free(path);
    lra_result_free(r);
    close_job(&j, o);
}

/* The reported loss is the mean over the steps of the second epoch only, each with the weights
 * before the step. */
TEST(the_loss_of_a_later_epoch_by_hand)
{
    lra_err e = {{0}};
    lra_job j;
    lra_options *o = open_job(&j, "f32");
    lra_result *r = train(&j);
    lra_train_spec s;
    lra_session session;
    lra_job_spec(&j, 1, &s);
    OK(lra_session_open(&session, &s, &j.device, &e));
    lra_loader *l = lra_session_loader(&session, LRA_TRAIN_SPLIT, true);
    int64_t n = lra_loader_batches(l), step = 0;
    s.schedule.steps_per_epoch = n;
    lra_schedule_state now = lra_schedule_start();
    double loss[2] = {0};
    for (int epoch = 0; epoch < 2; epoch++) {
        lra_loader_epoch(l, epoch);
        for (int64_t i = 0; i < n; i++, step++) {
            float status[4];
            lra_step at = {.seed = s.seed,
                           .step = (uint64_t)step,
                           .rate = (float)lra_schedule_rate(&s.schedule, &now, step)};
            OK(lra_session_part(&session, lra_loader_get(l, i), 0, &at, status, &e));
            loss[epoch] += (double)status[0] / (double)n;
        }
        lra_schedule_epoch(&s.schedule, &now, epoch, 0);
    }
    for (int i = 0; i < 2; i++)
        assert_true(fabs(loss[i] - r->history[i * LRA_HISTORY_COLUMNS + LRA_HISTORY_TRAIN_LOSS]) <
                    1e-9);
    lra_loader_free(l);
    lra_session_close(&session);
    lra_job_spec_free(&s);
    lra_result_free(r);
    close_job(&j, o);
}

static int set_up(void **state)
{
    lra_terminal_init(LRA_LOG_QUIET);
    return make_folder(state);
}

GROUP(set_up, remove_folder);

int main(void)
{
    words = lra_arena_new();
    int failed = tests_run();
    lra_arena_free(words);
    return failed;
}
