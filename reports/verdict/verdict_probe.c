/* Composes verdicts of probes on trained runs (verdict_probe.h). */
#include "reports/verdict/verdict_probe.h"

#include <math.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "reports/views/probe_measurements.h"
#include "reports/views/model_names.h"

/* Ids of the relative mean distance: without the own token, and, in older files, with it. */
static const char *const relative_ids[] = {"dist.mean.rel", "range.mean.rel"};
static const char *const own_token[] = {"", ", own token included"};

/* True if the weights before this training were pretrained, not random. */
static bool is_tuned(const lra_probe_result *r)
{
    return strstr(r->config, "train.from=") != NULL;
}

/* ---- attention ------------------------------------------------------------------------------- */

/* Number of heads of a run by the interval of one measurement. */
typedef struct {
    /* nearer, farther: than uniform weights; closer, wider: than at initialisation */
    int n, nearer, farther, closer, wider;
    /* number of heads with a known value at initialisation */
    int n_initial;
    double least, most;
} heads;

static heads heads_of(const lra_probe_result *r, const char *id)
{
    heads h = {.least = INFINITY, .most = -INFINITY};
    for (int u = 0; u < r->n_units; u++) {
        const lra_measurement *f = lra_probe_measurement(r->unit[u], id);
        if (!f || !strstr(r->unit[u]->name, "head") || isnan(f->lo)) continue;
        double initial = f->null[LRA_NULL_INIT];
        h.n++;
        h.nearer += f->hi<1, h.farther += f->lo> 1;
        h.least = fmin(h.least, f->value), h.most = fmax(h.most, f->value);
        h.n_initial += !isnan(initial);
        h.closer += f->hi<initial, h.wider += f->lo> initial;
    }
    return h;
}

void lra_verdict_of_attention(const lra_probe_result *r, lra_verdict *to)
{
    int k = 0;
    heads h = heads_of(r, relative_ids[0]);
    if (h.n == 0) h = heads_of(r, relative_ids[++k]);
    if (h.n == 0) return;
    lra_verdict_add(
        to,
        "of %d heads %d attend to significantly nearer tokens than uniform weights under the "
        "same mask (the null value) and %d to significantly farther ones (95 %% interval of "
        "each head): mean distances are %.2f to %.2f times those of uniform weights%s.",
        h.n, h.nearer, h.farther, h.least, h.most, own_token[k]);
    if (h.n_initial)
        lra_verdict_add(
            to,
            "Compared with %s %d heads attend to nearer and %d to farther tokens; the intervals of %d "
            "contain the value %s.",
            is_tuned(r) ? "the pretrained weights" : "initialisation", h.closer, h.wider,
            h.n_initial - h.closer - h.wider,
            is_tuned(r) ? "before fine-tuning" : "at initialisation");
    lra_verdict_add(to, "This is one seed, and an attention weight is not an effect: 'lra-probe "
                        "influence' measures the effect of tokens on the prediction.");
}

/* ---- kernels --------------------------------------------------------------------------------- */

/* True if the model also mixes positions without a kernel. */
static bool is_part(const lra_probe_cell *c)
{
    return strstr(c->seed[0]->settings, "uncovered=") != NULL;
}

/* Gets measurement `id` of unit `model` (the mean over layers). A model with one convolution has no
 * such unit; its value comes from the only layer. Returns false if the model also mixes positions
 * without a kernel, or if the value is missing or not finite. */
static bool find(const lra_probe_cell *c, const char *id, lra_measurement *out)
{
    if (is_part(c)) return false;
    if (lra_probe_cell_measurement(c, "model", id, out)) return isfinite(out->value);
    const lra_probe_result *r = c->seed[0];
    return r->n_units == 1 && lra_probe_cell_measurement(c, r->unit[0]->name, id, out) &&
           isfinite(out->value);
}

/* "0.92 (0.48 to 1.36)". The caller frees it. */
static char *value_text(const lra_measurement *f, int decimals)
{
    if (isnan(f->lo)) return lra_format("%.*f", decimals, f->value);
    return lra_format("%.*f (%.*f to %.*f)", decimals, f->value, decimals, f->lo, decimals, f->hi);
}

/* Name of a cell, with the model's name as in its paper. The caller frees it. */
static char *name_of(const lra_probe_cell *c)
{
    return lra_model_shown(c->name, c->seed[0]->model, c->seed[0]->config);
}

