/* The rungs of a ladder, checked and sized with the loaded data. */
#ifndef LRA_PROBES_RUN_PLANNED_RUNGS_H
#define LRA_PROBES_RUN_PLANNED_RUNGS_H

#include "probes/run/rungs.h"

/* With loaded data: checks that the reach grows from rung to rung, and solves the sizes. Fails,
 * naming the nearest size, if none is within 2 % of the reference's count. */
int lra_rungs_plan(lra_rungs *l, const lra_job *r, lra_err *e);

#endif
