/* Composes the verdict of a sweep (verdict_sweep.h). */
#include "reports/verdict/verdict_sweep.h"

#include <inttypes.h>
#include <math.h>

#include "kernels/base/core/mem.h"

/* Number of (rung, value) pairs of a sweep, separately for receptive fields that do not cover ([0])
 * and that cover ([1]) the distance; above: pairs above chance. */
typedef struct {
    int n[2], above[2], untested; /* [1]: the field covers the distance */
    int runs, learned, single, dominated;
} counts;

static counts counts_of(const lra_sweep *s)
{
    counts c = {0};
    for (int i = 0; i < s->n; i++) {
        const lra_ladder *l = &s->at[i]->ladder;
        for (int r = 0; r < l->n_rungs; r++) {
            const lra_ladder_row *row = &l->row[r];
            bool covers = lra_sweep_covers(s, i, r);
            c.n[covers]++;
            c.untested += isnan(row->accuracy.lo);
            c.above[covers] += row->accuracy.lo > s->at[i]->data.chance;
            c.runs += row->n_seeds, c.learned += row->n_learned;
            c.single += row->n_seeds == 1, c.dominated += row->seeds_dominate;
        }
    }
    return c;
}

/* Rung r as text: "K = 97 (reach 48)". The caller frees it. */
static char *rung_text(const lra_sweep *s, int r)
{
    char name[48];
    const lra_ladder_row *row = &s->at[0]->ladder.row[r];
    return lra_format("%s (reach %" PRId64 ")",
                      lra_ladder_rung_name(&s->at[0]->kind, row->kernel, name), row->reach);
}

/* ---- distances ------------------------------------------------------------------------------- */

static void say_covered(const counts *c, lra_verdict *to)
{
    if (c->n[1] == 0)
        lra_verdict_add(to, "No rung has a receptive field that covers a distance of this sweep.");
    else if (c->n[0] == 0)
        lra_verdict_add(
            to,
            "%d of %d rungs, each at one distance, are significantly better than chance (the "
            "null value; 95 %% intervals); the receptive fields of all cover the distance, so "
            "that no rung tests the null value.",
            c->above[1], c->n[1]);
    else
        lra_verdict_add(
            to,
            "of %d pairs of a rung and a distance that its receptive field covers, %d are "
            "significantly better than chance (95 %% intervals); of %d pairs whose distance it "
            "does not cover, which can only be at chance (the null value), %d are%s.",
            c->n[1], c->above[1], c->n[0], c->above[0],
            c->above[0] ? " (2.5 % are expected by chance)" : "");
}

/* Adds the longest solved distance, and the narrowest rung that solves it. */
static void say_solved(const lra_sweep *s, const lra_sweep_reach *reach, lra_verdict *to)
{
    int widest = -1, n = s->at[0]->ladder.n_rungs;
    for (int r = 0; r < n; r++)
        if (!isnan(reach[r].solved) && (widest < 0 || reach[r].solved > reach[widest].solved))
            widest = r;
    if (widest < 0) {
        lra_verdict_add(to, "No rung is shown to keep 0.95 of its gain over chance at any "
                            "distance.");
        return;
    }
    char *rung = rung_text(s, widest);
    lra_verdict_add(to,
                    "The longest distance at which a rung is shown to keep 0.95 of its gain over "
                    "chance is %g%s, of %s.",
                    reach[widest].solved,
                    reach[widest].solved >= s->number[s->n - 1] ? ", the longest of the sweep" : "",
                    rung);
    lra_free(rung);
}

/* ---- other settings -------------------------------------------------------------------------- */

static void say_above(const counts *c, lra_verdict *to)
{
    lra_text rest = {0};
    lra_text_add(&rest, "%s", "");
    if (c->untested) lra_text_add(&rest, "; %d have no interval", c->untested);
    lra_verdict_add(
        to,
        "%d of %d rungs, each at one value of the setting, are significantly better than "
        "chance, the null value (95 %% intervals)%s.",
        c->above[1], c->n[1], rest.s);
    lra_text_free(&rest);
}

/* b minus a for independent estimates, with the interval of Newcombe (1998), method 10, for any two
 * intervals. */
static lra_estimate change_of(lra_estimate a, lra_estimate b)
{
    double d = b.value - a.value;
    return (lra_estimate){d, d - hypot(b.value - b.lo, a.hi - a.value),
                          d + hypot(b.hi - b.value, a.value - a.lo)};
}

static void say_change(const lra_sweep *s, lra_verdict *to)
{
    const lra_ladder_view *from = s->at[0], *last = s->at[s->n - 1];
    const lra_metric *m = from->metric;
    int r = from->ladder.n_rungs - 1;
    lra_estimate a = lra_ladder_values(from, from->ladder.row[r].accuracy),
                 b = lra_ladder_values(last, last->ladder.row[r].accuracy), x = change_of(a, b);
    if (s->n < 2 || isnan(x.value)) return;
    char text[2][32], *rung = rung_text(s, r);
    lra_metric_value_text(m, a.value, text[0]), lra_metric_value_text(m, b.value, text[1]);
    lra_text change = {0};
    if (isnan(x.lo))
        lra_text_add(&change, "without an interval");
    else
        lra_text_add(&change, "a change of %+.*f%s (%+.*f to %+.*f)%s", m->decimals,
                     m->scale * x.value, *m->unit ? " points" : "", m->decimals, m->scale * x.lo,
                     m->decimals, m->scale * x.hi,
                     x.lo > 0 || x.hi < 0 ? "" : ", which is not shown to differ from 0");
    lra_verdict_add(to, "The widest rung, %s, has %s %s at %s %s and %s at %s: %s.", rung, m->text,
                    text[0], s->key, s->value[0], text[1], s->value[s->n - 1], change.s);
    lra_text_free(&change);
    lra_free(rung);
}

/* ---- the caveat ------------------------------------------------------------------------------ */

static void print_caveat(const lra_sweep *s, const counts *c, lra_verdict *to)
{
    int cells = c->n[0] + c->n[1];
    if (c->learned < c->runs)
        lra_verdict_add(to, "%d of %d runs did not learn and %s excluded from all values%s.",
                        c->runs - c->learned, c->runs, c->runs - c->learned == 1 ? "is" : "are",
                        s->at[0]->data.n_seeds < 5
                            ? "; with 3 seeds about half of such failures are detected"
                            : "");
    else if (c->single)
        lra_verdict_add(to,
                        "%d of these %d values have one seed: their intervals cover test examples, "
                        "not the variation over seeds.",
                        c->single, cells);
    else if (lra_sweep_is_distance(s) && c->above[1] < c->n[1])
        lra_verdict_add(to, "A rung at chance that covers the distance may not have learned: it "
                            "does not show that its reach is too small.");
    else if (c->dominated)
        lra_verdict_add(to,
                        "%d of these %d values have fewer than 5 seeds, and the variance over "
                        "seeds exceeds that over test examples: more seeds narrow the intervals.",
                        c->dominated, cells);
    else
        lra_verdict_add(to, "This describes these models after this many steps, not the limit "
                            "of the task.");
}

void lra_verdict_of_sweep(const lra_sweep *s, const lra_sweep_reach *reach, lra_verdict *to)
{
    counts c = counts_of(s);
    if (reach) {
        say_covered(&c, to);
        say_solved(s, reach, to);
    } else {
        say_above(&c, to);
        say_change(s, to);
    }
    print_caveat(s, &c, to);
}
