/* The checks of an external model are stored with its measurements: what is written is read, files
 * of models that were not checked have none, and the table lists them. */
#include "tests/fixtures/test.h"

#include <string.h>

#include "reports/report.h"
#include "tests/fixtures/folder.h"
#include "tests/fixtures/small_results.h"

static lra_probe_result *measured(const char *probe)
{
    lra_result *of = small_result("small", 5, 0, 30);
    lra_probe_result *r = lra_probe_result_new(probe, of, &(lra_origin){0});
    const lra_measurement f = lra_measurement_of("range.mean", 1);
    lra_probe_unit_measurements(lra_probe_unit_new(r, "jacobian"), 1, &f);
    lra_result_free(of);
    return r;
}

static void add_checks(lra_model_checks *c)
{
    lra_model_checks_add(c, "finite", LRA_CHECK_PASSED, "3 batches", NULL, NULL, NULL);
    lra_model_checks_add(c, "keep honoured", LRA_CHECK_LEFT_OUT, "no 'keep' input", NULL, NULL, "");
    lra_model_checks_add(c, "gradient", LRA_CHECK_FAILED, "other <b>\nsign\x1b", "a detached graph",
                         "attach it", "jacobian field");
    lra_model_checks_add(c, "accuracy", LRA_CHECK_FAILED, "", "labels", "check them", "");
}

static lra_probe_result *written_and_read(const lra_probe_result *r)
{
    lra_err e = {{0}};
    char *path = lra_format("%s/%s.h5", folder, r->probe);
    OK(lra_probe_result_write(path, r, &e));
    lra_probe_result *again = lra_probe_result_read(path, r->probe, &e);
    if (!again) fail_msg("%s", e.msg);
    lra_free(path);
    return again;
}

TEST(checks_are_read_as_written)
{
    lra_probe_result *r = measured("influence");
    lra_probe_result *none = written_and_read(r);
    assert_int_equal(none->checks.n, 0);
    add_checks(&r->checks);
    lra_probe_result *again = written_and_read(r);
    assert_int_equal(again->checks.n, 4);
    assert_true(lra_model_checks_agree(&again->checks, &r->checks));
    assert_false(lra_model_checks_agree(&none->checks, &r->checks));
    const lra_model_check *row = again->checks.row;
    assert_string_equal(row[0].found, "3 batches");
    assert_string_equal(row[0].meaning, "");
    assert_int_equal(row[1].outcome, LRA_CHECK_LEFT_OUT);
    assert_string_equal(row[2].found, "other <b>?sign?");
    assert_string_equal(row[2].remedy, "attach it");
    assert_string_equal(row[2].disables, "jacobian field");
    assert_string_equal(row[3].found, "");
    again->checks.row[2].outcome = LRA_CHECK_PASSED;
    assert_false(lra_model_checks_agree(&again->checks, &r->checks));
    lra_probe_result_free(r);
    lra_probe_result_free(none);
    lra_probe_result_free(again);
}

/* Texts of different numbers of lines, and unknown outcomes. */
TEST(wrong_checks_are_refused)
{
    static const struct {
        const char *name, *outcome, *why;
    } wrong[] = {{"a\nb\n", "passed\n", "'/check/outcome' has 1 lines, expected 2"},
                 {"a\n", "good\n", "holds 'good', expected passed, failed or skipped"},
                 {"a\n", NULL, "/check/outcome"}};
    char *path = lra_format("%s/checks.h5", folder);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        lra_err e = {{0}};
        lra_model_checks c = {0};
        lra_h5 *f = lra_h5_create(path, "probe", &e);
        OK(lra_h5_put_text(f, "/check/name", wrong[i].name, &e));
        if (wrong[i].outcome) OK(lra_h5_put_text(f, "/check/outcome", wrong[i].outcome, &e));
        static const char *const others[] = {"found", "meaning", "remedy", "disables"};
        for (int k = 0; k < 4; k++) {
            char *at = lra_format("/check/%s", others[k]);
            OK(lra_h5_put_text(f, at, wrong[i].name, &e));
            lra_free(at);
        }
        OK(lra_h5_commit(f, &e));
        f = lra_h5_open(path, "probe", &e);
        assert_non_null(f);
        assert_int_equal(lra_model_checks_read(f, &c, &e), LRA_FAILED);
        if (!strstr(e.msg, wrong[i].why)) fail_msg("%s", e.msg);
        lra_model_checks_free(&c);
        lra_h5_close(f);
    }
    lra_free(path);
}

/* Two files of one run: one table. Without checks: a message that names the command. */
TEST(the_table_lists_them)
{
    lra_probe_result *r[] = {measured("attention"), measured("influence")};
    lra_result *of = small_result("small", 5, 0, 30);
    const lra_report_input in = {.list = &of, .n = 1, .probes = r, .n_probes = 2};
    lra_table **list;
    lra_err e = {{0}};
    assert_true(lra_table_checks.make(&in, &list, &e) < 0);
    assert_non_null(strstr(e.msg, "'lra-probe audit' stores them"));
    for (int i = 0; i < 2; i++) add_checks(&r[i]->checks);
    assert_int_equal(lra_table_checks.make(&in, &list, &e), 1);
    assert_int_equal(list[0]->n_rows, 4);
    assert_string_equal(list[0]->cell[2][1].text, "failed");
    assert_int_equal(list[0]->n_notes, 2);
    assert_string_equal(list[0]->note[0], "gradient\tusual meaning: a detached graph; remedy: "
                                          "attach it; disables: jacobian field");
    assert_string_equal(list[0]->note[1],
                        "accuracy\tusual meaning: labels; remedy: check them; disables: nothing");
    lra_tables_free(list, 1);
    for (int i = 0; i < 2; i++) lra_probe_result_free(r[i]);
    lra_result_free(of);
}

GROUP(make_folder, remove_folder);
