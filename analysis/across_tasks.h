/* One predictor on several tasks, whose examples and seeds are independent: averages over them. */
#ifndef LRA_ANALYSIS_ACROSS_TASKS_H
#define LRA_ANALYSIS_ACROSS_TASKS_H

#include <stdint.h>

#include "analysis/sample.h"

/* A series of a sample: the predictor on one task. */
typedef struct {
    const lra_sample *sample;
    int series;
} lra_task_value;

/* Mean over m tasks: the variances of the means add up over m squared. */
lra_estimate lra_mean_over_tasks(int m, const lra_task_value *task);

/* The mean of the middle half of ascending values by weight; a value on an edge counts with what of
 * its weight lies within.  Of 0, 1, ..., 7 with equal weights it is 3.5. */
double lra_middle_mean(int n, const double *ascending, const double *weight);

enum { LRA_IQM_TASKS = 5, LRA_IQM_SEEDS = 3 };
/* Interquartile mean over tasks (Agarwal et al. 2021): the mean of the middle half of the runs of
 * all tasks, each task weighing the same, however many seeds it has.  Its interval is the
 * percentiles of replicates that are stratified by
 * task: the runs of a task move together by what its examples and its seeds leave open (sample.h),
 * each task by its own.  NAN: fewer than 5 tasks, or than 3 seeds of one. */
lra_estimate lra_iqm_over_tasks(int m, const lra_task_value *task, uint64_t key, int n_replicates);

#endif
