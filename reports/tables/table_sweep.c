/* Table sweep: rungs by values of a parameter, with the metric and its interval. If the parameter
 * is the distance of a task's dependencies, the correct result is known: a rung is at chance unless
 * its receptive field covers the distance. Cells with a covering field are marked, and the table
 * also has the effective distance of every rung (sweep_reach.h).
 * Source: controlled diagnostic tasks; RULER's effective length (Hsieh et al. 2024) is len with a
 * fixed threshold for the score of one model. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "kernels/base/core/config.h"
#include "kernels/base/core/mem.h"
#include "reports/ladder/ladder_views.h"
#include "reports/report.h"
#include "reports/ladder/sweep_reach.h"
#include "reports/ladder/sweep_view.h"
#include "reports/print/table.h"
#include "reports/verdict/verdict_sweep.h"
#include "reports/views/model_names.h"

enum { FIXED = 3, REACHES = 3 }; /* number of columns before and after those of the values */

static const lra_metric *metric_of(const lra_sweep *s)
{
    return lra_result_metric(s->at[0]->first);
}

static lra_table *new_table(const lra_sweep *s)
{
    static const char *const reaches[REACHES][2] = {{"d50 (tokens)", "reach_d50"},
                                                    {LRA_TABLE_CI, "reach_d50_lo,reach_d50_hi"},
                                                    {"solved (tokens)", "reach_len"}};
    const lra_ladder_view *v = s->at[0];
    const char *const fixed[FIXED][2] = {
        {v->kind.axis, "row"}, {"reach", "reach"}, {"receptive field", "field"}};
    const char *unit = metric_of(s)->scale == 100 ? "percent" : "value";
    char *head[LRA_TABLE_COLUMNS], *key[LRA_TABLE_COLUMNS];
    int n = 0;
    for (; n < FIXED; n++)
        head[n] = lra_copy_text(fixed[n][0]), key[n] = lra_copy_text(fixed[n][1]);
    for (int i = 0; i < s->n; i++) {
        head[n] = i ? lra_copy_text(s->value[i]) : lra_format("%s %s", s->key, s->value[i]);
        key[n++] = lra_format("%s_%s_%s", s->key, s->value[i], unit);
        head[n] = lra_copy_text(LRA_TABLE_CI);
        key[n++] = lra_format("%s_%s_lo,%s_%s_hi", s->key, s->value[i], s->key, s->value[i]);
    }
    for (int i = 0; i < REACHES && lra_sweep_is_distance(s); i++, n++)
        head[n] = lra_copy_text(reaches[i][0]), key[n] = lra_copy_text(reaches[i][1]);
    char *model = lra_model_shown(v->first->model, v->first->model, v->first->config);
    char *title = lra_format("Sweep: %s by %s, %s, preset %s, %s, %s; %" PRId64
                             " test examples, T <= %" PRId64 ", %d seed%s",
                             v->first->task, s->key, metric_of(s)->text, v->first->preset, model,
                             v->first->precision, v->data.n, v->data.T, v->data.n_seeds,
                             v->data.n_seeds == 1 ? "" : "s");
    lra_free(model);
    lra_table *t = lra_table_new(title, n, (const char *const *)head);
    lra_table_keys(t, (const char *const *)key);
    for (int c = 0; c < n; c++) lra_free(head[c]), lra_free(key[c]);
    lra_free(title);
    return t;
}

/* ---- effective distance of rungs ------------------------------------------------------------- */

/* Appends a distance; an infinite one, beyond the longest distance of the sweep, as "> LONGEST". */
static void add_end(lra_text *t, const lra_sweep *s, double x)
{
    if (isinf(x))
        lra_text_add(t, "> %s", s->value[s->n - 1]);
    else
        lra_text_add(t, "%.1f", x);
}

