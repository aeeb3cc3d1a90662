/* Measured values of the cells of a layout (layout_cells.h). */
#include <math.h>
#include <string.h>

#include "analysis/across_tasks.h"
#include "kernels/base/core/mem.h"
#include "reports/results/published.h"
#include "reports/tables/layout_cells.h"

static const lra_estimate none = {NAN, NAN, NAN};

int lra_layout_decimals(const lra_layout *l, int column)
{
    static const struct {
        const char *metric;
        int decimals;
    } of[] = {{"accuracy", 2}, {"r2", 3}, {"bpb", 4}, {"perplexity", 2}};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++)
        if (strcmp(of[i].metric, l->column[column].metric) == 0) return of[i].decimals;
    return 2;
}

/* True if the metric of the results is that of the column. */
static bool is_metric(const lra_metric *m, const char *column)
{
    if (strcmp(column, "bpb") == 0) return strncmp(m->name, "bits-per-", 9) == 0;
    return strcmp(m->name, column) == 0;
}

/* Mean of another metric than that of the results, over seeds, with Student's interval; no interval
 * with one seed. */
static lra_estimate other_metric(const lra_result_group *g, const char *name)
{
    lra_err e;
    const lra_metric *m = lra_metric_find(name, &e);
    if (!m) return none;
    double *value = lra_alloc_array((size_t)g->n, sizeof *value);
    for (int i = 0; i < g->n; i++) value[i] = m->scale * lra_result_value(g->run[i], m);
    lra_estimate x = lra_mean_interval(g->n, value);
    lra_free(value);
    return x;
}

/* ---- speed ----------------------------------------------------------------------------------- */

static double seconds_per_step(const lra_result_group *g)
{
    double sum = 0;
    for (int i = 0; i < g->n; i++) {
        const lra_training *t = &g->run[i]->training;
        sum += t->steps > 0 ? t->seconds / (double)t->steps / g->n : NAN;
    }
    return sum;
}

static bool same_text(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "") == 0;
}

/* True if both were trained on the same kind of processor with as many threads and the same number
 * of rows per step. */
static bool comparable(const lra_result *a, const lra_result *b)
{
    return same_text(a->origin.device_name, b->origin.device_name) &&
           same_text(a->origin.level, b->origin.level) && a->origin.threads == b->origin.threads &&
           a->batch > 0 && a->batch == b->batch;
}

/* Training steps per second, relative to the first row of the layout in the same column. */
static lra_estimate relative_speed(const lra_layout_view *v, int row, int column)
{
    const lra_result_group *own = lra_layout_cell_at(v, row, column)->group,
                           *first = lra_layout_cell_at(v, 0, column)->group;
    if (!own || !first || !comparable(own->run[0], first->run[0])) return none;
    return (lra_estimate){seconds_per_step(first) / seconds_per_step(own), NAN, NAN};
}

/* Memory of a run, relative to the first row of the layout in the same column, for batches of the
 * same size. */
static lra_estimate relative_memory(const lra_layout_view *v, int row, int column)
{
    const lra_result_group *own = lra_layout_cell_at(v, row, column)->group,
                           *first = lra_layout_cell_at(v, 0, column)->group;
    if (!own || !first) return none;
    const lra_result *a = own->run[0], *b = first->run[0];
    if (!(a->training.memory > 0 && b->training.memory > 0) || a->batch != b->batch) return none;
    return (lra_estimate){a->training.memory / b->training.memory, NAN, NAN};
}

/* Accuracy in % of the published accuracy of MEGA. */
static lra_estimate ratio_to_mega(const lra_layout_view *v, lra_estimate x, const char *task)
{
    double mega = lra_published(v->layout->paper, v->layout->table, "mega", NULL, task, "accuracy");
    return (lra_estimate){100 * x.value / mega, 100 * x.lo / mega, 100 * x.hi / mega};
}

/* ---- cells ----------------------------------------------------------------------------------- */

lra_estimate lra_layout_measured(const lra_layout_view *v, int row, int column)
{
    const lra_result_group *g = lra_layout_cell_at(v, row, column)->group;
    const char *metric = v->layout->column[column].metric;
    if (!g) return none;
    if (strcmp(metric, "train_speed") == 0) return relative_speed(v, row, column);
    if (strcmp(metric, "peak_memory") == 0) return relative_memory(v, row, column);
    const lra_metric *m = lra_result_metric(g->run[0]);
    bool ratio = strcmp(metric, "ratio_to_mega") == 0;
    if (!is_metric(m, ratio ? "accuracy" : metric)) return other_metric(g, metric);
    lra_sample *sample = lra_results_sample(g->run, g->n);
    lra_estimate x = lra_sample_value(sample, 0);
    lra_sample_free(sample);
    x.value *= m->scale, x.lo *= m->scale, x.hi *= m->scale;
    return ratio ? ratio_to_mega(v, x, g->run[0]->task) : x;
}

/* True if the average of a row needs the cell: the row reports it, or it is a row that the paper
 * does not have. */
static bool is_needed(const lra_layout *l, int row, int column)
{
    if (l->row[row].model) return !isnan(lra_layout_published(l, row, column));
    lra_config *c = lra_layout_settings(l, row, column, NULL, NULL);
    lra_config_free(c);
    return c != NULL;
}

lra_estimate lra_layout_measured_average(const lra_layout_view *v, int row)
{
    const lra_layout *l = v->layout;
    lra_task_value task[LRA_LAYOUT_COLUMNS];
    int n = 0, missing = 0, chance = 0;
    for (int c = 0; c < l->average.over; c++) {
        const lra_result_group *g = lra_layout_cell_at(v, row, c)->group;
        if (!is_needed(l, row, c)) {
            chance += l->average.rule == LRA_AVERAGE_CHANCE;
            continue;
        }
        missing += !g;
        if (g) task[n++] = (lra_task_value){lra_results_sample(g->run, g->n), 0};
    }
    lra_estimate x = none;
    if (n > 0 && missing == 0 && l->average.rule != LRA_AVERAGE_NONE) {
        x = lra_mean_over_tasks(n, task);
        double share = 100.0 * n / (n + chance), add = 50.0 * chance / (n + chance);
        x = (lra_estimate){share * x.value + add, share * x.lo + add, share * x.hi + add};
    }
    for (int i = 0; i < n; i++) lra_sample_free((lra_sample *)(uintptr_t)task[i].sample);
    return x;
}
