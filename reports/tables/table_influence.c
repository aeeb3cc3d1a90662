/* Table influence: distance of the tokens on which a run relies, measured by gradients and by the
 * gain that remains under distance limits. Every value has its interval and its null values: for
 * uniform weights and at initialisation. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "reports/views/probe_measurements.h"
#include "reports/views/probe_view.h"
#include "reports/views/probe_records.h"
#include "reports/report.h"
#include "reports/tables/influence_headline.h"
#include "reports/verdict/verdict_probe.h"

const char *const lra_influence_headline[] = {"context.r95",
                                              "context.r99",
                                              "cut.r95",
                                              "cut.r99",
                                              "cut.reach99",
                                              "window.w95",
                                              "window.w99",
                                              "layer.w95",
                                              "layer.w99",
                                              "dist.mean",
                                              "dist.mean.rel",
                                              "dist.q50",
                                              "dist.q95",
                                              "self",
                                              "range.q95.used",
                                              "side",
                                              "decay.tau",
                                              "decay.beta",
                                              "shift.w1",
                                              "shift.peak",
                                              "erf.r50",
                                              "erf.r99",
                                              "dist.mean.px",
                                              "dist.mean.rel.px",
                                              "dist.q95.px",
                                              "keep.w95",
                                              "keep.auc",
                                              "bag.w95",
                                              "bag.auc",
                                              "key.w05",
                                              "kl.most",
                                              "mode.difference",
                                              "kl.w95",
                                              "kl.r95",
                                              "kl.local",
                                              "kl.global",
                                              "inter.mean",
                                              "inter.q95",
                                              "inter.peak",
                                              "inter.rel",
                                              "inter.contrast",
                                              "inter.p",
                                              "position.edge",
                                              "order.local",
                                              "order.global",
                                              "drop.w95",
                                              "drop.auc",
                                              "context.c95",
                                              "context.c99",
                                              "loss.full",
                                              "key.share.*",
                                              "loss.mean",
                                              "loss.late",
                                              "retrieval.length",
                                              "retrieval.accuracy",
                                              "length.gain.*",
                                              "position.shift.*",
                                              "erf.r50.px",
                                              "erf.r99.px",
                                              NULL};

/* Parts of which the table contains distance profiles, and what their weights are. */
static const struct {
    const char *name, *text;
} weights[] = {{"jacobian",
                "weight: norm of the gradient of a position's features with respect to a "
                "token; p2: squared norm; px: distances in pixels"},
               {"occlusion", "weight: change of a position's features when a block of tokens is "
                             "replaced by that of another example"}};
enum { PARTS_EXPLAINED = sizeof weights / sizeof *weights };

static bool has_part(lra_probe_result *const *list, int n, const char *name)
{
    for (int i = 0; i < n; i++)
        if (lra_probe_unit_find(list[i], name)) return true;
    return false;
}

static bool has_undefined(lra_probe_result *const *list, int n)
{
    for (int i = 0; i < n; i++)
        for (int u = 0; u < list[i]->n_units; u++)
            for (int f = 0; f < list[i]->unit[u]->n_measurements; f++) {
                const lra_measurement *x = &list[i]->unit[u]->measurement[f];
                for (int k = 0; lra_influence_headline[k]; k++)
                    if (isnan(x->value) && !(x->flags & (LRA_NO_GAIN | LRA_NO_MEDIAN)) &&
                        lra_measurement_is(x->id, lra_influence_headline[k]))
                        return true;
            }
    return false;
}

static lra_table *measurements_table(lra_probe_result *const *list, int n)
{
    lra_table *t = lra_probe_measurements_table("Distance of influential tokens", list, n,
                                                lra_influence_headline);
    lra_verdict_of_influence(list, n, &t->verdict);
    for (int i = 0; i < PARTS_EXPLAINED; i++)
        if (has_part(list, n, weights[i].name))
            lra_table_note(t, "%s\t%s", weights[i].name, weights[i].text);
    for (int i = 0; i < n; i++) {
        if (!lra_probe_equal_ahead(list[i])) continue;
        char *name = lra_probe_run_name(list[i]);
        lra_table_note(t,
                       "%s\tcausal, but the uniform weights of the file (of an older version) "
                       "cover both sides; repeat 'lra-probe influence RUN'",
                       name);
        lra_free(name);
    }
    for (int i = 0; i < n; i++) {
        const lra_probe_unit *u = lra_probe_unit_find(list[i], "interaction");
        if (!u || lra_probe_array_find(u, "rel")) continue;
        char *name = lra_probe_run_name(list[i]);
        lra_table_note(t,
                       "%s\t'interaction' was measured by an older version, whose test finds "
                       "structure in bags of tokens; repeat 'lra-probe influence RUN'",
                       name);
        lra_free(name);
    }
    if (has_undefined(list, n))
        lra_table_note(t,
                       "-\tundefined; for measurements of the gain: on these examples the model is "
                       "not clearly above chance (the half width of the interval of its "
                       "accuracy minus chance is at least half of that difference); increase "
                       "'--examples'");
    return t;
}

