/* Adds notes below the table of a ladder (ladder_notes.h). */
#include "reports/ladder/ladder_notes.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "reports/results/baseline_kind.h"

bool lra_ladder_shows(const char *baseline)
{
    return !lra_baseline_is_shallow(baseline) || lra_baseline_of(baseline).number <= 3;
}

char *lra_ladder_difference_text(const lra_ladder_view *v, lra_estimate score)
{
    const lra_metric *m = v->metric;
    lra_estimate x = lra_ladder_values(v, score);
    return lra_format("%+.*f%s (%+.*f to %+.*f)", m->decimals, m->scale * x.value,
                      *m->unit ? " points" : "", m->decimals, m->scale * x.lo, m->decimals,
                      m->scale * x.hi);
}

/* ---- the index ------------------------------------------------------------------------------- */

/* A share and its interval with two digits. The ends of the interval are percentiles of 10,000
 * bootstrap replicates, whose Monte Carlo error is 2.7 % of a standard error of the index, so that
 * the third digit of a wide interval is random. If the index is at its bound, all replicates can be
 * equal; then there is no interval. */
static char *share_text(const lra_estimate *x)
{
    if (x->lo == x->hi) return lra_format("%.2f (at its bound, no interval)", x->value);
    return lra_format("%.2f (%.2f to %.2f)", x->value, x->lo, x->hi);
}

static char *why_none(const lra_ladder_view *v, const lra_ladder *l)
{
    if (l->state == LRA_LI_ONE_RUNG)
        return lra_copy_text("undefined: one rung with R > 0; the index needs two rungs with "
                             "different reach");
    char *x = lra_ladder_difference_text(v, l->reference_minus_chance);
    char *text = lra_format(
        "undefined: the reference is not clearly above chance: %s; the half width of the interval "
        "must be below half of the difference; flag at-chance",
        x);
    lra_free(x);
    return text;
}

char *lra_ladder_index_text(const lra_ladder_view *v, const lra_ladder *l)
{
    if (l->state != LRA_LI_GIVEN) return why_none(v, l);
    lra_text t = {0};
    char *li = share_text(&l->li), *raw = share_text(&l->li_raw);
    lra_text_add(&t, "%s, LI.raw %s, from R_1 = %" PRId64 " to ", li, raw, l->first_reach);
    if (l->span)
        lra_text_add(&t,
                     "R_%d = %" PRId64 ", the widest rung; no rung sees all %" PRId64
                     " tokens; flag span",
                     l->n_rungs - l->row[0].null_row, l->end, v->data.T);
    else
        lra_text_add(&t, "T = %" PRId64, l->end);
    if (l->extrapolated > 0)
        lra_text_add(&t,
                     "; %.0f %% of the axis lies beyond the widest rung, R = %" PRId64
                     "; flag extrapolated",
                     100 * l->extrapolated, l->last_reach);
    lra_free(li);
    lra_free(raw);
    return t.s;
}

static void add_index(lra_table *t, const lra_ladder_view *v)
{
    const lra_ladder *l = &v->ladder;
    char *text = lra_ladder_index_text(v, l);
    bool span = l->state == LRA_LI_GIVEN && l->span;
    char *name = span ? lra_format("LI[%" PRId64 "..%" PRId64 "]", l->first_reach, l->end)
                      : lra_copy_text("LI");
    lra_table_note(t, "%s\t%s", name, text);
    lra_free(name);
    lra_free(text);
    if (l->state != LRA_LI_GIVEN || v->data.kind != LRA_REFERENCE_WIDEST) return;
    if (v->best_rung < 0) {
        lra_table_note(t, "best rung\tnot recorded: the results have no validation values");
        return;
    }
    char best[32], rung[48];
    lra_metric_value_text(v->metric, v->val[v->best_rung], best);
    lra_text against = {0};
    if (v->has_best && v->best.state == LRA_LI_GIVEN) {
        char *li = share_text(&v->best.li), *raw = share_text(&v->best.li_raw);
        lra_text_add(&against, "; with it as reference: LI %s, LI.raw %s", li, raw);
        lra_free(li);
        lra_free(raw);
    } else if (v->has_best)
        lra_text_add(&against, "; with it as reference: LI undefined");
    lra_table_note(t, "best rung\t%s on validation (%s)%s",
                   lra_ladder_rung_name(&v->kind, l->row[v->best_rung].kernel, rung), best,
                   v->has_best ? against.s : ", the widest");
    lra_text_free(&against);
}

