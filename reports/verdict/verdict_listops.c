/* Composes the verdict of a ListOps breakdown (verdict_listops.h). */
#include "reports/verdict/verdict_listops.h"

#include <math.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "reports/results/baseline_kind.h"
#include "reports/views/model_names.h"

/* "+33.46 points (+32.49 to +34.42)". The caller frees it. */
static char *difference_text(const lra_estimate *x)
{
    return lra_format("%+.2f points (%+.2f to %+.2f)", 100 * x->value, 100 * x->lo, 100 * x->hi);
}

static const lra_listops_cell *most_accurate(const lra_listops_view *v)
{
    const lra_listops_grouping *by = &v->by[LRA_BY_ROOT];
    const lra_listops_cell *best = NULL;
    double most = -1;
    for (int c = 0; c < v->n_cells; c++) {
        lra_breakdown_row row[1 + LRA_LISTOPS_GROUPS];
        lra_breakdown_compute(&v->cell[c].data, by->n_groups, by->group, v->greedy, row);
        if (row[0].accuracy.value > most) most = row[0].accuracy.value, best = &v->cell[c];
    }
    return best;
}

static void say_accuracy(const lra_listops_view *v, const lra_listops_cell *c,
                         const lra_breakdown_row *all, lra_verdict *to)
{
    char *difference = difference_text(&all->difference),
         *model = lra_model_shown(c->name, c->run[0]->model, c->run[0]->config),
         *of = v->n_cells > 1
                   ? lra_format("of %d models %s is the most accurate: it", v->n_cells, model)
                   : lra_copy_text(model);
    lra_verdict_add(to,
                    "%s has an accuracy of %.2f %% (%.2f to %.2f), and the majority label of the "
                    "root operator (greedy, the null value) has %.2f %%; the difference is %s%s.",
                    of, 100 * all->accuracy.value, 100 * all->accuracy.lo, 100 * all->accuracy.hi,
                    100 * all->rival, difference,
                    all->difference.lo > 0   ? ""
                    : all->difference.hi < 0 ? ": the model is worse"
                                             : ", which is not significant");
    lra_free(difference);
    lra_free(model);
    lra_free(of);
}

/* Adds the operators with the largest and the smallest difference. row: breakdown by operator. */
static void say_operators(const lra_listops_grouping *by, const lra_breakdown_row *row,
                          lra_verdict *to)
{
    int most = -1, least = -1;
    for (int g = 0; g < by->n_groups; g++) {
        double x = row[1 + g].difference.value;
        if (isnan(row[1 + g].difference.lo)) continue;
        if (most < 0 || x > row[1 + most].difference.value) most = g;
        if (least < 0 || x < row[1 + least].difference.value) least = g;
    }
    if (most < 0 || most == least) return;
    char *largest = difference_text(&row[1 + most].difference),
         *smallest = difference_text(&row[1 + least].difference);
    lra_verdict_add(
        to, "By root operator the difference is largest for %s, %s, and smallest for %s, %s%s.",
        by->name[most], largest, by->name[least], smallest,
        row[1 + least].difference.lo > 0 ? "" : ", where it is not significantly above 0");
    lra_free(largest);
    lra_free(smallest);
}

/* Adds a sentence on the deepest shallow evaluator (exact to a limited depth) that is not better
 * than the model. */
static void say_shallow(const lra_listops_view *v, double accuracy, lra_verdict *to)
{
    const lra_listops *r = v->first;
    const char *name = NULL;
    double best = 0;
    for (int h = 0; h < r->n_heuristics; h++) {
        if (lra_baseline_of(r->heuristic_name[h]).kind != LRA_BASELINE_SHALLOW_A) continue;
        double x = lra_listops_share(r, r->heuristic[h], NULL, -1);
        if (x <= accuracy && x >= best) best = x, name = r->heuristic_name[h];
    }
    if (name)
        lra_verdict_add(to,
                        "An evaluator that is exact only above a given depth (%s) has %.2f %%: "
                        "this accuracy does not show that the model computes deeper operators.",
                        name, 100 * best);
}

void lra_verdict_of_listops(const lra_listops_view *v, lra_verdict *to)
{
    const lra_listops_grouping *by = &v->by[LRA_BY_ROOT];
    const lra_listops_cell *c = most_accurate(v);
    lra_breakdown_row row[1 + LRA_LISTOPS_GROUPS];
    if (!c) return;
    lra_breakdown_compute(&c->data, by->n_groups, by->group, v->greedy, row);
    say_accuracy(v, c, &row[0], to);
    say_operators(by, row, to);
    if (c->data.n_seeds == 1)
        lra_verdict_add(to, "It has one seed: the intervals cover test examples, not the "
                            "variation over seeds.");
    else if (row[0].seeds_dominate)
        lra_verdict_add(to, "It has fewer than 5 seeds, and the variance over seeds exceeds "
                            "that over test examples: more seeds narrow the intervals.");
    else
        say_shallow(v, row[0].accuracy.value, to);
}
