/* Requested runs, each trained by a process of this program. */
#ifndef LRA_PROBES_RUN_RUN_CELLS_H
#define LRA_PROBES_RUN_RUN_CELLS_H

#include "probes/run/run_cell.h"

/* Memory in bytes for each of n_jobs that start together: the requested amount, or an equal share
 * of the memory now free, in MiB steps; for a single job 0: the memory free when it starts. */
double lra_run_cells_memory(double asked, int n_jobs);
/* Trains the cells without a result, at most n_jobs at once. 0, LRA_STOPPED or a negative code. */
int lra_run_cells_train(const lra_run_cells *l, int n_jobs, lra_err *e);
void lra_run_cells_free(lra_run_cell *cell, int n); /* Nullable: cell */

#endif
