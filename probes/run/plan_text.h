/* Text of the decisions made before a run starts. */
#ifndef LRA_PROBES_RUN_PLAN_TEXT_H
#define LRA_PROBES_RUN_PLAN_TEXT_H

#include "models/training/estimate.h"
#include "probes/run/job.h"

/* The complete text, one "name text" line per decision. The caller frees it. */
char *lra_job_plan_text(const lra_job *r, const lra_train_spec *s, const lra_train_cost *c);

#endif
