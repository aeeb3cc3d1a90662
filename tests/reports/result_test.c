/* Result files: reading gives the written data; values that older files lack are "not recorded";
 * impossible values are rejected. */
#include "tests/fixtures/test.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/results/baseline_kind.h"
#include "kernels/base/os/file.h"
#include "kernels/base/formats/h5.h"
#include "kernels/base/core/mem.h"
#include "reports/report.h"
#include "reports/print/dump.h"
#include "reports/views/integrity.h"
#include "tests/fixtures/folder.h"

enum { N = 6, VAL = 4, TRAIN = 5, C = 3, EPOCHS = 2 };

static char *path;

static int set_up(void **state)
{
    int rc = make_folder(state);
    path = lra_format("%s/result.h5", folder);
    return rc;
}

static int tear_down(void **state)
{
    lra_free(path);
    return remove_folder(state);
}

static lra_result *make(void)
{
    static const int32_t label[N] = {0, 1, 2, 0, 1, 2};
    lra_result *r = lra_alloc(sizeof *r);
    r->task = lra_copy_text("listops"), r->model = lra_copy_text("resconv");
    r->preset = lra_copy_text("quick"), r->precision = lra_copy_text("f32");
    r->fingerprint = lra_copy_text("0123456789abcdef"), r->run = lra_copy_text("fedcba9876543210");
    r->config = lra_copy_text("model.kernel=5\nseed=1\ntask=listops\n");
    r->task_parameters = lra_copy_text("max-depth=3\n");
    r->deviations = lra_copy_text("");
    r->max_length = 30, r->training.parameters = 1234, r->training.best_epoch = 1;
    r->n_epochs = EPOCHS;
    r->history = lra_alloc_array(EPOCHS * LRA_HISTORY_COLUMNS, sizeof *r->history);
    for (int i = 0; i < EPOCHS * LRA_HISTORY_COLUMNS; i++) r->history[i] = i / 8.0;
    r->n = N, r->n_val = VAL, r->n_train = TRAIN, r->n_classes = C;
    r->logits = lra_alloc_array(N * C, sizeof(float));
    r->val_logits = lra_alloc_array(VAL * C, sizeof(float));
    for (int i = 0; i < N * C; i++) r->logits[i] = (float)(i * i % 17);
    /* these logits predict the classes 2 0 1 2 */
    for (int i = 0; i < VAL * C; i++) r->val_logits[i] = (float)(i % 4);
    r->label = memcpy(lra_alloc(sizeof label), label, sizeof label);
    r->val_label = memcpy(lra_alloc(VAL * sizeof *label), label, VAL * sizeof *label);
    r->val_label[0] = r->val_label[3] = 2; /* so that the first and the last prediction are right */
    r->train_value = 0.6, r->train_loss = 1.25;
    r->train_correct = lra_alloc(TRAIN);
    for (int i = 0; i < TRAIN; i++) r->train_correct[i] = i < 3;
    return r;
}

static void write_file(const lra_result *r)
{
    lra_err e = {{0}};
    OK(lra_result_write(path, r, &e));
}

static lra_result *read_file(const char *from)
{
    lra_err e = {{0}};
    lra_result *r = lra_result_read(from, &e);
    NOT_NULL(r);
    return r;
}

static const char *refusal(void)
{
    static lra_err e;
    e = (lra_err){{0}};
    lra_result *r = lra_result_read(path, &e);
    assert_null(r);
    return e.msg;
}

TEST(other_splits_are_read_as_written)
{
    lra_result *a = make();
    write_file(a);
    lra_result *b = read_file(path);
    assert_int_equal(b->n_val, VAL);
    assert_memory_equal(b->val_logits, a->val_logits, VAL * C * sizeof(float));
    assert_memory_equal(b->val_label, a->val_label, VAL * sizeof(int32_t));
    assert_int_equal(b->n_train, TRAIN);
    assert_true(b->train_value == 0.6 && b->train_loss == 1.25);
    assert_memory_equal(b->train_correct, a->train_correct, TRAIN);
    assert_false(b->unsealed);
    uint8_t *right = lra_result_val_correct(b);
    assert_memory_equal(right, ((uint8_t[]){1, 0, 0, 1}), VAL);
    assert_true(lra_result_val_value(b) == 0.5);
    lra_free(right);
    lra_result_free(a);
    lra_result_free(b);
}

