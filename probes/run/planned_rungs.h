/* Checks the rungs of a ladder and solves their sizes; needs loaded data. */
#ifndef LRA_PROBES_RUN_PLANNED_RUNGS_H
#define LRA_PROBES_RUN_PLANNED_RUNGS_H

#include "probes/run/rungs.h"

/* Checks that the reach grows from rung to rung, and solves the sizes. The data must be loaded.
 * Fails with the nearest size in the message if no size is within 2 % of the reference's count. */
int lra_rungs_plan(lra_rungs *l, const lra_job *r, lra_err *e);

#endif