static void add_reach(lra_table *t, const lra_sweep *s, const lra_sweep_reach *x)
{
    lra_text text = {0};
    add_end(&text, s, x->half.value);
    if (isinf(x->half.value))
        lra_table_value(t, NAN, "%s", text.s);
    else
        lra_table_number(t, x->half.value, 1);
    lra_text_free(&text);
    add_end(&text, s, x->half.lo);
    lra_text_add(&text, " to ");
    add_end(&text, s, x->half.hi);
    if (isinf(x->half.lo) || isnan(x->half.lo))
        lra_table_interval(t, NAN, NAN, 1);
    else
        lra_table_interval_text(t, x->half.lo, x->half.hi, text.s);
    lra_text_free(&text);
    lra_table_number(t, x->solved, 0);
}

/* ---- rows ------------------------------------------------------------------------------------ */

static void add_rung(lra_table *t, const lra_sweep *s, int r, const lra_sweep_reach *reach)
{
    const lra_metric *m = metric_of(s);
    const lra_ladder_row *first = &s->at[0]->ladder.row[r];
    lra_table_row(t);
    char name[48];
    lra_table_cell(t, first->null_row ? "%s (bag)" : "%s",
                   lra_ladder_rung_name(&s->at[0]->kind, first->kernel, name));
    lra_table_number(t, (double)first->reach, 0);
    lra_table_number(t, (double)lra_sweep_field(s, first->reach), 0);
    for (int i = 0; i < s->n; i++) {
        lra_estimate a = lra_ladder_values(s->at[i], s->at[i]->ladder.row[r].accuracy);
        bool marked = lra_sweep_is_distance(s) && lra_sweep_covers(s, i, r);
        lra_table_value(t, m->scale * a.value, "%.*f %s", m->decimals, m->scale * a.value,
                        marked ? "*" : " ");
        lra_table_interval(t, m->scale * a.lo, m->scale * a.hi, m->decimals);
    }
    if (lra_sweep_is_distance(s)) add_reach(t, s, reach);
}

/* Adds a row of numbers, for example of a baseline, that has no reach. */
static void add_row(lra_table *t, const lra_sweep *s, const char *name,
                    double (*value)(const lra_ladder_view *v, const char *name))
{
    const lra_metric *m = metric_of(s);
    lra_table_row(t);
    lra_table_cell(t, "%s", name);
    lra_table_number(t, NAN, 0);
    lra_table_number(t, NAN, 0);
    for (int i = 0; i < s->n; i++) {
        double x = value(s->at[i], name);
        if (isnan(x))
            lra_table_number(t, NAN, 2);
        else
            lra_table_value(t, m->scale * x, "%.*f  ", m->decimals, m->scale * x);
        lra_table_interval(t, NAN, NAN, 2);
    }
    for (int i = 0; i < REACHES && lra_sweep_is_distance(s); i++) lra_table_number(t, NAN, 0);
}

static double chance_of(const lra_ladder_view *v, const char *name)
{
    (void)name;
    return lra_ladder_value(v, v->data.chance);
}

static double baseline_of(const lra_ladder_view *v, const char *name)
{
    double accuracy = lra_result_baseline_accuracy(v->first, name);
    return accuracy < 0 ? NAN : accuracy;
}

/* ---- the known truth ------------------------------------------------------------------------- */

/* Number of rungs at distance number i with lra_sweep_covers() == covers whose interval lies above
 * chance (above) or does not (!above). */
static int count_rungs(const lra_sweep *s, int i, bool covers, bool above)
{
    const lra_ladder *l = &s->at[i]->ladder;
    int n = 0;
    for (int r = 0; r < l->n_rungs; r++) {
        bool over = l->row[r].accuracy.lo > s->at[i]->data.chance;
        n += lra_sweep_covers(s, i, r) == covers && over == above;
    }
    return n;
}

