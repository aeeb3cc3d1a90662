/* Figure models: metric of models on each task: adjacent bars for each task, with 95 % intervals
 * over rows and seeds; a line marks chance. Models are named by the settings in which they differ,
 * so that both architectures and variants of one model (positions, pretrained or not) can be
 * compared.
 * Source: Figure 1 of Never Train from Scratch and Table 4 of the locality paper, as bars. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/base/os/file.h"
#include "kernels/base/core/mem.h"
#include "reports/views/probe_view.h"
#include "reports/report.h"
#include "reports/results/result_metric.h"
#include "reports/views/model_names.h"

enum { MODELS = LRA_PLOT_STYLES, TASKS = 8 };
static const char dat[] = "models.dat", next[] = ", \\\n     ";
static const double space = 1.6; /* space between tasks; a bar has width 1 */

typedef struct {
    int n, n_models, n_tasks;
    lra_result_group *group;
    char **name;             /* (n) names of the configurations */
    int *task_of, *model_of; /* (n) index of each group's task and model */
    int task[TASKS];         /* index of the first group of each task */
    int model[MODELS];
    bool rising;
    const lra_metric *metric;
    double low, high;
} plot;

/* Index of the list entry with the task (task: true) or the name of group i; appended if it is
 * missing. -1: the list is full. */
static int find(const plot *p, int i, bool task, int most, int *list, int *n)
{
    for (int k = 0; k < *n; k++) {
        const lra_result *a = p->group[i].run[0], *b = p->group[list[k]].run[0];
        if (strcmp(task ? a->task : p->name[i], task ? b->task : p->name[list[k]]) == 0) return k;
    }
    if (*n == most) return -1;
    list[*n] = i;
    return (*n)++;
}

static int check(const plot *p, int i, lra_err *e)
{
    const lra_result *r = p->group[i].run[0], *first = p->group[0].run[0];
    if (strcmp(r->preset, first->preset) != 0)
        return lra_fail(e, "results of presets '%s' and '%s'; name results of one preset",
                        first->preset, r->preset);
    if (lra_result_metric(r) != p->metric)
        return lra_fail(
            e,
            "tasks '%s' and '%s' have different metrics (%s, %s); name tasks with the same metric",
            first->task, r->task, p->metric->text, lra_result_metric(r)->text);
    if (strcmp(p->metric->name, "none") == 0)
        return lra_fail(e,
                        "'%s' has no labels, so that there is no metric to draw; name results "
                        "with labels",
                        r->task);
    if (p->task_of[i] < 0)
        return lra_fail(e, "one figure holds at most %d tasks; name results of fewer", (int)TASKS);
    if (p->model_of[i] < 0)
        return lra_fail(
            e, "one figure holds at most %d models, '%s' is one more; name results of fewer",
            (int)MODELS, p->name[i]);
    for (int k = 0; k < i; k++) {
        if (p->task_of[k] != p->task_of[i]) continue;
        if (strcmp(p->group[k].run[0]->fingerprint, r->fingerprint) != 0)
            return lra_fail(e,
                            "results of task '%s' on different data; name results on the same data",
                            r->task);
        if (p->model_of[k] == p->model_of[i])
            return lra_fail(e, "two results of model '%s' on task '%s'; name one of them",
                            p->name[i], r->task);
    }
    return 0;
}

static int open_plot(plot *p, const lra_report_input *in, lra_err *e)
{
    *p = (plot){.low = INFINITY, .high = -INFINITY};
    if (in->n == 0) return lra_fail(e, "no results; 'lra-probe train' makes them");
    p->n = lra_results_group(in->list, in->n, &p->group);
    p->metric = lra_result_metric(p->group[0].run[0]);
    size_t n = (size_t)p->n;
    p->task_of = lra_alloc_array(2 * n, sizeof *p->task_of), p->model_of = p->task_of + n;
    p->name = lra_configuration_names(p->n, p->group);
    for (int i = 0; i < p->n; i++) {
        p->task_of[i] = find(p, i, true, TASKS, p->task, &p->n_tasks);
        p->model_of[i] = find(p, i, false, MODELS, p->model, &p->n_models);
        if (check(p, i, e) != 0) return LRA_FAILED;
    }
    const lra_result *first[MODELS];
    for (int m = 0; m < p->n_models; m++) first[m] = p->group[p->model[m]].run[0];
    p->rising = lra_results_rise(p->n_models, first);
    return 0;
}

static void close_plot(plot *p)
{
    if (p->name) lra_names_free(p->name, p->n);
    lra_free(p->task_of);
    lra_result_groups_free(p->group, p->n);
}

static const char *fill_of(const plot *p, int model)
{
    return lra_plot_fill(model, p->n_models, p->rising);
}

/* x coordinate of the bar of a model on a task. */
static double place(const plot *p, int task, double model)
{
    return task * (p->n_models + space) + model;
}

static double chance_of(const plot *p, int task)
{
    return p->metric->scale * lra_result_chance(p->group[p->task[task]].run[0]);
}

static void widen(plot *p, double x)
{
    p->low = fmin(p->low, x), p->high = fmax(p->high, x); /* fmin and fmax ignore NAN */
}