/* ---- gains ----------------------------------------------------------------------------------- */

static void add_gains(lra_table *t, const char *name, const lra_probe_array *gain, int64_t n)
{
    lra_table_row(t);
    lra_table_cell(t, "%s", name);
    for (int64_t i = 0; i < n; i++) {
        double x = (double)gain->value[3 * i], lo = (double)gain->value[3 * i + 1];
        double hi = (double)gain->value[3 * i + 2];
        lra_table_number(t, 100 * x, 1);
        lra_table_interval(t, 100 * lo, 100 * hi, 1);
    }
}

/* A table of gains: which units it contains, its heads and its title. */
typedef struct {
    const char *(*of)(const lra_probe_unit *u);
    const char *head, *limit, *title;
} gains;
static const gains per_layer = {lra_probe_limited_layers, "layers", "r",
                                "Gain kept (%) under a distance limit of r tokens in each layer"};
static const gains of_model = {
    lra_probe_limited_model, "", "R",
    "Gain kept (%) if each position is computed only from the tokens within R of it"};

static double number_of(const lra_probe_result *r, const char *unit, const char *array)
{
    const lra_probe_unit *u = lra_probe_unit_find(r, unit);
    const lra_probe_array *a = u ? lra_probe_array_find(u, array) : NULL;
    return a ? (double)a->value[0] : (double)NAN;
}

enum { MOST_POINTS = (LRA_TABLE_COLUMNS - 1) / 2 };

/* Creates an empty table whose columns are the points x from `first` on. Marks limits per layer
 * with which the layers together reach farther than the limit. */
static lra_table *empty_gains(const lra_probe_result *r, const gains *is, const lra_probe_array *x,
                              int64_t first, bool *marks)
{
    char *head[1 + 2 * MOST_POINTS], *key[1 + 2 * MOST_POINTS], *name = lra_probe_run_name(r);
    int64_t n = x->dims[0] - first;
    double depth = number_of(r, "cut", "depth"), most = number_of(r, "cut", "most");
    head[0] = lra_copy_text(is->head), key[0] = lra_copy_text("layers");
    for (int64_t i = 0; i < n; i++) {
        double at = (double)x->value[first + i];
        bool mark = is == &per_layer && depth * at >= most;
        *marks = *marks || mark;
        head[1 + 2 * i] = lra_format("%s = %.0f%s", is->limit, at, mark ? "*" : "");
        head[2 + 2 * i] = lra_copy_text("");
        key[1 + 2 * i] = lra_format("r%.0f_percent", at);
        key[2 + 2 * i] = lra_format("r%.0f_lo,r%.0f_hi", at, at);
    }
    char *title = lra_format("%s: %s", is->title, name);
    lra_table *t = lra_table_new(title, (int)(1 + 2 * n), (const char *const *)head);
    lra_table_keys(t, (const char *const *)key);
    for (int64_t i = 0; i < 1 + 2 * n; i++) {
        lra_free(head[i]);
        lra_free(key[i]);
    }
    lra_free(title);
    lra_free(name);
    return t;
}

static void note_gains(lra_table *t, const lra_probe_result *r, const gains *is, bool marks)
{
    double depth = number_of(r, "cut", "depth"), most = number_of(r, "cut", "most");
    double period = number_of(r, "context", "period");
    if (marks)
        lra_table_note(t,
                       "*\tthis limit separates no pair of tokens: %.0f layer%s that mix%s "
                       "positions reach %.0f r tokens together, and no pair is farther apart "
                       "than %.0f",
                       depth, depth == 1 ? "" : "s", depth == 1 ? "es" : "", depth, most);
    if (is == &of_model && period > 1)
        lra_table_note(t,
                       "blocks\tthe model works on blocks of %.0f tokens: up to %.0f more "
                       "tokens on the left",
                       period, period - 1);
}

