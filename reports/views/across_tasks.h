/* What a predictor does on several tasks, below a table of them. */
#ifndef LRA_REPORTS_VIEWS_ACROSS_TASKS_H
#define LRA_REPORTS_VIEWS_ACROSS_TASKS_H

#include <stdbool.h>

#include "analysis/across_tasks.h"
#include "reports/print/table.h"

enum { LRA_ACROSS_MOST = 64 };
typedef struct {
    int n;
    const char *name[LRA_ACROSS_MOST];
    lra_sample *sample[LRA_ACROSS_MOST]; /* owned */
    int series[LRA_ACROSS_MOST];
    bool twice; /* a task came again: there is no mean over tasks */
} lra_across_tasks;

/* Adds series r of a sample, which it keeps; the name must outlive it. */
void lra_across_tasks_add(lra_across_tasks *a, const char *task, lra_sample *sample, int r);
/* Notes of shares: the mean over two or more tasks, and the interquartile mean where there is one.
 * Frees the samples. */
void lra_across_tasks_note(lra_table *t, const char *who, lra_across_tasks *a);

#endif
