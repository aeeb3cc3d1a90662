/* Breakdowns of ListOps: the file, which runs are seeds of one model, groups, tables, figures. */
#include "tests/fixtures/test.h"

#include <math.h>

#include "kernels/base/formats/h5.h"
#include "reports/views/listops_view.h"
#include "reports/report.h"
#include "tests/fixtures/figures.h"
#include "tests/fixtures/golden.h"
#include "tests/fixtures/small_results.h"

enum { N = SMALL_LISTOPS_ROWS };

/* ---- the file -------------------------------------------------------------------------------- */

TEST(files_are_read_as_written)
{
    lra_err e = {{0}};
    lra_listops *a = small_listops(5, 1, 6);
    a->differs = 3;
    assert_int_equal(lra_listops_result_write("listops_a.h5", a, &e), 0);
    lra_listops *b = lra_listops_result_read("listops_a.h5", &e);
    NOT_NULL(b);
    assert_string_equal(a->config, b->config);
    assert_string_equal(b->heuristic_name[1], "majority-by-operator");
    assert_true(b->n == N && b->kernel == 5 && b->differs == 3 && b->reach == 8);
    assert_memory_equal(a->predicted, b->predicted, N * sizeof *a->predicted);
    assert_memory_equal(a->heuristic[2], b->heuristic[2], N * sizeof *a->predicted);
    assert_memory_equal(a->expected_count, b->expected_count, sizeof a->expected_count);
    size_t n;
    char *bytes = lra_file_read("listops_a.h5", 1 << 24, &n, &e);
    for (size_t cut = 0; cut < n; cut += 211) {
        assert_int_equal(lra_file_write("listops_cut.h5", bytes, cut, &e), 0);
        assert_null(lra_listops_result_read("listops_cut.h5", &e));
    }
    remove("listops_a.h5");
    remove("listops_cut.h5");
    lra_free_large(bytes);
    lra_listops_result_free(a);
    lra_listops_result_free(b);
}

/* Writes r, and checks that the reader rejects the file with this message; frees r. */
static void refused(lra_listops *r, const char *text)
{
    lra_err e = {{0}};
    assert_int_equal(lra_listops_result_write("listops_bad.h5", r, &e), 0);
    assert_null(lra_listops_result_read("listops_bad.h5", &e));
    if (!strstr(e.msg, text)) fail_msg("%s, expected %s", e.msg, text);
    remove("listops_bad.h5");
    lra_listops_result_free(r);
}

TEST(no_value_is_trusted)
{
    lra_listops *r = small_listops(5, 0, 6);
    r->predicted[7] = 10;
    refused(r, "'/listops/predicted': row 7 is 10, expected 0 to 9");
    r = small_listops(5, 0, 6);
    r->reach = -2;
    refused(r, "'reach' is -2, expected -1 to 2^60");
    r = small_listops(5, 0, 6);
    r->root[0] = 5;
    refused(r, "'/listops/root': row 0 is 5, expected 0 to 4");
    r = small_listops(5, 0, 6);
    r->heuristic[0][1] = -1;
    refused(r, "'/heuristic/constant': row 1 is -1");
    r = small_listops(5, 0, 6);
    r->train_count[1][1] = -1;
    refused(r, "'/labels/train' holds a negative count");
    r = small_listops(5, 0, 6);
    r->heuristic_name[1][0] = 'x';
    refused(r, "there is no '/heuristic/majority-by-operator'");
}

/* ---- views ----------------------------------------------------------------------------------- */

static void free_all(lra_listops **list, int n)
{
    for (int i = 0; i < n; i++) lra_listops_result_free(list[i]);
}

TEST(seeds_stand_together)
{
    lra_err e = {{0}};
    lra_listops_view *v;
    lra_listops *list[] = {small_listops(9, 1, 5), small_listops(5, 0, 3), small_listops(9, 0, 5),
                           small_listops(9, 2, 5)};
    assert_int_equal(lra_listops_views(list, 4, &v, &e), 1);
    assert_int_equal(v->n_cells, 2);
    assert_string_equal(v->cell[0].name, "resconv K = 5");
    assert_true(v->cell[1].data.n_seeds == 3 && v->cell[1].run[2]->seed == 2);
    lra_listops_views_free(v, 1);

    list[3]->seed = 1;
    assert_int_equal(lra_listops_views(list, 4, &v, &e), -1);
    assert_non_null(strstr(e.msg, "seed 1 of run '0000000900000002' is given twice"));
    list[3]->seed = 2, list[3]->label[0] = 5;
    assert_int_equal(lra_listops_views(list, 4, &v, &e), -1);
    assert_non_null(strstr(e.msg, "the same data hash but different test examples"));
    list[3]->fingerprint[0] = 'x';
    assert_int_equal(lra_listops_views(list, 4, &v, &e), 2);
    lra_listops_views_free(v, 2);
    assert_int_equal(lra_listops_view_only(list, 4, &v, &e), -1);
    assert_string_equal(
        e.msg,
        "the runs have 2 different data sets, the figure shows one; name runs on the same data");
    assert_int_equal(lra_listops_views(list, 0, &v, &e), -1);
    assert_string_equal(e.msg, "no ListOps breakdowns; 'lra-probe listops RUN...' makes them");
    free_all(list, 4);
}