static void add_reference(lra_table *t, const lra_ladder_view *v)
{
    char reference[32], chance[32];
    lra_metric_value_text(v->metric, lra_ladder_value(v, v->ladder.reference), reference);
    lra_metric_value_text(v->metric, lra_ladder_value(v, v->ladder.chance), chance);
    lra_table_note(t, "reference\t%s, %s; chance %s, %s", reference, v->reference, chance,
                   v->chance);
}

/* ---- reaches --------------------------------------------------------------------------------- */

/* Appends a length in tokens: "7.8"; "<= 8" on the narrowest rung; "> 32" beyond the widest
 * rung. */
static void add_length(lra_text *t, const lra_ladder *l, double x, int decimals)
{
    if (isinf(x))
        lra_text_add(t, "> %" PRId64, l->last_reach);
    else if (x <= (double)l->first_reach)
        lra_text_add(t, "<= %" PRId64, l->first_reach);
    else
        lra_text_add(t, "%.*f", decimals, x);
}

static void add_radius(lra_table *t, const lra_ladder_view *v)
{
    lra_text text = {0};
    const lra_ladder *l = &v->ladder;
    bool censored = false;
    for (int i = 0; i < LRA_LADDER_RADII; i++) {
        const lra_estimate *r = &l->radius[i];
        lra_text_add(&text, i ? ", " : "");
        add_length(&text, l, r->value, 1);
        censored = censored || isinf(r->hi);
        if (r->lo == r->hi) continue;
        lra_text_add(&text, " (");
        add_length(&text, l, r->lo, 1);
        lra_text_add(&text, " to ");
        add_length(&text, l, r->hi, 1);
        lra_text_add(&text, ")");
    }
    lra_table_note(t, "radius\treach at which the value is 1 / 2 / 5 %s the reference: %s tokens%s",
                   v->data.values ? "% of the gain below" : "points below", text.s,
                   censored ? "; flag censored" : "");
    lra_text_free(&text);
}

/* Sufficient reach for the margins 1, 2 and 5 points: "9 / 9 / 6". The caller frees it. */
static char *sufficient_text(const lra_ladder *l)
{
    lra_text text = {0};
    for (int i = 0; i < LRA_LADDER_RADII; i++) {
        lra_text_add(&text, i ? " / " : "");
        if (isinf(l->sufficient[i].reach))
            lra_text_add(&text, "> %" PRId64, l->last_reach);
        else
            lra_text_add(&text, "%.0f", l->sufficient[i].reach);
        lra_text_add(&text, l->sufficient[i].unresolved ? " (unresolved)" : "");
    }
    return text.s;
}

static void add_sufficient(lra_table *t, const lra_ladder_view *v)
{
    int m = v->data.n_tasks;
    char *reach = sufficient_text(&v->ladder);
    char *tasks = m > 1 ? lra_format("one-sided %.2f %%, adjusted for %d tasks", 100 - 2.5 / m, m)
                        : lra_copy_text("one-sided 97.5 %");
    lra_table_note(t,
                   "sufficient\tsmallest receptive field that is not worse than the reference by "
                   "more than 1 / 2 / 5 %s: %s tokens (%s)",
                   v->data.values ? "% of its gain" : "points", reach, tasks);
    lra_free(reach);
    if (v->has_info && v->info.state == LRA_LI_GIVEN) {
        reach = sufficient_text(&v->info);
        lra_table_note(t,
                       "sufficient (MI)\tthe same for mutual information, within 1 / 2 / 5 %% "
                       "of the reference's: %s tokens (%s)",
                       reach, tasks);
        lra_free(reach);
    }
    lra_free(tasks);
}

