/* Table locality: one row per model, with its metric, the distance of the tokens on which it
 * relies, the decay of their influence, and the distance limit that it needs; with intervals, and
 * null values for uniform and for initial weights.
 *   complete model   Jacobians of positions: mean distance relative to uniform weights, radius that
 *                    contains 95 %, entropy, decay; smallest limits of all layers (cut) and of
 *                    attention (window) that keep 99 % of the gain, and of the model as a whole
 *                    (context) that keeps 95 %
 *   layers           kernels (energy) and heads (weight): mean distance relative to uniform weights
 * A missing value is a dash with a letter for its reason.
 * Source of the numbers: lra-probe train, influence, kernels, attention. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/decay.h"
#include "analysis/measurement_info.h"
#include "kernels/base/core/mem.h"
#include "reports/views/locality_view.h"
#include "reports/views/measurement_columns.h"
#include "reports/views/probe_measurements.h"
#include "reports/report.h"
#include "reports/verdict/verdict_locality.h"
#include "reports/views/model_names.h"

enum { BEFORE = 13, AFTER = 9, MOST_REASONS = 26 };

/* Reasons for missing values, in order of occurrence; letter 'a' + i stands for reason i. */
typedef struct {
    int n;
    const char *text[MOST_REASONS];
} reasons;

static int letter_of(reasons *r, const char *text)
{
    int i = 0;
    while (i < r->n && strcmp(r->text[i], text) != 0) i++;
    if (i == r->n && r->n < MOST_REASONS) r->text[r->n++] = text;
    return i < MOST_REASONS ? 'a' + i : 'z';
}

/* True if c->columns contains the letter, as uppercase (a column in text) or as lowercase (CSV and
 * JSON only). */
static bool has_column(const lra_locality_column *c, char letter)
{
    const char both[] = {letter, (char)toupper((unsigned char)letter), 0};
    return strpbrk(c->columns, both) != NULL;
}

static void name_measurement(lra_columns *all, lra_locality what)
{
    const lra_locality_column c = lra_locality_column_of(what);
    static const struct {
        char letter;
        lra_column_kind kind;
    } more[] = {{'e', LRA_COLUMN_UNIFORM}, {'i', LRA_COLUMN_INITIAL}};
    lra_columns_measurement(all, c.prefix, c.id, LRA_COLUMN_VALUE, strchr(c.columns, 'V'));
    lra_columns_measurement(all, c.prefix, c.id, LRA_COLUMN_INTERVAL, strchr(c.columns, '-'));
    for (int k = 0; k < 2; k++)
        if (has_column(&c, more[k].letter))
            lra_columns_measurement(all, c.prefix, c.id, more[k].kind,
                                    strchr(c.columns, toupper((unsigned char)more[k].letter)));
}

static lra_table *new_table(void)
{
    static const char *const before[BEFORE][2] = {
        {"model", "model"},   {"task", "task"},
        {"", "preset"},       {"", "precision"},
        {"", "data"},         {"", "run"},
        {"T", "max_length"},  {"seeds", "seeds"},
        {"value", "value"},   {LRA_TABLE_CI, "value_lo,value_hi"},
        {"chance", "chance"}, {"", "metric"},
        {"mask", "mask"}};
    static const char *const after[AFTER][2] = {
        {"growth", "dist_mean_grew"},
        {LRA_TABLE_CI, "dist_mean_grew_lo,dist_mean_grew_hi"},
        {"decay", "decay"},
        {"decay CI", ""}, /* the interval of tau or of beta, which have CSV columns of their own */
        {"decay initial", ""},
        {"", "decay_none"},
        {"", "decay_exp"},
        {"", "decay_power"},
        {"", "missing"}};
    lra_columns all = {.n = 0};
    for (int i = 0; i < BEFORE; i++) lra_columns_add(&all, before[i][0], before[i][1]);
    for (int i = 0; i < LRA_LOCALITIES; i++) name_measurement(&all, (lra_locality)i);
    for (int i = 0; i < AFTER; i++) lra_columns_add(&all, after[i][0], after[i][1]);
    return lra_columns_table(&all, "Distance of influential tokens by model, after training and "
                                   "at initialisation");
}

