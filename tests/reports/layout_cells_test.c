/* Measured cells of the papers' tables: averages by the rules of the papers, relative speed and
 * memory, the choice between configurations, relations to pretrained runs. */
#include "tests/fixtures/test.h"

#include <math.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "reports/tables/layout_cells.h"
#include "reports/tables/layout_table.h"
#include "tests/fixtures/synthetic_result.h"

enum { MOST = 32 };

static void set(char **text, char *value)
{
    lra_free(*text);
    *text = value;
}

/* A result of a task and model with these lines of configuration. share: share of right rows. */
static lra_result *result_of(const char *task, const char *model, const char *preset,
                             const char *lines, int seed, double share)
{
    lra_result *r = made_result(3, 3, seed, share);
    set(&r->task, lra_copy_text(task));
    set(&r->model, lra_copy_text(model));
    set(&r->preset, lra_copy_text(preset));
    set(&r->run, lra_format("%s-%s-%d", task, model, seed));
    set(&r->config, lra_format("model=%s\nseed=%d\ntask=%s\n%s", model, seed, task, lines));
    return r;
}

static void free_all(lra_result **list, int n)
{
    for (int i = 0; i < n; i++) lra_result_free(list[i]);
}

static int row_of(const lra_layout *l, const char *label)
{
    int r = 0;
    while (r < l->n_rows && strcmp(l->row[r].label, label) != 0) r++;
    if (r == l->n_rows) fail_msg("%s has no row '%s'", l->id, label);
    return r;
}

/* Measured average of a row with results of all tasks but those from `n` on. */
static lra_estimate average_of(const char *id, const char *label, const char *model,
                               const char *lines, int n, double *mean)
{
    const lra_layout *l = lra_layout_find(id);
    lra_result *list[MOST];
    lra_layout_view *v;
    *mean = 0;
    for (int c = 0; c < n; c++) {
        const char *task = strstr(l->column[c].settings, "task=") + 5;
        list[c] = result_of(task, model, "paper", lines, 0, 0.4 + 0.1 * c);
        *mean += 100 * lra_result_value(list[c], lra_result_metric(list[c])) / n;
    }
    assert_int_equal(lra_layout_views(l, list, n, &v), 1);
    lra_estimate x = lra_layout_measured_average(v, row_of(l, label));
    lra_layout_views_free(v, 1);
    free_all(list, n);
    return x;
}

static void is_near(double is, double expected)
{
    if (!(fabs(is - expected) < 1e-9)) fail_msg("%.12f, expected %.12f", is, expected);
}

/* A row without Path-X: the LaS paper leaves the column out, Amos et al. count it as 50. */
TEST(averages_by_the_rules_of_the_papers)
{
    double mean;
    lra_estimate x = average_of("las-T2", "LaS Attention", "las", "", 5, &mean);
    is_near(x.value, mean);
    assert_true(x.lo < mean && mean < x.hi);
    x = average_of("spt-T1", "Performer", "performer", "", 5, &mean);
    is_near(x.value, (5 * mean + 50) / 6);
    /* a task that the row reports is not measured */
    x = average_of("las-T2", "LaS Attention", "las", "", 4, &mean);
    assert_true(isnan(x.value));
    x = average_of("las-T2", "MEGA", "mega", "", 5, &mean);
    assert_true(isnan(x.value));
}

/* Speed and memory are relative to the first row, on the same processor and for equal batches. */
TEST(speed_and_memory)
{
    const lra_layout *l = lra_layout_find("las-T2");
    lra_result *list[] = {
        result_of("text", "transformer", "small", "model.positions=sinusoidal\n", 0, 0.5),
        result_of("text", "performer", "small", "", 0, 0.6),
        result_of("text", "luna", "small", "", 0, 0.6)};
    for (int i = 0; i < 3; i++) {
        list[i]->batch = i < 2 ? 32 : 16;
        list[i]->training.steps = 10;
        list[i]->training.seconds = i == 0 ? 40 : 8;
        list[i]->training.memory = i == 0 ? 1000 : 250;
    }
    lra_layout_view *v;
    assert_int_equal(lra_layout_views(l, list, 3, &v), 1);
    int performer = row_of(l, "Performer"), luna = row_of(l, "Luna-256");
    is_near(lra_layout_measured(v, performer, 6).value, 5);
    is_near(lra_layout_measured(v, performer, 7).value, 0.25);
    is_near(lra_layout_measured(v, 0, 6).value, 1);
    assert_true(isnan(lra_layout_measured(v, luna, 6).value));
    assert_true(isnan(lra_layout_measured(v, luna, 7).value));
    lra_layout_views_free(v, 1);
    free_all(list, 3);
}

/* Table 1 of the locality paper has each accuracy in % of the published accuracy of MEGA. */
TEST(ratio_to_mega)
{
    const lra_layout *l = lra_layout_find("loc-T1");
    lra_result *list[] = {
        result_of("text", "resconv", "paper", "model.kernel=7\ntrain.objective=denoise\n", 0, 0.5)};
    lra_layout_view *v;
    assert_int_equal(lra_layout_views(l, list, 1, &v), 1);
    int k7 = row_of(l, "K = 7");
    is_near(lra_layout_published(l, k7, 5), 100.20);
    is_near(lra_layout_measured(v, k7, 5).value, 100 * lra_layout_measured(v, k7, 4).value / 90.43);
    assert_true(lra_layout_measured(v, k7, 5).lo < lra_layout_measured(v, k7, 5).value);
    lra_layout_views_free(v, 1);
    free_all(list, 1);
}

