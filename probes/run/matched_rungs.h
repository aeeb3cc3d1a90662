/* Rungs of equal size: solves --match params|flops. */
#ifndef LRA_PROBES_RUN_MATCHED_RUNGS_H
#define LRA_PROBES_RUN_MATCHED_RUNGS_H

#include "probes/run/rungs.h"

/* Solves the size of every rung such that its count matches that of the reference rung; stores the
 * count in l->count. */
int lra_rungs_match(lra_rungs *l, const lra_job *r, lra_err *e);

#endif