static void add_truth(lra_table *t, const lra_sweep *s)
{
    bool pooled = lra_sweep_is_pooled(s);
    lra_text text = {0};
    lra_table_note(t,
                   "*\tthe receptive field, %s tokens, covers the distance; otherwise %s can "
                   "only be at chance",
                   pooled ? "2R + 1" : "R + 1",
                   pooled ? "the model, which averages over windows," : "the model");
    for (int i = 0; i < s->n; i++)
        lra_text_add(&text, "%s%s: %d of %d", i ? ", " : "", s->value[i],
                     count_rungs(s, i, true, true),
                     count_rungs(s, i, true, true) + count_rungs(s, i, true, false));
    lra_table_note(t,
                   "covered\tnumber of rungs above chance among those whose receptive field "
                   "covers the distance: %s",
                   text.s);
    lra_text_free(&text);
    for (int i = 0; i < s->n; i++)
        lra_text_add(&text, "%s%s: %d of %d", i ? ", " : "", s->value[i],
                     count_rungs(s, i, false, true),
                     count_rungs(s, i, false, true) + count_rungs(s, i, false, false));
    lra_table_note(t,
                   "not covered\tnumber of rungs above chance among those whose receptive "
                   "field does not cover the distance: %s",
                   text.s);
    lra_text_free(&text);
    lra_table_note(t, "d50\tdistance at which the gain over chance falls to half of its value "
                      "at the shortest distance");
    lra_table_note(t, "solved\tlongest distance up to which the interval of that gain lies above "
                      "0.95");
}

/* Flags about seeds that any ladder of the sweep has. */
static unsigned flags_of(const lra_sweep *s)
{
    unsigned flags = 0;
    for (int i = 0; i < s->n; i++) flags |= s->at[i]->flags;
    return flags & (LRA_FLAG_ONE_SEED | LRA_FLAG_FEW_SEEDS | LRA_FLAG_FAILED_SEEDS);
}

static void add_facts(lra_table *t, const lra_sweep *s)
{
    const lra_ladder_view *v = s->at[0];
    lra_table_fact_text(t, "task", v->first->task);
    lra_table_fact_text(t, "model", v->first->model);
    lra_table_fact_text(t, "preset", v->first->preset);
    lra_table_fact_text(t, "precision", v->first->precision);
    lra_table_fact_text(t, "metric", metric_of(s)->name);
    lra_table_fact_text(t, "key", s->key);
    lra_table_fact(t, "seeds", v->data.n_seeds);
    lra_table_fact(t, "test_examples", (double)v->data.n);
    char flags[LRA_FLAGS_TEXT];
    lra_table_fact_text(t, "flags", lra_result_flags(v->first, flags_of(s), flags));
}

/* Adds a note that lists all cells with seeds that have not learned: "K = 97 at 64 (2 of 3
 * learned)". */
static void add_failed(lra_table *t, const lra_sweep *s)
{
    lra_text text = {0};
    char name[48];
    for (int i = 0; i < s->n; i++) {
        const lra_ladder *l = &s->at[i]->ladder;
        for (int r = 0; r < l->n_rungs; r++)
            if (l->row[r].n_learned < l->row[r].n_seeds)
                lra_text_add(&text, "%s%s at %s (%d of %d learned)", text.n ? ", " : "",
                             lra_ladder_rung_name(&s->at[i]->kind, l->row[r].kernel, name),
                             s->value[i], l->row[r].n_learned, l->row[r].n_seeds);
    }
    lra_table_note(
        t,
        "failed-seeds\tseeds that did not learn are excluded from all values (with 3 seeds "
        "about half of such failures are detected): %s",
        text.s ? text.s : "");
    lra_text_free(&text);
}

static void add_seeds(lra_table *t, const lra_sweep *s)
{
    unsigned flags = flags_of(s);
    lra_table_note(
        t, "CI\t%s",
        flags & LRA_FLAG_ONE_SEED
            ? "95 % confidence interval over test examples (normal); flag one-seed: the "
              "variation over seeds is not known"
        : flags & LRA_FLAG_FEW_SEEDS
            ? "95 % confidence interval over test examples (normal) and seeds (Student t, S - 1 "
              "degrees of freedom); flag few-seeds: fewer than 5 seeds, and they vary more than "
              "the test examples"
            : "95 % confidence interval over test examples (normal) and seeds (Student t, S - 1 "
              "degrees of freedom)");
    if (flags & LRA_FLAG_FAILED_SEEDS) add_failed(t, s);
}

