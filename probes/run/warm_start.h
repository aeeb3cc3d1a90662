/* Warm starts: runs that continue from the weights of another run, and matched control runs. */
#ifndef LRA_PROBES_RUN_WARM_START_H
#define LRA_PROBES_RUN_WARM_START_H

#include "kernels/base/cli/options.h"
#include "probes/run/job.h"

/* --from RUN, --matched RUN */
extern const lra_option lra_warm_start_options[];

/* Finds the run, loads the data of the job and relates it; the run's hash becomes part of the
 * configuration.
 *   from     inputs and encoder of a finished run, with a new head
 *   matched  none of its weights, but additional steps, the number that it took, rounded up to
 *            epochs: the control of the former */
int lra_warm_start(lra_job *r, const lra_options *o, lra_err *e);

#endif
