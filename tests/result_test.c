/* Result files: what is written is read; what older files lack is "not recorded"; what cannot be is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/file.h"
#include "kernels/base/h5.h"
#include "kernels/base/mem.h"
#include "reports/result.h"
#include "tests/folder.h"

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
    r->max_length = 30, r->parameters = 1234, r->best_epoch = 1;
    r->n_epochs = EPOCHS;
    r->history = lra_alloc_array(EPOCHS * LRA_HISTORY_COLUMNS, sizeof *r->history);
    for (int i = 0; i < EPOCHS * LRA_HISTORY_COLUMNS; i++) r->history[i] = i / 8.0;
    r->n = N, r->n_val = VAL, r->n_train = TRAIN, r->n_classes = C;
    r->logits = lra_alloc_array(N * C, sizeof(float));
    r->val_logits = lra_alloc_array(VAL * C, sizeof(float));
    for (int i = 0; i < N * C; i++) r->logits[i] = (float)(i * i % 17);
    for (int i = 0; i < VAL * C; i++) r->val_logits[i] = (float)(i % 4); /* answers 2 0 1 2 */
    r->label = memcpy(lra_alloc(sizeof label), label, sizeof label);
    r->val_label = memcpy(lra_alloc(VAL * sizeof *label), label, VAL * sizeof *label);
    r->val_label[0] = r->val_label[3] = 2; /* right */
    r->train_value = 0.6, r->train_loss = 1.25;
    r->train_correct = lra_alloc(TRAIN);
    for (int i = 0; i < TRAIN; i++) r->train_correct[i] = i < 3;
    return r;
}

static void write_file(const lra_result *r)
{
    lra_err e = {{0}};
    if (lra_result_write(path, r, &e) != 0) fail_msg("%s", e.msg);
}

static lra_result *read_file(const char *from)
{
    lra_err e = {{0}};
    lra_result *r = lra_result_read(from, &e);
    if (!r) fail_msg("%s", e.msg);
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

static void other_splits_are_read_as_written(void **state)
{
    (void)state;
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

/* The value that selected the weights is in the history, the answers of older programs are in no file. */
static void what_older_files_lack(void **state)
{
    (void)state;
    const char *source = getenv("LRA_SOURCE");
    char *old = lra_format("%s/tests/golden/1/result.h5", source ? source : ".");
    lra_result *r = read_file(old);
    assert_int_equal(r->n_val, 0);
    assert_null(lra_result_val_correct(r));
    assert_int_equal(r->n_train, 0);
    assert_null(r->train_correct);
    assert_true(isnan(r->train_value) && isnan(r->train_loss));
    assert_true(lra_result_val_value(r) ==
                r->history[(r->best_epoch - 1) * LRA_HISTORY_COLUMNS + LRA_HISTORY_VAL_VALUE]);
    r->best_epoch = 0; /* nothing was trained */
    assert_true(isnan(lra_result_val_value(r)));
    lra_result_free(r);
    lra_free(old);
}

static void what_cannot_be_is_refused(void **state)
{
    (void)state;
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

/* HDF5 programs read on where our seal begins: without it nothing tells whether a value was changed. */
static void a_file_without_its_seal(void **state)
{
    (void)state;
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
    /* A digit of the seal itself. */
    char *digit = strstr(bytes + n - SEAL, "before: ") + 8 + 5;
    *digit = *digit == '0' ? '1' : '0';
    assert_int_equal(lra_file_write(path, bytes, n, &e), 0);
    assert_non_null(strstr(refusal(), "damaged: its bytes hash to"));
    lra_free_large(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(other_splits_are_read_as_written), cmocka_unit_test(what_older_files_lack),
        cmocka_unit_test(what_cannot_be_is_refused), cmocka_unit_test(a_file_without_its_seal)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
