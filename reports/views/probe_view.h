/* Results of a probe on runs that differ only in their seed, combined into cells. */
#ifndef LRA_REPORTS_VIEWS_PROBE_VIEW_H
#define LRA_REPORTS_VIEWS_PROBE_VIEW_H

#include "reports/views/cell_names.h"
#include "reports/results/probe_result.h"

typedef struct {
    int n_seeds;
    const lra_probe_result **seed; /* (n_seeds), in ascending order of the seed */
    /* "s4d", "resconv K = 5", with the settings in which it differs from other cells */
    char *name;
} lra_probe_cell;

/* Probe kernels: true if lag 0 includes the skip path D u. */
bool lra_probe_skip(const lra_probe_result *r);
/* Probe attention: number of evaluated query positions per example, for models whose weights are
 * not computed by an attention op; 0: all positions. */
int64_t lra_probe_queries(const lra_probe_result *r);
/* Probe influence: true if outputs depend on the past only, but the uniform baseline covers both
 * sides. This is the case for causal models in older files. */
bool lra_probe_equal_ahead(const lra_probe_result *r);

/* Probe influence: the layers to which a unit's distance limit applies: "all", "layer0",
 * "layer0.head3". NULL: the unit contains no gains under such limits. */
const char *lra_probe_limited_layers(const lra_probe_unit *u);
/* "model" for a unit that limits the complete model; NULL: the unit contains no such gains. */
const char *lra_probe_limited_model(const lra_probe_unit *u);

/* Groups n files into cells, in the order of the first file of each cell; each seed is used once.
 * Returns the number of cells. The caller frees them with lra_probe_cells_free(). */
int lra_probe_cells(int n, lra_probe_result *const *list, lra_probe_cell **cells);
void lra_probe_cells_free(lra_probe_cell *cells, int n);
/* Suffix of the title of a figure that draws the first seed of each cell: ", seed 0 of 3" if all
 * cells have several seeds and the same first one, ", first seed of each" if the cells differ, else
 * "". The caller frees it. */
char *lra_probe_cells_drawn(int n, const lra_probe_cell *cells);

/* Combines a measurement of a unit over the seeds that have it, with its interval. Returns false if
 * no seed has it. */
bool lra_probe_cell_measurement(const lra_probe_cell *c, const char *unit, const char *id,
                                lra_measurement *out);

#endif
