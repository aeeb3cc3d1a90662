/* Warm starts: runs that continue from the weights of another run, and matched control runs. */
#ifndef LRA_PROBES_RUN_WARM_START_H
#define LRA_PROBES_RUN_WARM_START_H

#include "kernels/base/cli/options.h"
#include "probes/run/job.h"

/* --from RUN|OBJECTIVE, --matched RUN|OBJECTIVE */
extern const lra_option lra_warm_start_options[];

/* Finds the related run, which must be finished, loads the data of the job and adds the run's hash
 * to the configuration.
 *   from     initial weights: inputs and encoder of a finished run, with a new head
 *   matched  control for `from`: random initial weights, and as many additional training steps as
 *            the finished run took, rounded up to epochs */
int lra_warm_start(lra_job *r, const lra_options *o, lra_err *e);

/* Same for one seed, if --from or --matched names a pretraining objective instead of a run: the
 * related run is the one with the same settings, this seed and that objective. It may be
 * unfinished; `matched` then adds its planned number of steps. Can be called again with another
 * seed. *needed: result file of the related run, which the caller frees; NULL: no option names an
 * objective, and nothing was changed. The data must be loaded. */
int lra_warm_start_seed(lra_job *r, const lra_options *o, int64_t seed, char **needed, lra_err *e);

#endif