/* Adds a data block for each model: x coordinate, value, lower and upper end. */
static void add_data(lra_text *t, plot *p)
{
    for (int m = 0; m < p->n_models; m++) {
        lra_plot_comment(t, "%s: position value lo hi task", p->name[p->model[m]]);
        for (int i = 0; i < p->n; i++) {
            if (p->model_of[i] != m) continue;
            lra_estimate v = lra_results_value(p->group[i].run, p->group[i].n);
            const double x[] = {v.value, v.lo, v.hi};
            lra_text_add(t, "%.6g", place(p, p->task_of[i], m));
            for (int k = 0; k < 3; k++) {
                lra_plot_number(t, p->metric->scale * x[k]);
                widen(p, p->metric->scale * x[k]);
            }
            lra_text_add(t, " %s\n", p->group[i].run[0]->task);
        }
        lra_text_add(t, "\n\n");
    }
    for (int k = 0; k < p->n_tasks; k++) widen(p, chance_of(p, k));
}

static int fill_key(const plot *p, lra_plot_entry key[LRA_PLOT_ENTRIES])
{
    int n = 0;
    for (int m = 0; m < p->n_models; m++) {
        key[n] = (lra_plot_entry){.kind = LRA_LEGEND_BAR, .color = fill_of(p, m)};
        const lra_result *r = p->group[p->model[m]].run[0];
        char *name = lra_model_shown(p->name[p->model[m]], r->model, r->config);
        snprintf(key[n++].text, sizeof key->text, "%s", name);
        lra_free(name);
    }
    key[n++] = (lra_plot_entry){"95 % interval", LRA_LEGEND_INTERVAL, "", NULL, 0, 0, 0};
    key[n++] = (lra_plot_entry){"chance", LRA_LEGEND_LINE, "#000000", LRA_DASH_DASHES, 1.5, 0, 0};
    return n;
}

static void add_axes(lra_text *t, const plot *p, double width)
{
    /* The axis of bars begins at 0 if all values are above 0. */
    double low = p->low > 0 ? 0 : p->low, more = 0.05 * (p->high - low) + 1e-9;
    lra_text_add(t, "set xrange [%g:%g]\nset yrange [%g:%g]\nset boxwidth 0.9\nset xtics scale 0 (",
                 place(p, 0, -1.1), place(p, p->n_tasks - 1, p->n_models + 0.1),
                 low < 0 ? low - more : 0, p->high + more);
    for (int k = 0; k < p->n_tasks; k++) {
        char *name = lra_plot_fit(p->group[p->task[k]].run[0]->task, width / p->n_tasks, 8);
        lra_text_add(t, k ? ", " : "");
        lra_plot_tick(t, name, place(p, k, 0.5 * (p->n_models - 1)));
        lra_free(name);
    }
    lra_text_add(t, ")\n");
    for (int k = 0; k < p->n_tasks; k++) /* a white line below the black one, as for intervals */
        for (int black = 0; black < 2; black++)
            lra_text_add(t,
                         "set arrow from first %g, first %g to first %g, first %g nohead lw %g "
                         "dt %s lc rgb '%s' front\n",
                         place(p, k, -0.9), chance_of(p, k), place(p, k, p->n_models - 0.1),
                         chance_of(p, k), black ? 1.5 : 3.5, black ? LRA_DASH_DASHES : "1",
                         black ? "#000000" : "#ffffff");
}

static void add_bars(lra_text *t, const plot *p)
{
    for (int m = 0; m < p->n_models; m++)
        lra_text_add(t, "%s'%s' index %d using 1:2 with boxes fc rgb '%s' " LRA_PLOT_EDGE " lw 0.6",
                     m ? next : "plot ", dat, m, fill_of(p, m));
    /* a light line below a dark one, so that the interval is visible on every colour */
    for (int m = 0; m < p->n_models; m++)
        lra_text_add(t,
                     "%s'' index %d using 1:3:(0):($4-$3) with vectors arrowstyle 2"
                     "%s'' index %d using 1:3:(0):($4-$3) with vectors arrowstyle 1",
                     next, m, next, m);
    lra_text_add(t, "\n");
}

static void add_script(lra_plot *f, const plot *p)
{
    char *axis = lra_format("%s%s", p->metric->text, p->metric->scale == 100 ? " (%)" : "");
    double bottom = 0.6, left = 1.3;
    lra_plot_entry key[LRA_PLOT_ENTRIES];
    f->width = lra_plot_wide(p->n_tasks * p->n_models > 10 || p->n_tasks > 3 ? LRA_PAGE_CM
                                                                             : LRA_COLUMN_CM);
    int n = fill_key(p, key), rows = lra_plot_legend_rows(f, left, n, key);
    f->height = 6.4 + LRA_LINE_CM * rows;
    double top = lra_plot_start(f);
    lra_plot_legend(f, left, top, n, key);
    top -= LRA_LINE_CM * rows + 0.25;
    lra_plot_box(f, left, f->width - 0.1, bottom, top);
    lra_plot_axis(f, 0.25, 0.5 * (bottom + top), axis);
    add_axes(&f->script, p, f->width - 0.1 - left);
    add_bars(&f->script, p);
    lra_free(axis);
}

static int make(const lra_report_input *in, lra_plot *f, lra_err *e)
{
    plot p;
    int rc = open_plot(&p, in, e);
    if (rc == 0) {
        f->title = lra_format("Test results, preset %s", p.group[0].run[0]->preset);
        for (int i = 0; i < in->n; i++) lra_plot_source(f, "run", in->list[i]->run);
        add_data(&f->data, &p);
        add_script(f, &p);
    }
    close_plot(&p);
    return rc;
}

const lra_report_figure lra_figure_models = {
    "models", "test metric of each model on each task, as bars", make, LRA_FROM_RESULTS};
