/* Table information: mutual information between tokens at distance d, and accuracy of n-gram bags
 * for the label, without a model. Two tables for each data set.
 * Source of the numbers: lra-probe data TASK --information. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/decay.h"
#include "kernels/base/core/mem.h"
#include "reports/report.h"
#include "reports/verdict/verdict_information.h"

static const lra_measurement *find(const lra_probe_unit *u, const char *prefix, int k)
{
    char id[LRA_MEASUREMENT_ID];
    snprintf(id, sizeof id, "%s.%d", prefix, k);
    return lra_probe_measurement(u, id);
}

static void add_facts(lra_table *t, const lra_probe_result *r)
{
    lra_table_fact_text(t, "task", r->task);
    lra_table_fact_text(t, "preset", r->preset);
    lra_table_fact_text(t, "data", r->fingerprint);
}

static void add_fact(lra_table *t, const lra_probe_unit *u, const char *id, const char *key)
{
    const lra_measurement *f = lra_probe_measurement(u, id);
    char name[48];
    if (!f) return;
    lra_table_fact(t, key, f->value);
    if (isnan(f->lo)) return;
    snprintf(name, sizeof name, "%s_lo", key);
    lra_table_fact(t, name, f->lo);
    snprintf(name, sizeof name, "%s_hi", key);
    lra_table_fact(t, name, f->hi);
}

/* Element i of an array that has one element per `distance`; NAN: missing. */
static double curve_at(const lra_probe_unit *u, const char *name, int64_t i)
{
    const lra_probe_array *y = lra_probe_array_find(u, name);
    return y && i < y->dims[0] ? (double)y->value[i] : NAN;
}

static void add_again(lra_table *t, const lra_probe_unit *u)
{
    const lra_measurement *again = lra_probe_measurement(u, "info.again");
    const lra_measurement *most = again && !isnan(again->value)
                                      ? find(u, "info.excess", (int)again->value)
                                      : NULL;
    if (most)
        lra_table_note(
            t,
            "At longer distances the excess is above 0 again, with a maximum at distance "
            "%.0f: %.4f bits (%.4f to %.4f).",
            again->value, most->value, most->lo, most->hi);
}

/* Adds the decay law from distance d0 on; kind: an lra_decay_kind. */
static void add_law(lra_table *t, double d0, const lra_measurement *alpha,
                    const lra_measurement *tau, int kind)
{
    bool falls = (d0 - 1) / tau->value >= log(2) || alpha->value * log(d0) >= log(2);
    if (kind == LRA_DECAY_NONE && !falls) {
        lra_table_note(
            t,
            "Up to distance %.0f the excess does not fall to half under either fitted law: no "
            "decay.",
            d0);
        return;
    }
    lra_table_note(
        t,
        "Up to distance %.0f the excess falls as d^-alpha, alpha %.3g (%.3g to %.3g), or "
        "exp(-d/tau), tau %.3g tokens; %s.",
        d0, alpha->value, alpha->lo, alpha->hi, tau->value,
        kind == LRA_DECAY_EXP     ? "the exponential fits better"
        : kind == LRA_DECAY_POWER ? "the power law fits better"
                                  : "neither fits better than the other and a constant");
}

static void add_summary(lra_table *t, const lra_probe_unit *u)
{
    const lra_measurement *d0 = lra_probe_measurement(u, "info.d0"),
                          *alpha = lra_probe_measurement(u, "info.alpha"),
                          *tau = lra_probe_measurement(u, "info.tau"),
                          *kind = lra_probe_measurement(u, "info.kind");
    if (d0 && d0->value > 0)
        lra_table_note(t, "The interval of the excess lies above 0 up to distance %.0f%s.",
                       d0->value,
                       d0->flags & LRA_CENSORED ? ", the longest distance with 100 pairs per "
                                                  "cell"
                                                : "");
    else if (isnan(curve_at(u, "excess.lo", 0)))
        lra_table_note(t, "Too few examples for intervals.");
    else
        lra_table_note(t, "The interval of the excess at distance 1 includes 0 or lies below it.");
    add_again(t, u);
    if (alpha && kind && !isnan(kind->value)) add_law(t, d0->value, alpha, tau, (int)kind->value);
    lra_table_note(
        t, "null\tmutual information if the second token is taken from another example at the same "
           "position: the part due to positions");
    lra_table_note(
        t, "MI\tmutual information of two tokens at this distance; excess: MI minus null; above "
           "0: tokens depend on each other beyond their positions; 0 or less does not exclude "
           "such a dependence");
    lra_table_note(t,
                   "dependence\tKullback-Leibler divergence of the pairs from pairs with another "
                   "example's token at the same position, by strata of positions: 0 if tokens "
                   "are independent given their positions, else above 0, up to dependences of "
                   "opposite sign within a stratum");
    lra_table_note(t, "symbols\tnumber of distinct tokens after rare ones were merged until each "
                      "cell has 100 pairs");
}

