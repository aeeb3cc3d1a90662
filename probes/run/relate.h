/* Runs that continue others, and runs to compare those with. */
#ifndef LRA_PROBES_RUN_RELATE_H
#define LRA_PROBES_RUN_RELATE_H

#include "probes/run/job.h"

/* --from RUN, --matched RUN */
extern const lra_option lra_relate_options[];

/* Finds the run, loads the data of the job and relates it; the run's hash becomes part of the configuration.
 *   from     inputs and encoder of a finished run, with a new head
 *   matched  nothing of it, but as many steps more as it took, rounded up to epochs: the control of the former */
int lra_relate(lra_job *r, const lra_options *o, lra_err *e);

#endif
