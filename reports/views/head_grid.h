/* Layout of figures with one panel per head of a run; each layer is one row of panels. */
#ifndef LRA_REPORTS_VIEWS_HEAD_GRID_H
#define LRA_REPORTS_VIEWS_HEAD_GRID_H

#include "reports/draw/plot.h"
#include "reports/results/probe_result.h"

enum { LRA_GRID_ROWS = 24, LRA_GRID_COLUMNS = 16 };
typedef struct {
    const lra_probe_result *run;
    int rows, columns[LRA_GRID_ROWS];
    const lra_probe_unit *unit[LRA_GRID_ROWS][LRA_GRID_COLUMNS];
} lra_head_grid;

/* Starts the figure of one run (title "TITLE, RUN", width and sources) with the heads that have the
 * array `array`. */
int lra_head_grid_open(lra_head_grid *g, lra_plot *f, int n_probes, lra_probe_result *const *probes,
                       const char *array, const char *title, lra_err *e);
int lra_head_grid_widest(const lra_head_grid *g);

/* Sizes in centimetres: left, top: upper left corner of the first panel; width, height: size of a
 * panel; gap_x, gap_y: horizontal and vertical gap between panels. */
typedef struct {
    double left, top, width, height, gap_x, gap_y;
} lra_head_grid_layout;
/* Calls `panel` for each head: row i, column k, data block `block`. */
void lra_head_grid_panels(lra_plot *f, const lra_head_grid *g, const lra_head_grid_layout *at,
                          void (*panel)(lra_text *t, const lra_head_grid *g, int i, int k,
                                        int block));

#endif
