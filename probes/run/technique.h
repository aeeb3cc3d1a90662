/* Training techniques of papers: augmentation, additional training sets, additional objectives. A
 * technique belongs to a paper and a task; the table is in technique.c. */
#ifndef LRA_PROBES_RUN_TECHNIQUE_H
#define LRA_PROBES_RUN_TECHNIQUE_H

#include "datasets/loader/task.h"

typedef struct {
    const char *paper, *tasks; /* tasks: names separated by blanks; NULL: all tasks */
    const char *name;          /* name in messages, for example "operand shuffling" */
    /* Settings that enable the technique, "augment=1"; a run uses the technique if it has the first
     * of them. NULL: no setting enables it (self-pretraining needs a separate run). */
    const char *settings;
} lra_technique;

/* The technique of a paper for a task, or NULL. Nullable: paper. */
const lra_technique *lra_technique_find(const char *paper, const char *task);
/* Applies the settings of the technique that are parameters of the task. */
void lra_technique_set(const char *paper, const lra_task *t, lra_config *parameters);

#endif
