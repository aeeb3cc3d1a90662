/* Every cell (configuration and seed) counts once in tables and figures, even if its file is given
 * several times; files that cannot be read are left out of a table; the numbers of seeds and rows
 * have no limit. */
#include "tests/fixtures/test.h"

#include <math.h>

#include "reports/views/probe_view.h"
#include "reports/report.h"
#include "reports/results/result_metric.h"
#include "tests/fixtures/folder.h"
#include "tests/fixtures/golden.h"
#include "tests/fixtures/small_results.h"

/* Writes RUNS/NAME/result.h5 of a seed with this number of right predictions. */
static void put(const char *runs, const char *name, int seed, int right)
{
    lra_err e = {{0}};
    lra_result *r = small_result("small", 5, seed, right);
    char *of = lra_format("%s/%s/%s", folder, runs, name), *path = lra_format("%s/result.h5", of);
    lra_free(r->run);
    r->run = lra_format("%016x", seed + 1);
    if (lra_folder_make(of, &e) != 0 || lra_result_write(path, r, &e) != 0) fail_msg("%s", e.msg);
    lra_result_free(r);
    lra_free(path);
    lra_free(of);
}

/* Loads paths in the folder; returns the number of results, and stores the interval of their
 * group. */
static int load(int n, const char *const *name, lra_estimate *value, int *n_seeds)
{
    lra_err e = {{0}};
    char *place[4] = {0};
    lra_result **list;
    for (int i = 0; i < n; i++) place[i] = lra_format("%s/%s", folder, name[i]);
    int n_results = lra_results_load(n, (const char *const *)place, &list, &e);
    for (int i = 0; i < n; i++) lra_free(place[i]);
    if (n_results < 0) fail_msg("%s", e.msg);
    lra_result_group *group;
    int n_groups = lra_results_group(list, n_results, &group);
    assert_int_equal(n_groups, 1);
    *n_seeds = group[0].n;
    *value = lra_results_value(group[0].run, group[0].n);
    lra_result_groups_free(group, n_groups);
    lra_results_free(list, n_results);
    return n_results;
}

TEST(cells_count_once)
{
    static const char *const once[] = {"base"}, *const twice[] = {"base", "base"},
                             *const copied[] = {"base", "copy"}, *const other[] = {"base", "other"};
    lra_estimate a, b;
    int seeds;
    put("base", "a", 0, 20);
    put("base", "b", 1, 30);
    put("copy", "x", 0, 20); /* a copy of base/a, as from another machine */
    put("copy", "y", 1, 30);
    put("copy", "z", 2, 25);
    put("other", "a", 0, 21); /* the same cell as base/a, with other predictions */
    assert_int_equal(load(1, once, &a, &seeds), 2);
    assert_int_equal(seeds, 2);
    assert_int_equal(load(2, twice, &b, &seeds), 2);
    assert_int_equal(seeds, 2);
    assert_true(a.value == b.value && a.lo == b.lo && a.hi == b.hi);
    assert_int_equal(load(2, copied, &b, &seeds), 3);
    assert_int_equal(seeds, 3);
    assert_int_equal(load(2, other, &b, &seeds), 2);
    assert_true(a.value == b.value && a.lo == b.lo && a.hi == b.hi);
}

/* Files that cannot be read are left out; if no file can be read, that is an error. */
TEST(one_bad_file)
{
    static const char *const places[] = {"mixed"};
    lra_err e = {{0}};
    lra_estimate v;
    int seeds;
    put("mixed", "a", 0, 20);
    char *bad = lra_format("%s/mixed/b", folder), *path = lra_format("%s/result.h5", bad);
    char *empty = lra_format("%s/mixed/c", folder);
    assert_int_equal(lra_folder_make(bad, &e), 0);
    /* a folder without result, as of an unfinished run */
    assert_int_equal(lra_folder_make(empty, &e), 0);
    assert_int_equal(lra_file_write(path, "no HDF5", 7, &e), 0);
    assert_int_equal(load(1, places, &v, &seeds), 1);
    lra_result **list;
    assert_int_equal(lra_results_load(1, (const char *const *)&bad, &list, &e), LRA_FAILED);
    assert_non_null(strstr(e.msg, "result.h5"));
    lra_free(bad);
    lra_free(path);
    lra_free(empty);
}

