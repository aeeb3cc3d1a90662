/* The settings of a run: defaults, preset, objective, what the user changes. */
#ifndef LRA_PROBES_RUN_SETTINGS_H
#define LRA_PROBES_RUN_SETTINGS_H

#include "kernels/base/cli/options.h"
#include "probes/run/job.h"

/* Keys beside those of training that say which run this one is related to; absent: none. */
extern const lra_key lra_relation_keys[];
/* All settings as they are unless somebody changes them; the task's only where there are none
 * yet. */
void lra_job_defaults(lra_job *r);
/* Fills the settings of task, model and training from the options.  Nullable: assignment, one more
 * --set. */
int lra_job_configure(lra_job *r, const lra_options *o, const char *assignment, lra_err *e);
/* The same once more for a job that is open: its data and settings are others, its device stays. */
int lra_job_configure_again(lra_job *r, const lra_options *o, const char *assignment, lra_err *e);
/* The key of that name and whose it is: "task", "model", "train" (prefixes of the configuration).
 * NULL: nobody's. */
const lra_key *lra_job_key(const lra_job *r, const char *name, const char **owner);

#endif