/* Of two configurations that fill a cell, the one with the better validation value is shown, with
 * all its seeds. Runs on a fraction of the data, of another paper's settings or of another chunk
 * size do not fill it. */
TEST(choice_between_configurations)
{
    const lra_layout *l = lra_layout_find("las-T4");
    lra_result *list[] = {
        result_of("text", "las", "paper", "model.chunk=128\n", 0, 0.5),
        result_of("text", "las", "paper", "model.chunk=128\n", 1, 0.5),
        result_of("text", "las", "paper", "model.chunk=128\ntrain.rate=2\n", 0, 0.4),
        result_of("text", "las", "paper", "model.chunk=128\ntrain.fraction=0.1\n", 0, 0.9),
        result_of("text", "las", "paper", "model.chunk=128\n", 2, 0.9),
        result_of("text", "las", "paper", "model.chunk=64\n", 0, 0.9)};
    list[2]->history[LRA_HISTORY_VAL_VALUE] = 0.45; /* better on test rows does not count */
    list[4]->paper = lra_copy_text("own");
    set(&list[4]->fingerprint, lra_copy_text("1123456789abcdef"));
    lra_layout_view *v;
    assert_int_equal(lra_layout_views(l, list, 6, &v), 1);
    const lra_layout_cell *cell = lra_layout_cell_at(v, l->n_rows - 1, 1);
    assert_int_equal(cell->n_others, 1);
    assert_int_equal(cell->group->n, 2);
    is_near(lra_layout_measured(v, l->n_rows - 1, 1).value,
            50 * (lra_result_value(list[0], lra_result_metric(list[0])) +
                  lra_result_value(list[1], lra_result_metric(list[1]))));
    for (int i = 0; i < l->n_rows * l->n_columns; i++)
        if (&v->cell[i] != cell) assert_null(v->cell[i].group);
    lra_layout_views_free(v, 1);
    free_all(list, 6);
}

/* A fine-tuned run fills the row of the objective with which the run it names was trained; without
 * that run, no row. */
TEST(relations_to_pretrained_runs)
{
    const lra_layout *l = lra_layout_find("spt-T2");
    lra_result *list[] = {
        result_of("text", "s4", "small", "train.objective=pretrain-masked\n", 0, 0.2),
        result_of("text", "s4", "small", "train.from=before\ntrain.related=x\n", 0, 0.6),
        result_of("text", "s4", "small", "train.epochs=9\ntrain.matched=before\ntrain.related=x\n",
                  0, 0.5)};
    int from = row_of(l, "S4 + Masked SPT"),
        control = row_of(l, "S4, scratch, steps of pretraining + fine-tuning");
    set(&list[0]->run, lra_copy_text("before"));
    for (int k = 0; k < 3; k++) {
        lra_layout_view *v;
        if (k == 1) set(&list[0]->config, lra_copy_text("train.objective=pretrain-causal\n"));
        int n = lra_layout_views(l, list + (k == 2), 3 - (k == 2), &v);
        assert_int_equal(n, 1);
        for (int r = 0; r < l->n_rows; r++) {
            bool filled = lra_layout_cell_at(v, r, 1)->group != NULL;
            assert_int_equal(filled, k == 0 && (r == from || r == control));
        }
        lra_layout_views_free(v, n);
    }
    free_all(list, 3);
}

static char *print(const lra_layout *l, lra_result *const *list, int n, const char *format)
{
    lra_err e = {{0}};
    char *text = NULL;
    size_t size;
    lra_report_table table = lra_layout_table(l);
    lra_report_input in = {.list = list, .n = n, .layout = l};
    FILE *f = open_memstream(&text, &size);
    lra_table **tables;
    int n_tables = lra_report_make(&table, &in, format, &tables, &e);
    assert_true(n_tables > 0);
    OK(lra_tables_print(tables, n_tables, format, f, &e));
    lra_tables_free(tables, n_tables);
    fclose(f);
    return text;
}

/* Each preset has a table of its own, with its command, sizes and data below. */
TEST(tables_of_two_presets)
{
    const lra_layout *l = lra_layout_find("las-T4");
    lra_result *list[] = {result_of("text", "las", "small", "model.chunk=128\n", 0, 0.5),
                          result_of("text", "las", "quick", "model.chunk=128\n", 0, 0.5),
                          result_of("text", "s", "small", "model.chunk=128\n", 0, 0.5)};
    set(&list[0]->task_parameters, lra_copy_text("train=640\n"));
    set(&list[2]->task_parameters, lra_copy_text("train=640\n"));
    set(&list[0]->deviations, lra_copy_text("of all rows\nof one row\n"));
    set(&list[2]->deviations, lra_copy_text("of all rows\n"));
    char *text = print(l, list, 3, "text");
    static const char *const has[] = {
        "measured: preset small, f32)",
        "measured: preset quick, f32)",
        "'lra-probe sweep las-T4 --preset quick' trains them",
        "Transformer Chunk + Smooth + ELD (LaS): 3,000 parameters",
        "text: 640 training and 4,000 test rows of at most 64 tokens",
        "deviation  of all rows\n",
        "deviation  of one row (Transformer Chunk + Smooth + ELD (LaS))\n"};
    for (size_t i = 0; i < sizeof has / sizeof *has; i++)
        if (!strstr(text, has[i])) fail_msg("no '%s' in\n%s", has[i], text);
    lra_free(text);
    text = print(l, list, 1, "csv");
    if (!strstr(text, "LaS),Text,accuracy,79.1")) fail_msg("%s", text);
    lra_free(text);
    free_all(list, 3);
}
