/* Warm starts: runs that continue from the weights of another run, and matched control runs. */
#ifndef LRA_PROBES_RUN_WARM_START_H
#define LRA_PROBES_RUN_WARM_START_H

#include "kernels/base/cli/options.h"
#include "probes/run/job.h"

/* --from RUN, --matched RUN */
extern const lra_option lra_warm_start_options[];

/* Finds the related run, loads the data of the job and adds the run's hash to the configuration.
 *   from     initial weights: inputs and encoder of a finished run, with a new head
 *   matched  control for `from`: random initial weights, and as many additional training steps as
 *            the finished run took, rounded up to epochs */
int lra_warm_start(lra_job *r, const lra_options *o, lra_err *e);

#endif
