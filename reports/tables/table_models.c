/* Table models: architectures compared by metric, size and cost. One row for each model, kernel,
 * settings, preset and precision; for each task its value with interval, number of parameters, and
 * time. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "kernels/base/os/file.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/os/terminal.h"
#include "reports/views/cell_names.h"
#include "reports/report.h"
#include "reports/results/result_metric.h"
#include "reports/print/table.h"
#include "reports/verdict/verdict_results.h"
#include "reports/views/model_names.h"

enum { OWN = 6, PER_TASK = 4, MOST_TASKS = 20, COLUMNS = OWN + PER_TASK * MOST_TASKS + 1 };

/* Groups of results, by row (model and settings) and task. */
typedef struct {
    const lra_result_group *group; /* (n) groups of results */
    /* (n) settings in which a configuration differs from others; "" if there are none */
    char **settings;
    int *row; /* (n) row of each group */
    int n, n_rows, n_tasks;
    const char *task[MOST_TASKS];
} view;

static bool are_one_row(const view *v, int i, int k)
{
    const lra_result *a = v->group[i].run[0], *b = v->group[k].run[0];
    return a->kernel == b->kernel && strcmp(a->model, b->model) == 0 &&
           strcmp(a->preset, b->preset) == 0 && strcmp(a->precision, b->precision) == 0 &&
           strcmp(a->task, b->task) != 0 && strcmp(v->settings[i], v->settings[k]) == 0;
}

/* Assigns each group to the first row of its model and settings that has no result of its task. */
static void find_rows(view *v)
{
    v->row = lra_alloc_array((size_t)v->n + 1, sizeof *v->row);
    for (int i = 0; i < v->n; i++) {
        int row = -1;
        for (int k = 0; k < i && row < 0; k++) {
            if (!are_one_row(v, i, k)) continue;
            row = v->row[k];
            /* the row of group k cannot be used if it already has a group of the same task */
            for (int m = 0; m < i && row >= 0; m++)
                if (v->row[m] == v->row[k] &&
                    strcmp(v->group[m].run[0]->task, v->group[i].run[0]->task) == 0)
                    row = -1;
        }
        v->row[i] = row < 0 ? v->n_rows++ : row;
    }
}

/* The group of a task in a row; NULL: there is none. */
static const lra_result_group *cell_of(const view *v, int row, const char *task)
{
    for (int i = 0; i < v->n; i++)
        if (v->row[i] == row && strcmp(v->group[i].run[0]->task, task) == 0) return &v->group[i];
    return NULL;
}

static int find_tasks(view *v, lra_err *e)
{
    for (int i = 0; i < v->n; i++) {
        const char *task = v->group[i].run[0]->task;
        int k = 0;
        while (k < v->n_tasks && strcmp(v->task[k], task) != 0) k++;
        if (k < v->n_tasks) continue;
        if (k == MOST_TASKS)
            return lra_fail(e,
                            "one table holds at most %d tasks, '%s' is one more; name results "
                            "of fewer",
                            (int)MOST_TASKS, task);
        v->task[v->n_tasks++] = task;
    }
    return 0;
}

static lra_table *new_table(const view *v)
{
    static const char *const own_head[OWN] = {"model",  "kernel",    "settings",
                                              "preset", "precision", "seeds"};
    static const char *const own_key[OWN] = {"model",  "kernel",    "settings",
                                             "preset", "precision", "seeds"};
    static const char *const task_head[PER_TASK] = {"", LRA_TABLE_CI, "params", "time/seed"};
    static const char *const task_key[PER_TASK] = {"value", "lo", "parameters", "seconds"};
    char *head[COLUMNS], *key[COLUMNS];
    int n = 0;
    for (; n < OWN; n++) {
        head[n] = lra_copy_text(own_head[n]);
        key[n] = lra_copy_text(own_key[n]);
    }
    for (int k = 0; k < v->n_tasks; k++)
        for (int i = 0; i < PER_TASK; i++, n++) {
            const char *task = v->task[k];
            head[n] = lra_copy_text(i == 0 ? task : task_head[i]);
            key[n] = i == 1 ? lra_format("%s_lo,%s_hi", task, task)
                            : lra_format("%s_%s", task, task_key[i]);
        }
    head[n] = lra_copy_text("remarks"), key[n++] = lra_copy_text("flags");
    lra_table *t = lra_table_new("Models: test metric, parameters and training time on each "
                                 "task",
                                 n, (const char *const *)head);
    lra_table_keys(t, (const char *const *)key);
    for (int i = 0; i < n; i++) lra_free(head[i]), lra_free(key[i]);
    return t;
}

/* Adds value, interval, number of parameters and mean time per seed. Returns true if the value is
 * not significantly better than chance. */