static void add_who(lra_table *t, const lra_locality_row *row)
{
    char text[32];
    const lra_result *r = row->group->run[0];
    const lra_metric *m = lra_result_metric(r);
    double chance = lra_result_chance(r);
    lra_table_row(t);
    lra_table_model(t, row->name, r->model, r->config);
    lra_table_cell(t, "%s", r->task);
    lra_table_cell(t, "%s", r->preset);
    lra_table_cell(t, "%s", r->precision);
    lra_table_cell(t, "%s", r->fingerprint);
    lra_table_cell(t, "%s", r->run);
    lra_table_number(t, (double)r->max_length, 0);
    lra_table_number(t, row->group->n, 0);
    lra_table_value(t, row->value.value, "%s", lra_metric_value_text(m, row->value.value, text));
    lra_table_scaled_interval(t, row->value.lo, row->value.hi, m->scale, m->decimals);
    lra_table_value(t, chance, "%s", lra_metric_value_text(m, chance, text));
    lra_table_cell(t, "%s", m->name);
    lra_table_cell(t, "%s", lra_mask_names[row->mask]);
}

static void add_numbers(lra_table *t, const lra_locality_row *row, reasons *why)
{
    for (int i = 0; i < LRA_LOCALITIES; i++) {
        const lra_locality_column c = lra_locality_column_of((lra_locality)i);
        const lra_measurement *f = &row->at[i];
        if (row->missing[i] && strchr(c.columns, 'V'))
            lra_table_value(t, NAN, "- %c", letter_of(why, row->missing[i]));
        else
            lra_measurement_add_value(t, f);
        lra_measurement_add_interval(t, f);
        if (has_column(&c, 'e')) lra_measurement_add_number(t, f, f->null[LRA_NULL_UNIFORM]);
        if (has_column(&c, 'i')) lra_measurement_add_number(t, f, row->initial[i].value);
    }
}

/* Adds the growth of the mean distance, then the decay law of most seeds with its tau or beta: "exp
 * 12.3", "power 1.30 (2 of 3)" or "none". */
static void add_growth_and_decay(lra_table *t, const lra_locality_row *row, reasons *why)
{
    int seeds = 0, most = LRA_DECAY_NONE;
    for (int k = 0; k < 3; k++) {
        seeds += row->decay[k];
        if (row->decay[k] > row->decay[most]) most = k;
    }
    lra_locality of = most == LRA_DECAY_POWER ? LRA_LOCALITY_BETA : LRA_LOCALITY_TAU;
    lra_measurement f = row->at[of], initial = row->initial[of];
    if (seeds == 0 || most == LRA_DECAY_NONE) f = initial = lra_measurement_of("decay.tau", NAN);
    lra_text text = {0};
    lra_measurement_add_number(t, &row->grew, row->grew.value);
    lra_measurement_add_interval(t, &row->grew);
    if (seeds == 0) {
        const char *missing = row->missing[LRA_LOCALITY_REL];
        lra_table_value(t, NAN, "- %c",
                        letter_of(why, missing ? missing : "too few distances for a fit"));
    } else {
        lra_text_add(&text, "%s", lra_decay_names[most]);
        if (most != LRA_DECAY_NONE)
            lra_text_add(&text, isfinite(f.value) ? " %.3g" : " > T", f.value);
        if (row->decay[most] < seeds) lra_text_add(&text, " (%d of %d)", row->decay[most], seeds);
        lra_table_cell(t, "%s", text.s);
    }
    lra_measurement_add_interval(t, &f);
    lra_measurement_add_number(t, &f, initial.value);
    for (int k = 0; k < 3; k++) lra_table_number(t, seeds ? (double)row->decay[k] : (double)NAN, 0);
    lra_text_free(&text);
}

/* Adds the reasons for empty fields, for CSV and JSON: "window_w99: ...; ...". */
static void add_missing(lra_table *t, const lra_locality_row *row)
{
    lra_text text = {0};
    for (int i = 0; i < LRA_LOCALITIES; i++) {
        const lra_locality_column c = lra_locality_column_of((lra_locality)i);
        if (!row->missing[i]) continue;
        char *key = lra_measurement_key(c.id);
        lra_text_add(&text, "%s%s%s%s: %s", text.n ? "; " : "", c.prefix ? c.prefix : "",
                     c.prefix ? "_" : "", key, row->missing[i]);
        lra_free(key);
    }
    lra_table_cell(t, "%s", text.s ? text.s : "");
    lra_text_free(&text);
}

