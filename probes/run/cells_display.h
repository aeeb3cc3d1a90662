/* One status line for cells that are trained by several processes: number of completed and of
 * running cells, and the remaining time. */
#ifndef LRA_PROBES_RUN_CELLS_DISPLAY_H
#define LRA_PROBES_RUN_CELLS_DISPLAY_H

#include "probes/run/run_cell.h"

typedef struct lra_cells_display lra_cells_display;
/* Creates the display for the cells of l that have no result; n_jobs cells run at once. */
lra_cells_display *lra_cells_display_new(const lra_run_cells *l, int n_jobs);
/* Mark cell i as started, as ended, as waiting again (another process trains it), or as finished by
 * another process. */
void lra_cells_display_start(lra_cells_display *d, int i);
void lra_cells_display_end(lra_cells_display *d, int i);
void lra_cells_display_wait(lra_cells_display *d, int i);
void lra_cells_display_done(lra_cells_display *d, int i);
/* Redraws the line from the progress that the running cells report. */
void lra_cells_display_draw(lra_cells_display *d);
/* Estimated seconds until all cells have ended. */
double lra_cells_display_left(const lra_cells_display *d);
void lra_cells_display_free(lra_cells_display *d); /* Nullable: d */

#endif