/* Probe files of one run in two folders count once; the number of seeds exceeds earlier limits. */
TEST(probes_count_once)
{
    enum { SEEDS = 100 };
    lra_err e = {{0}};
    static const char *const runs[] = {"probe", "probe.copy"};
    for (int k = 0; k < 2; k++)
        for (int s = 0; s < SEEDS; s++) {
            lra_result *of = small_result("small", 5, s, 30);
            lra_probe_result *r = lra_probe_result_new("kernels", of, &(lra_origin){0});
            lra_measurement f = lra_measurement_of("range.mean", s);
            lra_probe_unit_measurements(lra_probe_unit_new(r, "layer0"), 1, &f);
            char *at = lra_format("%s/%s/%d", folder, runs[k], s);
            char *path = lra_format("%s/kernels.h5", at);
            assert_int_equal(lra_folder_make(at, &e), 0);
            OK(lra_probe_result_write(path, r, &e));
            lra_free(path);
            lra_free(at);
            lra_probe_result_free(r);
            lra_result_free(of);
        }
    char *place[] = {lra_format("%s/probe", folder), lra_format("%s/probe.copy", folder)};
    lra_probe_result **list;
    lra_probe_cell *cells;
    lra_measurement f;
    int n = lra_probe_results_load(2, (const char *const *)place, "kernels", &list, &e);
    assert_int_equal(n, SEEDS);
    assert_int_equal(lra_probe_cells(n, list, &cells), 1);
    assert_int_equal(cells[0].n_seeds, SEEDS);
    assert_true(lra_probe_cell_measurement(&cells[0], "layer0", "range.mean", &f));
    assert_true(f.value == (SEEDS - 1) / 2. && f.seeds == SEEDS);
    lra_probe_cells_free(cells, 1);
    lra_probe_results_free(list, n);
    for (int k = 0; k < 2; k++) lra_free(place[k]);
}

/* A sample of 300 seeds, more than an 8-bit counter holds. */
TEST(many_seeds)
{
    enum { SEEDS = 300, ROWS = 4 };
    uint8_t row[ROWS] = {1, 1, 1, 0};
    const uint8_t *correct[SEEDS];
    for (int s = 0; s < SEEDS; s++) correct[s] = row;
    lra_sample *sample = lra_sample_new(ROWS, true);
    lra_sample_add_correct(sample, SEEDS, correct);
    assert_true(fabs(sample->series[0].value - 0.75) < 1e-12);
    assert_true(sample->series[0].row[0] == 1 && sample->series[0].row[3] == 0);
    lra_sample_free(sample);
}

/* The table has a row for each configuration. */
TEST(many_rows)
{
    enum { CELLS = 600 };
    lra_err e = {{0}};
    lra_result *list[CELLS];
    for (int i = 0; i < CELLS; i++) {
        list[i] = small_result("small", 5, 0, 20);
        lra_free(list[i]->config);
        list[i]->config = lra_format("model.width=%d\nseed=0\n", i);
    }
    const lra_report_input in = {.list = list, .n = CELLS};
    FILE *f = tmpfile();
    assert_non_null(f);
    OK(lra_report_print(&lra_table_tasks, f, &in, "csv", &e));
    rewind(f);
    int lines = 0;
    for (int c; (c = fgetc(f)) != EOF;) lines += c == '\n';
    assert_int_equal(lines, CELLS + 1);
    fclose(f);
    small_results_free(CELLS, list);
}

GROUP(make_folder, remove_folder);
