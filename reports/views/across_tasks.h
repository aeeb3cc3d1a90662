/* Means of a predictor over several tasks, as notes below a table of the tasks. */
#ifndef LRA_REPORTS_VIEWS_ACROSS_TASKS_H
#define LRA_REPORTS_VIEWS_ACROSS_TASKS_H

#include <stdbool.h>

#include "analysis/across_tasks.h"
#include "reports/print/table.h"

enum { LRA_ACROSS_MOST = 64 };
typedef struct {
    int n;
    const char *name[LRA_ACROSS_MOST];
    lra_sample *sample[LRA_ACROSS_MOST]; /* samples, one per task; owned */
    int series[LRA_ACROSS_MOST];
    bool twice; /* true if a task occurs twice, so that there is no mean over tasks */
} lra_across_tasks;

/* Adds series r of a sample; takes ownership of the sample. The name of the task must stay
 * valid. */
void lra_across_tasks_add(lra_across_tasks *a, const char *task, lra_sample *sample, int r);
/* Adds notes in %: the mean over two or more tasks, and the interquartile mean if there is one.
 * Values must be shares (0 to 1).  Frees the samples. */
void lra_across_tasks_note(lra_table *t, const char *identity, lra_across_tasks *a);

#endif