static void add_slope(lra_table *t, const lra_ladder_view *v)
{
    const lra_ladder *l = &v->ladder;
    if (isnan(l->slope.value)) return;
    char *slope = lra_ladder_difference_text(v, l->slope),
         *growth = lra_ladder_difference_text(v, l->widest_minus_narrowest);
    const lra_estimate *x = &l->widest_minus_narrowest;
    lra_table_note(t, "slope\t%s per doubling of R", slope);
    lra_table_note(t, "growth\twidest minus narrowest rung: %s%s", growth,
                   x->lo > 0   ? ""
                   : x->hi < 0 ? "; the narrowest rung is better"
                               : "; the interval includes 0");
    lra_free(slope);
    lra_free(growth);
}

/* Adds notes on the reach in rows and columns, for images. */
static void add_grid(lra_table *t, const lra_ladder_view *v)
{
    int64_t grid = v->first->grid;
    int r = 0;
    while (r < v->ladder.n_rungs && v->ladder.row[r].reach < grid) r++;
    if (grid <= 0) return;
    char name[48] = "", *from = lra_copy_text("in no rung");
    if (r < v->ladder.n_rungs) {
        lra_free(from);
        from = lra_format("from %s (R = %" PRId64 ") on",
                          lra_ladder_rung_name(&v->kind, v->ladder.row[r].kernel, name),
                          v->ladder.row[r].reach);
    }
    lra_table_note(t,
                   "image rows\timages of %" PRId64 " x %" PRId64 " pixels, read row by row: the "
                   "pixel below is within reach %s",
                   grid, grid, from);
    lra_free(from);
}

/* ---- information, training, rivals ----------------------------------------------------------- */

static void add_info(lra_table *t, const lra_ladder_view *v)
{
    const lra_ladder *l = &v->info;
    double bit = log(2);
    if (!v->first->n_classes || v->data.kind == LRA_REFERENCE_NUMBER) return;
    if (!v->has_info) {
        lra_table_note(t, "information\tnot recorded: the results have no predictions on the "
                          "validation split");
        return;
    }
    const lra_estimate *x = &l->reference_minus_chance;
    /* x->lo is NAN if the two series are equal in every row */
    bool same = isnan(x->lo) && !isnan(x->value);
    char *bits = same ? lra_format("%.3f bits", x->value / bit)
                      : lra_format("%.3f bits (%.3f to %.3f)", x->value / bit, x->lo / bit,
                                   x->hi / bit);
    if (l->state == LRA_LI_GIVEN) {
        char *li = share_text(&l->li);
        lra_table_note(
            t,
            "information\tLI %s, %+.4f bits per doubling of R (%+.4f to %+.4f); mutual information "
            "between prediction and label of the reference: at least %s",
            li, l->slope.value / bit, l->slope.lo / bit, l->slope.hi / bit, bits);
        lra_free(li);
    } else
        lra_table_note(
            t,
            "information\t%s; mutual information between prediction and label of the reference: at "
            "least %s",
            l->state == LRA_LI_ONE_RUNG ? "LI undefined: one rung"
            : same                      ? "LI undefined: no interval, because all examples have "
                                          "the same value"
                                        : "LI undefined: the reference is not clearly above chance",
            bits);
    lra_free(bits);
}

static void add_gap(lra_table *t, const lra_ladder_view *v)
{
    const lra_ladder *l = &v->ladder;
    int narrow = l->row[0].null_row, wide = l->reference_rung;
    char name[2][48];
    if (wide <= narrow || !v->first->n_classes) return;
    if (!v->has_gap) {
        lra_table_note(t, "generalisation gap\tnot recorded: the results have no training "
                          "accuracy");
        return;
    }
    lra_table_note(
        t,
        "generalisation gap\ttraining minus validation accuracy: %s %+.2f points, %s %+.2f "
        "points; difference %+.2f (%+.2f to %+.2f)%s",
        lra_ladder_rung_name(&v->kind, l->row[wide].kernel, name[0]),
        100 * (v->train[wide] - v->val[wide]),
        lra_ladder_rung_name(&v->kind, l->row[narrow].kernel, name[1]),
        100 * (v->train[narrow] - v->val[narrow]), 100 * v->gap.value, 100 * v->gap.lo,
        100 * v->gap.hi,
        v->flags & LRA_FLAG_OVERFIT ? "; the wide rung has the higher training accuracy and the "
                                      "larger gap; flag overfit"
                                    : "");
}

