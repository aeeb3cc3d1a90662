/* Table tasks: all results of a folder, for all tasks: metric, value with interval, chance, time.
 * One row for each task, model and configuration, over its seeds. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "kernels/base/os/terminal.h"
#include "reports/views/across_tasks.h"
#include "reports/views/cell_names.h"
#include "reports/results/published.h"
#include "reports/report.h"
#include "reports/results/result_metric.h"
#include "reports/print/table.h"
#include "reports/verdict/verdict_results.h"
#include "reports/views/model_names.h"

enum { COLUMNS = 24, PUBLISHED = 10, REMARKS = 15 };
static const char *const head[COLUMNS] = {
    "task",   "model",    "kernel",     "settings", "preset",    "precision",
    "metric", "value",    LRA_TABLE_CI, "chance",   "published", "other metric",
    "seeds",  "examples", "time/seed",  "remarks",  "",          "",
    "",       "",         "",           "",         "",          ""};
/* CSV and JSON contain unscaled values: an accuracy is between 0 and 1. */
static const char *const key[COLUMNS] = {"task",
                                         "model",
                                         "kernel",
                                         "settings",
                                         "preset",
                                         "precision",
                                         "metric",
                                         "value",
                                         "value_lo,value_hi",
                                         "chance",
                                         "published_best",
                                         "",
                                         "seeds",
                                         "rows",
                                         "seconds_per_seed",
                                         "",
                                         "lower_is_better",
                                         "other_metric",
                                         "other_value",
                                         "r2_of_single_batches",
                                         "reach",
                                         "run",
                                         "data",
                                         "flags"};

/* Mean of a value over the seeds of a group. */
static double mean_of(const lra_result_group *g, double (*value)(const lra_result *r))
{
    double sum = 0;
    for (int s = 0; s < g->n; s++) sum += value(g->run[s]) / g->n;
    return sum;
}

static double seconds_of(const lra_result *r)
{
    return r->training.seconds;
}

static double other_value(const lra_result *r)
{
    lra_err e;
    return lra_result_value(r, lra_metric_find(lra_result_metric(r)->also, &e));
}

/* Flags of a group. at-chance: the interval contains chance, or is entirely worse. */
static unsigned flags_of(const lra_result_group *g, const lra_estimate *v, const lra_sample *s)
{
    const lra_metric *m = lra_result_metric(g->run[0]);
    bool better = lra_metric_better(m, m->lower ? v->hi : v->lo, lra_result_chance(g->run[0]));
    unsigned flags = better || isnan(v->value) ? 0 : LRA_FLAG_AT_CHANCE;
    if (g->n == 1) flags |= LRA_FLAG_ONE_SEED;
    if (lra_sample_seeds_dominate(s, 0)) flags |= LRA_FLAG_FEW_SEEDS;
    return flags;
}

/* Text of the flags, without those that the column of seeds already shows. */
static const char *remarks_of(const char *flags)
{
    bool chance = strstr(flags, "at-chance"), test = strstr(flags, "selected-on-test");
    if (strstr(flags, "unsealed")) return chance ? "unsealed, at chance" : "unsealed";
    return chance && test ? "at chance, selected on test"
           : chance       ? "at chance"
           : test         ? "selected on test"
                          : "";
}

/* Adds the second metric: one column in text, three columns in CSV and JSON. */
static void add_other(lra_table *t, const lra_metric *other, double value, double batch_r2)
{
    char text[32];
    if (!other)
        lra_table_cell(t, "-");
    else if (isnan(batch_r2))
        lra_table_cell(t, "%s %s", other->text, lra_metric_value_text(other, value, text));
    else
        lra_table_cell(t, "%s %s, R2 per batch %.4f", other->text,
                       lra_metric_value_text(other, value, text), batch_r2);
}

/* Appends a word, after ", " if the text is not empty. */
static void add_word(lra_text *t, const char *word)
{
    if (*word) lra_text_add(t, "%s%s", t->n ? ", " : "", word);
}

/* Appends the kind of training: "denoise", "fine-tuned, 5 % of rows"; nothing for training on the
 * task alone. */
