/* Computes values and intervals of results (result_metric.h). */
#include "reports/results/result_metric.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "reports/results/load_files.h"

enum { COLUMNS = 5 };

/* ---- values ---------------------------------------------------------------------------------- */

static lra_sums total_of(const lra_result *r)
{
    lra_sums total = {0}, *row = lra_result_rows(r);
    for (int64_t i = 0; i < r->n; i++) lra_sums_add(&total, &row[i]);
    lra_free(row);
    return total;
}

double lra_result_value(const lra_result *r, const lra_metric *m)
{
    lra_sums total = total_of(r);
    return m->value(&total);
}

double lra_result_batch_r2(const lra_result *r)
{
    double sum = 0;
    int64_t n_batches = 0;
    const char *metric = lra_result_metric(r)->name;
    bool numbers = strcmp(metric, "rmse") == 0 || strcmp(metric, "r2") == 0;
    if (!numbers || r->batch < 1) return NAN;
    for (int64_t from = 0; from == 0 || from + r->batch <= r->n; from += r->batch) {
        lra_sums s = {0};
        for (int64_t i = from; i < r->n && i < from + r->batch; i++) lra_sums_add(&s, &r->row[i]);
        if (s.n == 0) continue;
        double n = (double)s.n, mean = s.target / n;
        sum += 1 - s.loss / n / fmax(s.square / n - mean * mean, 1e-5);
        n_batches++;
    }
    return n_batches ? sum / (double)n_batches : NAN;
}

/* ---- intervals ------------------------------------------------------------------------------- */

/* Metric of the sums sum[0..4]: number of targets, right, loss, target, square. */
static double value_of_sums(const void *metric, const double *sum)
{
    const lra_sums s = {llround(sum[0]), llround(sum[1]), sum[2], sum[3], sum[4]};
    return ((const lra_metric *)metric)->value(&s);
}

double *lra_result_row_values(const lra_result *r)
{
    const lra_metric *m = lra_result_metric(r);
    lra_sums *row = lra_result_rows(r);
    double *sums = lra_alloc_array((size_t)r->n * COLUMNS + 1, sizeof *sums);
    double *value = lra_alloc_array((size_t)r->n + 1, sizeof *value);
    for (int64_t i = 0; i < r->n; i++) {
        const lra_sums *s = &row[i];
        const double one[COLUMNS] = {(double)s->n, (double)s->right, s->loss, s->target, s->square};
        memcpy(sums + i * COLUMNS, one, sizeof one);
    }
    const lra_measure measure = {COLUMNS, r->n, value_of_sums, m};
    lra_jackknife(&measure, sums, value);
    lra_free(sums);
    lra_free(row);
    return value;
}

double *lra_result_scores(const lra_result *r)
{
    double *value = lra_result_row_values(r);
    for (int64_t i = 0; i < r->n && lra_result_metric(r)->lower; i++) value[i] = -value[i];
    return value;
}

lra_sample *lra_results_sample(lra_result *const *list, int n)
{
    bool classes = list[0]->n_classes > 0;
    lra_sample *s = lra_sample_new(list[0]->n, classes);
    void **row = lra_alloc_array((size_t)n, sizeof *row);
    for (int k = 0; k < n; k++)
        row[k] = classes ? (void *)lra_result_correct(list[k])
                         : (void *)lra_result_row_values(list[k]);
    if (classes)
        lra_sample_add_correct(s, n, (const uint8_t *const *)row);
    else
        lra_sample_add_rows(s, n, (const double *const *)row);
    for (int k = 0; k < n; k++) lra_free(row[k]);
    lra_free(row);
    return s;
}

lra_estimate lra_results_value(lra_result *const *list, int n)
{
    lra_sample *s = lra_results_sample(list, n);
    lra_estimate value = lra_sample_value(s, 0);
    lra_sample_free(s);
    return value;
}

char *lra_result_text(lra_result *r)
{
    const lra_metric *m = lra_result_metric(r);
    if (strcmp(m->name, "none") == 0) return lra_format("no labels, %" PRId64 " rows", r->n);
    lra_estimate v = lra_results_value(&r, 1);
    char value[32], chance[32], also[32];
    lra_text t = {0};
    lra_text_add(&t, "%s %s (%.*f to %.*f, 1 seed, ", m->text,
                 lra_metric_value_text(m, v.value, value), m->decimals, m->scale * v.lo,
                 m->decimals, m->scale * v.hi);
    if (r->n_classes)
        lra_text_add(&t, "%" PRId64 " of %" PRId64 ")", total_of(r).right, r->n);
    else
        lra_text_add(&t, "%" PRId64 " rows)", r->n);
    lra_text_add(&t, ", chance %s", lra_metric_value_text(m, lra_result_chance(r), chance));
    lra_err e;
    const lra_metric *other = m->also ? lra_metric_find(m->also, &e) : NULL;
    if (other)
        lra_text_add(&t, "; %s %s", other->text,
                     lra_metric_value_text(other, lra_result_value(r, other), also));
    double batches = lra_result_batch_r2(r);
    if (!isnan(batches)) lra_text_add(&t, ", R2 of single batches %.4f", batches);
    if (lra_result_selected_on_test(r)) lra_text_add(&t, "; selected on test");
    return t.s;
}

