/* Second part of table listops: predictions of models compared with heuristics and labels. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "reports/tables/table_listops.h"
#include "reports/views/model_names.h"

/* ---- agreement ------------------------------------------------------------------------------- */

static const char *heuristic_name(const lra_listops *r, int h)
{
    const char *name = r->heuristic_name[h];
    return strcmp(name, "majority-by-operator") == 0 ? "greedy" : name;
}

static void add_pair(lra_table *t, const lra_listops_view *v, int c, int h)
{
    lra_listops_table_row(t, v);
    lra_table_model(t, v->cell[c].name, v->cell[c].run[0]->model, v->cell[c].run[0]->config);
    lra_table_number(t, v->cell[c].data.n_seeds, 0);
    lra_table_cell(t, "%s", heuristic_name(v->first, h));
}

static void add_share(lra_table *t, const lra_estimate *x, double null)
{
    lra_table_number(t, 100 * x->value, 2);
    lra_table_interval(t, 100 * x->lo, 100 * x->hi, 2);
    lra_table_number(t, 100 * null, 2);
}

static lra_table *agreement_table(const lra_listops_view *v)
{
    static const char *const head[] = {"model",       "seeds",      "heuristic",
                                       "agreement %", LRA_TABLE_CI, "null agreement %"};
    static const char *const key[] = {"model",
                                      "seeds",
                                      "heuristic",
                                      "agreement_percent",
                                      "agreement_percent_lo,agreement_percent_hi",
                                      "agreement_null_percent"};
    enum { COLUMNS = sizeof head / sizeof *head };
    lra_table *t = lra_listops_table_new(v, "agreement with heuristics", COLUMNS, head, key);
    lra_table_note(t, "null agreement\texpected if predictions were independent of the "
                      "heuristic, with the same label frequencies by operator");
    return t;
}

static lra_table *imitation_table(const lra_listops_view *v)
{
    static const char *const head[] = {"model",        "seeds",      "heuristic", "errors",
                                       "same error %", LRA_TABLE_CI, "null %",    "correct %",
                                       LRA_TABLE_CI,   "null %"};
    static const char *const key[] = {"model",
                                      "seeds",
                                      "heuristic",
                                      "heuristic_errors",
                                      "same_error_percent",
                                      "same_error_percent_lo,same_error_percent_hi",
                                      "same_error_null_percent",
                                      "right_percent",
                                      "right_percent_lo,right_percent_hi",
                                      "right_null_percent"};
    enum { COLUMNS = sizeof head / sizeof *head };
    lra_table *t = lra_listops_table_new(v, "where a heuristic is wrong", COLUMNS, head, key);
    lra_table_note(t, "errors\tnumber of test examples that the heuristic predicts wrongly; the "
                      "shares below refer to these examples");
    lra_table_note(t, "same error\tthe model predicts the same wrong label as the heuristic");
    lra_table_note(t, "correct\tthe model predicts the true label");
    lra_table_note(t, "null\texpected if predictions were independent of the heuristic, with the "
                      "same label frequencies by operator");
    return t;
}

void lra_listops_tables_agreement(const lra_listops_view *v, lra_table **all, lra_table **wrong)
{
    *all = agreement_table(v);
    *wrong = imitation_table(v);
    for (int c = 0; c < v->n_cells; c++)
        for (int h = 0; h < v->first->n_heuristics; h++) {
            lra_agreement a;
            lra_breakdown_agreement(&v->cell[c].data, LRA_LISTOPS_ROOTS, v->first->root,
                                    v->first->heuristic[h], &a);
            add_pair(*all, v, c, h);
            add_share(*all, &a.all, a.all_null);
            if (a.n_errors == 0) continue;
            add_pair(*wrong, v, c, h);
            lra_table_number(*wrong, (double)a.n_errors, 0);
            add_share(*wrong, &a.same, a.same_null);
            add_share(*wrong, &a.right, a.right_null);
        }
}

