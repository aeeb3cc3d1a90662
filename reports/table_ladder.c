/* The table of a ladder: rungs, null row, baselines, locality index, acceptance. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "kernels/base/mem.h"
#include "reports/report.h"
#include "reports/table.h"

enum { COLUMNS = 21, VALUE = 3 };
/* The last columns say in every row of CSV and JSON what the title says to people. */
static const char *const head[COLUMNS] = {"kernel", "a layer", "reach", "acc. %", "95 %",   "+- t",
                                          "gain",   "95 %",    "ratio", "seeds",  "preset", "prec.",
                                          "",       "",        "",      "",       "",       "",
                                          "",       "",        ""};
static const char *const key[COLUMNS] = {"row",
                                         "reach_per_layer",
                                         "reach",
                                         "accuracy_percent",
                                         "accuracy_percent_lo,accuracy_percent_hi",
                                         "accuracy_percent_t_half_width",
                                         "gain",
                                         "gain_lo,gain_hi",
                                         "ratio",
                                         "seeds",
                                         "preset",
                                         "precision",
                                         "kind",
                                         "kernel",
                                         "task",
                                         "model",
                                         "test_examples",
                                         "max_length",
                                         "reference",
                                         "chance",
                                         "flags"};

/* An empty table of the ladder's metric; values of another one than accuracy stand as they are. */
static lra_table *new_table(const char *title, const lra_metric *m)
{
    static const char *const value_key[] = {"value", "value_lo,value_hi", "value_t_half_width"};
    const char *own_head[COLUMNS], *own_key[COLUMNS];
    bool other = strcmp(m->name, "accuracy") != 0;
    for (int c = 0; c < COLUMNS; c++) own_head[c] = head[c], own_key[c] = key[c];
    if (other) own_head[VALUE] = m->text;
    for (int c = 0; c < 3 && other; c++) own_key[VALUE + c] = value_key[c];
    lra_table *t = lra_table_new(title, COLUMNS, own_head);
    lra_table_keys(t, own_key);
    return t;
}

static bool at_chance(const lra_ladder_view *v)
{
    return v->ladder.reference <= v->data.chance;
}

/* at-chance: the reference is not above chance, so that there are no gains. */
static const char *flags_of(const lra_ladder_view *v, char text[64])
{
    return lra_result_flags(v->first, v->data.n_seeds, at_chance(v), text);
}

static void add_setting(lra_table *t, const lra_ladder_view *v, const char *kind, int64_t kernel)
{
    lra_table_cell(t, "%s", kind);
    lra_table_number(t, kernel ? (double)kernel : NAN, 0);
    char flags[64];
    lra_table_cell(t, "%s", v->first->task);
    lra_table_cell(t, "%s", v->first->model);
    lra_table_number(t, (double)v->data.n, 0);
    lra_table_number(t, (double)v->data.T, 0);
    lra_table_cell(t, "%s", v->reference);
    lra_table_cell(t, "%s", v->chance);
    lra_table_cell(t, "%s", kernel ? flags_of(v, flags) : "");
}

/* All taps of its convolutions are at the present and in the past. */
static bool is_causal(const lra_result *r)
{
    return strstr(r->config, "model.causal=1\n") != NULL;
}

static void add_rung(lra_table *t, const lra_ladder_view *v, int r)
{
    const lra_ladder_row *row = &v->ladder.row[r];
    const lra_metric *m = v->metric;
    lra_estimate value = lra_ladder_values(v, row->accuracy);
    double half_width = m->scale * (row->over_seeds.hi - row->over_seeds.lo) / 2;
    bool all = row->reach == v->data.T;
    lra_table_row(t);
    lra_table_cell(t, row->null_row ? "K = %" PRId64 " (null)" : "K = %" PRId64, row->kernel);
    lra_table_number(t, (double)(row->kernel - 1) / (is_causal(v->first) ? 1 : 2), 0);
    lra_table_value(t, (double)row->reach, all ? "%" PRId64 " (all)" : "%" PRId64, row->reach);
    lra_table_number(t, m->scale * value.value, m->decimals);
    lra_table_interval(t, m->scale * value.lo, m->scale * value.hi, m->decimals);
    lra_table_number(t, v->data.n_seeds > 1 ? half_width : NAN, m->decimals);
    lra_table_number(t, row->gain.value, 3);
    lra_table_interval(t, row->gain.lo, row->gain.hi, 3);
    lra_table_number(t, row->ratio, 3);
    lra_table_number(t, v->data.n_seeds, 0);
    lra_table_cell(t, "%s", v->first->preset);
    lra_table_cell(t, "%s", v->first->precision);
    add_setting(t, v, row->null_row ? "null" : "rung", row->kernel);
}