/* The value that selected the weights is in the history; older programs did not store the
 * validation predictions. */
TEST(what_older_files_lack)
{
    const char *source = getenv("LRA_SOURCE");
    char *old = lra_format("%s/tests/golden/1/result.h5", source ? source : ".");
    lra_result *r = read_file(old);
    assert_int_equal(r->n_val, 0);
    assert_null(lra_result_val_correct(r));
    assert_int_equal(r->n_train, 0);
    assert_null(r->train_correct);
    assert_true(isnan(r->train_value) && isnan(r->train_loss));
    assert_true(
        lra_result_val_value(r) ==
        r->history[(r->training.best_epoch - 1) * LRA_HISTORY_COLUMNS + LRA_HISTORY_VAL_VALUE]);
    r->training.best_epoch = 0; /* 0: no epoch was trained */
    assert_true(isnan(lra_result_val_value(r)));
    lra_result_free(r);
    lra_free(old);
}

/* A file written by the first program version of format 2 (LRA_UPDATE_GOLDEN=1 writes it again). */
TEST(results_of_format_2_are_read)
{
    lra_err e = {{0}};
    const char *source = getenv("LRA_SOURCE"), *update = getenv("LRA_UPDATE_GOLDEN");
    char *golden = lra_format("%s/tests/golden/2/result.h5", source ? source : ".");
    lra_result *a = make();
    a->origin.device_name = lra_copy_text("a processor"), a->origin.threads = 2;
    if (update && *update && lra_result_write(golden, a, &e) != 0) fail_msg("%s", e.msg);
    lra_result *b = read_file(golden);
    assert_string_equal(b->config, a->config);
    assert_string_equal(b->task_parameters, a->task_parameters);
    assert_string_equal(b->deviations, "");
    assert_string_equal(b->origin.device_name, "a processor");
    assert_int_equal(b->origin.threads, 2);
    assert_null(b->origin.command);
    assert_int_equal(b->training.best_epoch, 1);
    assert_int_equal(b->n_epochs, EPOCHS);
    assert_memory_equal(b->history, a->history, EPOCHS * LRA_HISTORY_COLUMNS * sizeof(double));
    assert_memory_equal(b->logits, a->logits, N * C * sizeof(float));
    assert_memory_equal(b->val_logits, a->val_logits, VAL * C * sizeof(float));
    assert_memory_equal(b->train_correct, a->train_correct, TRAIN);
    assert_false(b->unsealed);
    lra_result_free(a);
    lra_result_free(b);
    lra_free(golden);
}

TEST(breakdowns_of_format_2_are_read)
{
    lra_err e = {{0}};
    const char *source = getenv("LRA_SOURCE");
    char *golden = lra_format("%s/tests/golden/2/listops.h5", source ? source : ".");
    lra_listops *r = lra_listops_result_read(golden, &e);
    NOT_NULL(r);
    assert_int_equal(r->n, 6);
    assert_string_equal(r->config, "seed=1\ntask=listops\n");
    assert_string_equal(r->origin.device, "cpu");
    assert_string_equal(r->origin.date, "2026-05-04T12:30:00Z");
    assert_false(r->unsealed);
    lra_listops_result_free(r);
    lra_free(golden);
}

TEST(what_cannot_be_is_refused)
{
    lra_result *r = make();
    r->train_correct[2] = 7;
    write_file(r);
    assert_non_null(strstr(refusal(), "'/train/correct': 7, expected 0 or 1"));
    r->train_correct[2] = 1;
    r->val_label[1] = C;
    write_file(r);
    assert_non_null(strstr(refusal(), "'/val/label': 3, expected 0 to 2"));
    lra_result_free(r);
}

/* HDF5 programs ignore the seal at the end of the file: without it, a changed value cannot be
 * detected. */
