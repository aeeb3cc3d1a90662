/* Runs that are wanted, each trained by a process of this program. */
#ifndef LRA_PROBES_RUN_RUN_CELLS_H
#define LRA_PROBES_RUN_RUN_CELLS_H

#include "probes/run/run_cell.h"

/* Bytes for each of n_jobs that start together: what is asked, or an equal part of what is free
 * now, in whole MiB; for one alone 0: what is free when it starts. */
double lra_run_cells_memory(double asked, int n_jobs);
/* Trains those without a result, at most n_jobs at once.  0, LRA_STOPPED or a negative code. */
int lra_run_cells_train(const lra_run_cells *l, int n_jobs, lra_err *e);
void lra_run_cells_free(lra_run_cell *cell, int n); /* Nullable: cell */

#endif
