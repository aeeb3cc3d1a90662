/* Prints the layouts of the papers as tables (layout_table.h). Text, Markdown and LaTeX have the
 * paper's rows and columns: published values, and below them measured values with their intervals.
 * CSV and JSON have one row for each cell. */
#include "reports/tables/layout_table.h"

#include <math.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "reports/tables/layout_cells.h"
#include "reports/tables/layout_notes.h"

enum { OWN = 2 }; /* columns before those of the paper: label, source of the values */

static bool has_average(const lra_layout *l)
{
    return l->average.rule != LRA_AVERAGE_NONE;
}

/* Number of columns of the paper, with the average. */
static int columns_of(const lra_layout *l)
{
    return l->n_columns + has_average(l);
}

/* Column of the layout at printed position i; -1: the average. */
static int column_at(const lra_layout *l, int i)
{
    if (!has_average(l) || i < l->average.at) return i;
    return i == l->average.at ? -1 : i - 1;
}

static const char *head_of(const lra_layout *l, int column)
{
    return column < 0 ? l->average.head : l->column[column].head;
}

static int decimals_of(const lra_layout *l, int column)
{
    return lra_layout_decimals(l, column < 0 ? 0 : column);
}

static double published_of(const lra_layout *l, int row, int column)
{
    return column < 0 ? lra_layout_published_average(l, row) : lra_layout_published(l, row, column);
}

static lra_estimate measured_of(const lra_layout_view *v, int row, int column)
{
    return column < 0 ? lra_layout_measured_average(v, row) : lra_layout_measured(v, row, column);
}

