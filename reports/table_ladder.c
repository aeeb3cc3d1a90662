/* The table of a ladder: rungs, null row, baselines, locality index, acceptance. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "kernels/base/mem.h"
#include "reports/report.h"
#include "reports/table.h"

enum { COLUMNS = 11 };
static const char *const head[COLUMNS] = {"kernel", "a layer", "reach", "accuracy %",
                                          "95 %",   "gain",    "95 %",  "ratio",
                                          "seeds",  "preset",  "prec."};

static void add_rung(lra_table *t, const lra_ladder_view *v, int r)
{
    const lra_ladder_row *row = &v->ladder.row[r];
    bool all = row->reach == v->data.T;
    lra_table_row(t);
    lra_table_cell(t, row->null_row ? "K = %" PRId64 " (null)" : "K = %" PRId64, row->kernel);
    lra_table_cell(t, "%" PRId64, (row->kernel - 1) / 2);
    lra_table_cell(t, all ? "%" PRId64 " (all)" : "%" PRId64, row->reach);
    lra_table_cell(t, "%.2f", 100 * row->accuracy.value);
    lra_table_cell(t, "%.2f-%.2f", 100 * row->accuracy.lo, 100 * row->accuracy.hi);
    lra_table_cell(t, "%.3f", row->gain.value);
    lra_table_cell(t, "%.3f-%.3f", row->gain.lo, row->gain.hi);
    lra_table_cell(t, "%.3f", row->ratio);
    lra_table_cell(t, "%d", v->data.n_seeds);
    lra_table_cell(t, "%s", v->first->preset);
    lra_table_cell(t, "%s", v->first->precision);
}

static void add_baseline(lra_table *t, const lra_ladder_view *v, const char *name, double accuracy)
{
    const lra_ladder_data *d = &v->data;
    lra_estimate w = lra_wilson(accuracy * (double)d->n, (double)d->n, 0.95);
    lra_table_row(t);
    lra_table_cell(t, "%s", name);
    lra_table_cell(t, "-");
    lra_table_cell(t, "-");
    lra_table_cell(t, "%.2f", 100 * accuracy);
    lra_table_cell(t, "%.2f-%.2f", 100 * w.lo, 100 * w.hi);
    lra_table_cell(t, "%.3f", (accuracy - d->chance) / (v->ladder.reference - d->chance));
    lra_table_cell(t, "-");
    lra_table_cell(t, "%.3f", accuracy / v->ladder.reference);
    lra_table_cell(t, "-");
    lra_table_cell(t, "%s", v->first->preset);
    lra_table_cell(t, "-");
}

static void add_radius(lra_table *t, const lra_ladder *l, int64_t T)
{
    static const int points[] = {1, 2, 5};
    lra_text text = {0};
    for (int i = 0; i < 3; i++) {
        if (isinf(l->radius[i]))
            lra_text_add(&text, "%s%d: > %" PRId64, i ? ", " : "", points[i], T);
        else
            lra_text_add(&text, "%s%d: %.1f", i ? ", " : "", points[i], l->radius[i]);
    }
    lra_table_note(t, "radius    tokens to each side within that many points of the reference: %s",
                   text.s);
    lra_text_free(&text);
}

/* DESIGN of a ladder that says something: order holds, and every rung beats what needs no order. */
static void add_acceptance(lra_table *t, const lra_ladder_view *v)
{
    const lra_ladder *l = &v->ladder;
    double baseline = lra_result_baseline_accuracy(v->first, "majority-by-operator");
    bool grows = l->widest_minus_narrowest.lo > 0, above = true;
    for (int r = 0; r < l->n_rungs; r++) {
        if (l->row[r].null_row) continue;
        if (l->row[r].accuracy.value <= baseline) above = false;
        if (l->row[0].null_row && l->row[r].accuracy.value <= l->row[0].accuracy.value)
            above = false;
    }
    lra_table_note(t, "widest - narrowest  %+.2f points (%+.2f to %+.2f)%s",
                   100 * l->widest_minus_narrowest.value, 100 * l->widest_minus_narrowest.lo,
                   100 * l->widest_minus_narrowest.hi,
                   grows ? "" : ": the interval does not exclude 0");
    lra_table_note(
        t, above ? "every rung with R > 0 is above majority-by-operator and the null row"
                 : "not every rung with R > 0 is above majority-by-operator and the null row");
}

static void add_notes(lra_table *t, const lra_ladder_view *v)
{
    const lra_ladder *l = &v->ladder;
    lra_table_note(t,
                   "LI        %.3f (%.3f to %.3f), LI.raw %.3f (%.3f to %.3f), from R_1 = %" PRId64
                   " to T = %" PRId64,
                   l->li.value, l->li.lo, l->li.hi, l->li_raw.value, l->li_raw.lo, l->li_raw.hi,
                   l->first_reach, v->data.T);
    lra_table_note(t, "reference %.2f %%, %s; chance %.2f %%, %s", 100 * l->reference, v->reference,
                   100 * v->data.chance, v->chance);
    add_radius(t, l, v->data.T);
    add_acceptance(t, v);
    lra_table_note(t, "intervals %s",
                   v->data.n_seeds == 1  ? "Wilson, examples only; flag one-seed"
                   : v->data.n_seeds < 3 ? "bootstrap of examples; flag few-seeds"
                                         : "bootstrap of examples crossed with seeds");
    if (v->n_left_out)
        lra_table_note(t, "left out  %d results of seeds that not every kernel has", v->n_left_out);
}

static lra_table *ladder_table(const lra_ladder_view *v)
{
    const lra_result *r = v->first;
    char *title = lra_format("Ladder: %s, preset %s, %s, %s; %" PRId64
                             " test examples, T <= %" PRId64 ", %d seed%s",
                             r->task, r->preset, r->model, r->precision, v->data.n, v->data.T,
                             v->data.n_seeds, v->data.n_seeds == 1 ? "" : "s");
    lra_table *t = lra_table_new(title, COLUMNS, head);
    lra_free(title);
    for (int i = 0; i < v->ladder.n_rungs; i++) add_rung(t, v, i);
    for (int b = 0; b < r->n_baselines; b++) {
        /* Deeper shallow evaluators belong to the breakdown by operator. */
        const char *name = r->baseline_name[b];
        if (strncmp(name, "shallow-", 8) == 0 && strcmp(name + 10, "3") > 0) continue;
        add_baseline(t, v, name, lra_result_baseline_accuracy(r, name));
    }
    add_notes(t, v);
    return t;
}

int lra_report_ladder(FILE *out, const lra_report_input *in, const char *format, lra_err *e)
{
    lra_ladder_view *views;
    int n_views = lra_ladder_views(in->list, in->n, &in->scale, &views, e);
    int rc = n_views < 0 ? n_views : 0;
    for (int i = 0; i < n_views && rc == 0; i++) {
        lra_table *t = ladder_table(&views[i]);
        if (i) fputc('\n', out);
        rc = lra_table_print(t, format, out, e);
        lra_table_free(t);
    }
    if (n_views > 0) lra_ladder_views_free(views, n_views);
    return rc;
}

const lra_report_table lra_table_ladder = {
    "ladder", "accuracy against reach, baselines, locality index", lra_report_ladder};