static void note_one_cell(const lra_probe_cell *c, const lra_measurement *f, int k, lra_verdict *to)
{
    lra_measurement q;
    char *mean = value_text(f, 2), *radius = NULL, *name = name_of(c);
    bool layers = c->seed[0]->n_units > 2; /* with several layers, the value is their mean */
    if (find(c, k ? "range.q95" : "dist.q95", &q))
        radius = value_text(&q, q.value != floor(q.value) ? 1 : 0);
    lra_verdict_add(to,
                    "the energy of the kernels of %s has a mean distance of %s times that of "
                    "uniform weights (the null value: 1)%s%s%s%s%s.",
                    name, mean, own_token[k], radius ? "; 95 % of the energy is within " : "",
                    radius ? radius : "", radius ? " tokens" : "",
                    radius && layers ? " (mean over layers)" : "");
    lra_free(mean);
    lra_free(name);
    lra_free(radius);
}

/* Adds a sentence with the nearest and the farthest of several cells. */
static void say_cells(int n, const lra_probe_cell *cells, const char *id, int k, lra_verdict *to)
{
    int least = -1, most = -1, known = 0;
    lra_measurement f, a = {.value = NAN}, b = a;
    for (int c = 0; c < n; c++) {
        if (!find(&cells[c], id, &f)) continue;
        known++;
        if (least < 0 || f.value < a.value) least = c, a = f;
        if (most < 0 || f.value > b.value) most = c, b = f;
    }
    char *near = value_text(&a, 2), *far = value_text(&b, 2);
    char *local = name_of(&cells[least]), *other = name_of(&cells[most]);
    lra_verdict_add(
        to,
        "of %d models the kernels of %s are the most local and those of %s the least: the mean "
        "distance of their energy is %s and %s times that of uniform weights on the same lags "
        "(the null value: 1)%s; this compares shapes, not distances in tokens.",
        known, local, other, near, far, own_token[k]);
    lra_free(near);
    lra_free(far);
    lra_free(local);
    lra_free(other);
}

/* Adds the sentence on the change by training; over seeds, if there are several. */
static void say_training(int n, const lra_probe_cell *cells, const char *id, lra_verdict *to)
{
    int known = 0, several = 0, shown = 0, tuned = 0;
    lra_measurement f, last = {.value = NAN};
    for (int c = 0; c < n; c++) {
        if (!find(&cells[c], id, &f) || isnan(f.null[LRA_NULL_INIT])) continue;
        known++, several += !isnan(f.lo), last = f;
        tuned += is_tuned(cells[c].seed[0]);
        shown += f.hi < f.null[LRA_NULL_INIT] || f.lo > f.null[LRA_NULL_INIT];
    }
    if (known == 1 && isnan(last.lo))
        lra_verdict_add(to, "%s it was %.2f; one seed has no interval.",
                        tuned ? "Before fine-tuning" : "At initialisation",
                        last.null[LRA_NULL_INIT]);
    else if (known == 1)
        lra_verdict_add(to, "%s it was %.2f, which the interval over seeds %s.",
                        tuned ? "Before fine-tuning" : "At initialisation",
                        last.null[LRA_NULL_INIT],
                        shown ? "excludes" : "contains: the change by training is not significant");
    else if (known > 1 && several == 0)
        lra_verdict_add(to, "With one seed per model there is no interval: a change by training "
                            "is not tested.");
    else if (known > 1)
        lra_verdict_add(to,
                        "The intervals over seeds of %d of the %d models with several seeds "
                        "exclude the value %s.",
                        shown, several,
                        tuned ? "before training or fine-tuning" : "at initialisation");
}

void lra_verdict_of_kernels(int n, const lra_probe_cell *cells, lra_verdict *to)
{
    int known = 0, k = 0, at = 0;
    lra_measurement f;
    for (; k < 2; k++) {
        for (int c = 0; c < n; c++)
            if (find(&cells[c], relative_ids[k], &f)) known++, at = c;
        if (known) break;
    }
    for (int c = 0; c < n; c++)
        if (!known && is_part(&cells[c])) {
            char *name = name_of(&cells[c]);
            lra_verdict_add(
                to,
                "%s also mixes positions without kernels: its kernels are parts, from which the "
                "reach of the model does not follow.",
                name);
            lra_free(name);
            return;
        }
    if (!known) return;
    if (known == 1 && find(&cells[at], relative_ids[k], &f))
        note_one_cell(&cells[at], &f, k, to);
    else
        say_cells(n, cells, relative_ids[k], k, to);
    say_training(n, cells, relative_ids[k], to);
    lra_verdict_add(
        to, "A kernel can be long although the task does not need distant tokens: 'lra-probe "
            "influence --parts context,cut' measures the effect of removing distant tokens.");
}

/* ---- influence ------------------------------------------------------------------------------- */

/* A measurement of a unit of a run; NULL: the run does not have it. */
static const lra_measurement *measurement_of(const lra_probe_result *r, const char *unit,
                                             const char *id)
{
    const lra_probe_unit *u = lra_probe_unit_find(r, unit);
    return u ? lra_probe_measurement(u, id) : NULL;
}

/* Number of runs with a measurement, and the range of its values. */
typedef struct {
    int n, undefined, censored;
    double least, most, lo, hi;   /* least, most: of the values; lo, hi: of the intervals */
    const lra_measurement *first; /* first run's measurement that has a value */
} spread;