static lra_table *new_table(const lra_layout_view *v)
{
    const lra_layout *l = v->layout;
    const char *head[OWN + LRA_LAYOUT_COLUMNS + 2];
    int n = 0;
    head[n++] = "model", head[n++] = "values";
    if (!l->table) head[0] = "row";
    for (int i = 0; i < columns_of(l); i++) head[n++] = head_of(l, column_at(l, i));
    head[n++] = "seeds";
    char *title = *v->preset ? lra_format("%s (%s; measured: preset %s, %s)", l->title,
                                          lra_layout_paper(l->paper), v->preset, v->precision)
                             : lra_format("%s (%s)", l->title, lra_layout_paper(l->paper));
    lra_table *t = lra_table_new(title, n, head);
    lra_free(title);
    return t;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static void add_value(lra_table *t, double x, int decimals)
{
    if (isnan(x))
        lra_table_cell(t, "%s", "");
    else
        lra_table_number(t, x, decimals);
}

static void add_interval(lra_table *t, lra_estimate x, int decimals)
{
    if (isnan(x.lo))
        lra_table_cell(t, "%s", "");
    else
        lra_table_interval(t, x.lo, x.hi, decimals);
}

static void add_published(lra_table *t, const lra_layout *l, int row)
{
    lra_table_row(t);
    lra_table_cell(t, "%s", l->row[row].label);
    lra_table_cell(t, "%s", l->row[row].model ? "published" : "");
    for (int i = 0; i < columns_of(l); i++)
        add_value(t, published_of(l, row, column_at(l, i)), decimals_of(l, column_at(l, i)));
    lra_table_cell(t, "%s", "");
}

/* Adds the number of seeds of a row: "3", or "1-3" if it differs between cells. */
static void add_seeds(lra_table *t, const lra_layout_view *v, int row)
{
    int least = 0, most = 0;
    for (int c = 0; c < v->layout->n_columns; c++) {
        const lra_result_group *g = lra_layout_cell_at(v, row, c)->group;
        if (!g) continue;
        if (!least || g->n < least) least = g->n;
        if (g->n > most) most = g->n;
    }
    if (least == most)
        lra_table_cell(t, "%d", least);
    else
        lra_table_cell(t, "%d-%d", least, most);
}

static void add_measured(lra_table *t, const lra_layout_view *v, int row)
{
    const lra_layout *l = v->layout;
    bool any = false;
    for (int c = 0; c < l->n_columns; c++) any |= lra_layout_cell_at(v, row, c)->group != NULL;
    if (!any) return;
    for (int interval = 0; interval < 2; interval++) {
        lra_table_row(t);
        lra_table_cell(t, "%s", "");
        lra_table_cell(t, "%s", interval ? "95 % CI" : "measured");
        for (int i = 0; i < columns_of(l); i++) {
            lra_estimate x = measured_of(v, row, column_at(l, i));
            int decimals = decimals_of(l, column_at(l, i));
            if (interval)
                add_interval(t, x, decimals);
            else
                add_value(t, x.value, decimals);
        }
        if (interval)
            lra_table_cell(t, "%s", "");
        else
            add_seeds(t, v, row);
    }
}

static lra_table *make_one(const lra_layout_view *v, const char *out)
{
    lra_table *t = new_table(v);
    for (int r = 0; r < v->layout->n_rows; r++) {
        add_published(t, v->layout, r);
        add_measured(t, v, r);
    }
    lra_layout_notes(t, v, out);
    return t;
}

static int make(const lra_report_input *in, lra_table ***list, lra_err *e)
{
    lra_layout_view *views;
    (void)e;
    int n = lra_layout_views(in->layout, in->list, in->n, &views);
    *list = lra_alloc_array((size_t)n, sizeof **list);
    for (int i = 0; i < n; i++) (*list)[i] = make_one(&views[i], in->out);
    lra_layout_views_free(views, n);
    return n;
}

/* ---- CSV and JSON ---------------------------------------------------------------------------- */

static void add_record(lra_table *t, const lra_layout_view *v, int row, int column)
{
    const lra_layout *l = v->layout;
    const lra_result_group *g = column < 0 ? NULL : lra_layout_cell_at(v, row, column)->group;
    lra_estimate x = measured_of(v, row, column);
    double published = published_of(l, row, column);
    int decimals = decimals_of(l, column);
    lra_table_row(t);
    lra_table_cell(t, "%s", l->row[row].label);
    lra_table_cell(t, "%s", head_of(l, column));
    lra_table_cell(t, "%s", l->column[column < 0 ? 0 : column].metric);
    lra_table_number(t, published, decimals);
    lra_table_number(t, x.value, decimals);
    lra_table_interval(t, x.lo, x.hi, decimals);
    lra_table_number(t, x.value - published, decimals);
    lra_table_number(t, g ? (double)g->n : NAN, 0);
    lra_table_cell(t, "%s", v->preset);
    lra_table_cell(t, "%s", v->precision);
}

static lra_table *records(const lra_report_input *in, lra_table *const *list, int n)
{
    static const char *const head[] = {"row",      "column",     "metric",     "published",
                                       "measured", LRA_TABLE_CI, "difference", "seeds",
                                       "preset",   "precision"};
    static const char *const key[] = {
        "row",        "column", "metric", "published", "measured", "measured_lo,measured_hi",
        "difference", "seeds",  "preset", "precision"};
    const lra_layout *l = in->layout;
    lra_layout_view *views;
    (void)list, (void)n;
    int n_views = lra_layout_views(l, in->list, in->n, &views);
    lra_table *t = lra_table_new(l->title, sizeof head / sizeof *head, head);
    lra_table_keys(t, key);
    for (int i = 0; i < n_views; i++)
        for (int r = 0; r < l->n_rows; r++)
            for (int k = 0; k < columns_of(l); k++) add_record(t, &views[i], r, column_at(l, k));
    lra_table_fact_text(t, "paper", lra_layout_paper(l->paper));
    lra_layout_views_free(views, n_views);
    return t;
}

lra_report_table lra_layout_table(const lra_layout *l)
{
    return (lra_report_table){l->id, l->title, make, LRA_FROM_RESULTS, records};
}
