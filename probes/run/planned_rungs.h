/* The rungs of a ladder, checked and sized with the data at hand. */
#ifndef LRA_PROBES_RUN_PLANNED_RUNGS_H
#define LRA_PROBES_RUN_PLANNED_RUNGS_H

#include "probes/run/rungs.h"

/* With data: reach must grow from rung to rung, and sizes are solved.  Fails, naming the nearest
 * size, where none is within 2 % of the reference's count. */
int lra_rungs_plan(lra_rungs *l, lra_job *r, lra_err *e);

#endif