TEST(a_file_without_its_seal)
{
    enum { SEAL = 64 };
    lra_err e = {{0}};
    lra_result *r = make();
    write_file(r);
    lra_result_free(r);
    size_t n;
    char *bytes = lra_file_read(path, 1 << 20, &n, &e);
    if (!bytes || lra_file_write(path, bytes, n - SEAL, &e) != 0) fail_msg("%s", e.msg);
    r = read_file(path);
    assert_true(r->unsealed);
    lra_result_free(r);
    /* Changes each digit of the seal itself. */
    char *digit = strstr(bytes + n - SEAL, "before: ") + 8;
    for (int i = 0; i < 16; i++) {
        char kept = digit[i];
        digit[i] = kept == '0' ? '1' : '0';
        assert_int_equal(lra_file_write(path, bytes, n, &e), 0);
        assert_non_null(strstr(refusal(), "damaged: the hash of its bytes is"));
        digit[i] = kept;
    }
    lra_free_large(bytes);
}

/* ---- what is made of them -------------------------------------------------------------------- */

/* Returns the output of a function; free it by lra_free_large(). */
static char *printed(FILE *f)
{
    lra_err e;
    size_t n;
    assert_int_equal(fclose(f), 0);
    char *text = lra_file_read("result_shown", 1 << 20, &n, &e);
    NOT_NULL(text);
    remove("result_shown");
    return text;
}

/* Files of every kind without a seal are counted and named, also that of the reference run; sealed
 * files are not. */
TEST(files_of_every_kind_count)
{
    lra_result result = {.task = "a", .model = "b", .run = "1"};
    lra_result reference = {.task = "a", .model = "b", .run = "2"};
    lra_listops listops = {.task = "a", .model = "b", .run = "3"};
    lra_probe_result probe = {.task = "a", .model = "b", .run = "4"};
    lra_result *results[] = {&result};
    lra_listops *all_listops[] = {&listops};
    lra_probe_result *probes[] = {&probe};
    const lra_report_input in = {.list = results,
                                 .n = 1,
                                 .scale = {.run = &reference},
                                 .listops = all_listops,
                                 .n_listops = 1,
                                 .probes = probes,
                                 .n_probes = 1};
    bool *unsealed[] = {&result.unsealed, &reference.unsealed, &listops.unsealed, &probe.unsealed};
    assert_null(lra_report_integrity(&in));
    for (int i = 0; i < 4; i++) {
        *unsealed[i] = true;
        char *text = lra_report_integrity(&in), *name = lra_format("changed: a b %d", i + 1);
        if (!text || !strstr(text, "1 of 4 files has") || !strstr(text, name))
            fail_msg("file %d: %s", i + 1, text ? text : "nothing is said");
        lra_free(name);
        lra_free(text);
        *unsealed[i] = false;
    }
}

/* Every table in every format says that a file has no seal. */
TEST(tables_say_unsealed)
{
    static const char *const formats[] = {"text", "markdown", "latex", "csv", "json"};
    lra_err e = {{0}};
    lra_result *r = make();
    lra_report_input in = {.list = &r, .n = 1};
    for (int unsealed = 0; unsealed < 2; unsealed++)
        for (int i = 0; i < 5; i++) {
            r->unsealed = unsealed;
            FILE *f = fopen("result_shown", "w");
            OK(lra_report_print(&lra_table_tasks, f, &in, formats[i], &e));
            char *text = printed(f);
            if ((strstr(text, "unsealed") != NULL) != unsealed) fail_msg("%s", text);
            lra_free_large(text);
        }
    /* A table without a column of flags gets one, which is printed only in formats for programs. */
    static const char *const head[] = {"a"};
    lra_table *t = lra_table_new("t", 1, head);
    lra_table_row(t);
    lra_table_number(t, 1, 0);
    lra_report_mark_integrity(&in, &t, 1);
    FILE *f = fopen("result_shown", "w");
    assert_int_equal(lra_table_print(t, "csv", f, &e), 0);
    char *text = printed(f);
    assert_string_equal(text, "a,flags\n1,unsealed\n");
    lra_free_large(text);
    lra_table_free(t);
    lra_result_free(r);
}

static char *shown(lra_result *r, bool json)
{
    char *name = lra_copy_text(r->model);
    FILE *f = fopen("result_shown", "w");
    if (json)
        lra_results_dump_json(&r, &name, 1, NULL, 0, f);
    else
        lra_result_dump(r, name, f);
    lra_free(name);
    return printed(f);
}

/* In format 1 the last newline may be missing, and texts may contain control characters of
 * terminals. */