static void add_training(lra_text *t, const lra_config *c)
{
    double share = lra_config_real_or(c, "train.fraction", 1);
    char rows[48] = "";
    if (share < 1) snprintf(rows, sizeof rows, "%g %% of training examples", 100 * share);
    add_word(t, lra_config_text_or(c, "train.objective", ""));
    add_word(t, lra_config_has(c, "train.from") ? "fine-tuned" : "");
    add_word(t, lra_config_has(c, "train.matched") ? "control of fine-tuning" : "");
    add_word(t, rows);
}

/* A row of the table: its first result and the settings of that result. */
typedef struct {
    const lra_result *result;
    lra_config *config;
    lra_text training;
    lra_text own; /* kind of training, and settings in which rows differ, "distance=4" */
    /* settings that have their default here and are set in comparable rows, "rate=default" */
    lra_text defaults;
    lra_config *usual; /* the settings in `defaults`, by full name: "train.rate" */
} row;

/* All rows of a table. */
typedef struct {
    row *row;
    int n;
    lra_config *varied; /* full names of the settings in which comparable rows differ */
} rows;

/* Compares rows by the columns of the table; settings without a column are ignored. */
static int by_column(const void *a, const void *b)
{
    const row *x = *(const row *const *)a, *y = *(const row *const *)b;
    int order = strcmp(x->result->task, y->result->task);
    if (order == 0) order = strcmp(x->result->model, y->result->model);
    if (order == 0) order = strcmp(x->result->preset, y->result->preset);
    return order ? order : strcmp(x->training.s, y->training.s);
}

static bool has_column(const char *name)
{
    static const char *const own[] = {
        "seed",       "data",          "version",       "precision",       "model.kernel",
        "train.from", "train.matched", "train.related", "train.objective", "train.fraction"};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (strcmp(name, own[i]) == 0) return true;
    return false;
}

static void add_setting(lra_text *t, const char *name, const char *value)
{
    const char *dot = strchr(name, '.');
    char *word = lra_format("%s=%s", dot ? dot + 1 : name, value);
    add_word(t, word);
    lra_free(word);
}

static const char schedule[] = "train.schedule";

/* A setting of a row and the row's schedule, because some settings exist for one schedule only. */
typedef struct {
    const char *name, *schedule;
} reported;

static int by_name(const void *a, const void *b)
{
    const reported *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    return order ? order : strcmp(x->schedule, y->schedule);
}

/* The settings of n rows, without repetitions of the same setting and schedule. The caller frees
 * them. */
static reported *told_by(int n, row *const *alike, int *n_reported)
{
    int total = 0, m = 0;
    for (int i = 0; i < n; i++)
        for (int k = 0; lra_config_key(alike[i]->config, k); k++) total++;
    reported *all = lra_alloc_array((size_t)total + 1, sizeof *all);
    total = 0;
    for (int i = 0; i < n; i++)
        for (int k = 0; lra_config_key(alike[i]->config, k); k++)
            all[total++] = (reported){lra_config_key(alike[i]->config, k),
                                      lra_config_text_or(alike[i]->config, schedule, "")};
    qsort(all, (size_t)total, sizeof *all, by_name);
    for (int i = 0; i < total; i++)
        if (m == 0 || by_name(&all[m - 1], &all[i]) != 0) all[m++] = all[i];
    *n_reported = m;
    return all;
}

/* Adds the settings that comparable rows set and that have their default in this row. */
static void add_defaults(row *r, const reported *all, int n)
{
    const char *own = lra_config_text_or(r->config, schedule, ""), *before = "";
    for (int i = 0; i < n; i++) {
        const char *name = all[i].name;
        bool could = strcmp(name, schedule) == 0 || strcmp(all[i].schedule, own) == 0;
        if (!could || strcmp(name, before) == 0 || has_column(name) ||
            lra_config_has(r->config, name))
            continue;
        add_setting(&r->defaults, name, "default");
        lra_config_set(r->usual, name, "default");
        before = name;
    }
}

