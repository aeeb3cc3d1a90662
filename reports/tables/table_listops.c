/* Table listops: breakdown of ListOps models. One table for each grouping, with one column per
 * group and rows for the heuristics and every model; then tables of the agreement with heuristics,
 * and the confusion matrix of each model by operator.
 * Source: Appendix B of "On the locality bias and results in the Long Range Arena". */
#include "reports/tables/table_listops.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "reports/report.h"
#include "reports/tables/table_melt.h"
#include "reports/verdict/verdict_listops.h"
#include "reports/results/baseline_kind.h"
#include "reports/views/model_names.h"

/* Columns before the groups: name (text only); grouping, row, quantity and seeds (CSV and JSON
 * only); all examples. */
enum { BEFORE = 6, COLUMNS = BEFORE + LRA_LISTOPS_GROUPS };

/* Rows of a model, in this order: name in text, name in CSV and JSON. */
enum { ACCURACY, ACCURACY_LO, ACCURACY_HI, LESS, LESS_LO, LESS_HI, P_HOLM, N_QUANTITIES };
static const char *const quantity[N_QUANTITIES][2] = {{"", "accuracy_percent"},
                                                      {"  95 % CI from", "accuracy_percent_lo"},
                                                      {"          to", "accuracy_percent_hi"},
                                                      {"  minus greedy", "minus_greedy_percent"},
                                                      {"  95 % CI from", "minus_greedy_percent_lo"},
                                                      {"          to", "minus_greedy_percent_hi"},
                                                      {"  p (Holm)", "p_holm"}};

/* Numbers of every cell; p: p-values, adjusted (Holm) over all cells of the table. */
typedef struct {
    lra_breakdown_row row[LRA_LISTOPS_CELLS][1 + LRA_LISTOPS_GROUPS];
    double p[LRA_LISTOPS_CELLS][1 + LRA_LISTOPS_GROUPS];
} numbers;

lra_table *lra_listops_table_new(const lra_listops_view *v, const char *what, int n_columns,
                                 const char *const *head, const char *const *key)
{
    const lra_listops *r = v->first;
    char *title = lra_format("ListOps %s: preset %s, %" PRId64 " test examples, data %s", what,
                             r->preset, r->n, r->fingerprint);
    const char *heads[LRA_TABLE_COLUMNS] = {"", ""}, *keys[LRA_TABLE_COLUMNS] = {"preset", "data"};
    for (int c = 0; c < n_columns; c++) {
        heads[LRA_LISTOPS_SETTING + c] = head[c];
        keys[LRA_LISTOPS_SETTING + c] = key[c];
    }
    lra_table *t = lra_table_new(title, LRA_LISTOPS_SETTING + n_columns, heads);
    lra_table_keys(t, keys);
    lra_table_fact_text(t, "breakdown", what);
    lra_table_fact_text(t, "task", r->task);
    lra_table_fact_text(t, "preset", r->preset);
    lra_table_fact_text(t, "data", r->fingerprint);
    lra_table_fact(t, "test_examples", (double)r->n);
    lra_table_fact(t, "max_length", (double)r->max_length);
    lra_free(title);
    return t;
}

void lra_listops_table_row(lra_table *t, const lra_listops_view *v)
{
    lra_table_row(t);
    lra_table_cell(t, "%s", v->first->preset);
    lra_table_cell(t, "%s", v->first->fingerprint);
}

/* ---- numbers --------------------------------------------------------------------------------- */

