/* Averages of one predictor over several tasks, whose examples and seeds are independent. */
#ifndef LRA_ANALYSIS_ACROSS_TASKS_H
#define LRA_ANALYSIS_ACROSS_TASKS_H

#include <stdint.h>

#include "analysis/sample.h"

/* A series of a sample: the results of the predictor on one task. */
typedef struct {
    const lra_sample *sample;
    int series;
} lra_task_value;

/* Mean over m tasks; its variance is the sum of the tasks' variances over m^2. */
lra_estimate lra_mean_over_tasks(int m, const lra_task_value *task);

/* Weighted interquartile mean of ascending values. A value on a quartile counts with the part of
 * its weight that lies between the quartiles. Example: 3.5 for 0, 1, ..., 7 with equal weights. */
double lra_middle_mean(int n, const double *ascending, const double *weight);

enum { LRA_IQM_TASKS = 5, LRA_IQM_SEEDS = 3 };
/* Interquartile mean over tasks (Agarwal et al. 2021): the interquartile mean of the runs of all
 * tasks. All tasks have the same weight, independent of their number of seeds. The interval
 * consists of percentiles of replicates that are stratified by task: in a replicate, the runs of a
 * task vary with the sampling errors of its examples and seeds (sample.h), independently of the
 * other tasks. NAN with fewer than 5 tasks, or with fewer than 3 seeds of any task. */
lra_estimate lra_iqm_over_tasks(int m, const lra_task_value *task, uint64_t key, int n_replicates);

#endif