static void add_baseline(lra_table *t, const lra_ladder_view *v, const char *name, double accuracy)
{
    const lra_ladder_data *d = &v->data;
    lra_estimate w = lra_wilson(accuracy * (double)d->n, (double)d->n, 0.95);
    lra_table_row(t);
    lra_table_cell(t, "%s", name);
    lra_table_number(t, NAN, 0);
    lra_table_number(t, NAN, 0);
    lra_table_number(t, 100 * accuracy, 2);
    lra_table_interval(t, 100 * w.lo, 100 * w.hi, 2);
    lra_table_number(t, NAN, 0);
    double span = v->ladder.reference - d->chance;
    lra_table_number(t, span > 0 ? (accuracy - d->chance) / span : NAN, 3);
    lra_table_interval(t, NAN, NAN, 3);
    lra_table_number(t, accuracy / v->ladder.reference, 3);
    lra_table_number(t, NAN, 0);
    lra_table_cell(t, "%s", v->first->preset);
    lra_table_cell(t, "-");
    add_setting(t, v, "baseline", 0);
}

/* "7.8", "> 32" when never. */
static char *length_text(char text[32], double x, int64_t T)
{
    if (isinf(x))
        snprintf(text, 32, "> %" PRId64, T);
    else
        snprintf(text, 32, "%.1f", x);
    return text;
}

static void add_radius(lra_table *t, const lra_ladder_view *v)
{
    lra_text text = {0};
    int64_t T = v->data.T;
    for (int i = 0; i < LRA_LADDER_RADII; i++) {
        const lra_estimate *r = &v->ladder.radius[i];
        char value[32], lo[32], hi[32];
        lra_text_add(&text, "%s%s (%s to %s)", i ? ", " : "", length_text(value, r->value, T),
                     length_text(lo, r->lo, T), length_text(hi, r->hi, T));
    }
    lra_table_note(t, "radius\ttokens to each side, 1, 2, 5 %s the reference: %s",
                   v->measure ? "% of the gain below" : "points from", text.s);
    lra_text_free(&text);
}

/* What the notes say, for JSON. */
static void add_estimate(lra_table *t, const char *name, const lra_estimate *x, double unit)
{
    static const char *const ends[] = {"", "_lo", "_hi"};
    const double value[] = {x->value, x->lo, x->hi};
    for (int i = 0; i < 3; i++) {
        char *full = lra_format("%s%s", name, ends[i]);
        lra_table_fact(t, full, unit * value[i]);
        lra_free(full);
    }
}

static void add_facts(lra_table *t, const lra_ladder_view *v)
{
    const lra_ladder *l = &v->ladder;
    const lra_result *r = v->first;
    lra_table_fact_text(t, "task", r->task);
    lra_table_fact_text(t, "model", r->model);
    lra_table_fact_text(t, "preset", r->preset);
    lra_table_fact_text(t, "precision", r->precision);
    lra_table_fact_text(t, "data", r->fingerprint);
    lra_table_fact(t, "seeds", v->data.n_seeds);
    lra_table_fact(t, "test_examples", (double)v->data.n);
    lra_table_fact(t, "max_length", (double)v->data.T);
    if (r->grid > 0) lra_table_fact(t, "grid", (double)r->grid);
    lra_table_fact_text(t, "reference", v->reference);
    const lra_metric *m = v->metric;
    bool percent = m->scale == 100;
    lra_table_fact_text(t, "metric", m->name);
    lra_table_fact(t, percent ? "reference_percent" : "reference_value",
                   m->scale * lra_ladder_value(v, l->reference));
    lra_table_fact_text(t, "chance", v->chance);
    lra_table_fact(t, percent ? "chance_percent" : "chance_value",
                   m->scale * lra_ladder_value(v, v->data.chance));
    add_estimate(t, "li", &l->li, 1);
    add_estimate(t, "li_raw", &l->li_raw, 1);
    lra_table_fact(t, "first_reach", (double)l->first_reach);
    add_estimate(t, "radius_1", &l->radius[0], 1);
    add_estimate(t, "radius_2", &l->radius[1], 1);
    add_estimate(t, "radius_5", &l->radius[2], 1);
    lra_estimate growth = lra_ladder_values(v, l->widest_minus_narrowest);
    add_estimate(t, percent ? "widest_minus_narrowest_percent" : "widest_minus_narrowest", &growth,
                 m->scale);
    char flags[64];
    lra_table_fact_text(t, "flags", flags_of(v, flags));
}

/* A ladder that says something: reach helps, and every rung beats what needs no order. */
static void add_acceptance(lra_table *t, const lra_ladder_view *v)
{
    const lra_ladder *l = &v->ladder;
    double baseline = -1;
    const char *name = lra_result_simple_baseline(v->first, &baseline);
    bool null_row = l->row[0].null_row, above = true;
    for (int r = null_row; r < l->n_rungs; r++) {
        double accuracy = l->row[r].accuracy.value;
        above = above && (!name || accuracy > baseline) && accuracy > v->data.chance;
        if (null_row) above = above && accuracy > l->row[0].accuracy.value;
    }
    const lra_metric *m = v->metric;
    const lra_estimate *gained = &l->widest_minus_narrowest;
    lra_estimate growth = lra_ladder_values(v, *gained);
    lra_table_note(t, "growth\twidest - narrowest rung: %+.*f%s (%+.*f to %+.*f)%s", m->decimals,
                   m->scale * growth.value, *m->unit ? " points" : "", m->decimals,
                   m->scale * growth.lo, m->decimals, m->scale * growth.hi,
                   gained->lo > 0   ? ""
                   : gained->hi < 0 ? "; the narrowest rung is the better one"
                                    : "; the interval does not exclude 0");
    lra_table_note(t, "check\t%s rung with R > 0 is %s chance%s%s%s", above ? "every" : "not every",
                   m->lower ? "better than" : "above", name ? ", " : "", name ? name : "",
                   null_row ? ", the null row" : "");
}