const char *lra_result_flags(const lra_result *r, unsigned flags, char text[LRA_FLAGS_TEXT])
{
    static const char *const names[] = {
        "one-seed",       "few-seeds",    "failed-seeds",     "at-chance",
        "span",           "extrapolated", "censored",         "unresolved",
        "reference-weak", "overfit",      "selected-on-test", "unsealed"};
    if (lra_result_selected_on_test(r)) flags |= LRA_FLAG_ON_TEST;
    if (r->unsealed) flags |= LRA_FLAG_UNSEALED;
    text[0] = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t n = strlen(text);
        if (flags >> i & 1) snprintf(text + n, LRA_FLAGS_TEXT - n, "%s%s", n ? " " : "", names[i]);
    }
    return text;
}

/* ---- groups ---------------------------------------------------------------------------------- */

static bool starts(const char *line, const char *word)
{
    return strncmp(line, word, strlen(word)) == 0;
}

char *lra_result_identity(const lra_result *r, int n_words, const char *const *word)
{
    return lra_identity_text(r->task, r->preset, r->precision, r->fingerprint, r->config, n_words,
                             word);
}

typedef struct {
    char *identity;
    lra_result *result;
} member;

static int order_of(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int order_of_words(const char *a, size_t size_a, const char *b, size_t size_b)
{
    int order = strncmp(a, b, size_a < size_b ? size_a : size_b);
    return order ? order : order_of((int64_t)size_a, (int64_t)size_b);
}

/* Compares two values: numbers by size, before words. */
static int order_of_values(const char *a, size_t size_a, const char *b, size_t size_b)
{
    char *end_a, *end_b;
    double x = strtod(a, &end_a), y = strtod(b, &end_b);
    bool number_a = size_a && end_a == a + size_a && !isnan(x);
    bool number_b = size_b && end_b == b + size_b && !isnan(y);
    if (number_a != number_b) return number_a ? -1 : 1;
    if (number_a && x != y) return x < y ? -1 : 1;
    return order_of_words(a, size_a, b, size_b);
}

/* Returns the next line that is a setting and does not differ between seeds. */
static const char *next_setting(const char *line)
{
    static const char *const other[] = {
        "data=", "precision=", "seed=", "train.from=", "train.matched="};
    enum { N = sizeof other / sizeof *other };
    for (int i = 0; i < N;) {
        if (starts(line, other[i])) {
            line += strcspn(line, "\n");
            line += *line == '\n';
            i = 0;
        } else {
            i++;
        }
    }
    return line;
}

/* Compares configurations by the first setting that differs; a configuration without this setting
 * comes last. */
static int order_of_settings(const char *a, const char *b)
{
    for (a = next_setting(a), b = next_setting(b); *a && *b;
         a = next_setting(a), b = next_setting(b)) {
        size_t key_a = strcspn(a, "=\n"), key_b = strcspn(b, "=\n");
        int order = order_of_words(a, key_a, b, key_b);
        if (order) return order;
        a += key_a + (a[key_a] == '=');
        b += key_b + (b[key_b] == '=');
        size_t size_a = strcspn(a, "\n"), size_b = strcspn(b, "\n");
        order = order_of_values(a, size_a, b, size_b);
        if (order) return order;
        a += size_a + (a[size_a] == '\n');
        b += size_b + (b[size_b] == '\n');
    }
    return (*b != 0) - (*a != 0);
}

static int by_identity(const void *a, const void *b)
{
    const member *x = a, *y = b;
    const lra_result *p = x->result, *q = y->result;
    int order = strcmp(p->task, q->task);
    if (!order) order = strcmp(p->preset, q->preset);
    if (!order) order = strcmp(p->model, q->model);
    if (!order) order = order_of(p->kernel, q->kernel);
    if (!order) order = strcmp(p->precision, q->precision);
    if (!order) order = order_of_settings(p->config, q->config);
    if (!order) order = strcmp(x->identity, y->identity);
    return order ? order : order_of(p->seed, q->seed);
}

/* Number of consecutive members from the i-th on with the same identity. */
static int members_from(const member *m, int i, int n)
{
    int to = i + 1;
    while (to < n && strcmp(m[to].identity, m[i].identity) == 0) to++;
    return to - i;
}

int lra_results_group(lra_result *const *list, int n, lra_result_group **groups)
{
    static const char *const own[] = {"seed="};
    member *m = lra_alloc_array((size_t)n + 1, sizeof *m);
    for (int i = 0; i < n; i++) m[i] = (member){lra_result_identity(list[i], 1, own), list[i]};
    qsort(m, (size_t)n, sizeof *m, by_identity);
    int n_groups = 0;
    *groups = lra_alloc_array((size_t)n + 1, sizeof **groups);
    for (int i = 0; i < n; i++) {
        lra_result_group *g = &(*groups)[n_groups ? n_groups - 1 : 0];
        if (i == 0 || strcmp(m[i].identity, m[i - 1].identity) != 0) {
            g = &(*groups)[n_groups++];
            g->run = lra_alloc_array((size_t)members_from(m, i, n), sizeof *g->run);
        }
        g->run[g->n++] = m[i].result;
    }
    for (int i = 0; i < n; i++) lra_free(m[i].identity);
    lra_free(m);
    return n_groups;
}

void lra_result_groups_free(lra_result_group *groups, int n)
{
    for (int i = 0; i < n; i++) lra_free(groups[i].run);
    lra_free(groups);
}

bool lra_results_rise(int n, const lra_result *const *list)
{
    for (int i = 1; i < n; i++)
        if (strcmp(list[i]->model, list[0]->model) != 0 || list[i]->kernel <= list[i - 1]->kernel)
            return false;
    return n > 1 && list[0]->kernel > 0;
}
