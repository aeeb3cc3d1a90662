/* Table locality: a row for each model: its metric, the distance of the tokens that it relies on,
 * the decay of their influence, and the distance limit that it needs; with intervals, and null
 * values for uniform and for initial weights.
 *   of the entire model  Jacobians of positions: mean distance over that of uniform weights, radius
 *                        with 95 %, entropy, decay; smallest limits of all distances (cut) and of
 *                        attention (window) that keep 99 % of the gain
 *   of its layers        kernels (energy) and heads (weight): mean distance over that of uniform
 *                        weights
 * A missing value is a dash with a letter for its reason.
 * Source of the numbers: lra-probe train, influence, kernels, attention. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/decay.h"
#include "kernels/base/core/mem.h"
#include "reports/views/locality_view.h"
#include "reports/views/probe_measurements.h"
#include "reports/report.h"
#include "reports/verdict/verdict_locality.h"

/* Measurements and their columns; those with a head appear in text, too.  Each has its interval
 * and, by letters, the null values of (e)qual and (i)nitial weights; (E), (I) and (-) show these
 * and the interval (-) in text, too. */
static const struct {
    lra_locality what;
    const char *head, *key, *beside;
} columns[] = {{LRA_LOCALITY_REL, "dist/equal", "dist_mean_rel", "-I"},
               {LRA_LOCALITY_Q95, "d95", "dist_q95", "-EI"},
               {LRA_LOCALITY_SELF, "self", "self", "eI"},
               {LRA_LOCALITY_CUT, "cut", "cut_r99", "-e"},
               {LRA_LOCALITY_WINDOW, "window", "window_w99", "-e"},
               {LRA_LOCALITY_ENTROPY_REL, "entropy", "entropy_rel", "-I"},
               {LRA_LOCALITY_KERNEL_REL, "kernels", "kernels_dist_mean_rel", "-I"},
               {LRA_LOCALITY_HEADS_REL, "heads", "heads_dist_mean_rel", "-I"},
               {LRA_LOCALITY_MEAN, "", "dist_mean", "ei"},
               {LRA_LOCALITY_TAU, "", "decay_tau", "i"},
               {LRA_LOCALITY_BETA, "", "decay_beta", "i"},
               {LRA_LOCALITY_ENTROPY, "", "entropy", "ei"},
               {LRA_LOCALITY_KERNEL_Q95, "", "kernels_dist_q95", "i"},
               {LRA_LOCALITY_HEADS_Q95, "", "heads_dist_q95", "i"},
               {LRA_LOCALITY_HEADS_ENTROPY, "", "heads_entropy_rel", "i"},
               {LRA_LOCALITY_RANGE_MEAN, "", "range_mean", "ei"},
               {LRA_LOCALITY_RANGE_REL, "", "range_mean_rel", "i"},
               {LRA_LOCALITY_RANGE_Q95, "", "range_q95", "ei"},
               {LRA_LOCALITY_KERNEL_RANGE_REL, "", "kernels_range_mean_rel", "i"},
               {LRA_LOCALITY_KERNEL_RANGE_Q95, "", "kernels_range_q95", "i"},
               {LRA_LOCALITY_HEADS_RANGE_REL, "", "heads_range_mean_rel", "i"},
               {LRA_LOCALITY_HEADS_RANGE_Q95, "", "heads_range_q95", "i"}};
enum { N = sizeof columns / sizeof *columns, BEFORE = 13, AFTER = 9, MOST_REASONS = 26 };

/* Reasons in order of occurrence; the letter is their index. */
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

/* Heads and keys, from the left. */
typedef struct {
    int n;
    char *head[LRA_TABLE_COLUMNS], *key[LRA_TABLE_COLUMNS];
} names;

/* Takes the key. */
static void add_name(names *all, const char *head, char *key)
{
    all->head[all->n] = lra_copy_text(head), all->key[all->n++] = key;
}

static void name_number(names *all, int i)
{
    const char *key = columns[i].key, *beside = columns[i].beside;
    add_name(all, columns[i].head, lra_copy_text(key));
    add_name(all, strchr(beside, '-') ? "95 %" : "", lra_format("%s_lo,%s_hi", key, key));
    if (strpbrk(beside, "eE"))
        add_name(all, strchr(beside, 'E') ? "equal" : "", lra_format("%s_equal", key));
    if (strpbrk(beside, "iI"))
        add_name(all, strchr(beside, 'I') ? "initial" : "", lra_format("%s_initial", key));
}

static lra_table *new_table(void)
{
    static const char *const before[BEFORE][2] = {
        {"model", "model"},   {"task", "task"},
        {"", "preset"},       {"", "precision"},
        {"", "data"},         {"", "run"},
        {"T", "max_length"},  {"seeds", "seeds"},
        {"value", "value"},   {"95 %", "value_lo,value_hi"},
        {"chance", "chance"}, {"", "metric"},
        {"mask", "mask"}};
    static const char *const after[AFTER][2] = {{"grew", "dist_mean_grew"},
                                                {"95 %", "dist_mean_grew_lo,dist_mean_grew_hi"},
                                                {"decay", "decay"},
                                                {"95 %", ""}, /* decay_tau_lo, or of beta */
                                                {"initial", ""},
                                                {"", "decay_none"},
                                                {"", "decay_exp"},
                                                {"", "decay_power"},
                                                {"", "missing"}};
    names all = {0};
    for (int i = 0; i < BEFORE; i++) add_name(&all, before[i][0], lra_copy_text(before[i][1]));
    for (int i = 0; i < N; i++) name_number(&all, i);
    for (int i = 0; i < AFTER; i++) add_name(&all, after[i][0], lra_copy_text(after[i][1]));
    lra_table *t = lra_table_new("How local models are, at initialisation and after training",
                                 all.n, (const char *const *)all.head);
    lra_table_keys(t, (const char *const *)all.key);
    for (int i = 0; i < all.n; i++) lra_free(all.head[i]), lra_free(all.key[i]);
    return t;
}