static lra_table *pairs_of(const lra_probe_result *r, const lra_probe_unit *u)
{
    static const char *const head[] = {"distance (tokens)",
                                       "symbols",
                                       "pairs",
                                       "MI (bits)",
                                       "null (bits)",
                                       "excess (bits)",
                                       LRA_TABLE_CI,
                                       "dependence (bits)",
                                       LRA_TABLE_CI,
                                       "",
                                       ""};
    static const char *const key[] = {"distance",
                                      "symbols",
                                      "pairs",
                                      "pair_bits",
                                      "null_bits",
                                      "excess_bits",
                                      "excess_bits_lo,excess_bits_hi",
                                      "dependence_bits",
                                      "dependence_bits_lo,dependence_bits_hi",
                                      "task",
                                      "data"};
    char *title = lra_format("Mutual information of two tokens of %s by distance, preset %s, "
                             "data %s",
                             r->task, r->preset, r->fingerprint);
    lra_table *t = lra_table_new(title, 11, head);
    lra_free(title);
    lra_table_keys(t, key);
    add_facts(t, r);
    add_fact(t, u, "info.d0", "d0");
    add_fact(t, u, "info.alpha", "alpha");
    add_fact(t, u, "info.tau", "tau");
    const lra_probe_array *distance = lra_probe_array_find(u, "distance");
    for (int64_t i = 0; distance && i < distance->dims[0]; i++) {
        int d = (int)distance->value[i];
        const lra_measurement *pair = find(u, "info.pair", d), *excess = find(u, "info.excess", d);
        if (!pair || !excess) continue;
        lra_table_row(t);
        lra_table_number(t, d, 0);
        lra_table_number(t, curve_at(u, "symbols", i), 0);
        lra_table_number(t, curve_at(u, "pairs", i), 0);
        lra_table_number(t, pair->value, 4);
        lra_table_number(t, pair->null[LRA_NULL_PERM], 4);
        lra_table_number(t, excess->value, 4);
        lra_table_interval(t, excess->lo, excess->hi, 4);
        const lra_measurement *dependence = find(u, "info.dependence", d);
        lra_table_number(t, dependence ? dependence->value : NAN, 4);
        lra_table_interval(t, dependence ? dependence->lo : NAN, dependence ? dependence->hi : NAN,
                           4);
        lra_table_cell(t, "%s", r->task);
        lra_table_cell(t, "%s", r->fingerprint);
    }
    lra_verdict_of_information(u, &t->verdict);
    add_summary(t, u);
    return t;
}

static lra_table *ngrams_of(const lra_probe_result *r, const lra_probe_unit *u)
{
    static const char *const head[] = {
        "width N", "accuracy %", LRA_TABLE_CI, "chance %", "examples", "", ""};
    static const char *const key[] = {"width",
                                      "accuracy_percent",
                                      "accuracy_percent_lo,accuracy_percent_hi",
                                      "chance_percent",
                                      "rows",
                                      "task",
                                      "data"};
    char *title = lra_format("Accuracy of bags of n-grams on %s, preset %s, data %s", r->task,
                             r->preset, r->fingerprint);
    lra_table *t = lra_table_new(title, 7, head);
    lra_free(title);
    lra_table_keys(t, key);
    add_facts(t, r);
    for (int n = 1; n <= 16; n++) {
        const lra_measurement *f = find(u, "ngram.accuracy", n);
        if (!f) continue;
        lra_table_row(t);
        lra_table_number(t, n, 0);
        lra_table_number(t, 100 * f->value, 2);
        lra_table_interval(t, 100 * f->lo, 100 * f->hi, 2);
        lra_table_number(t, 100 * f->null[LRA_NULL_UNIFORM], 2);
        lra_table_number(t, (double)f->examples, 0);
        lra_table_cell(t, "%s", r->task);
        lra_table_cell(t, "%s", r->fingerprint);
    }
    lra_verdict_of_ngrams(u, &t->verdict);
    lra_table_note(
        t, "Multinomial naive Bayes on hashed n-grams of N adjacent tokens, from counts of the "
           "training examples: a local baseline.");
    return t;
}

static int make(const lra_report_input *in, lra_table ***list, lra_err *e)
{
    int n = 0;
    *list = lra_alloc_array(2 * (size_t)in->n_probes + 1, sizeof **list);
    for (int i = 0; i < in->n_probes; i++) {
        const lra_probe_unit *u = lra_probe_unit_find(in->probes[i], "data");
        if (!u) {
            lra_tables_free(*list, n);
            *list = NULL;
            return lra_fail(e, "the file of task '%s' has no unit 'data'", in->probes[i]->task);
        }
        (*list)[n++] = pairs_of(in->probes[i], u);
        if (find(u, "ngram.accuracy", 1)) (*list)[n++] = ngrams_of(in->probes[i], u);
    }
    return n;
}

const lra_report_table lra_table_information = {
    "information",
    "mutual information of tokens by distance, and accuracy of bags of "
    "n-grams",
    make, LRA_FROM_INFORMATION, NULL};
