/* Composes the verdict of a ladder (verdict_ladder.h). */
#include "reports/verdict/verdict_ladder.h"

#include <inttypes.h>
#include <math.h>

#include "kernels/base/core/mem.h"
#include "reports/ladder/ladder_notes.h"

/* Rung r as text: "K = 7 (reach 9)". The caller frees it. */
static char *rung_text(const lra_ladder_view *v, int r)
{
    char name[48];
    const lra_ladder_row *row = &v->ladder.row[r];
    return lra_format("%s (reach %" PRId64 ")", lra_ladder_rung_name(&v->kind, row->kernel, name),
                      row->reach);
}

/* A value in the unit of the metric: "57.60 %" */
static const char *value_text(const lra_ladder_view *v, double score, char text[32])
{
    lra_metric_value_text(v->metric, lra_ladder_value(v, score), text);
    return text;
}

static const char *margin_of(const lra_ladder_view *v)
{
    return v->data.values ? "1 % of the gain" : "1 point";
}

static int rung_of_reach(const lra_ladder *l, double reach)
{
    int r = 0;
    while (r < l->n_rungs && (double)l->row[r].reach < reach) r++;
    return r;
}

/* ---- no index -------------------------------------------------------------------------------- */

/* True if the half width is below half of the value. An index requires the same of its reference:
 * among many rungs, some intervals exclude 0 by chance. */
static bool clearly_above(const lra_estimate *x)
{
    return (x->hi - x->lo) / 2 < x->value / 2;
}

static void say_at_chance(const lra_ladder_view *v, lra_verdict *to)
{
    const lra_ladder *l = &v->ladder;
    char chance[32], reference[32], name[48];
    char *difference = lra_ladder_difference_text(v, l->reference_minus_chance);
    lra_text above = {0};
    for (int r = 0; r < l->n_rungs; r++)
        if (clearly_above(&l->above_chance[r]))
            lra_text_add(&above, "%s%s", above.n ? ", " : "",
                         lra_ladder_rung_name(&v->kind, l->row[r].kernel, name));
    const char *better = v->metric->lower ? "better than" : "above";
    value_text(v, l->reference, reference);
    value_text(v, l->chance, chance);
    if (l->reference_minus_chance.lo > 0)
        lra_verdict_add(to,
                        "the reference is %s chance, %s against %s (%s), but the interval of the "
                        "difference, %s, is too wide for gains: its half width must be below half "
                        "of the difference.",
                        better, reference, chance, v->chance, difference);
    else
        lra_verdict_add(to, "%s clearly %s chance: %s against %s (%s), difference %s.",
                        above.n ? "the reference is not" : "no model of this ladder is", better,
                        reference, chance, v->chance, difference);
    if (above.n)
        lra_verdict_add(to,
                        "Clearly %s chance: %s; '--reference best' uses the best rung as "
                        "reference.",
                        better, above.s);
    lra_verdict_add(to, "%s about the reach that the task needs, because gains are undefined.",
                    above.n ? "With this reference the ladder gives no information"
                            : "The ladder gives no information");
    lra_text_free(&above);
    lra_free(difference);
}

static void say_one_rung(const lra_ladder_view *v, lra_verdict *to)
{
    const lra_ladder *l = &v->ladder;
    char value[32], chance[32];
    int r = l->n_rungs - 1;
    char *rung = rung_text(v, r), *above = lra_ladder_difference_text(v, l->above_chance[r]);
    lra_verdict_add(to, "%s has %s; the difference to chance (%s) is %s.", rung,
                    value_text(v, l->row[r].accuracy.value, value),
                    value_text(v, l->chance, chance), above);
    lra_verdict_add(to, "One rung with R > 0 does not show which reach is sufficient: train two or "
                        "more.");
    lra_free(rung);
    lra_free(above);
}

/* ---- sufficient reach ------------------------------------------------------------------------ */

/* Text on rung r, the first that fails the test: "reach 6, differs by -2.66 points (-3.20 to
 * -2.11)". */
static char *failing_text(const lra_ladder_view *v, int r)
{
    const lra_ladder *l = &v->ladder;
    char *difference = lra_ladder_difference_text(v, l->above[r]);
    char *text = lra_format(
        "%" PRId64 ", differs by %s%s", l->row[r].reach, difference,
        l->sufficient[0].unresolved
            ? ", and this interval is too wide to decide: more seeds or examples are needed"
            : "");
    lra_free(difference);
    return text;
}