/* Sets the texts of settings for n comparable rows. */
static void set_settings(int n, row *const *alike, lra_config *varied)
{
    int n_reported;
    reported *all = told_by(n, alike, &n_reported);
    lra_config **config = lra_alloc_array((size_t)n, sizeof *config);
    bool **differs = lra_alloc_array((size_t)n, sizeof *differs);
    for (int i = 0; i < n; i++) config[i] = alike[i]->config;
    lra_settings_differ(n, config, differs);
    for (int i = 0; i < n; i++) {
        row *r = alike[i];
        if (*r->training.s) add_word(&r->own, r->training.s);
        for (int k = 0; lra_config_key(r->config, k); k++)
            if (differs[i][k] && !has_column(lra_config_key(r->config, k))) {
                add_setting(&r->own, lra_config_key(r->config, k), lra_config_value(r->config, k));
                lra_config_set(varied, lra_config_key(r->config, k), "");
            }
        add_defaults(r, all, n_reported);
        lra_free(differs[i]);
    }
    lra_free(differs);
    lra_free(config);
    lra_free(all);
}

static rows rows_open(const lra_result_group *groups, int n)
{
    static const char *const training[] = {"train.objective", "train.fraction"};
    rows all = {lra_alloc_array((size_t)n + 1, sizeof *all.row), n, lra_config_new()};
    row **sorted = lra_alloc_array((size_t)n + 1, sizeof *sorted);
    for (int i = 0; i < n; i++) {
        lra_err e;
        row *r = sorted[i] = &all.row[i];
        *r = (row){.result = groups[i].run[0]};
        r->config = lra_config_parse(r->result->config, &e);
        r->usual = lra_config_new();
        /* an unreadable configuration (written by hand) has no settings */
        if (!r->config) r->config = lra_config_new();
        lra_text_add(&r->training, "%s", "");
        add_training(&r->training, r->config);
    }
    qsort(sorted, (size_t)n, sizeof *sorted, by_column);
    for (int from = 0, to; from < n; from = to) {
        to = from + 1;
        while (to < n && by_column(&sorted[to], &sorted[from]) == 0) to++;
        set_settings(to - from, sorted + from, all.varied);
    }
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 2; k++)
            if (lra_config_has(all.row[i].config, training[k]))
                lra_config_set(all.varied, training[k], "");
    lra_free(sorted);
    return all;
}

static void rows_close(rows *all)
{
    for (int i = 0; i < all->n; i++) {
        lra_config_free(all->row[i].config);
        lra_config_free(all->row[i].usual);
        lra_text_free(&all->row[i].training);
        lra_text_free(&all->row[i].own);
        lra_text_free(&all->row[i].defaults);
    }
    lra_free(all->row);
    lra_config_free(all->varied);
}

/* Joins `own` and `defaults`; "-" if both are empty. The caller frees the text. */
static char *settings_of(const row *r)
{
    lra_text t = {0};
    add_word(&t, r->own.s ? r->own.s : "");
    add_word(&t, r->defaults.s ? r->defaults.s : "");
    return t.s ? t.s : lra_copy_text("-");
}

static bool is_paper(const lra_result *r)
{
    return strcmp(r->preset, "paper") == 0;
}

static bool is_causal(const lra_result *r)
{
    lra_err e;
    lra_config *c = lra_config_parse(r->config, &e);
    bool causal = c && strcmp(lra_config_text_or(c, "model.causal", "0"), "1") == 0;
    lra_config_free(c);
    return causal;
}

/* Adds the best published value of the metric, or else of the other metric; for preset `paper`
 * only. */
static void add_published(lra_table *t, const lra_result *r, const lra_metric *m,
                          const lra_metric *other)
{
    char text[32];
    lra_published_best best = {.value = NAN}, of_other = best;
    if (is_paper(r)) best = lra_published_find_best(r->task, is_causal(r), m);
    if (is_paper(r) && other) of_other = lra_published_find_best(r->task, is_causal(r), other);
    double x = best.value / m->scale;
    if (!isnan(x))
        lra_table_value(t, x, "%s %s", lra_metric_value_text(m, x, text), best.model);
    else if (!isnan(of_other.value))
        lra_table_value(t, NAN, "%s %s %s", other->text,
                        lra_metric_value_text(other, of_other.value / other->scale, text),
                        of_other.model);
    else
        lra_table_number(t, NAN, 0);
}

