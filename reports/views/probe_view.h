/* What a probe measured on runs that differ in nothing but their seed, together. */
#ifndef LRA_REPORTS_VIEWS_PROBE_VIEW_H
#define LRA_REPORTS_VIEWS_PROBE_VIEW_H

#include "reports/views/cell_names.h"
#include "reports/results/probe_result.h"

typedef struct {
    int n_seeds;
    const lra_probe_result **seed; /* (n_seeds), ascending */
    char *name;                    /* "s4d", "resconv K = 5": with what tells it from the others */
} lra_probe_cell;

/* Of kernels: does the direct path D u count as their lag 0? */
bool lra_probe_skip(const lra_probe_result *r);
/* Of attention: of how many positions of an example weights that no attention op has were told; 0:
 * of all. */
int64_t lra_probe_queries(const lra_probe_result *r);
/* Of influence: do positions look back alone while equal weights beside them fall on both sides?
 * So it was of causal models in older files. */
bool lra_probe_equal_ahead(const lra_probe_result *r);

/* The cells of n files in the order of their first, each seed once; returns their number.  The
 * caller frees them with lra_probe_cells_free(). */
int lra_probe_cells(int n, lra_probe_result *const *list, lra_probe_cell **cells);
void lra_probe_cells_free(lra_probe_cell *cells, int n);
/* Of a figure that draws the first seed of each: ", seed 0 of 3" where all have several, ", first seed
 * of each" where they differ, else ""; the caller frees it. */
char *lra_probe_cells_drawn(int n, const lra_probe_cell *cells);

/* A number of a unit over its seeds, with their interval; of those seeds that have it.  False: none
 * has. */
bool lra_probe_cell_measurement(const lra_probe_cell *c, const char *unit, const char *id,
                                lra_measurement *out);

#endif