/* Adds the sentence on the sufficient rung r, which is not the reference. */
static void say_enough(const lra_ladder_view *v, int r, const char *failing, lra_verdict *to)
{
    const lra_ladder *l = &v->ladder;
    char *difference = lra_ladder_difference_text(v, l->above[r]);
    lra_verdict_add(to,
                    "a reach of %" PRId64 " of %" PRId64
                    " tokens is sufficient to be within %s of %s (one-sided 97.5 %%): the "
                    "difference is %s%s%s.",
                    l->row[r].reach, v->data.T, margin_of(v), v->reference, difference,
                    *failing ? "; the next smaller reach, " : "; no smaller reach was trained",
                    failing);
    lra_free(difference);
}

static void say_sufficient(const lra_ladder_view *v, lra_verdict *to)
{
    const lra_ladder *l = &v->ladder;
    int first = l->row[0].null_row, r = l->n_rungs;
    if (!isinf(l->sufficient[0].reach)) r = rung_of_reach(l, l->sufficient[0].reach);
    char *failing = r > first ? failing_text(v, r - 1) : lra_copy_text("");
    if (r == l->n_rungs)
        lra_verdict_add(to,
                        "no rung is shown to be within %s of %s (one-sided 97.5 %%): the widest, "
                        "reach %s.",
                        margin_of(v), v->reference, failing);
    else if (r != l->reference_rung)
        say_enough(v, r, failing, to);
    else if (r > first)
        lra_verdict_add(to,
                        "no reach below that of the reference, %" PRId64 " of %" PRId64 " tokens, "
                        "is shown to be within %s of %s (one-sided 97.5 %%): the next smaller "
                        "reach, %s.",
                        l->row[r].reach, v->data.T, margin_of(v), v->reference, failing);
    else
        lra_verdict_add(to,
                        "the reference, %s, is the narrowest rung: no smaller reach was trained.",
                        v->reference);
    lra_free(failing);
}

/* ---- effect of reach ------------------------------------------------------------------------- */

/* "; by mutual information ..." if the sufficient reach by mutual information differs, else "". The
 * caller frees it. */
static char *info_text(const lra_ladder_view *v)
{
    const lra_sufficient *x = &v->info.sufficient[0];
    bool other = v->has_info && v->info.state == LRA_LI_GIVEN && !x->unresolved &&
                 !isinf(x->reach) && x->reach != v->ladder.sufficient[0].reach;
    return other ? lra_format("; for mutual information (within 1 %% of that of the reference) "
                              "%.0f tokens are sufficient",
                              x->reach)
                 : lra_copy_text("");
}

/* ", but an effect on mutual information is: ..." if reach has an effect on mutual information but
 * not on accuracy, else "". The caller frees it. */
static char *info_slope_text(const lra_ladder_view *v)
{
    const lra_estimate *x = &v->ladder.slope, *i = &v->info.slope;
    const double bit = log(2);
    bool other = x->lo <= 0 && x->hi >= 0 && v->has_info && v->info.state == LRA_LI_GIVEN &&
                 (i->lo > 0 || i->hi < 0);
    return other ? lra_format(", but an effect on mutual information is: %+.4f bits (%+.4f to "
                              "%+.4f)",
                              i->value / bit, i->lo / bit, i->hi / bit)
                 : lra_copy_text("");
}

static void say_slope(const lra_ladder_view *v, lra_verdict *to)
{
    const lra_estimate *x = &v->ladder.slope;
    char chance[32], *info = info_text(v), *bits = info_slope_text(v);
    char *slope = lra_ladder_difference_text(v, *x),
         *above = lra_ladder_difference_text(v, v->ladder.reference_minus_chance);
    lra_verdict_add(to,
                    "%s: %s per doubling of reach%s; the reference is %s chance (%s, %s) by %s%s.",
                    x->lo > 0   ? "more reach helps"
                    : x->hi < 0 ? "more reach makes the result worse"
                    : *bits     ? "an effect of reach on accuracy is not shown"
                                : "an effect of reach is not shown",
                    slope, bits, v->metric->lower ? "better than" : "above",
                    value_text(v, v->ladder.chance, chance), v->chance, above, info);
    lra_free(info);
    lra_free(bits);
    lra_free(slope);
    lra_free(above);
}

/* ---- the caveat ------------------------------------------------------------------------------ */