/* ---- confusion ------------------------------------------------------------------------------- */

enum { L = LRA_LISTOPS_LABELS };

/* Adds the share of each label among n predictions. */
static void add_predicted(lra_table *t, const int64_t *count, double n)
{
    for (int p = 0; p < L; p++) lra_table_number(t, 100 * (double)count[p] / n, 1);
}

/* Starts the row of a label, or of all labels ("all"). */
static void add_label(lra_table *t, const lra_listops_view *v, const lra_listops_cell *c, int root,
                      const char *label, double n, const lra_estimate *right)
{
    lra_listops_table_row(t, v);
    lra_table_model(t, c->name, c->run[0]->model, c->run[0]->config);
    lra_table_number(t, c->data.n_seeds, 0);
    lra_table_cell(t, "%s", lra_listops_root_names[root]);
    lra_table_cell(t, "%s", label);
    lra_table_number(t, n, 0);
    lra_table_number(t, 100 * right->value, 2);
    lra_table_interval(t, 100 * right->lo, 100 * right->hi, 2);
}

static void add_operator(lra_table *t, const lra_listops_view *v, const lra_listops_cell *c,
                         int root, const lra_breakdown_row *recall, int64_t (*count)[L])
{
    const lra_estimate none = {NAN, NAN, NAN};
    int64_t sum[L] = {0}, n = 0;
    for (int label = 0; label < L; label++) {
        const lra_breakdown_row *r = &recall[label];
        char text[12];
        if (r->n == 0) continue;
        for (int p = 0; p < L; p++) sum[p] += count[label][p];
        n += r->n;
        snprintf(text, sizeof text, "%d", label);
        add_label(t, v, c, root, text, (double)r->n, &r->accuracy);
        add_predicted(t, count[label], (double)r->n * c->data.n_seeds);
    }
    if (n == 0) return;
    add_label(t, v, c, root, "all", (double)n, &none);
    add_predicted(t, sum, (double)n * c->data.n_seeds);
}

lra_table *lra_listops_table_confusion(const lra_listops_view *v, const lra_listops_cell *c)
{
    static const char *const head[] = {"",           "",  "root", "label", "examples", "recall %",
                                       LRA_TABLE_CI, "0", "1",    "2",     "3",        "4",
                                       "5",          "6", "7",    "8",     "9"};
    static const char *const key[] = {"model",
                                      "seeds",
                                      "root",
                                      "label",
                                      "examples",
                                      "right_percent",
                                      "right_percent_lo,right_percent_hi",
                                      "predicted_0_percent",
                                      "predicted_1_percent",
                                      "predicted_2_percent",
                                      "predicted_3_percent",
                                      "predicted_4_percent",
                                      "predicted_5_percent",
                                      "predicted_6_percent",
                                      "predicted_7_percent",
                                      "predicted_8_percent",
                                      "predicted_9_percent"};
    enum { COLUMNS = sizeof head / sizeof *head };
    lra_breakdown_row recall[LRA_LISTOPS_ROOTS * L + 1];
    int64_t count[LRA_LISTOPS_ROOTS][L][L];
    lra_listops_recall(v, c, recall);
    lra_breakdown_confusion(&c->data, LRA_LISTOPS_ROOTS, v->first->root, count[0][0]);
    char *what = lra_format("predictions of %s (%d seed%s) by operator and label", c->name,
                            c->data.n_seeds, c->data.n_seeds == 1 ? "" : "s");
    lra_table *t = lra_listops_table_new(v, what, COLUMNS, head, key);
    lra_free(what);
    for (int r = 0; r < LRA_LISTOPS_ROOTS; r++)
        add_operator(t, v, c, r, &recall[1 + r * L], count[r]);
    lra_table_note(t, "0 to 9\tshare of the examples with this predicted label, in %%; label "
                      "\"all\": over all examples of the operator, the null "
                      "value of the recall");
    return t;
}