static lra_table *sweep_table(const lra_sweep *s)
{
    const lra_ladder_view *v = s->at[0];
    lra_table *t = new_table(s);
    lra_sweep_reach *reach = lra_sweep_is_distance(s) ? lra_sweep_reaches(s) : NULL;
    for (int r = 0; r < v->ladder.n_rungs; r++) add_rung(t, s, r, reach ? &reach[r] : NULL);
    lra_verdict_of_sweep(s, reach, &t->verdict);
    lra_free(reach);
    add_row(t, s, "chance", chance_of);
    for (int b = 0; b < v->first->n_baselines; b++)
        add_row(t, s, v->first->baseline_name[b], baseline_of);
    if (lra_sweep_is_distance(s)) add_truth(t, s);
    add_seeds(t, s);
    add_facts(t, s);
    lra_table_add_constant(t, "setting", s->key);
    lra_table_add_constant(t, "task", v->first->task);
    lra_table_add_constant(t, "model", v->first->model);
    lra_table_add_constant(t, "preset", v->first->preset);
    lra_table_add_constant(t, "precision", v->first->precision);
    lra_table_add_constant(t, "axis", v->kind.axis);
    lra_table_add_constant(t, "match", v->kind.match);
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

/* ---- one row for each rung and value --------------------------------------------------------- */

enum { RECORD = 21 };

/* A long table being filled, and the settings of its rows so far; there will be one column for each
 * key that a sweep varies. */
typedef struct {
    lra_table *t;
    lra_text values; /* one line "distance=4\n" per row */
} records_of;

/* Starts a row: name, kind, reach, receptive field. */
static void start_record(records_of *to, const lra_sweep *s, int i, const char *what,
                         const char *kind, int64_t reach)
{
    bool rung = reach >= 0;
    lra_table_row(to->t);
    lra_table_cell(to->t, "%s", what);
    lra_table_cell(to->t, "%s", kind);
    lra_table_number(to->t, rung ? (double)reach : NAN, 0);
    lra_table_number(to->t, rung ? (double)lra_sweep_field(s, reach) : NAN, 0);
    lra_table_cell(to->t, "%s", s->key);
    lra_text_add(&to->values, "%s=%s\n", s->key, s->value[i]);
}

/* Ends a row: value with its interval, and identity of the ladder. */
static void end_record(records_of *to, const lra_sweep *s, int i, double value, double lo,
                       double hi, double covers, const lra_sweep_reach *reach)
{
    const lra_ladder_view *v = s->at[i];
    const char *const text[] = {v->first->task,       v->first->model, v->first->preset,
                                v->first->precision,  v->kind.axis,    v->kind.match,
                                v->first->fingerprint};
    lra_table_cell(to->t, "%s", metric_of(s)->name);
    lra_table_number(to->t, value, 6);
    lra_table_interval(to->t, lo, hi, 6);
    lra_table_number(to->t, lra_ladder_value(v, v->data.chance), 6);
    lra_table_number(to->t, covers, 0);
    lra_table_number(to->t, v->data.n_seeds, 0);
    for (int k = 0; k < 7; k++) lra_table_cell(to->t, "%s", text[k]);
    if (reach) add_reach(to->t, s, reach);
    for (int k = 0; k < REACHES && !reach; k++) lra_table_number(to->t, NAN, 0);
}

/* Adds the rows of ladder i of a sweep. reach: effective distance of each rung. Nullable: reach */
static void add_records(records_of *to, const lra_sweep *s, int i, const lra_sweep_reach *reach)
{
    const lra_ladder_view *v = s->at[i];
    char name[48];
    for (int r = 0; r < v->ladder.n_rungs; r++) {
        const lra_ladder_row *row = &v->ladder.row[r];
        lra_estimate a = lra_ladder_values(v, row->accuracy);
        start_record(to, s, i, lra_ladder_rung_name(&v->kind, row->kernel, name),
                     row->null_row ? "bag" : "rung", row->reach);
        end_record(to, s, i, a.value, a.lo, a.hi,
                   lra_sweep_is_distance(s) ? lra_sweep_covers(s, i, r) : NAN,
                   reach ? &reach[r] : NULL);
    }
    for (int b = 0; b < v->first->n_baselines; b++) {
        double x = baseline_of(v, v->first->baseline_name[b]);
        start_record(to, s, i, v->first->baseline_name[b], "baseline", -1);
        end_record(to, s, i, x, NAN, NAN, NAN, NULL);
    }
}

/* Adds one column for each key that a sweep varies. */
static void add_settings(records_of *to)
{
    lra_config *keys = lra_config_parse(to->values.s ? to->values.s : "", NULL);
    int n = to->t->n_rows;
    char **copy = lra_alloc_array((size_t)n + 1, sizeof *copy);
    for (int k = 0; lra_config_key(keys, k); k++) {
        const char *at = to->values.s, *key = lra_config_key(keys, k);
        size_t length = strlen(key);
        for (int r = 0; r < n; r++) {
            size_t line = strcspn(at, "\n");
            bool own = strncmp(at, key, length) == 0 && at[length] == '=';
            copy[r] = own ? lra_format("%.*s", (int)(line - length - 1), at + length + 1) : NULL;
            at += line + 1;
        }
        lra_table_add_values(to->t, key, (const char *const *)copy);
        for (int r = 0; r < n; r++) lra_free(copy[r]);
    }
    lra_free(copy);
    lra_config_free(keys);
}

/* Makes the table for CSV and JSON: one row for each rung or baseline and value of the setting, of
 * all sweeps. */
static lra_table *records(const lra_report_input *in, lra_table *const *list, int n)
{
    static const char *const key[RECORD] = {
        "row",      "kind",    "reach",     "field",
        "setting",  "metric",  "value",     "value_lo,value_hi",
        "chance",   "covered", "seeds",     "task",
        "model",    "preset",  "precision", "axis",
        "match",    "data",    "reach_d50", "reach_d50_lo,reach_d50_hi",
        "reach_len"};
    static const char *const head[RECORD] = {"", "", "", "", "", "", "", "", "", "", "",
                                             "", "", "", "", "", "", "", "", "", ""};
    (void)list, (void)n;
    records_of to = {.t = lra_table_new("Sweeps: a row for each rung and value", RECORD, head)};
    lra_ladder_view *views;
    lra_sweep *sweeps;
    lra_table_keys(to.t, key);
    int n_views = lra_ladder_views(in->list, in->n, &in->scale, &views, NULL);
    int n_sweeps = n_views > 0 ? lra_sweeps_find(views, n_views, &sweeps, NULL) : 0;
    for (int k = 0; k < n_sweeps; k++) {
        lra_sweep_reach *reach = lra_sweep_is_distance(&sweeps[k]) ? lra_sweep_reaches(&sweeps[k])
                                                                   : NULL;
        for (int i = 0; i < sweeps[k].n; i++) add_records(&to, &sweeps[k], i, reach);
        lra_free(reach);
    }
    add_settings(&to);
    lra_text_free(&to.values);
    if (n_sweeps > 0) lra_sweeps_free(sweeps, n_sweeps);
    if (n_views >= 0) lra_ladder_views_free(views, n_views);
    return to.t;
}

const lra_report_table lra_table_sweep = {
    "sweep", "value of every rung at each value of a task parameter, such as the distance", make,
    LRA_FROM_RESULTS, records};
