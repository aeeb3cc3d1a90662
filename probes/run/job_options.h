/* The options that describe a run, and functions that open a job with them. */
#ifndef LRA_PROBES_RUN_JOB_OPTIONS_H
#define LRA_PROBES_RUN_JOB_OPTIONS_H

#include "kernels/base/cli/options.h"
#include "probes/run/job.h"

/* --task --model --preset --set --seed(s) --threads --device --precision --out --data-dir ... */
extern const lra_option lra_job_options[];

/* Value of lra_train_spec.recompute for --recompute. */
int lra_job_recompute(const lra_options *o);
/* Opens a job from the options: settings and device. Does not load the data, except own data,
 * because their settings depend on them. r->dry must be set before the call. */
int lra_job_open(lra_job *r, const lra_options *o, lra_err *e);
/* Same as lra_job_open(), with an additional --set. Nullable: assignment. */
int lra_job_open_with(lra_job *r, const lra_options *o, const char *assignment, lra_err *e);

#endif
