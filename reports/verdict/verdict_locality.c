/* Composes the verdict of table locality (verdict_locality.h). */
#include "reports/verdict/verdict_locality.h"

#include <math.h>
#include <string.h>

#include "kernels/base/core/mem.h"

/* Noun for the rows: "models", or "rows (models on data sets)" if there are several data sets. */
static const char *rows_name(const lra_locality_view *v)
{
    const lra_result *first = v->row[0].group->run[0];
    for (int i = 1; i < v->n; i++) {
        const lra_result *r = v->row[i].group->run[0];
        if (strcmp(r->task, first->task) != 0 || strcmp(r->fingerprint, first->fingerprint) != 0)
            return "rows (models on data sets)";
    }
    return "models";
}

static void say_growth(const lra_locality_view *v, lra_verdict *to)
{
    int grew, fell, undecided;
    lra_locality_growth(v, &grew, &fell, &undecided);
    int n = grew + fell + undecided, single = 0;
    if (n == 0) return;
    for (int i = 0; i < v->n; i++)
        single += !isnan(v->row[i].grew.value) && isnan(v->row[i].grew.lo);
    lra_text without = {0};
    lra_text_add(&without, "%s", "");
    if (single)
        lra_text_add(&without, "; %d of the last %d %s one seed and no interval", single, undecided,
                     single == 1 ? "has" : "have");
    lra_verdict_add(
        to,
        "Training increases the mean distance of the other tokens that a model uses in %d, "
        "decreases it in %d, and has no significant effect in %d of %d %s (null value: the same "
        "network at initialisation; 95 %% intervals of paired differences over seeds%s).",
        grew, fell, undecided, n, rows_name(v), without.s);
    lra_text_free(&without);
}

/* Number of rows with one mask: all, with a mean distance below or above that of uniform weights,
 * and without an interval. */
typedef struct {
    int n, nearer, farther, untested;
} by_mask;

static by_mask mask_of(const lra_locality_view *v, lra_mask mask)
{
    by_mask m = {0};
    for (int i = 0; i < v->n; i++) {
        const lra_measurement *f = &v->row[i].at[LRA_LOCALITY_REL];
        if (v->row[i].mask != mask || isnan(f->value)) continue;
        m.n++;
        m.untested += isnan(f->lo);
        m.nearer += f->hi<1, m.farther += f->lo> 1;
    }
    return m;
}

static void say_masks(const lra_locality_view *v, lra_verdict *to)
{
    static const char *const name[] = {"bidirectional models", "causal models",
                                       "models with an unknown mask"};
    lra_text t = {0};
    int untested = 0;
    for (int k = 0; k < LRA_MASKS; k++) {
        by_mask m = mask_of(v, (lra_mask)k);
        untested += m.untested;
        if (m.n)
            lra_text_add(&t, "%sshorter in %d and longer in %d of %d %s", t.n ? "; " : "", m.nearer,
                         m.farther, m.n, name[k]);
    }
    if (t.n)
        lra_verdict_add(to,
                        "Compared with uniform weights under the same mask (null value) %s "
                        "is significantly (95 %% interval) %s%s; models with different masks are "
                        "not compared.",
                        to->n ? "this distance"
                              : "the mean distance of the tokens that a model uses",
                        t.s, untested ? " (some without an interval)" : "");
    lra_text_free(&t);
}

static bool at_chance(const lra_locality_row *r)
{
    const lra_metric *m = lra_result_metric(r->group->run[0]);
    double bad = m->lower ? r->value.hi : r->value.lo;
    return !isnan(bad) && !lra_metric_better(m, bad, lra_result_chance(r->group->run[0]));
}

static void print_caveat(const lra_locality_view *v, lra_verdict *to)
{
    int chance = 0, single = 0, without = 0, measured = 0;
    for (int i = 0; i < v->n; i++) {
        bool has = !isnan(v->row[i].at[LRA_LOCALITY_REL].value);
        measured += has, without += !has;
        chance += has && at_chance(&v->row[i]);
        single += has && v->row[i].at[LRA_LOCALITY_REL].seeds == 1;
    }
    if (measured == 0)
        lra_verdict_add(to,
                        "No row has a measured distance: 'lra-probe influence RUN' measures it.");
    else if (chance)
        lra_verdict_add(to,
                        "%d of %d measured %s %s not better than chance: their distances "
                        "give no information about the need of the task.",
                        chance, measured, rows_name(v), chance == 1 ? "is" : "are");
    else if (single)
        lra_verdict_add(to,
                        "%d of %d measured %s %s one seed: these intervals cover examples, "
                        "not the variation over seeds.",
                        single, measured, rows_name(v), single == 1 ? "has" : "have");
    else if (without)
        lra_verdict_add(to, "%d of %d %s have no measured distance and are not counted above.",
                        without, v->n, rows_name(v));
    else
        lra_verdict_add(to, "A gradient shows dependence, not need: 'lra-probe influence "
                            "--parts context' measures the distance that the prediction needs.");
}

void lra_verdict_of_locality(const lra_locality_view *v, lra_verdict *to)
{
    if (v->n == 0) return;
    say_growth(v, to);
    say_masks(v, to);
    print_caveat(v, to);
}
