/* Groups ListOps breakdowns from probe files (listops_view.h). */
#include "reports/views/listops_view.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/core/mem.h"

enum { BINS = 5 };

/* ---- groups ---------------------------------------------------------------------------------- */

static void group_by_name(lra_listops_grouping *to, const int32_t *value, int64_t n, int n_names,
                          const char *const *names)
{
    int place[LRA_LISTOPS_GROUPS];
    for (int v = 0; v < n_names; v++) {
        int64_t count = 0;
        for (int64_t i = 0; i < n; i++) count += value[i] == v;
        place[v] = count ? to->n_groups : -1;
        if (count) snprintf(to->name[to->n_groups++], sizeof to->name[0], "%s", names[v]);
    }
    for (int64_t i = 0; i < n; i++) to->group[i] = place[value[i]];
}

static int32_t largest(const int32_t *value, int64_t n)
{
    int32_t most = 0;
    for (int64_t i = 0; i < n; i++)
        if (value[i] > most) most = value[i];
    return most;
}

/* Makes one group for each value that occurs; the last group contains all larger values. */
static void group_by_value(lra_listops_grouping *to, const int32_t *value, int64_t n)
{
    int32_t most = largest(value, n), left = 0;
    int64_t *count = lra_alloc_array((size_t)most + 1, sizeof *count);
    int32_t *place = lra_alloc_array((size_t)most + 1, sizeof *place);
    for (int64_t i = 0; i < n; i++) count[value[i]]++;
    for (int32_t v = 0; v <= most; v++) left += count[v] > 0;
    for (int32_t v = 0; v <= most; v++) {
        if (count[v] == 0) continue;
        bool rest = to->n_groups == LRA_LISTOPS_GROUPS - 1 && left > 1;
        bool before = to->n_groups == LRA_LISTOPS_GROUPS;
        place[v] = before ? LRA_LISTOPS_GROUPS - 1 : to->n_groups;
        if (!before)
            snprintf(to->name[to->n_groups++], sizeof to->name[0], rest ? ">= %d" : "%d", v);
        left--;
    }
    for (int64_t i = 0; i < n; i++) to->group[i] = place[value[i]];
    lra_free(count);
    lra_free(place);
}