/* Adds notes on measurements that cover fewer seeds than were trained. */
static void note_seeds(lra_table *t, const lra_locality_row *row)
{
    for (int i = 0; i < LRA_LOCALITIES; i++) {
        const lra_locality_column c = lra_locality_column_of((lra_locality)i);
        const lra_measurement *f = &row->at[i];
        if (row->missing[i] || row->reference) continue;
        if (!strchr(c.columns, 'V') || f->seeds == row->group->n) continue;
        char *head = lra_measurement_head(c.id);
        lra_table_note(t, "%s, %s\t%s%s%s: measured for %d of %d seeds", row->name,
                       row->group->run[0]->task, c.prefix ? c.prefix : "", c.prefix ? " " : "",
                       head, (int)f->seeds, row->group->n);
        lra_free(head);
    }
}

/* Adds a note with the causal models whose null values were computed by an older version, with a
 * baseline that covers both sides. */
static void note_ahead(lra_table *t, const lra_locality_view *v)
{
    lra_text text = {0};
    for (int i = 0; i < v->n; i++)
        if (v->row[i].ahead) lra_text_add(&text, "%s%s", text.n ? ", " : "", v->row[i].name);
    if (text.n)
        lra_table_note(
            t,
            "%s\tcausal, but the uniform weights of the file (of an older version) cover both "
            "sides; repeat 'lra-probe influence RUN'",
            text.s);
    lra_text_free(&text);
}

static void add_notes(lra_table *t, const reasons *why)
{
    const char *id[LRA_LOCALITIES + 1];
    int n = 0;
    for (int i = 0; i < LRA_LOCALITIES; i++) {
        const lra_locality_column c = lra_locality_column_of((lra_locality)i);
        if (strchr(c.columns, 'V')) id[n++] = c.id;
    }
    id[n++] = "dist.mean.grew";
    lra_table_note(t, "mask\tboth: positions depend on tokens on both sides; causal: on the "
                      "past only; only models with the same mask are comparable");
    lra_note_measurements(t, n, id, false);
    lra_table_note(
        t, "kernels heads\tdistances of single layers: of the energy of convolution kernels "
           "(median over channels), of attention weights; all other distances are of "
           "gradients between positions (Jacobians)");
    lra_table_note(t,
                   "decay\tlaw that fits the Jacobians by distance better than the other law and "
                   "than a constant (AIC): exp with its decay length tau (tokens), or power with "
                   "its exponent beta; none: a constant fits best");
    lra_table_note(t, "CI\t95 %% confidence interval over examples and seeds; of the growth: "
                      "Student t over the paired differences of the seeds");
    lra_table_note(t, "initial\tat initialisation; uniform: for uniform weights under the same "
                      "mask");
    for (int i = 0; i < why->n; i++) lra_table_note(t, "- %c\t%s", 'a' + i, why->text[i]);
}

static int make(const lra_report_input *in, lra_table ***list, lra_err *e)
{
    lra_locality_view v;
    reasons why = {0};
    if (lra_locality_open(&v, in, e) != 0) return LRA_FAILED;
    lra_table *t = new_table();
    for (int i = 0; i < v.n; i++) {
        add_who(t, &v.row[i]);
        add_numbers(t, &v.row[i], &why);
        add_growth_and_decay(t, &v.row[i], &why);
        add_missing(t, &v.row[i]);
        note_seeds(t, &v.row[i]);
    }
    lra_verdict_of_locality(&v, &t->verdict);
    add_notes(t, &why);
    note_ahead(t, &v);
    if (v.made) lra_table_note(t, "reference\t%s", v.made);
    lra_locality_close(&v);
    *list = lra_alloc(sizeof **list);
    (*list)[0] = t;
    return 1;
}

const lra_report_table lra_table_locality = {
    "locality",
    "one row per model: distance of the tokens that influence it, trained and at "
    "initialisation",
    make, LRA_FROM_RESULTS_AND_PROBES, NULL};
