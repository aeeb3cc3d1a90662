/* Training techniques of the papers: augmentation, further training sets, further objectives.  A
 * technique belongs to a paper and a task; the one table is in technique.c. */
#ifndef LRA_PROBES_RUN_TECHNIQUE_H
#define LRA_PROBES_RUN_TECHNIQUE_H

#include "datasets/loader/task.h"

typedef struct {
    const char *paper, *tasks; /* names of tasks with blanks between; NULL: all */
    const char *name;          /* "operand shuffling" */
    /* Settings that enable it, "augment=1"; a run with the first of them has the technique. NULL:
     * no setting does (self-pretraining needs a run of its own). */
    const char *settings;
} lra_technique;

/* The technique of a paper for a task.  paper nullable.  NULL: none. */
const lra_technique *lra_technique_find(const char *paper, const char *task);
/* Applies those settings of the technique that are parameters of the task. */
void lra_technique_set(const char *paper, const lra_task *t, lra_config *parameters);

#endif
