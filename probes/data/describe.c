/* Describes prepared data: lengths of each split, labels by group (ListOps: the operator at the
 * root), and the test accuracy of the task's baselines, which are fitted on the training split if
 * they have parameters. */
#include "probes/data/describe.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>

#include "datasets/loader/repeats.h"
#include "datasets/own/own.h"
#include "kernels/base/core/mem.h"

/* ---- statistics ------------------------------------------------------------------------------ */

enum { N_QUANTILES = 7 };
static const double quantile_at[N_QUANTILES] = {0, .05, .25, .5, .75, .95, 1};
static const char *const quantile_name[N_QUANTILES] = {"min", "5%",  "25%", "50%",
                                                       "75%", "95%", "max"};

typedef struct {
    double mean;
    int64_t quantile[N_QUANTILES];
} lengths;

static int64_t row_length(const lra_sequences *r, int64_t i)
{
    return r->start[i + 1] - r->start[i];
}

static int ascending(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static lengths measure_lengths(const lra_sequences *r)
{
    lengths l = {0};
    if (r->n == 0) return l;
    int64_t *all = lra_alloc_array((size_t)r->n, sizeof *all);
    for (int64_t i = 0; i < r->n; i++) all[i] = row_length(r, i);
    qsort(all, (size_t)r->n, sizeof *all, ascending);
    for (int q = 0; q < N_QUANTILES; q++)
        l.quantile[q] = all[(int64_t)(quantile_at[q] * (double)(r->n - 1) + 0.5)];
    l.mean = (double)r->start[r->n] / (double)r->n;
    lra_free(all);
    return l;
}

static int n_groups(const lra_task *t)
{
    return t->text.group ? t->text.n_groups : 0;
}

static int group_of(const lra_task *t, const lra_sequences *r, int64_t i)
{
    return t->text.group(r->token + r->start[i], row_length(r, i));
}

/* Counts labels: count[g * n_classes + k] rows of group g have label k; the last group contains all
 * rows. */
static int64_t *count_labels(const lra_task *t, const lra_sequences *r)
{
    int groups = n_groups(t);
    int64_t *count = lra_alloc_array((size_t)((groups + 1) * t->n_classes), sizeof *count);
    for (int64_t i = 0; i < r->n; i++) {
        count[groups * t->n_classes + r->label[i]]++;
        if (groups) count[group_of(t, r, i) * t->n_classes + r->label[i]]++;
    }
    return count;
}

static int64_t group_total(const lra_task *t, const int64_t *count, int g)
{
    int64_t n = 0;
    for (int k = 0; k < t->n_classes; k++) n += count[g * t->n_classes + k];
    return n;
}

static const char *group_name(const lra_task *t, int g)
{
    return g < n_groups(t) ? t->text.group_names[g] : "all";
}

/* Accuracy of the predictions for each group; the last entry is for all rows; -1 if a group is
 * empty. */
static void accuracies(const lra_task *t, const lra_sequences *r, const int32_t *predicted,
                       double *accuracy)
{
    int groups = n_groups(t);
    int64_t *n = lra_alloc_array((size_t)groups + 1, sizeof *n);
    for (int g = 0; g <= groups; g++) accuracy[g] = 0;
    for (int64_t i = 0; i < r->n; i++) {
        bool right = predicted[i] == r->label[i];
        n[groups]++, accuracy[groups] += right;
        if (!groups) continue;
        int g = group_of(t, r, i);
        n[g]++, accuracy[g] += right;
    }
    for (int g = 0; g <= groups; g++) accuracy[g] = n[g] ? accuracy[g] / (double)n[g] : -1;
    lra_free(n);
}

/* ---- text ------------------------------------------------------------------------------------ */

/* True if the last token of every training row is a special id (lra_task.input.first_word). */
static bool has_end(const lra_dataset *d)
{
    const lra_sequences *r = &d->split[LRA_TRAIN_SPLIT];
    if (!r->token || r->width != 1) return false;
    for (int64_t i = 0; i < r->n; i++)
        if (r->token[r->start[i + 1] - 1] >= d->task->input.first_word) return false;
    return r->n > 0;
}

/* Prints the lengths of each split. Column "in train": number of rows that also occur in the
 * training split; in the line of the training split, number of repeated rows. */
static void print_lengths(const lra_dataset *d)
{
    lra_repeats repeats;
    lra_repeats_count(d, &repeats);
    printf("\nlength in %s\n%-6s %8s %8s",
           d->task->input.channels ? "positions"
           : has_end(d)            ? "tokens, including the end token"
                                   : "tokens",
           "split", "rows", "mean");
    for (int q = 0; q < N_QUANTILES; q++) printf(" %6s", quantile_name[q]);
    printf(" %9s", "in train");
    for (int s = 0; s < LRA_N_SPLITS; s++) {
        lengths l = measure_lengths(&d->split[s]);
        printf("\n%-6s %8" PRId64 " %8.1f", lra_split_names[s], d->split[s].n, l.mean);
        for (int q = 0; q < N_QUANTILES; q++) printf(" %6" PRId64, l.quantile[q]);
        printf(" %9" PRId64, repeats.in_train[s]);
    }
    printf("\n");
}

enum {
    MOST_COLUMNS = 20 /* maximum number of classes of a table with a column per class */,
    MOST_LINES = 40 /* maximum number of printed classes with a line per class */
};

/* Prints the number and share of rows of each class, at most MOST_LINES classes. */
static void print_listed_labels(const lra_task *t, const int64_t *count, int64_t n)
{
    int shown = t->n_classes <= MOST_LINES ? t->n_classes : MOST_LINES;
    printf("\nlabels of the training split\n%-16s %8s %6s\n", "label", "rows", "%");
    for (int k = 0; k < shown; k++)
        printf("%2d %-13s %8" PRId64 " %6.1f\n", k,
               t->text.label_names ? t->text.label_names[k] : "", count[k],
               100 * (double)count[k] / (double)n);
    if (shown < t->n_classes) printf("and %d more classes\n", t->n_classes - shown);
}

static void print_labels(const lra_dataset *d)
{
    const lra_task *t = d->task;
    if (t->n_classes == 0) return;
    int64_t *count = count_labels(t, &d->split[LRA_TRAIN_SPLIT]);
    if ((t->text.label_names || t->n_classes > MOST_COLUMNS) && n_groups(t) == 0) {
        print_listed_labels(t, count, d->split[LRA_TRAIN_SPLIT].n);
        lra_free(count);
        return;
    }
    printf("\nlabels of the training split, %% of each row\n%-8s %8s", "group", "rows");
    for (int k = 0; k < t->n_classes; k++) printf(" %5d", k);
    for (int g = 0; g <= n_groups(t); g++) {
        int64_t n = group_total(t, count, g);
        if (n == 0) continue;
        printf("\n%-8s %8" PRId64, group_name(t, g), n);
        for (int k = 0; k < t->n_classes; k++)
            printf(" %5.1f", 100 * (double)count[g * t->n_classes + k] / (double)n);
    }
    printf("\n");
    lra_free(count);
}

static void print_baselines(const lra_dataset *d)
{
    const lra_task *t = d->task;
    const lra_sequences *train = &d->split[LRA_TRAIN_SPLIT], *test = &d->split[LRA_TEST_SPLIT];
    if (!t->baseline) return;
    int groups = n_groups(t);
    int32_t *predicted = lra_alloc_array((size_t)test->n + 1, sizeof *predicted);
    double *accuracy = lra_alloc_array((size_t)groups + 1, sizeof *accuracy);
    printf("\naccuracy of the baselines on the test split, %%\n%-22s", "baseline");
    for (int g = 0; g <= groups; g++) printf(" %6s", group_name(t, g));
    for (int b = 0;; b++) {
        const char *name = t->baseline(b, train, test, predicted);
        if (!name) break;
        accuracies(t, test, predicted, accuracy);
        printf("\n%-22s", name);
        for (int g = 0; g <= groups; g++)
            accuracy[g] < 0 ? printf(" %6s", "-") : printf(" %6.1f", 100 * accuracy[g]);
    }
    printf("\n");
    lra_free(predicted);
    lra_free(accuracy);
}

/* Statistics of the targets of all rows or positions that have one. */
typedef struct {
    int64_t n;
    double mean, variance, least, most;
} spread;

static spread measure_targets(const lra_sequences *r, int target)
{
    spread v = {0};
    int64_t rows = r->step_targets && r->n ? r->start[r->n] : r->n;
    double squares = 0;
    for (int64_t i = 0; i < rows; i++) {
        double y = (double)r->target[i * r->n_targets + target];
        if (isnan(y)) continue;
        v.least = v.n == 0 || y < v.least ? y : v.least;
        v.most = v.n == 0 || y > v.most ? y : v.most;
        double before = y - v.mean;
        v.mean += before / (double)++v.n;
        squares += before * (y - v.mean);
    }
    v.variance = v.n ? squares / (double)v.n : 0;
    return v;
}

/* Root mean squared error and R2 of the mean training target on the test split. */
static void constant_error(const lra_dataset *d, int target, double *rmse, double *r2)
{
    spread train = measure_targets(&d->split[LRA_TRAIN_SPLIT], target);
    spread test = measure_targets(&d->split[LRA_TEST_SPLIT], target);
    double off = test.mean - train.mean, error = test.variance + off * off;
    *rmse = sqrt(error);
    *r2 = test.variance > 0 ? 1 - error / test.variance : 0;
}

static void print_targets(const lra_dataset *d)
{
    int n = d->task->n_targets;
    for (int k = 0; k < n; k++) {
        double rmse, r2;
        printf("\ntarget %d of %d\n%-6s %10s %10s %10s %10s %10s", k + 1, n, "split", "number",
               "mean", "sd", "least", "most");
        for (int s = 0; s < LRA_N_SPLITS; s++) {
            spread v = measure_targets(&d->split[s], k);
            printf("\n%-6s %10" PRId64 " %10.5g %10.5g %10.5g %10.5g", lra_split_names[s], v.n,
                   v.mean, sqrt(v.variance), v.least, v.most);
        }
        constant_error(d, k, &rmse, &r2);
        printf("\n\nbaseline on the test split: the mean of the training targets, RMSE %.5g, R2 "
               "%.4f\n",
               rmse, r2);
    }
}

/* Prints the counts of the import of own data; prints nothing for other tasks. */
static void print_own(const lra_dataset *d)
{
    lra_own own;
    lra_err e;
    if (!d->own) return;
    if (lra_own_parse(d->properties, &own, &e) != 0) LRA_BUG("%s", e.msg);
    const struct {
        int64_t n;
        const char *what;
    } count[] = {{own.n_repeated, "have the input of an earlier one"},
                 {own.n_contradicted, "have an input that also occurs with another label"},
                 {own.n_truncated, "are truncated to the length limit (--length N)"},
                 {own.n_empty, "are empty texts: their rows are the end token alone"},
                 {own.n_left_out, "are left out (--rows 0 keeps all)"}};
    for (size_t i = 0; i < sizeof count / sizeof *count; i++)
        if (count[i].n)
            printf("%" PRId64 " of %" PRId64 " examples %s\n", count[i].n, own.n_examples,
                   count[i].what);
    lra_own_free(&own);
}

static void print_text(const lra_dataset *d)
{
    printf("%s: %s\nfingerprint %s\n", d->task->name, d->task->summary, d->fingerprint);
    for (int i = 0; lra_config_key(d->config, i); i++)
        printf("%s%s=%s", i ? " " : "", lra_config_key(d->config, i),
               lra_config_value(d->config, i));
    printf("\n");
    if (d->vocab)
        printf("vocabulary %d%s\n", d->vocab, d->words ? ", built from the training split" : "");
    print_own(d);
    print_lengths(d);
    print_labels(d);
    print_targets(d);
    print_baselines(d);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static json_t *json_splits(const lra_dataset *d)
{
    json_t *splits = json_object();
    lra_repeats repeats;
    lra_repeats_count(d, &repeats);
    for (int s = 0; s < LRA_N_SPLITS; s++) {
        lengths l = measure_lengths(&d->split[s]);
        json_t *quantiles = json_array(), *levels = json_array();
        for (int q = 0; q < N_QUANTILES; q++) {
            json_array_append_new(levels, json_real(quantile_at[q]));
            json_array_append_new(quantiles, json_integer(l.quantile[q]));
        }
        json_t *split = json_object();
        json_object_set_new(split, "rows", json_integer(d->split[s].n));
        json_object_set_new(split, "in_train", json_integer(repeats.in_train[s]));
        json_object_set_new(split, "length_mean", json_real(l.mean));
        json_object_set_new(split, "length_quantile_levels", levels);
        json_object_set_new(split, "length_quantiles", quantiles);
        json_object_set_new(splits, lra_split_names[s], split);
    }
    return splits;
}

static json_t *json_targets(const lra_dataset *d)
{
    json_t *targets = json_array();
    for (int k = 0; k < d->task->n_targets; k++) {
        json_t *target = json_object();
        double rmse, r2;
        for (int s = 0; s < LRA_N_SPLITS; s++) {
            spread v = measure_targets(&d->split[s], k);
            json_object_set_new(target, lra_split_names[s],
                                json_pack("{s:I, s:f, s:f, s:f, s:f}", "n", (json_int_t)v.n, "mean",
                                          v.mean, "sd", sqrt(v.variance), "least", v.least, "most",
                                          v.most));
        }
        constant_error(d, k, &rmse, &r2);
        json_object_set_new(target, "constant_rmse", json_real(rmse));
        json_object_set_new(target, "constant_r2", json_real(r2));
        json_array_append_new(targets, target);
    }
    return targets;
}

static json_t *json_labels(const lra_dataset *d)
{
    const lra_task *t = d->task;
    json_t *labels = json_object();
    if (t->n_classes == 0) return labels;
    int64_t *count = count_labels(t, &d->split[LRA_TRAIN_SPLIT]);
    for (int g = 0; g <= n_groups(t); g++) {
        json_t *row = json_array();
        for (int k = 0; k < t->n_classes; k++)
            json_array_append_new(row, json_integer(count[g * t->n_classes + k]));
        json_object_set_new(labels, group_name(t, g), row);
    }
    lra_free(count);
    return labels;
}

static json_t *json_baselines(const lra_dataset *d)
{
    const lra_task *t = d->task;
    const lra_sequences *train = &d->split[LRA_TRAIN_SPLIT], *test = &d->split[LRA_TEST_SPLIT];
    json_t *baselines = json_object();
    if (!t->baseline) return baselines;
    int groups = n_groups(t);
    int32_t *predicted = lra_alloc_array((size_t)test->n + 1, sizeof *predicted);
    double *accuracy = lra_alloc_array((size_t)groups + 1, sizeof *accuracy);
    for (int b = 0;; b++) {
        const char *name = t->baseline(b, train, test, predicted);
        if (!name) break;
        accuracies(t, test, predicted, accuracy);
        json_t *row = json_object();
        for (int g = 0; g <= groups; g++)
            json_object_set_new(row, group_name(t, g),
                                accuracy[g] < 0 ? json_null() : json_real(accuracy[g]));
        json_object_set_new(baselines, name, row);
    }
    lra_free(predicted);
    lra_free(accuracy);
    return baselines;
}

static int print_json(const lra_dataset *d, lra_err *e)
{
    json_t *root = json_object(), *config = json_object();
    for (int i = 0; lra_config_key(d->config, i); i++)
        json_object_set_new(config, lra_config_key(d->config, i),
                            json_string(lra_config_value(d->config, i)));
    json_object_set_new(root, "schema", json_integer(1));
    json_object_set_new(root, "task", json_string(d->task->name));
    json_object_set_new(root, "fingerprint", json_string(d->fingerprint));
    json_object_set_new(root, "config", config);
    json_object_set_new(root, "vocabulary", json_integer(d->vocab));
    json_object_set_new(root, "max_length", json_integer(d->max_length));
    json_object_set_new(root, "splits", json_splits(d));
    json_object_set_new(root, "train_labels", json_labels(d));
    if (d->task->n_targets) json_object_set_new(root, "targets", json_targets(d));
    json_object_set_new(root, "test_baselines", json_baselines(d));
    int rc = json_dumpf(root, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
    printf("\n");
    json_decref(root);
    return rc == 0 ? 0 : lra_fail(e, "cannot write JSON to stdout");
}

int lra_data_describe(const lra_dataset *d, bool json, lra_err *e)
{
    if (json) return print_json(d, e);
    print_text(d);
    return 0;
}
