/* Heads of a run in their places, for figures with a panel for each: a row for each layer. */
#ifndef LRA_REPORTS_HEAD_GRID_H
#define LRA_REPORTS_HEAD_GRID_H

#include "reports/probe_result.h"

enum { LRA_GRID_ROWS = 24, LRA_GRID_COLUMNS = 16 };
typedef struct {
    const lra_probe_result *run;
    int rows, columns[LRA_GRID_ROWS];
    const lra_probe_unit *unit[LRA_GRID_ROWS][LRA_GRID_COLUMNS];
} lra_head_grid;

/* Those that have this array. */
int lra_head_grid_find(const lra_probe_result *r, const char *array, lra_head_grid *g, lra_err *e);
int lra_head_grid_widest(const lra_head_grid *g);

#endif