/* Adds notes on baselines, and on narrower rungs, that are better than the reference. */
static void add_rivals(lra_table *t, const lra_ladder_view *v)
{
    const lra_ladder *l = &v->ladder;
    const lra_metric *m = v->metric;
    int last = l->reference_rung < 0 ? l->n_rungs : l->reference_rung;
    char name[48];
    lra_text text = {0};
    for (int r = 0; r < last; r++)
        if (l->above[r].lo > 0)
            lra_text_add(&text, "%s%s by %.*f", text.n ? ", " : "",
                         lra_ladder_rung_name(&v->kind, l->row[r].kernel, name), m->decimals,
                         m->scale * l->above[r].value);
    for (int b = 0; b < v->n_rivals; b++) {
        const lra_ladder_rival *x = &v->rival[b];
        if (!lra_ladder_shows(x->name)) continue;
        lra_text_add(&text, "%s%s by %.2f", text.n ? ", " : "", x->name, 100 * x->above.value);
        if (!isnan(x->li)) lra_text_add(&text, " (%.3f)", x->li);
    }
    if (v->flags & LRA_FLAG_REFERENCE_WEAK)
        lra_table_note(
            t,
            "better\tmodels better than the reference, in points (LI with them as reference): %s; "
            "flag reference-weak",
            text.s ? text.s : "a baseline");
    lra_text_free(&text);
}

/* ---- interpretation -------------------------------------------------------------------------- */

/* Appends "WHAT: 5 of 6 (not K = 3)": the number of rungs with reach R > 0 whose interval lies
 * entirely above 0. */
static void add_count(lra_text *t, const lra_ladder_view *v, const lra_estimate *above,
                      const char *what)
{
    const lra_ladder *l = &v->ladder;
    int first = l->row[0].null_row, n = 0;
    lra_text missing = {0};
    char name[48];
    for (int r = first; r < l->n_rungs; r++) {
        if (above[r].lo > 0)
            n++;
        else
            lra_text_add(&missing, "%s%s", missing.n ? ", " : "",
                         lra_ladder_rung_name(&v->kind, l->row[r].kernel, name));
    }
    lra_text_add(t, "%s%s: %d of %d", t->n ? "; " : "", what, n, l->n_rungs - first);
    if (n > 0 && missing.n) lra_text_add(t, " (not %s)", missing.s);
    lra_text_free(&missing);
}

/* Adds the numbers of rungs that are better than chance, than the best order-free baseline, and
 * than the bag of tokens, each by its own paired interval. */
static void add_acceptance(lra_table *t, const lra_ladder_view *v)
{
    const lra_ladder *l = &v->ladder;
    lra_text text = {0};
    if (isnan(l->above_chance[l->n_rungs - 1].lo)) return;
    add_count(&text, v, l->above_chance, "chance");
    if (v->simple) add_count(&text, v, v->above_simple, v->simple);
    if (l->row[0].null_row) add_count(&text, v, l->above_null, "the bag of tokens (K = 1)");
    lra_table_note(t,
                   "check\tnumber of rungs with R > 0 that are significantly better (entire 95 %% "
                   "interval) than %s",
                   text.s);
    lra_text_free(&text);
}

/* Baselines of tasks, by name. */
static const struct {
    const char *name, *text;
} baselines[] = {
    {"bag-of-tokens", "naive Bayes on the counts of single tokens"},
    {"bag", "naive Bayes on the counts of single tokens"},
    {"pairs-below", "naive Bayes on pairs of tokens that are closer than the distance of the task"},
    {"oracle", "the rule that generated the labels"},
    {"majority-by-operator", "the most frequent training label of the root operator"},
    {"marker-distance", "label predicted from the distance between the two markers"},
    {"length", "the most frequent label of training rows with about the same length"}};

