/* The settings of a run: defaults, preset, objective, user changes. */
#ifndef LRA_PROBES_RUN_SETTINGS_H
#define LRA_PROBES_RUN_SETTINGS_H

#include "kernels/base/cli/options.h"
#include "probes/run/job.h"

/* Keys, besides those of training, that name the related run; absent: none. */
extern const lra_key lra_relation_keys[];
/* Default settings; the task's only if none are set. */
void lra_job_defaults(lra_job *r);
/* Fills the settings of task, model and training from the options. Nullable: assignment, an
 * additional --set. */
int lra_job_configure(lra_job *r, const lra_options *o, const char *assignment, lra_err *e);
/* The same for a job that is open already: replaces its data and settings, keeps its device. */
int lra_job_configure_again(lra_job *r, const lra_options *o, const char *assignment, lra_err *e);
/* Finds the key of that name and its owner: "task", "model", "train" (prefixes of the
 * configuration). NULL: unknown. */
const lra_key *lra_job_key(const lra_job *r, const char *name, const char **owner);

#endif
