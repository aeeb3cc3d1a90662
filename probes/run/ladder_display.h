/* One line for cells that are trained by several processes: how many are done, what runs, how long
 * yet. */
#ifndef LRA_PROBES_RUN_LADDER_DISPLAY_H
#define LRA_PROBES_RUN_LADDER_DISPLAY_H

#include "probes/run/ladder_cell.h"

typedef struct lra_ladder_display lra_ladder_display;
/* Of the cells of l without a result, n_jobs at once. */
lra_ladder_display *lra_ladder_display_new(const lra_ladder_cells *l, int n_jobs);
/* Cell i begins, ends. */
void lra_ladder_display_start(lra_ladder_display *d, int i);
void lra_ladder_display_end(lra_ladder_display *d, int i);
/* Draws it anew, from what the cells that run say of themselves. */
void lra_ladder_display_draw(lra_ladder_display *d);
/* Seconds until all cells have ended, from what is known since the last drawing. */
double lra_ladder_display_left(const lra_ladder_display *d);
void lra_ladder_display_free(lra_ladder_display *d); /* Nullable */

#endif