/* Table of the gains of a run under limits; NULL: the run has none. */
static lra_table *gains_table(const lra_probe_result *r, const gains *is)
{
    const lra_probe_array *x = NULL;
    for (int u = 0; u < r->n_units && !x; u++)
        if (is->of(r->unit[u])) x = lra_probe_array_find(r->unit[u], "x");
    if (!x) return NULL;
    int64_t n = x->dims[0] < MOST_POINTS ? x->dims[0] : MOST_POINTS, first = x->dims[0] - n;
    bool undefined = false, marks = false;
    lra_table *t = empty_gains(r, is, x, first, &marks);
    for (int u = 0; u < r->n_units; u++) {
        const char *name_of = is->of(r->unit[u]);
        if (!name_of) continue;
        lra_probe_array part = *lra_probe_array_find(r->unit[u], "gain");
        /* this gain was measured at other limits than those of the columns */
        if (part.dims[0] != x->dims[0]) continue;
        part.value += 3 * first;
        undefined = undefined || isnan(part.value[0]);
        add_gains(t, name_of, &part, n);
    }
    lra_table_note(t, "%sIntervals: '--json', or 'lra-report tables --format csv'.%s",
                   is == &per_layer ? "Layers that are not named in a row have no limit. " : "",
                   undefined ? " -: undefined, the model is not clearly above chance." : "");
    note_gains(t, r, is, marks);
    return t;
}

/* ---- positions ------------------------------------------------------------------------------- */

/* Table of the effects by relative position of a run; NULL: the run has none. */
static lra_table *positions_table(const lra_probe_result *r)
{
    static const char *const head[] = {"position", "effect", "effect CI", "signed effect"};
    static const char *const key[] = {"position_percent", "effect", "effect_lo,effect_hi",
                                      "signed_effect"};
    const lra_probe_unit *u = lra_probe_unit_find(r, "position");
    const lra_probe_array *effect = u ? lra_probe_array_find(u, "effect") : NULL;
    const lra_probe_array *drop = u ? lra_probe_array_find(u, "drop") : NULL;
    if (!effect || !drop || effect->rank != 2 || effect->dims[1] != 3) return NULL;
    int64_t n = effect->dims[0] < drop->dims[0] ? effect->dims[0] : drop->dims[0];
    char *name = lra_probe_run_name(r);
    char *title = lra_format("Effect of the tokens by relative position in the input: %s", name);
    lra_table *t = lra_table_new(title, 4, head);
    lra_table_keys(t, key);
    for (int64_t i = 0; i < n; i++) {
        lra_table_row(t);
        lra_table_value(t, 100 * (double)i / (double)n, "%.0f-%.0f %%", 100 * (double)i / (double)n,
                        100 * (double)(i + 1) / (double)n);
        lra_table_number(t, (double)effect->value[3 * i], 3);
        lra_table_interval(t, (double)effect->value[3 * i + 1], (double)effect->value[3 * i + 2],
                           3);
        lra_table_number(t, (double)drop->value[i], 3);
    }
    lra_table_note(t,
                   "effect\tmean |change| of the score (the logit of the label minus the largest "
                   "other logit, or the predicted number) if these tokens are replaced by those "
                   "of another example");
    lra_table_note(t, "signed effect\tmean decrease of the score");
    lra_free(title);
    lra_free(name);
    return t;
}

static int make(const lra_report_input *in, lra_table ***list, lra_err *e)
{
    (void)e;
    int n = 0;
    static const gains *const kinds[] = {&of_model, &per_layer};
    *list = lra_alloc_array(3 * (size_t)in->n_probes + 1, sizeof **list);
    (*list)[n++] = measurements_table(in->probes, in->n_probes);
    for (int i = 0; i < 2 * in->n_probes; i++) {
        lra_table *t = gains_table(in->probes[i / 2], kinds[i % 2]);
        if (t) (*list)[n++] = t;
    }
    for (int i = 0; i < in->n_probes; i++) {
        lra_table *t = positions_table(in->probes[i]);
        if (t) (*list)[n++] = t;
    }
    return n;
}

static lra_table *records(const lra_report_input *in, lra_table *const *list, int n)
{
    (void)n;
    return lra_probe_records(list[0]->title, in);
}

const lra_report_table lra_table_influence = {
    "influence",
    "distance of influential tokens: distance limits, gradients, perturbed "
    "inputs",
    make, LRA_FROM_INFLUENCE, records};
