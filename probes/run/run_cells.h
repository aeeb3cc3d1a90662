/* Trains requested runs, each in a separate process of this program. */
#ifndef LRA_PROBES_RUN_RUN_CELLS_H
#define LRA_PROBES_RUN_RUN_CELLS_H

#include "probes/run/run_cell.h"

/* Memory in bytes for each of n_jobs processes: the requested amount, or (if 0) an equal share of
 * the free memory, rounded down to MiB. For a single job, 0 stays 0: it uses the memory that is
 * free when it starts. */
double lra_run_cells_memory(double requested, int n_jobs);
/* Trains the runs without a result, at most n_jobs at once. A run that fails does not stop the
 * others, unless LRA_FAILURES_IN_A_ROW fail without a success between them; runs that failed before
 * (failure.h) are skipped, or trained again with l->retry. Returns 0, LRA_STOPPED, or a negative
 * code if a run failed. */
enum { LRA_FAILURES_IN_A_ROW = 3 };
int lra_run_cells_train(const lra_run_cells *l, int n_jobs, lra_err *e);
void lra_run_cell_close(lra_run_cell *cell);        /* Frees the members of a cell. */
void lra_run_cells_free(lra_run_cell *cell, int n); /* Nullable: cell */

#endif
