/* Finds the results that fill the cells of a layout (reports/papers/layout.h).
 *
 * A result fills a cell if it has the settings of the cell; settings that no cell of any layout
 * states are free. Settings that a cell does not state have these values: techniques=none,
 * objective=classify, fraction=1, permute-labels=0, from=none, matched=none, causal=0 (or the
 * default of a model that is always causal). If several configurations fill a cell, the one with
 * the best validation value is used. */
#ifndef LRA_REPORTS_TABLES_LAYOUT_CELLS_H
#define LRA_REPORTS_TABLES_LAYOUT_CELLS_H

#include "analysis/interval.h"
#include "reports/papers/layout.h"
#include "reports/results/result_metric.h"

/* A default value, which result files do not store: of a key of a model, or (model NULL) of a key
 * of all models, tasks and training. */
typedef struct {
    const char *model, *key, *value;
} lra_layout_default;
const lra_layout_default *lra_layout_default_at(int i); /* NULL after the last */

/* True if the result has the settings of a cell; list: all n results, among which relations are
 * looked up. */
bool lra_layout_fills(const lra_layout *l, int row, int column, const lra_result *r,
                      lra_result *const *list, int n);

typedef struct {
    const lra_result_group *group; /* results of the cell, one per seed; NULL: not measured */
    int n_others;                  /* number of other configurations that fill the cell */
} lra_layout_cell;

/* Results of one preset and precision in the cells of a layout. */
typedef struct {
    const lra_layout *layout;
    const char *preset, *precision; /* "": no results */
    lra_layout_cell *cell;          /* (n_rows, n_columns) */
    int n_groups;
    lra_result_group *groups; /* (n_groups) */
} lra_layout_view;

/* One view for each preset and precision with results in the layout, at least one. The caller frees
 * them with lra_layout_views_free(). */
int lra_layout_views(const lra_layout *l, lra_result *const *list, int n, lra_layout_view **views);
void lra_layout_views_free(lra_layout_view *views, int n);
const lra_layout_cell *lra_layout_cell_at(const lra_layout_view *v, int row, int column);

/* Measured value of a cell with its interval, in the unit of the paper; NAN: not measured. */
lra_estimate lra_layout_measured(const lra_layout_view *v, int row, int column);
/* Average of a row by the rule of the paper; NAN: a cell that it needs is not measured. */
lra_estimate lra_layout_measured_average(const lra_layout_view *v, int row);
/* Number of decimals of a column. */
int lra_layout_decimals(const lra_layout *l, int column);

#endif
