/* Reports: published numbers, result files, tables from made-up results. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/file.h"
#include "kernels/base/mem.h"
#include "reports/published.h"
#include "reports/report.h"

enum { N = 50, C = 4 };

/* A result whose first `right` rows are right; label i % C. */
static lra_result *make(const char *preset, int kernel, int seed, int right)
{
    lra_result *r = lra_alloc(sizeof *r);
    r->task = lra_copy_text("listops"), r->model = lra_copy_text("resconv");
    r->preset = lra_copy_text(preset), r->precision = lra_copy_text("f32");
    r->device = lra_copy_text("cpu"), r->revision = lra_copy_text("abc");
    r->fingerprint = lra_copy_text("0123456789abcdef"), r->run = lra_copy_text("fedcba9876543210");
    r->config = lra_format("model.kernel=%d\nseed=%d\ntask=listops\n", kernel, seed);
    r->versions = lra_copy_text(""), r->deviations = lra_copy_text("made up\n");
    r->seed = seed, r->kernel = kernel, r->reach = 6 * (kernel - 1) / 2, r->max_length = 2000;
    r->n_epochs = 1, r->history = lra_alloc_array(7, sizeof(double));
    r->n = N, r->n_classes = C;
    r->logits = lra_alloc_array((size_t)N * C, sizeof(float));
    r->label = lra_alloc_array(N, sizeof(int32_t));
    r->baseline[0] = lra_alloc_array(N, sizeof(int32_t));
    r->baseline_name[0] = lra_copy_text("majority-by-operator");
    r->n_baselines = 1;
    for (int i = 0; i < N; i++) {
        r->label[i] = i % C;
        r->logits[i * C + (i < right ? i % C : (i + 1) % C)] = 1;
    }
    return r;
}

static void published_numbers(void **state)
{
    (void)state;
    double x = lra_published("locality", "1", "resconv", "kernel=5", "listops", "accuracy");
    assert_true(fabs(x - 45.24) < 1e-9);
    assert_true(fabs(lra_published("locality", "1", "mega", NULL, "listops", "accuracy") - 63.14) <
                1e-9);
    assert_true(
        isnan(lra_published("locality", "1", "resconv", "kernel=6", "listops", "accuracy")));
}

static void results_are_read_as_written(void **state)
{
    (void)state;
    lra_err e = {{0}};
    lra_result *a = make("quick", 5, 1, 30);
    assert_int_equal(lra_result_write("report_test.h5", a, &e), 0);
    lra_result *b = lra_result_read("report_test.h5", &e);
    if (!b) fail_msg("%s", e.msg);
    assert_string_equal(a->config, b->config);
    assert_int_equal(b->reach, 12);
    assert_memory_equal(a->logits, b->logits, N * C * sizeof(float));
    assert_string_equal(b->baseline_name[0], "majority-by-operator");
    size_t n;
    char *bytes = lra_file_read("report_test.h5", 1 << 24, &n, &e);
    for (size_t cut = 0; cut < n; cut += 211) {
        assert_int_equal(lra_file_write("report_cut.h5", bytes, cut, &e), 0);
        assert_null(lra_result_read("report_cut.h5", &e));
    }
    remove("report_test.h5");
    remove("report_cut.h5");
    lra_free_large(bytes);
    lra_result_free(a);
    lra_result_free(b);
}

/* The table as printed; caller frees. */
static char *print(int (*table)(FILE *, lra_result *const *, int, const char *, lra_err *),
                   lra_result *const *list, int n, const char *format)
{
    lra_err e = {{0}};
    size_t size;
    FILE *f = fopen("report_table", "w");
    assert_non_null(f);
    if (table(f, list, n, format, &e) != 0) fail_msg("%s", e.msg);
    fclose(f);
    char *text = lra_file_read("report_table", 1 << 20, &size, &e);
    remove("report_table");
    return text;
}

/* Equal to tests/golden/NAME; LRA_UPDATE_GOLDEN=1 rewrites it. */
static void check_golden(const char *name, char *text)
{
    lra_err e = {{0}};
    size_t n;
    const char *source = getenv("LRA_SOURCE"), *update = getenv("LRA_UPDATE_GOLDEN");
    char *path = lra_format("%s/tests/golden/%s", source ? source : ".", name);
    if (update && *update) assert_int_equal(lra_file_write(path, text, strlen(text), &e), 0);
    char *golden = lra_file_read(path, 1 << 20, &n, &e);
    if (!golden) fail_msg("%s", e.msg);
    assert_string_equal(text, golden);
    lra_free_large(golden);
    lra_free_large(text);
    lra_free(path);
}

static void tables_in_every_format(void **state)
{
    (void)state;
    static const char *const formats[] = {"text", "markdown", "latex", "csv", "json"};
    static const int right[3] = {20, 35, 40};
    lra_result *list[6];
    for (int i = 0; i < 6; i++)
        list[i] = make("small", 1 + 4 * (i / 2), i % 2, right[i / 2] + i % 2);
    for (int f = 0; f < 5; f++) {
        char *name = lra_format("ladder.%s", formats[f]);
        check_golden(name, print(lra_report_ladder, list, 6, formats[f]));
        lra_free(name);
    }
    for (int i = 0; i < 6; i++) lra_result_free(list[i]);
}

static void only_paper_results_stand_beside_published(void **state)
{
    (void)state;
    lra_err e = {{0}};
    lra_result *list[] = {make("paper", 5, 0, 25), make("paper", 7, 0, 26), make("quick", 5, 0, 40),
                          make("quick", 7, 0, 45)};
    check_golden("T1.text", print(lra_table_t1.print, list, 4, "text"));
    assert_int_equal(lra_table_t1.print(stdout, list + 2, 2, "text", &e), -1);
    assert_string_equal(e.msg,
                        "no results of preset 'paper' among 2; table 'ladder' shows the others");
    for (int i = 0; i < 4; i++) lra_result_free(list[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_numbers),
        cmocka_unit_test(results_are_read_as_written),
        cmocka_unit_test(tables_in_every_format),
        cmocka_unit_test(only_paper_results_stand_beside_published),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
