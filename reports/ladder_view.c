/* Ladders from result files. */
#include "reports/ladder_view.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/file.h"
#include "kernels/base/mem.h"
#include "reports/measure.h"
#include "reports/published.h"

enum { REPLICATES = 1000 };

/* The configuration without the lines that differ inside a ladder; caller frees. */
static char *identity(const lra_result *r)
{
    static const char *const own[] = {"model.kernel=", "seed="};
    return lra_result_identity(r, 2, own);
}

/* A result and the ladder it belongs to. */
typedef struct {
    char *identity;
    const lra_result *result;
} member;

static int by_ladder(const void *a, const void *b)
{
    const member *x = a, *y = b;
    int order = strcmp(x->identity, y->identity);
    if (order) return order;
    if (x->result->kernel != y->result->kernel)
        return x->result->kernel < y->result->kernel ? -1 : 1;
    return (x->result->seed > y->result->seed) - (x->result->seed < y->result->seed);
}

static bool has_seed(const member *m, int n, int64_t kernel, int64_t seed, const lra_result **found)
{
    for (int i = 0; i < n; i++)
        if (m[i].result->kernel == kernel && m[i].result->seed == seed) {
            *found = m[i].result;
            return true;
        }
    return false;
}

static int collect(lra_ladder_view *v, const member *m, int n, lra_err *e)
{
    int64_t kernel[LRA_LADDER_MAX_RUNGS];
    lra_ladder_data *d = &v->data;
    for (int i = 0; i < n; i++) {
        if (i && m[i].result->kernel == m[i - 1].result->kernel) continue;
        if (d->n_rungs == LRA_LADDER_MAX_RUNGS)
            return lra_fail(e, "a ladder of more than %d kernels", LRA_LADDER_MAX_RUNGS);
        kernel[d->n_rungs++] = m[i].result->kernel;
    }
    for (int i = 0; i < n && m[i].result->kernel == kernel[0]; i++) {
        const lra_result *found[LRA_LADDER_MAX_RUNGS];
        bool complete = d->n_seeds < LRA_LADDER_MAX_SEEDS;
        for (int r = 0; r < d->n_rungs && complete; r++)
            complete = has_seed(m, n, kernel[r], m[i].result->seed, &found[r]);
        if (!complete) continue;
        for (int r = 0; r < d->n_rungs; r++) v->run[r][d->n_seeds] = found[r];
        d->n_seeds++;
    }
    v->n_left_out = n - d->n_rungs * d->n_seeds;
    if (d->n_seeds == 0)
        return lra_fail(e, "task '%s': no seed has all %d kernels", m[0].result->task, d->n_rungs);
    return 0;
}

double lra_ladder_value(const lra_ladder_view *v, double score)
{
    return v->metric->lower ? -score : score;
}

lra_estimate lra_ladder_values(const lra_ladder_view *v, lra_estimate score)
{
    if (!v->metric->lower) return score;
    return (lra_estimate){-score.value, -score.hi, -score.lo};
}

/* Sets what gains are measured against. */
static int set_scale(lra_ladder_view *v, const lra_ladder_scale *scale, lra_err *e)
{
    const lra_result *first = v->first;
    lra_ladder_data *d = &v->data;
    bool paper = strcmp(first->preset, "paper") == 0;
    double mega = lra_published("locality", "1", "mega", NULL, first->task, "accuracy") / 100;
    const char *wanted = scale->reference;
    if (!wanted) wanted = paper && !isnan(mega) ? "published" : "widest";
    if (scale->uniform && !first->n_classes)
        return lra_fail_usage(e, "chance 'uniform' is for tasks with classes, found task '%s'",
                              first->task);
    v->chance = scale->uniform      ? "one over the classes"
                : !first->n_classes ? "without a look at the inputs"
                                    : "the most frequent class";
    d->chance = scale->uniform ? 1 / (double)first->n_classes
                               : lra_ladder_value(v, lra_result_chance(first));
    d->reference = NAN;
    if (scale->run) {
        const lra_result *r = scale->run;
        if (strcmp(r->fingerprint, first->fingerprint) != 0 || r->n != first->n)
            return lra_fail(
                e,
                "reference '%s' is task '%s' with data %s, the ladder is task '%s' with "
                "data %s",
                wanted, r->task, r->fingerprint, first->task, first->fingerprint);
        if (lra_result_metric(r) != v->metric)
            return lra_fail(e, "reference '%s' is measured by %s, the ladder by %s", wanted,
                            lra_result_metric(r)->text, v->metric->text);
        if (d->measure)
            d->reference_row = v->reference_row = lra_result_measured_rows(r);
        else
            d->reference_correct = v->reference_correct = lra_result_correct(r);
        snprintf(v->reference, sizeof v->reference, "run %s-%s-%s seed %" PRId64, r->task, r->model,
                 r->run, r->seed);
    } else if (strcmp(wanted, "published") == 0) {
        if (!paper || isnan(mega))
            return lra_fail_usage(
                e,
                "reference 'published' is for preset 'paper' of a task of table 1, "
                "found preset '%s' of task '%s'",
                first->preset, first->task);
        d->reference = mega;
        snprintf(v->reference, sizeof v->reference, "MEGA as published");
    } else
        snprintf(v->reference, sizeof v->reference, "the widest rung");
    return 0;
}

