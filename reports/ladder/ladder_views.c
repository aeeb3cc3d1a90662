/* Creates the views of ladders from results (ladder_views.h). */
#include "reports/ladder/ladder_views.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/core/log.h"
#include "kernels/base/core/mem.h"
#include "reports/ladder/ladder_diagnostics.h"

/* Collects n members as rungs by value of the axis, each with its seeds. */
static int collect(lra_ladder_view *v, const lra_ladder_member *m, int n, lra_err *e)
{
    lra_ladder_data *d = &v->data;
    v->kind = m[0].kind;
    for (int i = 0; i < n; i++) {
        const lra_result *x = m[i].result;
        if (i == 0 || m[i].value != m[i - 1].value) {
            if (d->n_rungs == LRA_LADDER_MAX_RUNGS)
                return lra_fail(e, "a ladder with more than %d rungs", LRA_LADDER_MAX_RUNGS);
            d->rung[d->n_rungs++].kernel = m[i].value;
        } else if (x->seed == m[i - 1].result->seed) {
            v->n_left_out++;
            continue;
        }
        lra_rung *rung = &d->rung[d->n_rungs - 1];
        if (rung->n_seeds == LRA_LADDER_MAX_SEEDS)
            return lra_fail(e, "more than %d seeds of %s %" PRId64, LRA_LADDER_MAX_SEEDS,
                            v->kind.axis, m[i].value);
        v->run[d->n_rungs - 1][rung->n_seeds++] = x;
    }
    d->n_seeds = d->rung[0].n_seeds;
    for (int r = 1; r < d->n_rungs; r++)
        if (d->rung[r].n_seeds < d->n_seeds) d->n_seeds = d->rung[r].n_seeds;
    return 0;
}

static int compute(lra_ladder_view *v, const lra_ladder_scale *scale, int n_tasks, lra_err *e)
{
    lra_ladder_data *d = &v->data;
    const lra_result *first = v->first = v->run[0][0];
    d->n = first->n, d->T = first->max_length;
    d->n_tasks = n_tasks, d->n_replicates = LRA_LADDER_REPLICATES;
    d->values = first->n_classes == 0;
    v->metric = lra_result_metric(first);
    for (int r = 0; r < d->n_rungs; r++) {
        d->rung[r].reach = v->run[r][0]->reach;
        for (int s = 0; s < d->rung[r].n_seeds; s++) {
            if (v->run[r][s]->n != d->n) return lra_fail(e, "the results have different test sets");
            if (d->values)
                d->rung[r].row[s] = lra_ladder_keep(v, lra_result_scores(v->run[r][s]));
            else
                d->rung[r].correct[s] = lra_ladder_keep(v, lra_result_correct(v->run[r][s]));
        }
    }
    lra_ladder_set_validation(v);
    int rc = lra_ladder_set_scale(v, scale, e);
    if (rc == 0) rc = lra_ladder_run(d, &v->ladder, e);
    return rc == 0 ? lra_ladder_set_diagnostics(v, scale, e) : rc;
}

/* ---- views ----------------------------------------------------------------------------------- */

static int count_tasks(const lra_ladder_member *m, int n)
{
    int count = 0;
    for (int i = 0; i < n; i++) {
        bool fresh = true;
        for (int k = 0; k < i && fresh; k++)
            fresh = strcmp(m[i].result->task, m[k].result->task) != 0;
        count += fresh;
    }
    return count;
}

int lra_ladder_views(lra_result *const *list, int n, const lra_ladder_scale *scale,
                     lra_ladder_view **views, lra_err *e)
{
    lra_ladder_member *m;
    int n_members = lra_ladder_members(list, n, &m, e), n_views = 0, rc = 0;
    *views = NULL;
    if (n_members < 0) return LRA_FAILED;
    int n_tasks = count_tasks(m, n_members);
    for (int from = 0; from < n_members && rc == 0;) {
        int to = from + 1;
        while (to < n_members && strcmp(m[to].identity, m[from].identity) == 0) to++;
        *views = lra_resize(*views, (size_t)(n_views + 1) * sizeof **views);
        lra_ladder_view *v = &(*views)[n_views++];
        memset(v, 0, sizeof *v);
        rc = collect(v, m + from, to - from, e);
        if (rc == 0) rc = compute(v, scale, n_tasks, e);
        from = to;
    }
    lra_ladder_members_free(m, n_members);
    if (rc == 0 && n_views > 0) return n_views;
    if (rc == 0) lra_fail(e, "no ladder among the results; 'lra-probe receptive-field' trains one");
    lra_ladder_views_free(*views, n_views);
    *views = NULL;
    return rc == LRA_USAGE ? rc : LRA_FAILED;
}

int lra_ladder_accuracy_views(lra_result *const *list, int n, const lra_ladder_scale *scale,
                              lra_ladder_view **views, lra_err *e)
{
    lra_result **kept = lra_alloc_array((size_t)n + 1, sizeof *kept);
    int n_kept = 0;
    for (int i = 0; i < n; i++)
        if (list[i]->n_classes) kept[n_kept++] = list[i];
    int n_views = n > n_kept && n_kept == 0
                      ? lra_fail(e,
                                 "none of %d results has an accuracy; the tables 'ladder' and "
                                 "'tasks' show other metrics",
                                 n)
                      : lra_ladder_views(kept, n_kept, scale, views, e);
    lra_free(kept);
    return n_views;
}

int lra_ladder_alike_views(lra_result *const *list, int n, const lra_ladder_scale *scale,
                           lra_ladder_view **views, lra_err *e)
{
    int n_classes = 0, other = -1;
    for (int i = 0; i < n; i++) {
        n_classes += list[i]->n_classes > 0;
        if (list[i]->n_classes == 0 && other < 0) other = i;
    }
    if (n_classes > 0 && other >= 0)
        lra_note(
            "%d result%s without accuracy (task '%s') %s not in this figure; '--task %s' draws "
            "%s",
            n - n_classes, n - n_classes == 1 ? "" : "s", list[other]->task,
            n - n_classes == 1 ? "is" : "are", list[other]->task,
            n - n_classes == 1 ? "it" : "them");
    if (n_classes > 0) return lra_ladder_accuracy_views(list, n, scale, views, e);
    for (int i = 1; i < n; i++)
        if (lra_result_metric(list[i]) != lra_result_metric(list[0]))
            return lra_fail(e,
                            "the metric of task '%s' is %s, that of task '%s' %s; name results "
                            "with one metric",
                            list[0]->task, lra_result_metric(list[0])->text, list[i]->task,
                            lra_result_metric(list[i])->text);
    return lra_ladder_views(list, n, scale, views, e);
}

void lra_ladder_views_free(lra_ladder_view *views, int n)
{
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < views[i].n_owned; k++) lra_free(views[i].owned[k]);
        lra_free(views[i].owned);
    }
    lra_free(views);
}