static bool note_seeds(const lra_ladder_view *v, lra_verdict *to)
{
    const lra_ladder *l = &v->ladder;
    int runs = 0, learned = 0;
    for (int r = 0; r < l->n_rungs; r++) runs += l->row[r].n_seeds, learned += l->row[r].n_learned;
    if (learned < runs)
        lra_verdict_add(to,
                        "%d of %d runs did not learn and are excluded from all "
                        "values%s.",
                        runs - learned, runs,
                        v->data.n_seeds < 5
                            ? "; with 3 seeds per rung about half of such failures are detected"
                            : "");
    else if (l->one_seed)
        lra_verdict_add(to, "A rung has one seed: its interval covers test examples only, not "
                            "the variation over seeds.");
    return to->n == LRA_VERDICT_SENTENCES;
}

/* The baseline that exceeds the reference most; NULL: none does. */
static const lra_ladder_rival *best_rival(const lra_ladder_view *v)
{
    const lra_ladder_rival *best = NULL;
    for (int b = 0; b < v->n_rivals; b++)
        if (!best || v->rival[b].above.value > best->above.value) best = &v->rival[b];
    return best;
}

static bool say_better(const lra_ladder_view *v, lra_verdict *to)
{
    const lra_ladder *l = &v->ladder;
    const lra_ladder_rival *rival = best_rival(v);
    char reference[32], name[48];
    value_text(v, l->reference, reference);
    int narrower = -1, last = l->reference_rung < 0 ? l->n_rungs : l->reference_rung;
    for (int r = l->row[0].null_row; r < last; r++)
        if (l->above[r].lo > 0 && (narrower < 0 || l->above[r].value > l->above[narrower].value))
            narrower = r;
    if (rival) {
        char *above = lra_ladder_difference_text(v, rival->above);
        lra_verdict_add(to,
                        "no model of this ladder solves the task (the baseline %s is better "
                        "than the reference, %s, by %s): the result describes these models, not "
                        "the need of the task.",
                        rival->name, reference, above);
        lra_free(above);
    } else if (narrower >= 0 && l->slope.lo <= 0) {
        char *above = lra_ladder_difference_text(v, l->above[narrower]);
        lra_verdict_add(to,
                        "%s is better than the reference, %s, by %s%s: that wider rungs do not "
                        "improve does not show that long reach is useless.",
                        lra_ladder_rung_name(&v->kind, l->row[narrower].kernel, name), v->reference,
                        above, v->flags & LRA_FLAG_OVERFIT ? "; the reference overfits" : "");
        lra_free(above);
    }
    return to->n == LRA_VERDICT_SENTENCES;
}

/* True if the numbers of parameters of the rungs with R > 0 differ by more than 2 %. */
static bool sizes_differ(const lra_ladder_view *v)
{
    int first = v->ladder.row[0].null_row, last = v->ladder.n_rungs - 1;
    double a = (double)v->run[first][0]->training.parameters,
           b = (double)v->run[last][0]->training.parameters;
    return fabs(a - b) > 0.02 * fmin(a, b);
}

/* accuracy from which a larger reach cannot improve the result */
static const double SOLVED = 0.98;

static void print_caveat(const lra_ladder_view *v, lra_verdict *to)
{
    const lra_ladder *l = &v->ladder;
    int first = l->row[0].null_row, last = l->n_rungs - 1;
    char reference[32];
    if (note_seeds(v, to) || say_better(v, to)) return;
    bool solved = !v->data.values && l->reference >= SOLVED;
    if (l->span && !solved)
        lra_verdict_add(
            to, "No rung sees all %" PRId64 " tokens: reach beyond %" PRId64 " was not tested.",
            v->data.T, l->last_reach);
    else if (!v->data.values && !solved)
        lra_verdict_add(to,
                        "The reference has %s: the result describes these models, not a model that "
                        "solves the task.",
                        value_text(v, l->reference, reference));
    else if (sizes_differ(v))
        lra_verdict_add(to,
                        "Wider rungs are larger models (%" PRId64 " to %" PRId64
                        " parameters): 'receptive-field --match params' separates reach from size.",
                        v->run[first][0]->training.parameters,
                        v->run[last][0]->training.parameters);
    else if (l->few_seeds)
        lra_verdict_add(to, "Rungs have fewer than 5 seeds, and they vary more than the "
                            "test examples: intervals are wide.");
}

void lra_verdict_of_ladder(const lra_ladder_view *v, lra_verdict *to)
{
    if (v->ladder.state == LRA_LI_AT_CHANCE) {
        say_at_chance(v, to);
    } else if (v->ladder.state == LRA_LI_ONE_RUNG) {
        say_one_rung(v, to);
        note_seeds(v, to);
    } else {
        say_sufficient(v, to);
        say_slope(v, to);
        print_caveat(v, to);
    }
}