static void compute(const lra_listops_view *v, const lra_listops_grouping *by, numbers *to)
{
    for (int c = 0; c < v->n_cells; c++) {
        lra_breakdown_compute(&v->cell[c].data, by->n_groups, by->group, v->greedy, to->row[c]);
        for (int g = 0; g <= LRA_LISTOPS_GROUPS; g++)
            to->p[c][g] = g <= by->n_groups ? to->row[c][g].p : NAN;
    }
    lra_holm(v->n_cells * (1 + LRA_LISTOPS_GROUPS), to->p[0]);
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* Arguments of the functions that add a row: table, view and grouping. */
typedef struct {
    lra_table *t;
    const lra_listops_view *v;
    const lra_listops_grouping *by;
} place;

/* Starts a row. shown: its name in text; row, key: its name and quantity in CSV and JSON; seeds:
 * number of seeds, 0 if it is no model. */
static void add_name(const place *p, const char *shown, const char *row, const char *key, int seeds)
{
    lra_listops_table_row(p->t, p->v);
    lra_table_cell(p->t, "%s", shown);
    lra_table_cell(p->t, "%s", p->by->what);
    lra_table_cell(p->t, "%s", row);
    lra_table_cell(p->t, "%s", key);
    lra_table_number(p->t, seeds ? (double)seeds : NAN, 0);
}

static void add_heuristic(const place *p, const char *shown, const char *name,
                          const int32_t *predicted)
{
    add_name(p, shown, name, "accuracy_percent", 0);
    for (int g = -1; g < p->by->n_groups; g++)
        lra_table_number(p->t, 100 * lra_listops_share(p->v->first, predicted, p->by->group, g), 2);
}

/* Adds the row of the null value: the majority label of each group; for groups by label, where that
 * would be trivial, the constant prediction. */
static void add_null(const place *p, const lra_breakdown_row *row)
{
    const int32_t *constant = lra_listops_heuristic(p->v->first, "constant");
    if (p->by == &p->v->by[LRA_BY_LABEL] && constant) {
        add_heuristic(p, "constant (null)", "constant", constant);
        return;
    }
    add_name(p, "majority (null)", "majority", "accuracy_percent", 0);
    for (int g = 0; g <= p->by->n_groups; g++) lra_table_number(p->t, 100 * row[g].majority, 2);
}

static void add_heuristics(const place *p)
{
    const lra_listops *r = p->v->first;
    add_heuristic(p, "greedy", "greedy", p->v->greedy);
    for (int h = 0; h < r->n_heuristics; h++)
        if (lra_baseline_is_shallow(r->heuristic_name[h]))
            add_heuristic(p, r->heuristic_name[h], r->heuristic_name[h], r->heuristic[h]);
}

static void add_p(lra_table *t, double p)
{
    if (isnan(p))
        lra_table_number(t, p, 0);
    else if (p < 1e-6)
        lra_table_value(t, p, "<1e-6");
    else
        lra_table_value(t, p, p < 0.001 ? "%.0e" : "%.3f", p);
}

static void add_quantity(lra_table *t, const lra_breakdown_row *r, double p, int q)
{
    const double percent[] = {r->accuracy.value,   r->accuracy.lo,   r->accuracy.hi,
                              r->difference.value, r->difference.lo, r->difference.hi};
    if (q == P_HOLM)
        add_p(t, p);
    else if (q < LESS || isnan(percent[q]))
        lra_table_number(t, 100 * percent[q], 2);
    else
        lra_table_value(t, 100 * percent[q], "%+.2f", 100 * percent[q]);
}

static void add_model(const place *p, const lra_listops_cell *c, const lra_breakdown_row *row,
                      const double *adjusted)
{
    int seeds = c->data.n_seeds;
    char *model = lra_model_shown(c->name, c->run[0]->model, c->run[0]->config);
    for (int q = 0; q < N_QUANTITIES; q++) {
        char *shown = q ? lra_copy_text(quantity[q][0])
                        : lra_format("%s, %d seed%s", model, seeds, seeds == 1 ? "" : "s");
        add_name(p, shown, c->name, quantity[q][1], seeds);
        lra_free(shown);
        for (int g = 0; g <= p->by->n_groups; g++) add_quantity(p->t, &row[g], adjusted[g], q);
    }
    lra_free(model);
}

/* ---- tables ---------------------------------------------------------------------------------- */

static void add_notes(lra_table *t, const lra_listops_view *v, const numbers *x)
{
    bool one = false, few = false;
    for (int c = 0; c < v->n_cells; c++) {
        one = one || v->cell[c].data.n_seeds == 1;
        few = few || x->row[c][0].seeds_dominate;
    }
    lra_table_note(t, "majority\tthe most frequent label of the group; greedy: the most "
                      "frequent training label of the root operator");
    lra_table_note(t, "shallow-a-D\texact evaluation above depth D, deeper nodes replaced by "
                      "their most frequent label; shallow-b-D: deeper nodes ignored");
    lra_table_note(t, "p (Holm)\tp-value of the difference to greedy (t-test over test examples "
                      "and seeds; one seed: exact McNemar test), Holm-adjusted over the table");
    lra_table_note_ci(t);
    lra_table_fact_text(t, "flags",
                        one && few ? "one-seed few-seeds"
                        : one      ? "one-seed"
                        : few      ? "few-seeds"
                                   : "");
    if (one) lra_table_note(t, "one-seed\tthe intervals do not include the variation over seeds");
    if (few)
        lra_table_note(
            t, "few-seeds\tfewer than 5 seeds; their variance exceeds that of test examples");
}

static lra_table *table_by(const lra_listops_view *v, int k)
{
    const lra_listops_grouping *by = &v->by[k];
    const char *head[COLUMNS] = {"accuracy %", "", "", "", "", "all"};
    const char *key[COLUMNS] = {"", "by", "row", "quantity", "seeds", "all"};
    for (int g = 0; g < by->n_groups; g++) head[BEFORE + g] = key[BEFORE + g] = by->name[g];
    numbers *x = lra_alloc(sizeof *x);
    compute(v, by, x);
    char *what = lra_format("by %s", by->what);
    lra_table *t = lra_listops_table_new(v, what, BEFORE + by->n_groups, head, key);
    lra_free(what);
    place p = {t, v, by};
    add_name(&p, "examples", "rows", "examples", 0);
    for (int g = 0; g <= by->n_groups; g++) lra_table_number(t, (double)x->row[0][g].n, 0);
    add_null(&p, x->row[0]);
    add_heuristics(&p);
    for (int c = 0; c < v->n_cells; c++) add_model(&p, &v->cell[c], x->row[c], x->p[c]);
    if (k == LRA_BY_ROOT) {
        lra_verdict_of_listops(v, &t->verdict);
        add_notes(t, v, x);
    }
    lra_free(x);
    return t;
}

/* Adds the tables of a view to the list; returns their number. */
static int add_view(const lra_listops_view *v, lra_table **list)
{
    int n = 3;
    list[0] = table_by(v, LRA_BY_ROOT);
    lra_listops_tables_agreement(v, &list[1], &list[2]);
    for (int k = LRA_BY_ROOT + 1; k < LRA_N_GROUPINGS; k++) list[n++] = table_by(v, k);
    for (int c = 0; c < v->n_cells; c++) list[n++] = lra_listops_table_confusion(v, &v->cell[c]);
    return n;
}

static int make(const lra_report_input *in, lra_table ***list, lra_err *e)
{
    enum { MOST = LRA_N_GROUPINGS + 2 + LRA_LISTOPS_CELLS };
    lra_listops_view *views;
    int n_views = lra_listops_views(in->listops, in->n_listops, &views, e), n = 0;
    if (n_views < 0) return n_views;
    *list = lra_alloc_array((size_t)(n_views * MOST), sizeof **list);
    for (int i = 0; i < n_views; i++) n += add_view(&views[i], *list + n);
    lra_listops_views_free(views, n_views);
    return n;
}

/* Makes the table for CSV and JSON; the column "quantity" or "column" names the quantity of a
 * number. */
static lra_table *records(const lra_report_input *in, lra_table *const *list, int n)
{
    static const char *const id[] = {"by",        "row",  "quantity", "seeds", "model",
                                     "heuristic", "root", "label",    NULL};
    (void)in;
    return lra_tables_melt(list, n, "ListOps breakdowns", id);
}

const lra_report_table lra_table_listops = {
    "listops",
    "accuracy of models and heuristics by operator, label, arity, depth and length; "
    "confusion",
    make, LRA_FROM_LISTOPS, records};
