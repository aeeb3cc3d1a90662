/* Trains requested runs, each in a separate process of this program. */
#ifndef LRA_PROBES_RUN_RUN_CELLS_H
#define LRA_PROBES_RUN_RUN_CELLS_H

#include "probes/run/run_cell.h"

/* Memory in bytes for each of n_jobs processes: the requested amount, or (if 0) an equal share of
 * the free memory, rounded down to MiB. For a single job, 0 stays 0: it uses the memory that is
 * free when it starts. */
double lra_run_cells_memory(double requested, int n_jobs);
/* Trains the runs without a result, at most n_jobs at once. Returns 0, LRA_STOPPED or a negative
 * code. */
int lra_run_cells_train(const lra_run_cells *l, int n_jobs, lra_err *e);
void lra_run_cell_close(lra_run_cell *cell);        /* Frees the members of a cell. */
void lra_run_cells_free(lra_run_cell *cell, int n); /* Nullable: cell */

#endif