static spread spread_of(lra_probe_result *const *list, int n, const char *unit, const char *id)
{
    spread s = {.least = INFINITY, .most = -INFINITY, .lo = INFINITY, .hi = -INFINITY};
    for (int i = 0; i < n; i++) {
        const lra_measurement *f = measurement_of(list[i], unit, id);
        if (!f) continue;
        s.n++;
        s.undefined += isnan(f->value), s.censored += (f->flags & LRA_CENSORED) != 0;
        if (isnan(f->value)) continue;
        s.least = fmin(s.least, f->value), s.most = fmax(s.most, f->value);
        s.lo = fmin(s.lo, f->lo), s.hi = fmax(s.hi, f->hi); /* fmin and fmax ignore NAN */
        if (!s.first) s.first = f;
    }
    return s;
}

static char *limit_text(const spread *s, int n)
{
    if (n > 1 && s->lo > s->hi)
        return lra_format("%.0f to %.0f tokens over %d runs", s->least, s->most,
                          s->n - s->undefined);
    if (n > 1)
        return lra_format("%.0f to %.0f tokens over %d runs (intervals: %.0f to %.0f)", s->least,
                          s->most, s->n - s->undefined, s->lo, s->hi);
    if (isnan(s->first->lo)) return lra_format("%.0f tokens", s->first->value);
    return lra_format("%.0f tokens (%.0f to %.0f)", s->first->value, s->first->lo, s->first->hi);
}

/* Adds the radius of the context limit of the complete model, or else that of the limit per
 * layer. */
static void say_limit(lra_probe_result *const *list, int n, lra_verdict *to)
{
    spread context = spread_of(list, n, "context", "context.r99"),
           cut = spread_of(list, n, "cut", "cut.r99"),
           reach = spread_of(list, n, "cut", "cut.reach99");
    const spread *s = context.n ? &context : &cut;
    if (s->n == 0) return;
    if (!s->first) {
        lra_verdict_add(to,
                        "%s not clearly above chance on these examples: the gain under a "
                        "distance limit is undefined.",
                        n > 1 ? "the models are" : "the model is");
        return;
    }
    char *limit = limit_text(s, n);
    if (context.n)
        lra_verdict_add(to,
                        "if the features of each position depend only on inputs within %s, 99 "
                        "%% of the gain over chance is kept%s.",
                        limit,
                        s->censored == 0                    ? ""
                        : s->censored < s->n - s->undefined ? " (in some runs a bound: only the "
                                                              "full input keeps it)"
                                                            : " (a bound: only the full input "
                                                              "keeps it)");
    else if (reach.first) {
        char *both = limit_text(&reach, n);
        lra_verdict_add(to,
                        "a distance limit of %s in each layer, %s for all layers together, "
                        "keeps 99 %% of the gain over chance.",
                        limit, both);
        lra_free(both);
    } else
        lra_verdict_add(to,
                        "a distance limit of %s in each layer keeps 99 %% of the gain over "
                        "chance; all layers together reach farther.",
                        limit);
    lra_free(limit);
}

/* Adds the sentence on the distance by gradients, for one run. */
static void say_gradients(const lra_probe_result *r, lra_verdict *to)
{
    int k = 0;
    const lra_measurement *f = measurement_of(r, "jacobian", relative_ids[0]);
    if (!f) f = measurement_of(r, "jacobian", relative_ids[++k]);
    if (!f || isnan(f->value)) return;
    double initial = f->null[LRA_NULL_INIT];
    const char *when = is_tuned(r) ? "before fine-tuning" : "at initialisation";
    /* Enough digits to print a value outside the interval as outside. */
    int digits = fmin(fabs(f->lo - initial), fabs(f->hi - initial)) < 0.02 ? 4 : 2;
    char *value = value_text(f, digits);
    char *before = isnan(initial) ? lra_copy_text("")
                   : f->hi < initial || f->lo > initial
                       ? lra_format("; %s it was %.*f, outside the interval", when, digits, initial)
                       : lra_format("; %s it was %.*f, no significant change", when, digits,
                                    initial);
    lra_verdict_add(to,
                    "By gradients the mean distance of the tokens that a position depends on is "
                    "%s times that of uniform weights (the null value: 1)%s%s.",
                    value, own_token[k], before);
    lra_free(value);
    lra_free(before);
}

void lra_verdict_of_influence(lra_probe_result *const *list, int n, lra_verdict *to)
{
    say_limit(list, n, to);
    if (n == 1) say_gradients(list[0], to);
    if (to->n == 0) return;
    lra_verdict_add(to, n == 1 ? "This is one seed: intervals cover examples, and the result "
                                 "describes the model, not the need of the task."
                               : "This describes these models, not the need of the task.");
}