static bool add_cell(lra_table *t, const lra_result_group *g)
{
    char text[32];
    const lra_result *r = g->run[0];
    const lra_metric *m = lra_result_metric(r);
    lra_sample *sample = lra_results_sample(g->run, g->n);
    lra_estimate v = lra_sample_value(sample, 0);
    lra_sample_free(sample);
    double seconds = 0;
    for (int s = 0; s < g->n; s++) seconds += g->run[s]->training.seconds / g->n;
    lra_table_value(t, v.value, "%s", lra_metric_value_text(m, v.value, text));
    lra_table_scaled_interval(t, v.lo, v.hi, m->scale, m->decimals);
    lra_table_number(t, (double)r->training.parameters, 0);
    lra_table_value(t, seconds, "%s", lra_time_text(text, seconds));
    return !isnan(v.value) && !lra_metric_better(m, m->lower ? v.hi : v.lo, lra_result_chance(r));
}

/* Adds the number of seeds: "3", or "1-3" if it differs between tasks. */
static void add_seeds(lra_table *t, const view *v, int row)
{
    int least = 0, most = 0;
    for (int k = 0; k < v->n_tasks; k++) {
        const lra_result_group *g = cell_of(v, row, v->task[k]);
        if (!g) continue;
        if (!least || g->n < least) least = g->n;
        if (g->n > most) most = g->n;
    }
    if (least == most)
        lra_table_value(t, least, "%d", least);
    else
        lra_table_value(t, least, "%d-%d", least, most);
}

/* Adds a row; first: index of its first group. */
static void add_row(lra_table *t, const view *v, int row, int first)
{
    const lra_result *r = v->group[first].run[0];
    lra_text remarks = {0};
    lra_table_row(t);
    lra_table_model(t, r->model, r->model, r->config);
    lra_table_number(t, r->kernel ? (double)r->kernel : NAN, 0);
    lra_table_cell(t, "%s", *v->settings[first] ? v->settings[first] : "-");
    lra_table_cell(t, "%s", r->preset);
    lra_table_cell(t, "%s", r->precision);
    add_seeds(t, v, row);
    for (int k = 0; k < v->n_tasks; k++) {
        const lra_result_group *g = cell_of(v, row, v->task[k]);
        if (!g) {
            lra_table_number(t, NAN, 0);
            lra_table_interval(t, NAN, NAN, 0);
            lra_table_number(t, NAN, 0);
            lra_table_number(t, NAN, 0);
            continue;
        }
        if (add_cell(t, g))
            lra_text_add(&remarks, "%sat chance on %s", remarks.s ? ", " : "", v->task[k]);
    }
    lra_table_cell(t, "%s", remarks.s ? remarks.s : "");
    lra_text_free(&remarks);
}

/* Settings of each group without the model and its kernel, which have separate columns. */
static char **settings_of(int n, const lra_result_group *group)
{
    char **name = lra_configuration_names(n, group);
    for (int i = 0; i < n; i++) {
        const lra_result *r = group[i].run[0];
        char *front = r->kernel ? lra_format("%s K = %" PRId64, r->model, r->kernel)
                                : lra_copy_text(r->model);
        const char *rest = name[i] + strlen(front);
        char *settings = lra_copy_text(rest + strspn(rest, " "));
        lra_free(name[i]);
        lra_free(front);
        name[i] = settings;
    }
    return name;
}

static void fill(lra_table *t, const view *v)
{
    bool named = false;
    for (int i = 0, row = 0; i < v->n; i++) {
        if (v->row[i] != row) continue; /* rows are numbered in the order of their first groups */
        add_row(t, v, row++, i);
        named = named || *v->settings[i];
    }
    if (named)
        lra_table_note(t, "settings\tsettings of the model that differ between its configurations; "
                          "of training and task, if they differ on a task; the label of the run");
    lra_table_note_ci(t);
    lra_table_note(t, "params\tnumber of trainable parameters");
    lra_table_note(t, "time/seed\ttraining time of one seed");
    lra_table_note(t, "at chance\tthe interval includes the value of chance, or is worse");
}

static int make(const lra_report_input *in, lra_table ***list, lra_err *e)
{
    lra_result_group *found;
    view v = {.n = lra_results_group(in->list, in->n, &found)};
    v.group = found;
    int rc = v.n ? find_tasks(&v, e) : lra_fail(e, "no results; 'lra-probe train' makes them");
    if (rc == 0) {
        v.settings = settings_of(v.n, found);
        find_rows(&v);
        lra_table *t = new_table(&v);
        fill(t, &v);
        lra_verdict_of_results(v.n, found, &t->verdict);
        *list = lra_alloc(sizeof **list);
        (*list)[0] = t;
        rc = 1;
        lra_names_free(v.settings, v.n);
        lra_free(v.row);
    }
    lra_result_groups_free(found, v.n);
    return rc;
}

const lra_report_table lra_table_models = {
    "models",
    "one row per model: test metric with interval, parameters and time on each "
    "task",
    make, LRA_FROM_RESULTS, NULL};