/* Where reach becomes two-dimensional. */
static void add_grid(lra_table *t, const lra_ladder_view *v)
{
    int64_t grid = v->first->grid;
    int r = 0;
    while (r < v->ladder.n_rungs && v->ladder.row[r].reach < grid) r++;
    if (grid <= 0) return;
    char *from = r < v->ladder.n_rungs ? lra_format("from K = %" PRId64 " (R = %" PRId64 ") on",
                                                    v->ladder.row[r].kernel, v->ladder.row[r].reach)
                                       : lra_format("in no rung");
    lra_table_note(t,
                   "rows\timages of %" PRId64 " x %" PRId64 " pixels, read row by row: the "
                   "pixel below is reached %s",
                   grid, grid, from);
    lra_free(from);
}

static void add_notes(lra_table *t, const lra_ladder_view *v)
{
    const lra_ladder *l = &v->ladder;
    if (at_chance(v))
        lra_table_note(t, "LI\tnone: the reference is not above chance; flag at-chance");
    else
        lra_table_note(t,
                       "LI\t%.3f (%.3f to %.3f), LI.raw %.3f (%.3f to %.3f), from R_1 = %" PRId64
                       " to T = %" PRId64,
                       l->li.value, l->li.lo, l->li.hi, l->li_raw.value, l->li_raw.lo, l->li_raw.hi,
                       l->first_reach, v->data.T);
    char reference[32], chance[32];
    lra_metric_value_text(v->metric, lra_ladder_value(v, l->reference), reference);
    lra_metric_value_text(v->metric, lra_ladder_value(v, v->data.chance), chance);
    lra_table_note(t, "reference\t%s, %s; chance %s, %s", reference, v->reference, chance,
                   v->chance);
    if (!at_chance(v)) add_radius(t, v);
    add_grid(t, v);
    add_acceptance(t, v);
    lra_table_note(t, "intervals\t%s",
                   v->data.n_seeds == 1 && !v->measure
                       ? "Wilson and bootstrap of examples; flag few-seeds"
                   : v->data.n_seeds < 3 ? "bootstrap of examples; flag few-seeds"
                                         : "bootstrap of examples crossed with seeds");
    if (v->data.n_seeds < 3)
        lra_table_note(t, "few-seeds\tthe intervals do not cover the variation of training: use 3 "
                          "seeds or more");
    if (lra_result_selected_on_test(v->first))
        lra_table_note(t, "selected-on-test\tweights were chosen by accuracy on the test split, as "
                          "published results of this task were");
    if (v->data.n_seeds > 1) lra_table_note(t, "+- t\thalf width of the t interval over seeds");
    if (v->n_left_out)
        lra_table_note(t, "left out\t%d results of seeds that not every kernel has", v->n_left_out);
}

static lra_table *ladder_table(const lra_ladder_view *v)
{
    const lra_result *r = v->first;
    char *title = lra_format("Ladder: %s, preset %s, %s, %s; %" PRId64
                             " test examples, T <= %" PRId64 ", %d seed%s",
                             r->task, r->preset, r->model, r->precision, v->data.n, v->data.T,
                             v->data.n_seeds, v->data.n_seeds == 1 ? "" : "s");
    lra_table *t = new_table(title, v->metric);
    lra_free(title);
    for (int i = 0; i < v->ladder.n_rungs; i++) add_rung(t, v, i);
    for (int b = 0; b < r->n_baselines; b++) {
        /* Deeper shallow evaluators belong to the breakdown by operator. */
        const char *name = r->baseline_name[b];
        if (strncmp(name, "shallow-", 8) == 0 && strcmp(name + 10, "3") > 0) continue;
        add_baseline(t, v, name, lra_result_baseline_accuracy(r, name));
    }
    add_notes(t, v);
    add_facts(t, v);
    return t;
}

static int make(const lra_report_input *in, lra_table ***list, lra_err *e)
{
    lra_ladder_view *views;
    int n = lra_ladder_views(in->list, in->n, &in->scale, &views, e);
    if (n < 0) return n;
    *list = lra_alloc_array((size_t)n, sizeof **list);
    for (int i = 0; i < n; i++) (*list)[i] = ladder_table(&views[i]);
    lra_ladder_views_free(views, n);
    return n;
}

const lra_report_table lra_table_ladder = {
    "ladder", "accuracy against reach, baselines, locality index", make, LRA_FROM_RESULTS};