static void add_group(lra_table *t, const row *own, const lra_result_group *g)
{
    lra_err e;
    char text[32], flags[LRA_FLAGS_TEXT];
    const lra_result *r = g->run[0];
    const lra_metric *m = lra_result_metric(r),
                     *other = m->also ? lra_metric_find(m->also, &e) : NULL;
    lra_sample *sample = lra_results_sample(g->run, g->n);
    lra_estimate v = lra_sample_value(sample, 0);
    double chance = lra_result_chance(r), seconds = mean_of(g, seconds_of);
    double beside = other ? mean_of(g, other_value) : NAN;
    double batch_r2 = mean_of(g, lra_result_batch_r2);
    lra_table_row(t);
    lra_table_cell(t, "%s", r->task);
    lra_table_model(t, r->model, r->model, r->config);
    lra_table_number(t, r->kernel ? (double)r->kernel : NAN, 0);
    char *settings = settings_of(own);
    lra_table_cell(t, "%s", settings);
    lra_free(settings);
    lra_table_cell(t, "%s", r->preset);
    lra_table_cell(t, "%s", r->precision);
    lra_table_cell(t, "%s", m->name);
    lra_table_value(t, v.value, "%s", lra_metric_value_text(m, v.value, text));
    lra_table_scaled_interval(t, v.lo, v.hi, m->scale, m->decimals);
    lra_table_value(t, chance, "%s", lra_metric_value_text(m, chance, text));
    add_published(t, r, m, other);
    add_other(t, other, beside, batch_r2);
    lra_table_number(t, g->n, 0);
    lra_table_number(t, (double)r->n, 0);
    lra_table_value(t, seconds, "%s", lra_time_text(text, seconds));
    lra_result_flags(r, flags_of(g, &v, sample), flags);
    lra_sample_free(sample);
    lra_table_cell(t, "%s", remarks_of(flags));
    lra_table_number(t, m->lower, 0);
    lra_table_cell(t, "%s", other ? other->name : "");
    lra_table_number(t, beside, 6);
    lra_table_number(t, batch_r2, 6);
    lra_table_number(t, r->reach >= 0 ? (double)r->reach : NAN, 0);
    lra_table_cell(t, "%s", r->run);
    lra_table_cell(t, "%s", r->fingerprint);
    lra_table_cell(t, "%s", flags);
}

/* Adds a column for CSV and JSON for each setting that varies (`rate`, `distance`), so that
 * programs can group by it. A row without the setting has "default" if a comparable row sets it,
 * else an empty cell. */
static void add_varied(lra_table *t, const rows *all)
{
    const char **text = lra_alloc_array((size_t)all->n + 1, sizeof *text);
    for (int k = 0; lra_config_key(all->varied, k); k++) {
        const char *name = lra_config_key(all->varied, k), *dot = strchr(name, '.');
        bool training = strncmp(name, "train.", 6) == 0 && has_column(name);
        for (int i = 0; i < all->n; i++) {
            const char *usual = lra_config_text_or(all->row[i].usual, name,
                                                   training ? "default" : NULL);
            text[i] = lra_config_text_or(all->row[i].config, name, usual);
        }
        lra_table_add_values(t, dot ? dot + 1 : name, text);
    }
    lra_free(text);
}

/* The labels of a group without repetitions; NULL: none. The caller frees the text. */
static char *labels_of(const lra_result_group *g)
{
    lra_text t = {0};
    for (int s = 0; s < g->n; s++) {
        const char *label = g->run[s]->user_label;
        bool known = !label || !*label;
        for (int k = 0; k < s && !known; k++)
            known = g->run[k]->user_label && strcmp(g->run[k]->user_label, label) == 0;
        if (!known) add_word(&t, label);
    }
    return t.s;
}

/* Adds the column of labels for CSV and JSON, if any run has one. */
static void add_labels(lra_table *t, int n, const lra_result_group *groups)
{
    char **label = lra_alloc_array((size_t)n + 1, sizeof *label);
    bool any = false;
    for (int i = 0; i < n; i++) any = (label[i] = labels_of(&groups[i])) || any;
    if (any) lra_table_add_values(t, "label", (const char *const *)label);
    for (int i = 0; i < n; i++) lra_free(label[i]);
    lra_free(label);
}

