/* Selects the layers of runs that a figure of kernels shows, one per panel. */
#ifndef LRA_REPORTS_VIEWS_KERNEL_PANELS_H
#define LRA_REPORTS_VIEWS_KERNEL_PANELS_H

#include "reports/views/probe_view.h"
#include "reports/report.h"

enum { LRA_KERNEL_PANELS = 16 };

typedef struct {
    const lra_probe_result *of; /* result of the cell's first seed */
    const lra_probe_unit *unit;
    /* title of the panel: "layer0.conv"; if the figure shows several runs, "s4d, layer0.ssm" */
    char *name;
} lra_kernel_panel;

typedef struct {
    int n, n_cells;
    lra_kernel_panel panel[LRA_KERNEL_PANELS];
    char *title; /* title of the figure: "listops, preset quick, s4d, seed 0" */
} lra_kernel_panels;

/* Selects evenly spaced layers of one or several cells, at most `most` panels in total. Fails if
 * there are more cells than panels. */
int lra_kernel_panels_open(lra_kernel_panels *p, const lra_report_input *in, int most, lra_err *e);
void lra_kernel_panels_close(lra_kernel_panels *p);
/* Adds the hashes of the drawn runs and of their data to the sources of the figure. */
void lra_kernel_panels_sources(const lra_kernel_panels *p, lra_plot *to);

#endif