TEST(texts_end_where_they_end)
{
    static const char hostile[] = "seed=1\ntask=\033]0;x\007listops\0model=LEAK\n";
    lra_result *r = make();
    lra_free(r->config);
    r->config = memcpy(lra_alloc(sizeof hostile), hostile, sizeof hostile);
    r->model[0] = '\033';
    char *text = shown(r, false), *json = shown(r, true);
    assert_non_null(strstr(text, "task=?]0;x?listops\n"));
    assert_null(strstr(text, "LEAK"));
    assert_null(strchr(text, '\033'));
    assert_null(strstr(json, "LEAK"));
    json_t *j = json_loads(json, 0, NULL);
    json_t *first = json_array_get(json_object_get(j, "results"), 0);
    json_t *config = json_object_get(first, "config");
    assert_string_equal(json_string_value(json_object_get(config, "task")), "?]0;x?listops");
    assert_int_equal(json_object_size(config), 2);
    json_decref(j);
    lra_free_large(text);
    lra_free_large(json);
    lra_result_free(r);
}

TEST(what_is_shown_of_a_result)
{
    lra_result *r = make();
    r->origin.device = lra_copy_text("cpu"), r->origin.threads = 2;
    char *text = shown(r, false), *json = shown(r, true);
    assert_non_null(strstr(text, "best epoch 1 of 2"));
    assert_non_null(strstr(text, "60.00 %, loss 1.2500, 5 examples"));
    assert_non_null(strstr(text, "command           not recorded"));
    json_t *j = json_loads(json, 0, NULL), *all = json_object_get(j, "results");
    json_t *first = json_array_get(all, 0), *origin = json_object_get(first, "origin");
    assert_int_equal(json_integer_value(json_object_get(j, "schema")), 1);
    assert_true(json_is_null(json_object_get(origin, "command")));
    assert_int_equal(json_integer_value(json_object_get(origin, "threads")), 2);
    assert_true(json_is_false(json_object_get(first, "unsealed")));
    assert_true(json_number_value(json_object_get(first, "train_value")) == 0.6);
    json_t *epoch = json_array_get(json_object_get(first, "history"), 1);
    assert_int_equal(json_integer_value(json_object_get(epoch, "epoch")), 2);
    assert_true(json_number_value(json_object_get(epoch, "train_loss")) == 1.0);
    json_decref(j);
    lra_free_large(text);
    lra_free_large(json);
    lra_result_free(r);
}

TEST(commands_can_be_typed_again)
{
    static const char *const words[] = {"lra-probe", "train", "--out=my dir",
                                        "it's",      "",      "a\x1b'b"};
    char *text = lra_command_text(6, words), date[32];
    assert_string_equal(text, "lra-probe train '--out=my dir' 'it'\\''s' '' $'a\\x1b\\'b'");
    assert_string_equal(lra_date_text(date, 0), "1970-01-01T00:00:00Z");
    lra_free(text);
}

TEST(baselines_have_kinds)
{
    static const struct {
        const char *name;
        lra_baseline_kind kind;
        int number;
    } known[] = {{"constant", LRA_BASELINE_CONSTANT, 0},
                 {"oracle", LRA_BASELINE_ORACLE, 0},
                 {"ngram-8", LRA_BASELINE_NGRAM, 8},
                 {"shallow-a-5", LRA_BASELINE_SHALLOW_A, 5},
                 {"shallow-b-12", LRA_BASELINE_SHALLOW_B, 12},
                 {"majority-by-operator", LRA_BASELINE_TASK, 0},
                 {"constant-2", LRA_BASELINE_TASK, 0},
                 {"ngram-", LRA_BASELINE_TASK, 0},
                 {"ngram-x", LRA_BASELINE_TASK, 0},
                 {"ngram-99999999999999999999", LRA_BASELINE_TASK, 0},
                 {"shallow-c-1", LRA_BASELINE_TASK, 0},
                 {"", LRA_BASELINE_TASK, 0}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        lra_baseline b = lra_baseline_of(known[i].name);
        if (b.kind != known[i].kind || b.number != known[i].number) fail_msg("%s", known[i].name);
    }
    assert_true(lra_baseline_is_shallow("shallow-b-1") && !lra_baseline_is_shallow("shallow-"));
}

GROUP(set_up, tear_down);