static void add_baselines(lra_table *t, const lra_ladder_view *v)
{
    bool ngrams = false;
    for (int b = 0; b < v->first->n_baselines; b++) {
        const char *name = v->first->baseline_name[b];
        ngrams = ngrams || lra_result_counted(name);
        for (size_t k = 0; k < sizeof baselines / sizeof *baselines; k++)
            if (strcmp(name, baselines[k].name) == 0)
                lra_table_note(t, "%s\t%s; a baseline", name, baselines[k].text);
    }
    if (ngrams)
        lra_table_note(t, "ngram-N\tnaive Bayes on bags of n-grams of N tokens, from counts of the "
                          "training examples: a local baseline, not a rung of this ladder");
}

static void add_seeds(lra_table *t, const lra_ladder_view *v)
{
    const lra_ladder *l = &v->ladder;
    char name[48];
    lra_text text = {0};
    bool some = false;
    for (int r = 0; r < l->n_rungs; r++) some = some || l->row[r].n_learned > 1;
    for (int r = 0; r < l->n_rungs; r++)
        if (l->row[r].seeds_dominate)
            lra_text_add(&text, "%s%s", text.n ? ", " : "",
                         lra_ladder_rung_name(&v->kind, l->row[r].kernel, name));
    lra_table_note(t, "CI\t95 %% confidence interval over test examples (normal)%s",
                   some ? " and seeds (Student t, S - 1 degrees of freedom)" : "");
    if (l->one_seed)
        lra_table_note(
            t, "one-seed\twith one seed the variation over seeds is not known: use 3 or more");
    if (text.n)
        lra_table_note(t,
                       "few-seeds\tfewer than 5 seeds, and they vary more than the "
                       "test examples: %s",
                       text.s);
    if (v->flags & LRA_FLAG_FAILED_SEEDS)
        lra_table_note(
            t, "failed-seeds\tseeds that did not learn (gain below 0.5 and far below the "
               "others) are excluded from all values; with 3 seeds about half of such failures "
               "are detected");
    lra_text_free(&text);
}

/* Marks the notes that the verdict and the index already summarise as details. */
static void mark_details(lra_table *t)
{
    static const char *const key[] = {"best rung", "radius", "growth", "information",
                                      "generalisation gap"};
    for (size_t i = 0; i < sizeof key / sizeof *key; i++) lra_table_detail(t, key[i]);
}

static void add_symbols(lra_table *t, const lra_ladder_view *v)
{
    lra_table_note(t, "reach\tR: number of tokens on each side that an output can depend on%s",
                   strcmp(v->kind.axis, "kernel") == 0 ? "; K: kernel size" : "");
    lra_table_note(t,
                   "gain\t(value - chance) / (reference - chance)%s; LI: gain averaged over "
                   "octaves of R",
                   v->has_info ? "; gain (MI): of mutual information between prediction and label"
                               : "");
}

void lra_ladder_add_notes(lra_table *t, const lra_ladder_view *v)
{
    bool index = v->ladder.state == LRA_LI_GIVEN;
    add_symbols(t, v);
    add_index(t, v);
    add_reference(t, v);
    if (index) {
        add_sufficient(t, v);
        add_radius(t, v);
    }
    add_slope(t, v);
    add_info(t, v);
    add_gap(t, v);
    add_rivals(t, v);
    add_grid(t, v);
    add_acceptance(t, v);
    add_baselines(t, v);
    add_seeds(t, v);
    if (lra_result_selected_on_test(v->first))
        lra_table_note(t, "selected-on-test\tcheckpoints were selected by accuracy on the test "
                          "split, as in the published results of this task");
    if (v->n_left_out)
        lra_table_note(t, "skipped\t%d duplicate results of the same rung and seed", v->n_left_out);
    mark_details(t);
}
