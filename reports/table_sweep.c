/* The table of a sweep: rungs downwards, values of the parameter across; accuracy with its interval.  Where the
 * parameter is the distance of a task's dependencies, the truth is known: a rung is at chance until its field covers
 * the distance, and such cells are marked. */
#include <inttypes.h>
#include <math.h>

#include "kernels/base/mem.h"
#include "reports/report.h"
#include "reports/sweep_view.h"
#include "reports/table.h"

enum { FIXED = 3 }; /* columns before the values */

static lra_table *new_table(const lra_sweep *s)
{
    const lra_ladder_view *v = s->at[0];
    char *head[LRA_TABLE_COLUMNS], *key[LRA_TABLE_COLUMNS];
    const char *const fixed[FIXED][2] = {{"kernel", "row"}, {"reach", "reach"}, {"field", "field"}};
    int n = 0;
    for (; n < FIXED; n++)
        head[n] = lra_copy_text(fixed[n][0]), key[n] = lra_copy_text(fixed[n][1]);
    for (int i = 0; i < s->n; i++) {
        head[n] = lra_format("%s %s", i ? "" : s->key, s->value[i]);
        key[n++] = lra_format("%s_%s_percent", s->key, s->value[i]);
        head[n] = lra_copy_text("95 %");
        key[n] = lra_format("%s_%s_lo,%s_%s_hi", s->key, s->value[i], s->key, s->value[i]);
        n++;
    }
    char *title = lra_format("Sweep: %s by %s, preset %s, %s, %s; %" PRId64 " test examples, T <= "
                             "%" PRId64 ", %d seed%s",
                             v->first->task, s->key, v->first->preset, v->first->model,
                             v->first->precision, v->data.n, v->data.T, v->data.n_seeds,
                             v->data.n_seeds == 1 ? "" : "s");
    lra_table *t = lra_table_new(title, n, (const char *const *)head);
    lra_table_keys(t, (const char *const *)key);
    for (int c = 0; c < n; c++) lra_free(head[c]), lra_free(key[c]);
    lra_free(title);
    return t;
}

static void add_rung(lra_table *t, const lra_sweep *s, int r)
{
    const lra_ladder_row *first = &s->at[0]->ladder.row[r];
    lra_table_row(t);
    lra_table_cell(t, first->null_row ? "K = %" PRId64 " (null)" : "K = %" PRId64, first->kernel);
    lra_table_number(t, (double)first->reach, 0);
    lra_table_number(t, (double)lra_sweep_field(first->reach), 0);
    for (int i = 0; i < s->n; i++) {
        const lra_estimate *a = &s->at[i]->ladder.row[r].accuracy;
        bool marked = lra_sweep_is_distance(s) && lra_sweep_covers(s, i, r);
        lra_table_value(t, 100 * a->value, marked ? "%.2f *" : "%.2f  ", 100 * a->value);
        lra_table_interval(t, 100 * a->lo, 100 * a->hi, 2);
    }
}

/* A row of numbers without reach. */
static void add_row(lra_table *t, const lra_sweep *s, const char *name,
                    double (*value)(const lra_ladder_view *v, const char *name))
{
    lra_table_row(t);
    lra_table_cell(t, "%s", name);
    lra_table_number(t, NAN, 0);
    lra_table_number(t, NAN, 0);
    for (int i = 0; i < s->n; i++) {
        double x = value(s->at[i], name);
        if (x < 0)
            lra_table_number(t, NAN, 2);
        else
            lra_table_value(t, 100 * x, "%.2f  ", 100 * x);
        lra_table_interval(t, NAN, NAN, 2);
    }
}

static double chance_of(const lra_ladder_view *v, const char *name)
{
    (void)name;
    return v->data.chance;
}

static double baseline_of(const lra_ladder_view *v, const char *name)
{
    return lra_result_baseline_accuracy(v->first, name);
}

/* Largest field that stays at chance and smallest that leaves it, value by value. */
static void add_truth(lra_table *t, const lra_sweep *s)
{
    lra_table_note(t,
                   "*         the field 2R + 1 covers the distance: below it a sum over windows is "
                   "at chance, whatever it learns");
    for (int i = 0; i < s->n; i++) {
        const lra_ladder *l = &s->at[i]->ladder;
        int rises = -1, above = 0, below = 0;
        for (int r = l->n_rungs - 1; r >= 0; r--) {
            bool over = l->row[r].accuracy.lo > s->at[i]->data.chance;
            bool covers = lra_sweep_covers(s, i, r);
            if (over) rises = r;
            below += !covers && over;
            above += covers && !over;
        }
        char *from = rises < 0 ? lra_copy_text("nowhere")
                               : lra_format("from field %" PRId64 " on",
                                            lra_sweep_field(l->row[rises].reach));
        lra_table_note(t,
                       "%s %-4s above chance %s; %d rung%s below the distance above chance, %d "
                       "that cover it at chance",
                       s->key, s->value[i], from, below, below == 1 ? "" : "s", above);
        lra_free(from);
    }
}

static lra_table *sweep_table(const lra_sweep *s)
{
    const lra_ladder_view *v = s->at[0];
    lra_table *t = new_table(s);
    for (int r = 0; r < v->ladder.n_rungs; r++) add_rung(t, s, r);
    add_row(t, s, "chance", chance_of);
    for (int b = 0; b < v->first->n_baselines; b++)
        add_row(t, s, v->first->baseline_name[b], baseline_of);
    if (lra_sweep_is_distance(s)) add_truth(t, s);
    lra_table_note(t, "intervals %s",
                   v->data.n_seeds == 1  ? "Wilson; flag few-seeds"
                   : v->data.n_seeds < 3 ? "bootstrap of examples; flag few-seeds"
                                         : "bootstrap of examples crossed with seeds");
    lra_table_fact_text(t, "task", v->first->task);
    lra_table_fact_text(t, "model", v->first->model);
    lra_table_fact_text(t, "preset", v->first->preset);
    lra_table_fact_text(t, "precision", v->first->precision);
    lra_table_fact_text(t, "key", s->key);
    lra_table_fact(t, "seeds", v->data.n_seeds);
    lra_table_fact(t, "test_examples", (double)v->data.n);
    return t;
}

static int make(const lra_report_input *in, lra_table ***list, lra_err *e)
{
    lra_ladder_view *views;
    lra_sweep *sweeps;
    int n_views = lra_ladder_views(in->list, in->n, &in->scale, &views, e);
    if (n_views < 0) return n_views;
    int n = lra_sweeps_find(views, n_views, &sweeps, e);
    if (n > 0) {
        *list = lra_alloc_array((size_t)n, sizeof **list);
        for (int i = 0; i < n; i++) (*list)[i] = sweep_table(&sweeps[i]);
        lra_sweeps_free(sweeps, n);
    }
    lra_ladder_views_free(views, n_views);
    return n;
}

const lra_report_table lra_table_sweep = {
    "sweep", "accuracy of every rung against a parameter of the task, such as its distance", make,
    LRA_FROM_RESULTS};
