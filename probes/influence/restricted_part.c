/* Parts that evaluate the model on perturbed inputs. */
#include "probes/influence/restricted_part.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "probes/influence/perturbed_answers.h"

/* ---- two fillers ----------------------------------------------------------------------------- */

/* The perturbation with the alternative filler. NULL if none is declared, if it needs another row
 * and the sample has only one, if the model does not take its lengths, or if gains are
 * undefined. */
static const lra_perturbation *alternative_of(const lra_influence *p, const lra_perturbation *is,
                                              int64_t rows)
{
    if (lra_influence_no_gains(p)) return NULL;
    const lra_perturbation *other = is->alternative ? is->alternative->perturbation : NULL;
    if (other && p->subject.model->facts.fixed_length && !lra_perturb_keeps_length(other))
        return NULL;
    return other && other->filler->other_row && rows < 2 ? NULL : other;
}

/* Index of the last width that is at most a quarter of the largest one, and not 0. */
static int quarter(int n, const double *w)
{
    int at = 0;
    while (at + 1 < n && (w[at] <= 0 || w[at + 1] <= w[n - 1] / 4)) at++;
    return at;
}

double lra_restricted_passes(const lra_perturbation *is, const lra_influence *p, int64_t examples)
{
    int64_t rows = lra_influence_rows(p, examples);
    double w[LRA_GAIN_POINTS], runs = lra_restrict_runs(&p->subject, is, 0);
    const lra_perturbation *other = alternative_of(p, is, rows);
    int n = lra_restrict_axis(p->subject.data, is, w);
    if (other) runs += lra_restrict_runs(&p->subject, other, (int64_t)w[quarter(n, w)]);
    return runs * (double)rows;
}

static int add_difference(lra_influence *p, lra_probe_unit *u, int64_t examples,
                          const lra_perturbation *is, const lra_restricted *r, lra_err *e)
{
    const lra_perturbation *other = alternative_of(p, is, r->n / r->answers);
    lra_restricted o = {0};
    int at = quarter(r->n_points, r->w), rc = 0;
    if (!other) return 0;
    rc = lra_restrict_measure(&p->subject, other, (int64_t)r->w[at], examples, &p->steps, &o, e);
    if (rc == 0) {
        lra_estimate x = lra_restricted_difference(p, r, at, &o);
        lra_measurement f[] = {lra_measurement_of("mode.difference", x.value),
                               lra_measurement_of("mode.width", r->w[at])};
        f[0].lo = x.lo, f[0].hi = x.hi, f[0].null[LRA_NULL_UNIFORM] = 0;
        for (int i = 0; i < 2; i++) f[i].examples = r->n / r->answers;
        lra_probe_unit_measurements(u, 2, f);
    }
    lra_restricted_free(&o);
    return rc;
}

/* ---- measurements --------------------------------------------------------------------------- */

/* True if the task has a grammar, so that perturbed rows are rows that the task cannot produce. */
static bool has_grammar(const lra_influence *p)
{
    return p->subject.data->task->data.grammar != LRA_GRAMMAR_NONE;
}

/* Adds the threshold of a permutation: the smallest (ids.smallest) or largest width that costs 5 %
 * of the gain. */
static void add_costs(lra_probe_unit *u, const lra_perturbation *is, const char *prefix,
                      const lra_gain *g, int64_t n)
{
    const lra_estimate *x = is->ids.smallest ? &g->costs_from : &g->costs_to;
    lra_measurement f = lra_influence_threshold(prefix, is->ids.costs, x, n);
    if (g->undefined) f.flags |= LRA_NO_GAIN;
    /* null value: threshold of a model for which the order of the tokens has no effect */
    f.null[LRA_NULL_UNIFORM] = is->ids.smallest ? INFINITY : 0;
    lra_probe_unit_measurements(u, 1, &f);
}

/* Adds the measurements that use labels, and those that use the outputs alone (kl). */
static void add_measurements(lra_influence *p, lra_probe_unit *u, const lra_restricted *r,
                             const lra_perturbation *is)
{
    int64_t n = r->n / r->answers;
    lra_gain g, kl;
    lra_restricted_gain(p, r, &g);
    lra_influence_add_gain(p, u, is->ids.least, is->ids.area, &g, n);
    if (is->ids.costs) add_costs(u, is, "order", &g, n);
    if (!r->kl) return;
    if (is->ids.answers && !lra_influence_no_gains(p)) lra_restricted_add_keys(p, u, r);
    lra_restricted_add_kl(p, u, r, &kl);
    if (is->ids.costs)
        add_costs(u, is, "kl", &kl, n);
    else
        lra_influence_add_least(u, "kl.w", "kl.auc", &kl, n);
}

int lra_restricted_measure(const lra_perturbation *is, const char *unit, lra_influence *p,
                           int64_t examples, lra_err *e)
{
    lra_restricted r;
    bool pixels = is->geometry->marks && p->result->grid;
    bool ill_formed = has_grammar(p) && !is->well_formed;
    int rc = lra_restrict_measure(&p->subject, is, 0, examples, &p->steps, &r, e);
    if (rc == 0) {
        lra_probe_unit *u = lra_probe_unit_new(p->out, unit);
        add_measurements(p, u, &r, is);
        rc = add_difference(p, u, examples, is, &r, e);
        for (int i = 0; i < u->n_measurements; i++) {
            lra_measurement *f = &u->measurement[i];
            if (ill_formed) f->flags |= LRA_ILL_FORMED;
            if (pixels) lra_measurement_in_pixels(f);
        }
    }
    lra_restricted_free(&r);
    return rc;
}
