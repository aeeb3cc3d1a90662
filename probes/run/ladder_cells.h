/* Trains the cells of a ladder. */
#ifndef LRA_PROBES_RUN_LADDER_CELLS_H
#define LRA_PROBES_RUN_LADDER_CELLS_H

#include "probes/run/ladder_cell.h"

/* Trains the cells without a result, at most n_jobs at once (1: in this process). Returns 0,
 * LRA_STOPPED or a negative code. */
int lra_ladder_cells_train(const lra_ladder_cells *l, int n_jobs, lra_err *e);

#endif
