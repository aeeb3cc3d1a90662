/* Layouts of the papers' tables as runs: the settings of every cell are valid, and the result of a
 * cell fills this cell and no other. Nothing is trained. */
#include "tests/fixtures/test.h"

#include <string.h>

#include "datasets/registry.h"
#include "kernels/base/core/mem.h"
#include "probes/run/experiments.h"
#include "probes/run/job.h"
#include "probes/run/job_options.h"
#include "probes/run/settings.h"
#include "probes/run/settings_tables.h"
#include "reports/tables/layout_cells.h"
#include "tests/fixtures/golden.h"

static const lra_option *const tables[] = {lra_job_options, NULL};
static const lra_command command = {"layouts", "", "", "", NULL, 0, -1, tables};

/* ---- the job of a cell ----------------------------------------------------------------------- */

static bool is_relation(const char *key)
{
    return strcmp(key, "from") == 0 || strcmp(key, "matched") == 0;
}

/* Configures the job of a cell, without its relation to a pretrained run. */
static int configure(lra_job *r, const lra_config *cell, lra_options **o, lra_err *e)
{
    static const char *const chosen = " task model preset precision objective schedule techniques ";
    lra_command_words w = {0};
    for (int i = 0; lra_config_key(cell, i); i++) {
        const char *key = lra_config_key(cell, i), *value = lra_config_value(cell, i);
        if (is_relation(key)) continue;
        char *word = lra_format(" %s ", key);
        bool option = strstr(chosen, word) != NULL;
        lra_command_words_add(&w, lra_format("--%s%s=%s", option ? "" : "set=", key, value));
        lra_free(word);
    }
    *o = lra_options_parse(&command, w.n, w.word, e);
    int rc = *o ? lra_job_open(r, *o, e) : LRA_USAGE;
    lra_command_words_free(&w);
    return rc;
}

/* A result with the settings of a job: its task, model, preset and configuration. related: the hash
 * of a pretrained run, of which `relation` is "from" or "matched"; NULL: none. */
static lra_result *result_of(lra_job *r, const char *relation)
{
    char hash[17];
    lra_dataset d = {.task = r->task, .fingerprint = "00"};
    lra_result *x = lra_alloc(sizeof *x);
    if (relation) lra_config_set(r->train_config, relation, "pretrained");
    r->data = &d;
    x->config = lra_job_config(r, 0, hash);
    r->data = NULL;
    x->task = lra_copy_text(r->task->name), x->model = lra_copy_text(r->model->name);
    x->preset = lra_copy_text(r->preset), x->run = lra_copy_text("own");
    x->paper = lra_copy_text(r->plan.published ? r->plan.published : "");
    return x;
}

/* ---- every cell ------------------------------------------------------------------------------ */

/* Checks that the defaults of the reports are those of the job's keys. */
static void check_defaults(const lra_layout *l, const lra_job *r, const lra_config *cell)
{
    for (int i = 0; lra_layout_default_at(i); i++) {
        const lra_layout_default *d = lra_layout_default_at(i);
        const char *owner;
        const lra_key *key = lra_job_key(r, d->key, &owner);
        if (!key || !lra_config_has(cell, d->key)) continue;
        if (d->model && strcmp(d->model, r->model->name) != 0) continue;
        if (strcmp(key->value, d->value) != 0)
            fail_msg("%s: default of %s in %s is %s, layout_cells.c has %s", l->id, d->key,
                     r->model->name, key->value, d->value);
    }
    for (int i = 0; lra_config_key(cell, i); i++) {
        const char *key = lra_config_key(cell, i), *owner;
        int k = 0;
        while (lra_layout_default_at(k) && strcmp(lra_layout_default_at(k)->key, key) != 0) k++;
        if (lra_job_key(r, key, &owner) && !lra_layout_default_at(k))
            fail_msg("%s: layout_cells.c has no default of %s", l->id, key);
    }
}

/* Checks that the run of a cell fills the cell, and other cells only with the same settings. */
static void check_fills(const lra_layout *l, int row, int column, lra_job *r, const char *preset)
{
    lra_config *own = lra_layout_settings(l, row, column, preset, NULL);
    const char *relation = lra_config_has(own, "from")      ? "from"
                           : lra_config_has(own, "matched") ? "matched"
                                                            : NULL;
    lra_result *x = result_of(r, relation), before = *x;
    before.run = (char *)(uintptr_t) "pretrained";
    before.config = relation ? lra_format("train.objective=%s\n", lra_config_text(own, relation))
                             : lra_copy_text("");
    lra_result *const list[] = {x, &before};
    if (!lra_layout_fills(l, row, column, x, list, 2))
        fail_msg("%s, %s, %s, preset %s: its run does not fill the cell:\n%s", l->id,
                 l->row[row].label, l->column[column].head, preset ? preset : "of the layout",
                 x->config);
    for (int i = 0; i < l->n_rows && !preset; i++)
        for (int c = 0; c < l->n_columns; c++) {
            bool same_column = strcmp(l->column[c].settings, l->column[column].settings) == 0;
            if ((i == row && same_column) || !lra_layout_fills(l, i, c, x, list, 2)) continue;
            fail_msg("%s: the run of %s, %s also fills %s, %s", l->id, l->row[row].label,
                     l->column[column].head, l->row[i].label, l->column[c].head);
        }
    lra_free(before.config);
    lra_result_free(x);
    lra_config_free(own);
}

