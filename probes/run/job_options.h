/* The options that describe a run, and a job opened with them. */
#ifndef LRA_PROBES_RUN_JOB_OPTIONS_H
#define LRA_PROBES_RUN_JOB_OPTIONS_H

#include "kernels/base/cli/options.h"
#include "probes/run/job.h"

/* --task --model --preset --set --seed(s) --threads --device --precision --out --data-dir ... */
extern const lra_option lra_job_options[];

/* Value of --recompute for lra_train_spec. */
int lra_job_recompute(const lra_options *o);
/* Reads the options; opens the device, not the data. */
int lra_job_open(lra_job *r, const lra_options *o, lra_err *e);
/* The same with an additional --set. Nullable: assignment. */
int lra_job_open_with(lra_job *r, const lra_options *o, const char *assignment, lra_err *e);

#endif
