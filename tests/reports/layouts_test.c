/* Layouts of the papers' tables: complete, without equal cells, with the averages that the papers
 * print, and their printed form without results. */
#include "tests/fixtures/test.h"

#include <math.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "reports/papers/items.h"
#include "reports/papers/layout.h"
#include "reports/results/published.h"
#include "reports/tables/layout_table.h"
#include "tests/fixtures/golden.h"

/* ---- published values ------------------------------------------------------------------------ */

/* Number of values in published.csv of a table, in the metrics that layouts have. */
static int count_published(const char *paper, const char *table)
{
    static const char *const metric[] = {"accuracy",      "r2",          "bpb",        "perplexity",
                                         "ratio_to_mega", "train_speed", "peak_memory"};
    char *start = lra_format("%s,%s,", paper, table);
    int n = 0;
    for (const char *at = (const char *)lra_published_csv; *at; at += strcspn(at, "\n") + 1) {
        if (strncmp(at, start, strlen(start)) != 0) continue;
        char *line = lra_format("%.*s", (int)strcspn(at, "\n"), at);
        for (size_t i = 0; i < sizeof metric / sizeof *metric; i++) {
            char *field = lra_format(",%s,", metric[i]);
            const char *value = strstr(line, field);
            n += value && value[strlen(field)] != ',';
            lra_free(field);
        }
        lra_free(line);
    }
    lra_free(start);
    return n;
}

/* Every published value of a table is in one cell or is an average. */
TEST(published_values_have_a_cell)
{
    for (int i = 0; lra_layout_at(i); i++) {
        const lra_layout *l = lra_layout_at(i);
        int n = 0;
        for (int r = 0; r < l->n_rows; r++) {
            for (int c = 0; c < l->n_columns; c++) n += !isnan(lra_layout_published(l, r, c));
            n += !isnan(lra_layout_published_average(l, r));
        }
        int expected = l->table ? count_published(l->paper, l->table) : 0;
        if (n != expected) fail_msg("%s: %d values, published: %d", l->id, n, expected);
    }
}

/* The average of a row is the printed one, except for the known errata. */
TEST(averages_are_those_of_the_papers)
{
    static const struct {
        const char *id, *label;
        double printed;
    } errata[] = {{"las-T2", "LongConvs", 86.60},
                  {"spt-T2", "S4 + Masked SPT", 86.75},
                  {"spt-T2", "Pythia 70M", 68.04}};
    int n = 0, known = 0;
    for (int i = 0; lra_layout_at(i); i++) {
        const lra_layout *l = lra_layout_at(i);
        for (int r = 0; r < l->n_rows; r++) {
            double printed = lra_layout_published_average(l, r), mean = lra_layout_average(l, r);
            if (isnan(printed)) continue;
            n++;
            if (fabs(printed - mean) < 0.0151) continue;
            bool listed = false;
            for (size_t k = 0; k < sizeof errata / sizeof *errata; k++)
                listed = listed || (strcmp(errata[k].id, l->id) == 0 &&
                                    strcmp(errata[k].label, l->row[r].label) == 0);
            if (!listed)
                fail_msg("%s, %s: printed %.2f, mean %.3f", l->id, l->row[r].label, printed, mean);
            known++;
        }
    }
    assert_int_equal(known, 3);
    assert_true(n > 50);
}

/* ---- cells ----------------------------------------------------------------------------------- */

static void check_cells(const lra_layout *l)
{
    char *lines[LRA_LAYOUT_ROWS * LRA_LAYOUT_COLUMNS];
    int n = 0;
    assert_true(l->n_rows <= LRA_LAYOUT_ROWS && l->n_columns <= LRA_LAYOUT_COLUMNS);
    for (int r = 0; r < l->n_rows; r++)
        for (int c = 0; c < l->n_columns; c++) {
            const char *why;
            bool shared = lra_layout_is_derived(l, c);
            lra_config *cell = lra_layout_settings(l, r, c, NULL, &why);
            if (!cell && !(why && *why))
                fail_msg("%s, %s: neither trained nor a reason", l->id, l->row[r].label);
            if (cell && !shared) lines[n++] = lra_config_lines(cell);
            if (cell && !lra_config_has(cell, "task")) fail_msg("%s: no task", l->id);
            if (cell && !lra_config_has(cell, "model")) fail_msg("%s: no model", l->id);
            lra_config_free(cell);
        }
    assert_true(n > 0);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < i; k++)
            if (strcmp(lines[i], lines[k]) == 0) fail_msg("%s: two cells are %s", l->id, lines[i]);
    for (int i = 0; i < n; i++) lra_free(lines[i]);
}

/* Every cell is trained or has a reason, and the trained ones differ. */
TEST(cells_are_trained_or_have_a_reason)
{
    int n = 0;
    for (int i = 0; lra_layout_at(i); i++, n++) {
        check_cells(lra_layout_at(i));
        assert_ptr_equal(lra_layout_find(lra_layout_at(i)->id), lra_layout_at(i));
    }
    assert_true(n >= 16);
    assert_null(lra_layout_find("loc-T0"));
}

