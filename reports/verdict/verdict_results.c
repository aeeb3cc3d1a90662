/* Composes verdicts of tables of results (verdict_results.h). */
#include "reports/verdict/verdict_results.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "reports/views/cell_names.h"
#include "reports/views/model_names.h"

enum { MOST_NAMES = 3 };

/* Appends name k of n to a list "a, b and 4 more". */
static void add_name(lra_text *t, int k, int n, const char *name)
{
    if (k < MOST_NAMES)
        lra_text_add(t, "%s%s", k == 0 ? "" : k == n - 1 ? " and " : ", ", name);
    else if (k == MOST_NAMES)
        lra_text_add(t, " and %d more", n - MOST_NAMES);
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* A row: a configuration over its seeds. */
typedef struct {
    const lra_result *first;
    const lra_result_group *group;
    const lra_metric *metric;
    char *name;
    lra_estimate value;
    int set;        /* index of the row's test set */
    int sign;       /* 1: significantly better than chance, -1: worse, 0: neither, 2: no interval */
    bool dominated; /* true if there are few seeds, and they vary more than the test rows */
} row;

static bool on_one_set(const lra_result *a, const lra_result *b)
{
    return a->n == b->n && a->n_classes == b->n_classes && strcmp(a->task, b->task) == 0 &&
           strcmp(a->fingerprint, b->fingerprint) == 0 &&
           lra_result_metric(a) == lra_result_metric(b) &&
           (a->n_classes == 0 || memcmp(a->label, b->label, (size_t)a->n * sizeof *a->label) == 0);
}

static int sign_of(const row *r)
{
    double chance = lra_result_chance(r->first);
    bool lower = r->metric->lower;
    if (isnan(r->value.lo) || isnan(chance)) return 2;
    if (lra_metric_better(r->metric, lower ? r->value.hi : r->value.lo, chance)) return 1;
    if (lra_metric_better(r->metric, chance, lower ? r->value.lo : r->value.hi)) return -1;
    return 0;
}

static row *rows_of(int n, const lra_result_group *groups, int *n_sets)
{
    row *all = lra_alloc_array((size_t)n + 1, sizeof *all);
    char **name = lra_result_group_names(n, groups);
    *n_sets = 0;
    for (int i = 0; i < n; i++) {
        row *r = &all[i];
        *r = (row){.first = groups[i].run[0], .group = &groups[i], .set = -1};
        r->name = lra_model_shown(name[i], r->first->model, r->first->config);
        lra_free(name[i]);
        r->metric = lra_result_metric(r->first);
        lra_sample *sample = lra_results_sample(groups[i].run, groups[i].n);
        r->value = lra_sample_value(sample, 0);
        r->dominated = lra_sample_seeds_dominate(sample, 0);
        lra_sample_free(sample);
        r->sign = sign_of(r);
        for (int k = 0; k < i && r->set < 0; k++)
            if (on_one_set(all[k].first, r->first)) r->set = all[k].set;
        if (r->set < 0) r->set = (*n_sets)++;
    }
    lra_free(name);
    return all;
}

static void free_rows(int n, row *all)
{
    for (int i = 0; i < n; i++) lra_free(all[i].name);
    lra_free(all);
}

/* "60.87 % (59.60 to 62.13)". The caller frees it. */
static char *value_text(const row *r)
{
    char text[32];
    const lra_metric *m = r->metric;
    lra_metric_value_text(m, r->value.value, text);
    if (isnan(r->value.lo)) return lra_format("%s (no interval)", text);
    return lra_format("%s (%.*f to %.*f)", text, m->decimals, m->scale * r->value.lo, m->decimals,
                      m->scale * r->value.hi);
}

/* ---- chance ---------------------------------------------------------------------------------- */

static void say_one_row(const row *r, lra_verdict *to)
{
    static const char *const shown[] = {
        "it is significantly worse", "the difference is not significant",
        "it is significantly better", "the difference is not tested"};
    char chance[32], *value = value_text(r);
    lra_metric_value_text(r->metric, lra_result_chance(r->first), chance);
    lra_verdict_add(to,
                    "%s on %s has %s %s; chance (the null value) is %s: "
                    "%s.",
                    r->name, r->first->task, r->metric->text, value, chance, shown[r->sign + 1]);
    lra_free(value);
}

/* Appends the rows with this sign to a text: "; worse: a and b". */
static void add_signs(int n, const row *all, int sign, bool tasks, const char *head, lra_text *to)
{
    int count = 0, k = 0;
    for (int i = 0; i < n; i++) count += all[i].sign == sign;
    if (count == 0) return;
    lra_text_add(to, "; %s: ", head);
    for (int i = 0; i < n; i++) {
        if (all[i].sign != sign) continue;
        char *name = tasks ? lra_format("%s on %s", all[i].name, all[i].first->task)
                           : lra_copy_text(all[i].name);
        add_name(to, k++, count, name);
        lra_free(name);
    }
}

static void say_chance(int n, const row *all, lra_verdict *to)
{
    int better = 0;
    bool tasks = false;
    lra_text others = {0};
    for (int i = 0; i < n; i++) {
        better += all[i].sign == 1;
        tasks = tasks || strcmp(all[i].first->task, all[0].first->task) != 0;
    }
    lra_text_add(&others, "%s", "");
    add_signs(n, all, 0, tasks, "difference not significant", &others);
    add_signs(n, all, -1, tasks, "significantly worse", &others);
    add_signs(n, all, 2, tasks, "not tested", &others);
    lra_verdict_add(
        to,
        "%d of %d rows are significantly better than chance, the null value (95 %% interval "
        "of each row)%s.",
        better, n, others.s);
    lra_text_free(&others);
}

/* ---- best row -------------------------------------------------------------------------------- */

/* The best and the second best row of a test set. n: number of rows with an interval; next = -1:
 * there are fewer than two rows, or the best one is not significantly better than chance. */
typedef struct {
    int n, best, next;
} top;

static top top_of(int n, const row *all, int set)
{
    top t = {0, -1, -1};
    for (int i = 0; i < n; i++) {
        if (all[i].set != set || isnan(all[i].value.value) || isnan(all[i].value.lo)) continue;
        const lra_metric *m = all[i].metric;
        double x = all[i].value.value;
        t.n++;
        if (t.best < 0 || lra_metric_better(m, x, all[t.best].value.value))
            t.next = t.best, t.best = i;
        else if (t.next < 0 || lra_metric_better(m, x, all[t.next].value.value))
            t.next = i;
    }
    if (t.best >= 0 && all[t.best].sign != 1) t.next = -1;
    return t;
}

/* Value of row a minus that of row b, paired by test rows, with an interval at this confidence
 * level. */
static lra_estimate difference_of(const row *a, const row *b, double level)
{
    const lra_result_group *g[] = {a->group, b->group};
    bool classes = a->first->n_classes > 0;
    lra_sample *s = lra_sample_new(a->first->n, classes);
    for (int i = 0; i < 2; i++) {
        void **of = lra_alloc_array((size_t)g[i]->n, sizeof *of);
        for (int k = 0; k < g[i]->n; k++)
            of[k] = classes ? (void *)lra_result_correct(g[i]->run[k])
                            : (void *)lra_result_row_values(g[i]->run[k]);
        if (classes)
            lra_sample_add_correct(s, g[i]->n, (const uint8_t *const *)of);
        else
            lra_sample_add_rows(s, g[i]->n, (const double *const *)of);
        for (int k = 0; k < g[i]->n; k++) lra_free(of[k]);
        lra_free(of);
    }
    lra_estimate x = lra_sample_difference(s, 0, 1, level);
    lra_sample_free(s);
    return x;
}

static bool is_shown(const row *best, const lra_estimate *x)
{
    return best->metric->lower ? x->hi < 0 : x->lo > 0;
}

static void say_best_of_set(const row *all, const top *t, lra_verdict *to)
{
    const row *best = &all[t->best], *next = &all[t->next];
    const lra_metric *m = best->metric;
    lra_estimate x = difference_of(best, next, 0.95);
    char *value = value_text(best);
    lra_verdict_add(to,
                    "On %s the best of %d rows is %s, %s; against the next best, %s, the paired "
                    "difference is %+.*f%s (%+.*f to %+.*f)%s.",
                    best->first->task, t->n, best->name, value, next->name, m->decimals,
                    m->scale * x.value, *m->unit ? " points" : "", m->decimals, m->scale * x.lo,
                    m->decimals, m->scale * x.hi,
                    is_shown(best, &x) ? "" : ": the difference is not significant");
    lra_free(value);
}

/* Adds a sentence for several test sets, of which `several` have two or more rows. */
static void say_best_of_sets(int n, const row *all, int n_sets, int several, lra_verdict *to)
{
    int shown = 0, k = 0;
    bool *is = lra_alloc_array((size_t)n_sets, sizeof *is);
    lra_text names = {0};
    for (int s = 0; s < n_sets; s++) {
        top t = top_of(n, all, s);
        if (t.next < 0) continue;
        lra_estimate x = difference_of(&all[t.best], &all[t.next], 1 - 0.05 / several);
        shown += is[s] = is_shown(&all[t.best], &x);
    }
    for (int s = 0; s < n_sets; s++) {
        if (!is[s]) continue;
        top t = top_of(n, all, s);
        char *name = lra_format("%s (%s)", all[t.best].first->task, all[t.best].name);
        add_name(&names, k++, shown, name);
        lra_free(name);
    }
    lra_verdict_add(to,
                    "On %d of the %d test sets with several rows and one above chance, one row is "
                    "shown to be better than the next best (paired differences, 95 %% over all of "
                    "these sets)%s%s.",
                    shown, several, shown ? ": " : "", shown ? names.s : "");
    lra_text_free(&names);
    lra_free(is);
}

/* Adds the sentence on the best row. Returns false if no rows can be compared. */
static bool say_best(int n, const row *all, int n_sets, lra_verdict *to)
{
    int several = 0, last = 0;
    for (int s = 0; s < n_sets; s++)
        if (top_of(n, all, s).next >= 0) several++, last = s;
    top t = top_of(n, all, last);
    if (several == 1)
        say_best_of_set(all, &t, to);
    else if (several > 1)
        say_best_of_sets(n, all, n_sets, several, to);
    return several > 0;
}

/* ---- the caveat ------------------------------------------------------------------------------ */

/* True if the numbers of parameters of two rows on one test set differ by more than 2 %. */
static bool sizes_differ(int n, const row *all, int64_t *least, int64_t *most)
{
    bool differ = false;
    *least = INT64_MAX, *most = 0;
    for (int i = 0; i < n; i++) {
        int64_t a = all[i].first->training.parameters;
        *least = a < *least ? a : *least, *most = a > *most ? a : *most;
        for (int k = 0; k < i; k++) {
            double b = (double)all[k].first->training.parameters;
            differ = differ ||
                     (all[k].set == all[i].set && fabs((double)a - b) > 0.02 * fmin((double)a, b));
        }
    }
    return differ;
}

static const char *are(int k)
{
    return k == 1 ? "is" : "are";
}

/* Subject and verb for k of n rows: "It is", "2 of 3 rows are". The caller frees it. */
static char *some_are(int k, int n, const char *what)
{
    return n == 1 ? lra_copy_text("It is") : lra_format("%d of %d %ss %s", k, n, what, are(k));
}

static void print_caveat(int n, const row *all, bool compared, lra_verdict *to)
{
    int unsealed = 0, on_test = 0, single = 0, dominated = 0;
    int64_t least, most;
    for (int i = 0; i < n; i++) {
        bool open = false;
        for (int s = 0; s < all[i].group->n; s++) open = open || all[i].group->run[s]->unsealed;
        unsealed += open, on_test += lra_result_selected_on_test(all[i].first);
        single += all[i].group->n == 1, dominated += all[i].dominated;
    }
    int some = unsealed ? unsealed : on_test ? on_test : single ? single : dominated;
    char *rows = some_are(some, n, "row");
    if (unsealed)
        lra_verdict_add(to, "%s from files without a seal: values may have been changed.", rows);
    else if (on_test)
        lra_verdict_add(to,
                        "%s from checkpoints that were selected on the test split: such values are "
                        "biased upwards.",
                        rows);
    else if (single)
        lra_verdict_add(to,
                        "%s measured on one seed: the interval covers test examples, not the "
                        "variation over seeds.",
                        rows);
    else if (dominated)
        lra_verdict_add(to,
                        "%s measured on fewer than 5 seeds, and the variance over seeds "
                        "exceeds that over test examples: more seeds narrow the intervals.",
                        rows);
    else if (compared && sizes_differ(n, all, &least, &most))
        lra_verdict_add(to,
                        "The models differ in size (%" PRId64 " to %" PRId64
                        " parameters): a difference need not come from the architecture.",
                        least, most);
    lra_free(rows);
}

/* Moves the rows of tasks without labels to the end of the list; returns their number. */
static int leave_out_unlabelled(int n, row *all)
{
    row *last = lra_alloc_array((size_t)n, sizeof *last);
    int kept = 0, left = 0;
    for (int i = 0; i < n; i++)
        if (strcmp(all[i].metric->name, "none") == 0)
            last[left++] = all[i];
        else
            all[kept++] = all[i];
    memcpy(all + kept, last, (size_t)left * sizeof *last);
    lra_free(last);
    return left;
}

static void say_unlabelled(int n, int unlabelled, const row *all, lra_verdict *to)
{
    if (unlabelled == 1)
        lra_verdict_add(to, "%s on %s has no accuracy: the examples have no labels.", all[n].name,
                        all[n].first->task);
    else
        lra_verdict_add(to, "%d rows have no accuracy: the examples have no labels.", unlabelled);
}

void lra_verdict_of_results(int n, const lra_result_group *groups, lra_verdict *to)
{
    int n_sets;
    if (n == 0) return;
    row *all = rows_of(n, groups, &n_sets);
    int unlabelled = leave_out_unlabelled(n, all);
    n -= unlabelled;
    if (n == 1)
        say_one_row(&all[0], to);
    else if (n > 1)
        say_chance(n, all, to);
    if (unlabelled) say_unlabelled(n, unlabelled, all, to);
    bool compared = say_best(n, all, n_sets, to);
    print_caveat(n, all, compared, to);
    free_rows(n + unlabelled, all);
}

/* ---- Table 1 --------------------------------------------------------------------------------- */

static void note_one_cell(const lra_published_cell *c, lra_verdict *to)
{
    const lra_estimate *x = &c->measured;
    char *ends = isnan(x->lo) ? lra_copy_text("no interval")
                              : lra_format("%.2f to %.2f", 100 * x->lo, 100 * x->hi);
    lra_text published = {0};
    if (isnan(c->published))
        lra_text_add(&published, "no value is published");
    else
        lra_text_add(&published, "the published value, %.2f %%, %s", 100 * c->published,
                     isnan(x->lo)           ? "cannot be compared without one"
                     : c->published > x->hi ? "lies above the interval"
                     : c->published < x->lo ? "lies below the interval"
                                            : "lies in the interval");
    lra_verdict_add(to, "K = %" PRId64 " on %s has %.2f %% (%s); %s.", c->kernel, c->first->task,
                    100 * x->value, ends, published.s);
    lra_text_free(&published);
    lra_free(ends);
}

static void say_published(int n, const lra_published_cell *cells, lra_verdict *to)
{
    int inside = 0, above = 0, below = 0, none = 0, untested = 0;
    for (int i = 0; i < n; i++) {
        const lra_estimate *x = &cells[i].measured;
        if (isnan(cells[i].published))
            none++;
        else if (isnan(x->lo))
            untested++;
        else if (x->lo > cells[i].published)
            above++;
        else if (x->hi < cells[i].published)
            below++;
        else
            inside++;
    }
    lra_text rest = {0};
    lra_text_add(&rest, "%s", "");
    if (none) lra_text_add(&rest, "; %d without a published value", none);
    if (untested) lra_text_add(&rest, "; %d without an interval", untested);
    lra_verdict_add(to,
                    "of %d measured cells the 95 %% intervals of %d contain the published value, "
                    "%d %s above it and %d below%s.",
                    n, inside, above, are(above), below, rest.s);
    lra_text_free(&rest);
}

static void say_largest(int n, const lra_published_cell *cells, lra_verdict *to)
{
    const lra_published_cell *most = NULL;
    for (int i = 0; i < n; i++) {
        double x = fabs(cells[i].measured.value - cells[i].published);
        if (isnan(x)) continue;
        if (!most || x > fabs(most->measured.value - most->published)) most = &cells[i];
    }
    if (!most) return;
    const lra_estimate *x = &most->measured;
    lra_text ends = {0};
    lra_text_add(&ends, "%s", "");
    if (!isnan(x->lo))
        lra_text_add(&ends, " (%+.2f to %+.2f, the published value taken as exact)",
                     100 * (x->lo - most->published), 100 * (x->hi - most->published));
    char *of = n > 1 ? lra_format("largest difference, of K = %" PRId64 " on %s,", most->kernel,
                                  most->first->task)
                     : lra_copy_text("difference");
    lra_verdict_add(to, "The %s is %+.2f points%s.", of, 100 * (x->value - most->published),
                    ends.s);
    lra_free(of);
    lra_text_free(&ends);
}

void lra_verdict_of_published(int n, const lra_published_cell *cells, lra_verdict *to)
{
    int deviate = 0, single = 0;
    if (n == 0) return;
    if (n == 1)
        note_one_cell(cells, to);
    else
        say_published(n, cells, to);
    say_largest(n, cells, to);
    for (int i = 0; i < n; i++)
        deviate += *cells[i].first->deviations != '\0', single += cells[i].n_seeds == 1;
    char *cell = some_are(deviate ? deviate : single, n, "cell");
    if (deviate)
        lra_verdict_add(to,
                        "%s measured with deviations from the published setting, listed below: "
                        "they can explain a difference.",
                        cell);
    else if (single)
        lra_verdict_add(to,
                        "%s measured on one seed: the interval covers test examples, not the "
                        "variation over seeds.",
                        cell);
    else
        lra_verdict_add(to, "Published values have neither seeds nor intervals: their variation "
                            "can explain part of a difference.");
    lra_free(cell);
}