static int compute(lra_ladder_view *v, const lra_ladder_scale *scale, lra_err *e)
{
    lra_ladder_data *d = &v->data;
    const lra_result *first = v->first = v->run[0][0];
    d->n = first->n, d->T = first->max_length;
    v->metric = lra_result_metric(first);
    if (!first->n_classes) {
        v->measure = lra_alloc(sizeof *v->measure);
        *v->measure = lra_metric_measure(v->metric, d->n, true);
        d->measure = v->measure;
    }
    int rc = set_scale(v, scale, e);
    if (rc != 0) return rc;
    d->n_replicates = REPLICATES;
    d->words = lra_bootstrap_words;
    for (int r = 0; r < d->n_rungs; r++) {
        d->rung[r].kernel = v->run[r][0]->kernel;
        d->rung[r].reach = v->run[r][0]->reach;
        for (int s = 0; s < d->n_seeds; s++) {
            if (v->run[r][s]->n != d->n) return lra_fail(e, "results of different test sets");
            if (d->measure)
                d->rung[r].row[s] = v->row[r][s] = lra_result_measured_rows(v->run[r][s]);
            else
                d->rung[r].correct[s] = v->correct[r][s] = lra_result_correct(v->run[r][s]);
        }
    }
    switch (lra_ladder_compute(d, &v->ladder)) {
    case LRA_LADDER_OK: return 0;
    case LRA_LADDER_EQUAL_REACH:
        return lra_fail(e,
                        "kernels %" PRId64 " and %" PRId64 " both reach all %" PRId64
                        " tokens; leave one out",
                        v->ladder.row[0].kernel, v->ladder.row[1].kernel, d->T);
    case LRA_LADDER_EMPTY: return lra_fail(e, "only kernel 1: there is no ladder");
    default: return lra_fail(e, "no memory for the bootstrap");
    }
}

/* ---- scale ------------------------------------------------------------------------------------------------- */

const lra_option lra_ladder_scale_options[] = {
    {.name = "reference",
     .kind = LRA_OPTION_TEXT,
     .arg = "widest|published|RUN",
     .help = "gain 1: widest (rung), published (preset paper, its default), or a run"},
    {.name = "chance",
     .kind = LRA_OPTION_CHOICE,
     .value = "majority",
     .choices = "majority|uniform",
     .help = "gain 0: share of the most frequent class, or one over the classes"},
    {.name = NULL}};

/* Fails with the nearest of the runs below OUT. */
static int no_such_run(const char *name, const char *out, lra_err *e)
{
    lra_err ignored;
    lra_result **list = NULL;
    const char *known[512];
    char *names[512];
    int n = lra_results_load(1, &out, &list, &ignored), k = 0;
    for (; k < n && k < 510; k++)
        known[k] = names[k] = lra_format("%s-%s-%s", list[k]->task, list[k]->model, list[k]->run);
    const char *fixed[] = {"widest", "published"};
    for (int i = 0; i < 2; i++) known[k + i] = fixed[i];
    char *show = lra_format("lra-report show %s", out);
    int rc = lra_fail_unknown(e, "reference", name, k + 2, known, show);
    lra_free(show);
    for (int i = 0; i < k; i++) lra_free(names[i]);
    if (n >= 0) lra_results_free(list, n);
    return rc;
}