static bool any_paper(const rows *all)
{
    for (int i = 0; i < all->n; i++)
        if (is_paper(all->row[i].result)) return true;
    return false;
}

/* True if both have the same model, kernel, preset and precision. */
static bool are_one_model(const lra_result *a, const lra_result *b)
{
    return a->kernel == b->kernel && strcmp(a->model, b->model) == 0 &&
           strcmp(a->preset, b->preset) == 0 && strcmp(a->precision, b->precision) == 0;
}

/* Adds the mean accuracy over tasks of one model, kernel, preset and precision; runs with other
 * settings are left out. */
static void add_mean(lra_table *t, const rows *all, const lra_result_group *groups, int first)
{
    const lra_result *a = all->row[first].result;
    lra_across_tasks tasks = {0};
    for (int i = first; i < all->n; i++) {
        const lra_result *b = all->row[i].result;
        if (are_one_model(a, b) && all->row[i].own.n == 0 &&
            strcmp(lra_result_metric(b)->name, "accuracy") == 0)
            lra_across_tasks_add(&tasks, b->task, lra_results_sample(groups[i].run, groups[i].n),
                                 0);
    }
    lra_text model_text = {0};
    lra_text_add(&model_text, "%s", a->model);
    if (a->kernel) lra_text_add(&model_text, " K = %" PRId64, a->kernel);
    lra_text_add(&model_text, " (%s, %s)", a->preset, a->precision);
    lra_across_tasks_note(t, model_text.s, &tasks);
    lra_text_free(&model_text);
}

static void add_notes(lra_table *t, const rows *all, const lra_result_group *groups)
{
    bool one = false, on_test = false, defaults = false;
    for (int i = 0; i < all->n; i++) {
        defaults = defaults || all->row[i].defaults.n > 0;
        one = one || groups[i].n == 1;
        on_test = on_test || lra_result_selected_on_test(all->row[i].result);
        bool first = true;
        for (int k = 0; k < i && first; k++)
            first = !are_one_model(all->row[k].result, all->row[i].result);
        if (first) add_mean(t, all, groups, i);
    }
    if (defaults)
        lra_table_note(t, "default\tthe default value ('lra-probe list parameters') of a "
                          "setting that other rows of the table set");
    lra_table_note(
        t, "chance\tprediction without input: the most frequent training label (accuracy), the "
           "mean of the training targets (RMSE, R2), uniform token probabilities (perplexity)");
    lra_table_note_ci(t);
    if (any_paper(all))
        lra_table_note(t, "published\tbest value in the three papers, and its source; for preset "
                          "'paper' only");
    if (one)
        lra_table_note(t, "seeds\tone seed (flag one-seed): the interval does not include the "
                          "variation over seeds");
    lra_table_note(t, "time/seed\ttraining time of one seed");
    lra_table_note(t, "at chance\tthe interval includes the value of chance, or is worse");
    if (on_test)
        lra_table_note(t, "selected on test\tthe validation split is the test split, as in the "
                          "published protocol: the values are biased upwards");
}

static int make(const lra_report_input *in, lra_table ***list, lra_err *e)
{
    lra_result_group *found;
    int n = lra_results_group(in->list, in->n, &found), rc = 1;
    rows all = rows_open(found, n);
    if (n == 0) rc = lra_fail(e, "no results; 'lra-probe train' makes them");
    if (rc == 1) {
        const char *heads[COLUMNS];
        memcpy(heads, head, sizeof heads);
        if (!any_paper(&all)) heads[PUBLISHED] = "";
        lra_table *t = lra_table_new("All results: one row per task, model and configuration",
                                     COLUMNS, heads);
        lra_table_keys(t, key);
        for (int i = 0; i < n; i++) add_group(t, &all.row[i], &found[i]);
        add_varied(t, &all);
        add_labels(t, n, found);
        add_notes(t, &all, found);
        lra_verdict_of_results(n, found, &t->verdict);
        *list = lra_alloc(sizeof **list);
        (*list)[0] = t;
    }
    rows_close(&all);
    lra_result_groups_free(found, n);
    return rc;
}

const lra_report_table lra_table_tasks = {
    "tasks",
    "all results: task, model, metric, value, interval, chance, "
    "time",
    make, LRA_FROM_RESULTS, NULL};
