/* Values of several series in groups along the x axis, as bars or points, in panels side by side.
 * Intervals are lines; published values are hollow points. A missing value leaves a gap. */
#ifndef LRA_REPORTS_DRAW_GROUPS_H
#define LRA_REPORTS_DRAW_GROUPS_H

#include "reports/draw/plot.h"

enum { LRA_GROUPS_MOST = 12, LRA_GROUPS_PANELS = 6 };

typedef struct {
    double value, lo, hi, published; /* NAN: missing */
} lra_group_value;

typedef struct {
    const char *title, *axis; /* title "": none; axis: quantity and unit */
    lra_group_value at[LRA_GROUPS_MOST][LRA_PLOT_STYLES]; /* (groups, series) */
    double line;                                          /* horizontal line; NAN: none */
} lra_group_panel;

typedef struct {
    bool bars; /* bars from 0; else points, on an axis that begins near the smallest value */
    int n_groups, n_series, n_panels;
    const char *group[LRA_GROUPS_MOST], *series[LRA_PLOT_STYLES];
    const lra_group_panel *panel; /* (n_panels) */
    const char *line;             /* legend of the horizontal lines. Nullable: no panel has one */
} lra_groups;

/* Fills all values of a panel with NAN. */
void lra_group_panel_clear(lra_group_panel *p);
/* Adds data and script of the figure `name`, with width, height and legend. The title of `f` must
 * be set before. */
void lra_groups_draw(lra_plot *f, const char *name, const lra_groups *g);

#endif