static void add_who(lra_table *t, const lra_locality_row *row)
{
    char text[32];
    const lra_result *r = row->group->run[0];
    const lra_metric *m = lra_result_metric(r);
    double chance = lra_result_chance(r);
    lra_table_row(t);
    lra_table_cell(t, "%s", row->name);
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
    for (int i = 0; i < N; i++) {
        const lra_measurement *f = &row->at[columns[i].what];
        const char *missing = row->missing[columns[i].what];
        const char *beside = columns[i].beside;
        if (missing && *columns[i].head)
            lra_table_value(t, NAN, "- %c", letter_of(why, missing));
        else
            lra_measurement_add_value(t, f);
        lra_measurement_add_interval(t, f);
        if (strpbrk(beside, "eE")) lra_measurement_add_number(t, f, f->null[LRA_NULL_UNIFORM]);
        if (strpbrk(beside, "iI"))
            lra_measurement_add_number(t, f, row->initial[columns[i].what].value);
    }
}

/* The growth of the mean distance; then "exp 12.3", "power 1.30 (2 of 3)", "none": the law of most
 * seeds with its tau or beta. */
static void add_growth_and_decay(lra_table *t, const lra_locality_row *row, reasons *why)
{
    int seeds = 0, most = LRA_DECAY_NONE;
    for (int k = 0; k < 3; k++) {
        seeds += row->decay[k];
        if (row->decay[k] > row->decay[most]) most = k;
    }
    lra_locality of = most == LRA_DECAY_POWER ? LRA_LOCALITY_BETA : LRA_LOCALITY_TAU;
    lra_measurement f = row->at[of], initial = row->initial[of];
    if (seeds == 0 || most == LRA_DECAY_NONE) f = initial = lra_measurement_of("decay", "1", NAN);
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

/* Adds the reasons for empty fields for CSV and JSON: "window.w99: ...; ...". */
static void add_missing(lra_table *t, const lra_locality_row *row)
{
    lra_text text = {0};
    for (int i = 0; i < N; i++) {
        const char *missing = row->missing[columns[i].what];
        if (missing) lra_text_add(&text, "%s%s: %s", text.n ? "; " : "", columns[i].key, missing);
    }
    lra_table_cell(t, "%s", text.s ? text.s : "");
    lra_text_free(&text);
}

/* Adds notes on measurements with fewer seeds than were trained. */
static void note_seeds(lra_table *t, const lra_locality_row *row)
{
    for (int i = 0; i < N; i++) {
        const lra_measurement *f = &row->at[columns[i].what];
        if (row->missing[columns[i].what] || !*columns[i].head || f->seeds == row->group->n)
            continue;
        lra_table_note(t, "%s, %s\t%s rests on %d of %d seeds", row->name, row->group->run[0]->task,
                       columns[i].head, (int)f->seeds, row->group->n);
    }
}

/* Adds a note with the causal models whose null values are of an older version. */
static void note_ahead(lra_table *t, const lra_locality_view *v)
{
    lra_text text = {0};
    for (int i = 0; i < v->n; i++)
        if (v->row[i].ahead) lra_text_add(&text, "%s%s", text.n ? ", " : "", v->row[i].name);
    if (text.n)
        lra_table_note(
            t,
            "%s\tlook back alone beside equal weights to both sides, as older files have "
            "it; 'lra-probe influence RUN' measures them again",
            text.s);
    lra_text_free(&text);
}

static void add_notes(lra_table *t, const reasons *why)
{
    lra_table_note(t, "mask\tboth: positions use tokens on both sides; causal: those before them; "
                      "only models of the same mask are comparable");
    lra_table_note(t,
                   "dist/equal d95\tJacobians of positions without the own token: mean distance "
                   "over that of equal weights under the same mask (1: indifferent to distance), "
                   "radius with 95 %% of the other tokens' weight, tokens");
    lra_table_note(t, "self\tshare of the own token, at distance 0; entropy: over that of equal "
                      "weights");
    lra_table_note(t,
                   "grew\tmean distance after training less at initialisation, tokens: paired by "
                   "seed, 95 %% by Student's t over seeds");
    lra_table_note(
        t, "cut window\tsmallest limit PER LAYER of all distances, of attention alone, that "
           "keeps 99 %% of the gain over chance, tokens; layers together reach farther");
    lra_table_note(t, "kernels heads\tdist/equal of the layers themselves: energy of kernels "
                      "(medians over channels), weight of attention");
    lra_table_note(t, "decay\tof the intensity of Jacobians: exp tau (tokens) or power beta, where "
                      "it is better than the other and than none by AIC; 95 %% and "
                      "initial: of that number");
    lra_table_note(t, "initial\tthe same network before training");
    lra_table_note(t, "95 %%\tof examples and seeds");
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
    lra_locality_close(&v);
    *list = lra_alloc(sizeof **list);
    (*list)[0] = t;
    return 1;
}

const lra_report_table lra_table_locality = {
    "locality", "a row for each model: how far away what it uses is, as built and as learned", make,
    LRA_FROM_RESULTS_AND_PROBES, NULL};