TEST(groups)
{
    lra_err e = {{0}};
    lra_listops_view *v;
    lra_listops *r = small_listops(5, 0, 6);
    for (int i = 0; i < N; i++) r->arity[i] = i % 20; /* 20 values, more than there are groups */
    assert_int_equal(lra_listops_views(&r, 1, &v, &e), 1);
    const lra_listops_grouping *root = &v->by[LRA_BY_ROOT], *arity = &v->by[LRA_BY_ARITY],
                               *length = &v->by[LRA_BY_LENGTH];
    /* four groups: no expression is a single digit */
    assert_true(root->n_groups == 4 && strcmp(root->name[3], "SM") == 0);
    assert_int_equal(arity->n_groups, LRA_LISTOPS_GROUPS);
    assert_string_equal(arity->name[14], "14");
    assert_string_equal(arity->name[15], ">= 15");
    assert_true(arity->group[14] == 14 && arity->group[15] == 15 && arity->group[19] == 15);
    assert_int_equal(length->n_groups, 5);
    int64_t count[5] = {0};
    for (int i = 0; i < N; i++) count[length->group[i]]++;
    for (int g = 0; g < 5; g++) assert_true(count[g] >= N / 5 - 5 && count[g] <= N / 5 + 5);
    assert_string_equal(length->name[0], "10-19");
    /* The greedy heuristic is right on 40 of the 60 rows of MIN. */
    assert_true(fabs(lra_listops_share(r, v->greedy, root->group, 0) - 2.0 / 3) < 1e-12);
    lra_breakdown_row recall[1 + LRA_LISTOPS_ROOTS * LRA_LISTOPS_LABELS];
    lra_listops_recall(v, &v->cell[0], recall);
    assert_true(recall[1 + 0].n == 40 && recall[1 + 8].n == 20 && recall[1 + 10 + 9].n == 40);
    /* every prediction is 0, either because it is correct or because the greedy heuristic predicts
     * 0 */
    assert_true(fabs(recall[1 + 0].accuracy.value - 1) < 1e-12);
    /* 6 of 10 predictions are correct, the others are those of the greedy heuristic */
    assert_true(fabs(recall[1 + 8].accuracy.value - 0.6) < 1e-12);
    lra_listops_views_free(v, 1);
    lra_listops_result_free(r);
}

/* ---- tables and figures ---------------------------------------------------------------------- */

TEST(tables_in_every_format)
{
    static const char *const formats[] = {"text", "markdown", "latex", "csv", "json"};
    lra_listops *list[] = {small_listops(5, 0, 3), small_listops(5, 1, 4), small_listops(5, 2, 5),
                           small_listops(9, 0, 8)};
    lra_report_input in = {.listops = list, .n_listops = 4};
    for (int f = 0; f < 5; f++) {
        lra_err e = {{0}};
        char *name = lra_format("listops.%s", formats[f]);
        FILE *out = fopen("listops_table", "w");
        assert_non_null(out);
        OK(lra_report_listops(out, &in, formats[f], &e));
        fclose(out);
        check_golden(name, take_file("listops_table"));
        lra_free(name);
    }
    free_all(list, 4);
}

TEST(figure_scripts)
{
    static const lra_report_figure *const figures[] = {&lra_figure_loc_1, &lra_figure_loc_2,
                                                       &lra_figure_loc_3};
    lra_listops *list[] = {small_listops(5, 0, 3), small_listops(5, 1, 4), small_listops(5, 2, 5),
                           small_listops(9, 0, 8)};
    lra_report_input in = {.listops = list, .n_listops = 4};
    for (int f = 0; f < 3; f++) {
        lra_err e = {{0}};
        char *gp = lra_format("%s.gp", figures[f]->name),
             *dat = lra_format("%s.dat", figures[f]->name);
        OK(write_figure(figures[f], ".", &in, &e));
        check_golden(gp, take_file(gp));
        check_golden(dat, take_file(dat));
        lra_free(gp);
        lra_free(dat);
    }
    free_all(list, 4);
}

/* The axis is the same in all panels and includes the highest bar and the highest line of the
 * generator. */
TEST(an_axis_holds_everything)
{
    for (int fresh = 0; fresh < 2; fresh++) {
        lra_err e = {{0}};
        lra_listops *list[] = {small_listops(5, 0, 3)};
        lra_report_input in = {.listops = list, .n_listops = 1};
        for (int k = 0; k < LRA_LISTOPS_LABELS; k++) {
            list[0]->train_count[0][k] = !fresh && k == 4 ? 81000 : 1000;
            list[0]->expected_count[0][k] = fresh && k == 4 ? 81000 : 1000;
        }
        OK(write_figure(&lra_figure_loc_1, ".", &in, &e));
        char *gp = take_file("loc-1.gp"), *range = strstr(gp, "set yrange [0:");
        assert_non_null(range);
        double top = strtod(range + 14, NULL);
        assert_true(top > 90 && top < 100);
        lra_free_large(gp);
        remove("loc-1.dat");
        lra_listops_result_free(list[0]);
    }
}

TEST(a_figure_has_room_for_six_models)
{
    lra_err e = {{0}};
    lra_listops *list[7];
    for (int i = 0; i < 7; i++) list[i] = small_listops(3 + 2 * i, 0, 5);
    lra_report_input in = {.listops = list, .n_listops = 7};
    assert_int_equal(write_figure(&lra_figure_loc_2, ".", &in, &e), -1);
    assert_string_equal(e.msg, "7 models, one figure holds at most 6; name fewer runs");
    free_all(list, 7);
}
