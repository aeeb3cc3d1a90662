/* Experiments of the papers as grids of runs: `lra-probe sweep NAME` trains the cells of a layout
 * (reports/papers/layout.h). */
#ifndef LRA_PROBES_RUN_EXPERIMENTS_H
#define LRA_PROBES_RUN_EXPERIMENTS_H

#include "probes/run/grid.h"
#include "reports/papers/layout.h"

/* Adds the cells of a layout to the grid; cells with equal settings are one combination. A cell
 * that is related to a self-pretrained run adds that run. Axes of the grid and options that select
 * by name replace settings of the cells: if all their values occur in the layout, the cells with
 * other values are left out. */
int lra_experiment_grid(const lra_layout *l, const lra_options *o, lra_grid *g, lra_err *e);

#endif
