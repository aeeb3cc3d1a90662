/* Averages of one predictor over several tasks. */
#include "analysis/across_tasks.h"

#include <math.h>
#include <stdlib.h>

#include "kernels/base/core/mem.h"

static const lra_series *series_of(const lra_task_value *t)
{
    return &t->sample->series[t->series];
}

lra_estimate lra_mean_over_tasks(int m, const lra_task_value *task)
{
    double *value = lra_alloc_array((size_t)m, sizeof *value);
    lra_variance *variance = lra_alloc_array((size_t)m, sizeof *variance);
    for (int i = 0; i < m; i++) {
        double g[LRA_MAX_SERIES] = {0};
        g[task[i].series] = 1;
        value[i] = series_of(&task[i])->value;
        variance[i] = lra_contrast_variance(task[i].sample, g);
    }
    lra_estimate x = lra_mean_of_tasks(m, value, variance);
    lra_free(value);
    lra_free(variance);
    return x;
}

double lra_middle_mean(int n, const double *ascending, const double *weight)
{
    double all = 0, sum = 0, at = 0;
    for (int i = 0; i < n; i++) all += weight[i];
    for (int i = 0; i < n; i++) {
        double from = fmax(at, all / 4), to = fmin(at + weight[i], all * 3 / 4);
        if (to > from) sum += ascending[i] * (to - from);
        at += weight[i];
    }
    return sum / (all / 2);
}

/* One run of one task, and its weight in the interquartile mean. */
typedef struct {
    int task;
    double value, weight;
} task_run;

typedef struct {
    double value, weight;
} weighed;

static int by_value(const void *a, const void *b)
{
    double x = ((const weighed *)a)->value, y = ((const weighed *)b)->value;
    return (x > y) - (x < y);
}

/* Returns the interquartile mean after adding shift[task] to the values of each task's runs. */
static double shifted_iqm(int n, const task_run *run, const double *shift, weighed *sorted,
                          double *value, double *weight)
{
    for (int i = 0; i < n; i++)
        sorted[i] = (weighed){run[i].value + shift[run[i].task], run[i].weight};
    qsort(sorted, (size_t)n, sizeof *sorted, by_value);
    for (int i = 0; i < n; i++) value[i] = sorted[i].value, weight[i] = sorted[i].weight;
    return lra_middle_mean(n, value, weight);
}

/* Draws the deviation of the value of each task from its mean in each replicate: (n, m), which the
 * caller frees. */
static double *draw_shifts(int m, const lra_task_value *task, uint64_t key, int n)
{
    double *shift = lra_alloc_array((size_t)n * (size_t)m, sizeof *shift);
    for (int t = 0; t < m; t++) {
        int R = task[t].sample->n_series;
        double *drawn = lra_alloc_array((size_t)n * (size_t)R, sizeof *drawn);
        lra_sample_draw(task[t].sample, key + (uint64_t)t, n, drawn);
        for (int b = 0; b < n; b++)
            shift[b * m + t] = drawn[b * R + task[t].series] - series_of(&task[t])->value;
        lra_free(drawn);
    }
    return shift;
}

lra_estimate lra_iqm_over_tasks(int m, const lra_task_value *task, uint64_t key, int n_replicates)
{
    int n = 0, at = 0;
    for (int t = 0; t < m; t++) {
        if (series_of(&task[t])->n_seeds < LRA_IQM_SEEDS) m = 0;
        n += m > 0 ? series_of(&task[t])->n_seeds : 0;
    }
    if (m < LRA_IQM_TASKS) return (lra_estimate){NAN, NAN, NAN};
    task_run *run = lra_alloc_array((size_t)n, sizeof *run);
    for (int t = 0; t < m; t++)
        for (int s = 0; s < series_of(&task[t])->n_seeds; s++)
            run[at++] = (task_run){t, series_of(&task[t])->by_seed[s],
                                   1.0 / series_of(&task[t])->n_seeds};
    weighed *sorted = lra_alloc_array((size_t)n, sizeof *sorted);
    double *value = lra_alloc_array((size_t)n, sizeof *value),
           *weight = lra_alloc_array((size_t)n, sizeof *weight),
           *replicate = lra_alloc_array((size_t)n_replicates, sizeof *replicate),
           *none = lra_alloc_array((size_t)m, sizeof *none),
           *shift = draw_shifts(m, task, key, n_replicates);
    double iqm = shifted_iqm(n, run, none, sorted, value, weight);
    for (int b = 0; b < n_replicates; b++)
        replicate[b] = shifted_iqm(n, run, shift + (size_t)b * (size_t)m, sorted, value, weight);
    lra_estimate x = lra_holding(lra_percentile(iqm, n_replicates, replicate, 0.95));
    lra_free(run);
    lra_free(sorted);
    lra_free(value);
    lra_free(weight);
    lra_free(replicate);
    lra_free(none);
    lra_free(shift);
    return x;
}
