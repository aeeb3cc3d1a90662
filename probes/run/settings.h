/* The settings of a run: defaults, preset, objective, user changes. */
#ifndef LRA_PROBES_RUN_SETTINGS_H
#define LRA_PROBES_RUN_SETTINGS_H

#include "kernels/base/cli/options.h"
#include "probes/run/job.h"

/* Keys that relate a run to others (from, matched, tuning), besides those of training; missing if
 * there are none. */
extern const lra_key lra_relation_keys[];
/* Sets the defaults of model and training; also those of the task if it has no settings yet. */
void lra_job_defaults(lra_job *r);
/* Fills the settings of task, model and training from the options. assignment: an additional --set.
 * Nullable: assignment. */
int lra_job_configure(lra_job *r, const lra_options *o, const char *assignment, lra_err *e);
/* Same as lra_job_configure(), for a job that is already open: replaces its settings and drops its
 * data, keeps its device. */
int lra_job_configure_again(lra_job *r, const lra_options *o, const char *assignment, lra_err *e);
/* Finds a key by name, and its owner: "task", "model" or "train", the prefixes in the
 * configuration. NULL: unknown key. */
const lra_key *lra_job_key(const lra_job *r, const char *name, const char **owner);

#endif
