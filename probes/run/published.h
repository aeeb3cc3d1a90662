/* Training techniques and remarks of the papers whose settings the preset `paper` holds.  A
 * technique belongs to a paper and a task: one table, in published.c. */
#ifndef LRA_PROBES_RUN_PUBLISHED_H
#define LRA_PROBES_RUN_PUBLISHED_H

#include "probes/run/job.h"

/* Settings that switch on the technique of a paper for a task: "augment=1", "objective=denoise".
 * The first setting decides whether a run has the technique.  paper nullable.  NULL: the paper
 * uses none there, or one that is no setting. */
const char *lra_technique_settings(const char *paper, const char *task);

/* Sets those of them that are parameters of the task. */
void lra_technique_set(const char *paper, const lra_task *t, lra_config *parameters);

/* Differences between a run and the publication that its preset names, one a line: techniques that
 * are off, techniques that are not the paper's, values that the publication does not state, other
 * differences.  Of a preset that is not a publication's: the differences of the model alone.  The
 * caller frees the text. */
char *lra_published_deviations(const lra_job *r);

#endif