/* Conditions on words: those of preset `paper` and of one task. */
TEST(words_with_conditions)
{
    static const lra_layout_column column[] = {{"A", "task=image size=1", "accuracy", NULL},
                                               {"B", "task=text", "accuracy", NULL}};
    static const lra_layout_row row[] = {
        {"R", "preset=paper:las model=s4 paper:width=2 paper:image:width=3 image:norm=post", NULL,
         NULL, "text", "why"}};
    const lra_layout l = {
        .id = "x", .paper = "las", .n_columns = 2, .n_rows = 1, .column = column, .row = row};
    const char *why;
    lra_config *c = lra_layout_settings(&l, 0, 0, NULL, &why);
    char *lines = lra_config_lines(c);
    assert_string_equal(lines, "model=s4\nnorm=post\npreset=paper:las\nsize=1\ntask=image\n"
                               "width=3\n");
    lra_free(lines);
    lra_config_free(c);
    c = lra_layout_settings(&l, 0, 0, "small", NULL);
    lines = lra_config_lines(c);
    assert_string_equal(lines, "model=s4\nnorm=post\npreset=small\nsize=1\ntask=image\n");
    lra_free(lines);
    lra_config_free(c);
    assert_null(lra_layout_settings(&l, 0, 1, NULL, &why));
    assert_string_equal(why, "why");
}

/* ---- the list of the papers --------------------------------------------------------------- */

static bool is_figure(const char *name)
{
    static const lra_report_figure *const figures[] = {
#define LRA_FIGURE(name) &lra_figure_##name,
#include "reports/figures.def"
#undef LRA_FIGURE
    };
    size_t n = sizeof figures / sizeof *figures, i = 0;
    while (i < n && strcmp(figures[i]->name, name) != 0) i++;
    return i < n;
}

static bool is_table(const char *name)
{
    static const lra_report_table *const tables[] = {
#define LRA_TABLE(name) &lra_table_##name,
#include "reports/tables.def"
#undef LRA_TABLE
    };
    size_t n = sizeof tables / sizeof *tables, i = 0;
    while (i < n && strcmp(tables[i]->name, name) != 0) i++;
    return i < n || lra_layout_find(name);
}

/* True if the text starts with the prefix; then *rest is the text after it. */
static bool starts(const char *text, const char *prefix, const char **rest)
{
    size_t n = strlen(prefix);
    *rest = text ? text + n : NULL;
    return text && strncmp(text, prefix, n) == 0;
}

/* The commands of the list name sweeps, tables and figures that exist; the list has every
 * layout. */
TEST(items_of_the_papers)
{
    const lra_paper_item *x;
    const char *name;
    for (int i = 0; (x = lra_paper_item_at(i)) != NULL; i++) {
        if (starts(x->train, "lra-probe sweep ", &name) && !lra_layout_find(name))
            fail_msg("%s: no sweep", x->train);
        if (starts(x->print, "lra-report tables --table ", &name) && !is_table(name))
            fail_msg("%s: no table", x->print);
        if (starts(x->print, "lra-report figures --figure ", &name) && !is_figure(name))
            fail_msg("%s: no figure", x->print);
    }
    for (int k = 0; lra_layout_at(k); k++) {
        bool found = false;
        for (int i = 0; (x = lra_paper_item_at(i)) != NULL && !found; i++)
            found = starts(x->print, "lra-report tables --table ", &name) &&
                    strcmp(name, lra_layout_at(k)->id) == 0;
        if (!found) fail_msg("%s is not in the list of the papers", lra_layout_at(k)->id);
    }
}

/* ---- print ----------------------------------------------------------------------------------- */

/* Prints the table of a layout without results to a file. */
static void print_layout(const lra_layout *l, const char *format, FILE *f)
{
    lra_err e = {{0}};
    lra_report_table table = lra_layout_table(l);
    lra_report_input in = {.layout = l};
    lra_table **tables;
    int n = lra_report_make(&table, &in, format, &tables, &e);
    assert_int_equal(n, 1);
    OK(lra_tables_print_wide(tables, n, format, 0, f, &e));
    lra_tables_free(tables, n);
}

/* Contents of a file, which is closed. */
static char *take(FILE *f)
{
    lra_text t = {0};
    char piece[4096];
    size_t n;
    rewind(f);
    while ((n = fread(piece, 1, sizeof piece, f)) > 0) lra_text_bytes(&t, piece, n);
    fclose(f);
    return t.s;
}

/* Without results, a table has the published values, and the command that trains its cells. */
TEST(tables_without_results)
{
    FILE *f = tmpfile();
    for (int i = 0; lra_layout_at(i); i++) {
        print_layout(lra_layout_at(i), "text", f);
        fprintf(f, "\n");
    }
    check_golden("layouts.text", take(f));
}

TEST(table_in_every_format)
{
    static const char *const format[] = {"markdown", "latex", "csv", "json"};
    for (int i = 0; i < 4; i++) {
        char *name = lra_format("layout-las-T4.%s", format[i]);
        FILE *f = tmpfile();
        print_layout(lra_layout_find("las-T4"), format[i], f);
        check_golden(name, take(f));
        lra_free(name);
    }
}