int lra_ladder_scale_open(lra_ladder_scale *s, const lra_options *o, const char *out, lra_err *e)
{
    *s = (lra_ladder_scale){.reference = lra_option_text(o, "reference")};
    s->uniform = strcmp(lra_option_text(o, "chance"), "uniform") == 0;
    const char *name = s->reference;
    if (!name || strcmp(name, "widest") == 0 || strcmp(name, "published") == 0) return 0;
    char *below = lra_format("%s/runs/%s", out, name);
    const char *place = lra_file_exists(name) ? name : lra_file_exists(below) ? below : NULL;
    lra_result **list = NULL;
    int n = 0, rc = place ? 0 : no_such_run(name, out, e);
    if (place) n = lra_results_load(1, &place, &list, e);
    if (place && n != 1)
        rc = n < 0 ? LRA_FAILED
                   : lra_fail(e, "reference '%s' holds %d results, expected 1", place, n);
    else if (place)
        s->run = list[0], list[0] = NULL;
    if (n > 0) lra_results_free(list, n);
    lra_free(below);
    return rc;
}

void lra_ladder_scale_close(lra_ladder_scale *s)
{
    lra_result_free(s->run);
    s->run = NULL;
}

/* ---- views ------------------------------------------------------------------------------------------------- */

int lra_ladder_views(lra_result *const *list, int n, const lra_ladder_scale *scale,
                     lra_ladder_view **views, lra_err *e)
{
    member *m = lra_alloc_array((size_t)n + 1, sizeof *m);
    int n_members = 0, n_views = 0, rc = 0;
    for (int i = 0; i < n; i++)
        if (list[i]->kernel > 0) m[n_members++] = (member){identity(list[i]), list[i]};
    qsort(m, (size_t)n_members, sizeof *m, by_ladder);
    *views = NULL;
    for (int from = 0; from < n_members && rc == 0;) {
        int to = from + 1;
        while (to < n_members && strcmp(m[to].identity, m[from].identity) == 0) to++;
        *views = lra_resize(*views, (size_t)(n_views + 1) * sizeof **views);
        lra_ladder_view *v = &(*views)[n_views++];
        memset(v, 0, sizeof *v);
        rc = collect(v, m + from, to - from, e);
        if (rc == 0) rc = compute(v, scale, e);
        from = to;
    }
    for (int i = 0; i < n_members; i++) lra_free(m[i].identity);
    lra_free(m);
    if (rc == 0 && n_views > 0) return n_views;
    if (rc == 0) lra_fail(e, "no results of a ladder; 'lra-probe receptive-field' makes them");
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
                                 "no accuracies among %d results; the tables 'ladder' and "
                                 "'tasks' show other metrics",
                                 n)
                      : lra_ladder_views(kept, n_kept, scale, views, e);
    lra_free(kept);
    return n_views;
}

int lra_ladder_alike_views(lra_result *const *list, int n, const lra_ladder_scale *scale,
                           lra_ladder_view **views, lra_err *e)
{
    for (int i = 0; i < n; i++)
        if (list[i]->n_classes) return lra_ladder_accuracy_views(list, n, scale, views, e);
    for (int i = 1; i < n; i++)
        if (lra_result_metric(list[i]) != lra_result_metric(list[0]))
            return lra_fail(e,
                            "results of task '%s' are %s, those of task '%s' %s, one metric fits "
                            "into a figure; name results of one",
                            list[0]->task, lra_result_metric(list[0])->text, list[i]->task,
                            lra_result_metric(list[i])->text);
    return lra_ladder_views(list, n, scale, views, e);
}

void lra_ladder_views_free(lra_ladder_view *views, int n)
{
    for (int i = 0; i < n; i++) {
        lra_free(views[i].reference_correct);
        lra_free(views[i].reference_row);
        lra_free(views[i].measure);
        for (int r = 0; r < views[i].data.n_rungs; r++)
            for (int s = 0; s < views[i].data.n_seeds; s++) {
                lra_free(views[i].correct[r][s]);
                lra_free(views[i].row[r][s]);
            }
    }
    lra_free(views);
}