/* Checks the cells of a layout with its own preset (NULL) or another one. Returns their number. */
static int check_layout(const lra_layout *l, const char *preset)
{
    int n = 0;
    for (int r = 0; r < l->n_rows; r++)
        for (int c = 0; c < l->n_columns; c++) {
            lra_err e = {{0}};
            lra_job job = {0};
            lra_options *o = NULL;
            lra_config *cell = lra_layout_settings(l, r, c, preset, NULL);
            lra_config *free_of_sizes = lra_layout_settings(l, r, c, "quick", NULL);
            if (!cell) continue;
            if (configure(&job, cell, &o, &e) != 0)
                fail_msg("%s, %s, %s: %s", l->id, l->row[r].label, l->column[c].head, e.msg);
            check_defaults(l, &job, free_of_sizes);
            check_fills(l, r, c, &job, preset);
            lra_job_close(&job);
            lra_options_free(o);
            lra_config_free(cell);
            lra_config_free(free_of_sizes);
            n++;
        }
    return n;
}

TEST(cells_are_runs)
{
    int n = 0;
    for (int i = 0; lra_layout_at(i); i++) n += check_layout(lra_layout_at(i), NULL);
    assert_true(n > 300);
}

TEST(cells_are_runs_of_small_presets)
{
    for (int i = 0; lra_layout_at(i); i++) check_layout(lra_layout_at(i), "small");
}

/* ---- tables of settings ------------------------------------------------------------------ */

TEST(settings_tables)
{
    lra_text all = {0};
    const char *name, *title;
    for (int i = 0; (name = lra_settings_table_at(i, &title)) != NULL; i++) {
        lra_err e = {{0}};
        lra_table *t = lra_settings_table(name, &e);
        NOT_NULL(t);
        char *text = NULL;
        size_t size;
        FILE *f = open_memstream(&text, &size);
        OK(lra_table_print(t, "text", f, &e));
        fclose(f);
        lra_text_add(&all, "%s\n%s\n", name, text);
        lra_free(text);
        lra_table_free(t);
    }
    check_golden("settings-tables.txt", all.s);
}

/* ---- the plan -------------------------------------------------------------------------------- */

/* Number of combinations of a layout with these options. */
static int count(const char *id, const char *axis, int n_words, const char **words)
{
    lra_err e = {{0}};
    lra_grid g = {0};
    char *argv[4];
    for (int i = 0; i < n_words; i++) argv[i] = lra_copy_text(words[i]);
    lra_options *o = lra_options_parse(&command, n_words, argv, &e);
    NOT_NULL(o);
    if (axis) OK(lra_grid_add(&g, axis, &e));
    OK(lra_experiment_grid(lra_layout_find(id), o, &g, &e));
    int n = g.n;
    lra_grid_free(&g);
    lra_options_free(o);
    for (int i = 0; i < n_words; i++) lra_free(argv[i]);
    return n;
}

/* Axes and options select cells or replace their settings; related runs are part of the plan. */
TEST(plans_of_experiments)
{
    const char *small[] = {"--preset", "small"}, *task[] = {"--task", "text"};
    assert_int_equal(count("las-T4", NULL, 0, NULL), 20);
    assert_int_equal(count("las-T4", NULL, 2, small), 20);
    assert_int_equal(count("las-T4", "task=text,image", 0, NULL), 10);
    assert_int_equal(count("las-T4", NULL, 2, task), 5);
    assert_int_equal(count("las-T4", "task=xor", 0, NULL), 5);
    assert_int_equal(count("las-T4", "chunk=64,128", 0, NULL), 40);
    assert_int_equal(count("loc-T1", "kernel=3", 0, NULL), 5);
    /* S4, Transformer: from scratch, pretraining, fine-tuning, control */
    assert_int_equal(count("spt-T3", "task=scifar", 0, NULL), 8);
    assert_int_equal(count("spt-fig2", NULL, 0, NULL), 36); /* 24 cells, 12 pretraining runs */
}