static int by_size(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* Makes bins with edges at the quantiles, so that all bins have about the same number of rows;
 * equal edges are merged. */
static void group_by_bin(lra_listops_grouping *to, const int32_t *value, int64_t n)
{
    int32_t *sorted = lra_alloc_array((size_t)n + 1, sizeof *sorted), from = 0, upto[BINS];
    memcpy(sorted, value, (size_t)n * sizeof *sorted);
    qsort(sorted, (size_t)n, sizeof *sorted, by_size);
    for (int b = 0; b < BINS; b++) {
        int32_t last = sorted[(n * (b + 1) + BINS - 1) / BINS - 1];
        if (to->n_groups && last <= upto[to->n_groups - 1]) continue;
        from = to->n_groups ? upto[to->n_groups - 1] + 1 : sorted[0];
        upto[to->n_groups] = last;
        snprintf(to->name[to->n_groups++], sizeof to->name[0], from == last ? "%d" : "%d-%d", from,
                 last);
    }
    for (int64_t i = 0; i < n; i++) {
        int g = 0;
        while (value[i] > upto[g]) g++;
        to->group[i] = g;
    }
    lra_free(sorted);
}

static void make_groupings(lra_listops_view *v)
{
    static const char *const digits[LRA_LISTOPS_LABELS] = {"0", "1", "2", "3", "4",
                                                           "5", "6", "7", "8", "9"};
    static const char *const what[LRA_N_GROUPINGS] = {"operator", "label", "arity", "depth",
                                                      "length"};
    const lra_listops *r = v->first;
    for (int k = 0; k < LRA_N_GROUPINGS; k++) {
        v->by[k].what = what[k];
        v->by[k].group = lra_alloc_array((size_t)r->n + 1, sizeof(int32_t));
    }
    group_by_name(&v->by[LRA_BY_ROOT], r->root, r->n, LRA_LISTOPS_ROOTS, lra_listops_root_names);
    group_by_name(&v->by[LRA_BY_LABEL], r->label, r->n, LRA_LISTOPS_LABELS, digits);
    group_by_value(&v->by[LRA_BY_ARITY], r->arity, r->n);
    group_by_value(&v->by[LRA_BY_DEPTH], r->depth, r->n);
    group_by_bin(&v->by[LRA_BY_LENGTH], r->length, r->n);
}

double lra_listops_share(const lra_listops *r, const int32_t *predicted, const int32_t *group,
                         int g)
{
    int64_t n = 0, right = 0;
    for (int64_t i = 0; i < r->n; i++) {
        if (g >= 0 && group[i] != g) continue;
        n++;
        right += predicted[i] == r->label[i];
    }
    return n ? (double)right / (double)n : NAN;
}

void lra_listops_recall(const lra_listops_view *v, const lra_listops_cell *c,
                        lra_breakdown_row row[1 + LRA_LISTOPS_ROOTS * LRA_LISTOPS_LABELS])
{
    const lra_listops *r = v->first;
    int32_t *group = lra_alloc_array((size_t)r->n + 1, sizeof *group);
    for (int64_t i = 0; i < r->n; i++) group[i] = r->root[i] * LRA_LISTOPS_LABELS + r->label[i];
    lra_breakdown_compute(&c->data, LRA_LISTOPS_ROOTS * LRA_LISTOPS_LABELS, group, v->greedy, row);
    lra_free(group);
}

/* ---- cells ----------------------------------------------------------------------------------- */

typedef struct {
    char *identity;
    const lra_listops *run;
} member;

/* Compares runs by data, kernel, configuration, seed. */
static int by_cell(const void *a, const void *b)
{
    const member *x = a, *y = b;
    int order = strcmp(x->run->fingerprint, y->run->fingerprint);
    if (order == 0) order = (x->run->kernel > y->run->kernel) - (x->run->kernel < y->run->kernel);
    if (order == 0) order = strcmp(x->identity, y->identity);
    if (order == 0) order = (x->run->seed > y->run->seed) - (x->run->seed < y->run->seed);
    return order;
}

static int add_run(lra_listops_view *v, lra_listops_cell *c, const lra_listops *r, lra_err *e)
{
    size_t n = (size_t)v->first->n;
    if (r->n != v->first->n || memcmp(r->label, v->first->label, n * sizeof *r->label) != 0)
        return lra_fail(e, "runs '%s' and '%s' have the same data hash but different test examples",
                        r->run, v->first->run);
    if (c->data.n_seeds && c->run[c->data.n_seeds - 1]->seed == r->seed)
        return lra_fail(e, "seed %" PRId64 " of run '%s' is given twice", r->seed, r->run);
    if (c->data.n_seeds == LRA_BREAKDOWN_MAX_SEEDS)
        return lra_fail(e, "more than %d seeds of one model", LRA_BREAKDOWN_MAX_SEEDS);
    c->data.predicted[c->data.n_seeds] = r->predicted;
    c->run[c->data.n_seeds++] = r;
    return 0;
}

static void name_cells(lra_listops_view *v)
{
    for (int i = 0; i < v->n_cells; i++) {
        const lra_listops *r = v->cell[i].run[0];
        bool alone = true;
        for (int k = 0; k < v->n_cells && alone; k++) {
            const lra_listops *other = v->cell[k].run[0];
            alone = k == i || other->kernel != r->kernel || strcmp(other->model, r->model) != 0;
        }
        int at = r->kernel ? snprintf(v->cell[i].name, sizeof v->cell[i].name, "%s K = %" PRId64,
                                      r->model, r->kernel)
                           : snprintf(v->cell[i].name, sizeof v->cell[i].name, "%s", r->model);
        if (!alone && at < (int)sizeof v->cell[i].name)
            snprintf(v->cell[i].name + at, sizeof v->cell[i].name - (size_t)at, " %s %.6s",
                     r->precision, r->run);
    }
}

static int fill_view(lra_listops_view *v, const member *m, int n, lra_err *e)
{
    v->first = m[0].run;
    v->greedy = lra_listops_heuristic(v->first, "majority-by-operator");
    for (int i = 0; i < n; i++) {
        bool fresh = i == 0 || strcmp(m[i].identity, m[i - 1].identity) != 0;
        if (fresh && v->n_cells == LRA_LISTOPS_CELLS)
            return lra_fail(e, "more than %d models; name fewer runs", LRA_LISTOPS_CELLS);
        if (fresh)
            v->cell[v->n_cells++].data = (lra_breakdown_data){
                .n = v->first->n, .n_classes = LRA_LISTOPS_LABELS, .label = v->first->label};
        if (add_run(v, &v->cell[v->n_cells - 1], m[i].run, e) != 0) return LRA_FAILED;
    }
    name_cells(v);
    make_groupings(v);
    return 0;
}

int lra_listops_views(lra_listops *const *list, int n, lra_listops_view **views, lra_err *e)
{
    member *m = lra_alloc_array((size_t)n + 1, sizeof *m);
    int n_views = 0, rc = 0;
    *views = NULL;
    for (int i = 0; i < n; i++) m[i] = (member){lra_listops_identity(list[i]), list[i]};
    qsort(m, (size_t)n, sizeof *m, by_cell);
    for (int from = 0; from < n && rc == 0;) {
        int to = from + 1;
        while (to < n && strcmp(m[to].run->fingerprint, m[from].run->fingerprint) == 0) to++;
        *views = lra_resize(*views, (size_t)(n_views + 1) * sizeof **views);
        memset(&(*views)[n_views], 0, sizeof **views);
        rc = fill_view(&(*views)[n_views++], m + from, to - from, e);
        from = to;
    }
    for (int i = 0; i < n; i++) lra_free(m[i].identity);
    lra_free(m);
    if (rc == 0 && n_views > 0) return n_views;
    if (rc == 0) lra_fail(e, "no ListOps breakdowns; 'lra-probe listops RUN...' makes them");
    lra_listops_views_free(*views, n_views);
    *views = NULL;
    return LRA_FAILED;
}

int lra_listops_view_only(lra_listops *const *list, int n, lra_listops_view **view, lra_err *e)
{
    int n_views = lra_listops_views(list, n, view, e);
    if (n_views < 0) return n_views;
    if (n_views == 1) return 0;
    lra_listops_views_free(*view, n_views);
    return lra_fail(
        e, "the runs have %d different data sets, the figure shows one; name runs on the same data",
        n_views);
}

void lra_listops_views_free(lra_listops_view *views, int n)
{
    for (int i = 0; i < n; i++)
        for (int k = 0; k < LRA_N_GROUPINGS; k++) lra_free(views[i].by[k].group);
    lra_free(views);
}
