/* Code that figures share: input of a figure, and sources of its numbers. */
#ifndef LRA_REPORTS_DRAW_FIGURE_H
#define LRA_REPORTS_DRAW_FIGURE_H

#include "reports/views/listops_view.h"
#include "reports/report.h"

/* Makes a figure of a ListOps breakdown: calls fill() with the view of `in`; fails if there are
 * several views. */
int lra_figure_make_listops(const lra_report_input *in, lra_plot *p,
                            int (*fill)(const lra_listops_view *v, lra_plot *p, lra_err *e),
                            lra_err *e);
/* Adds the hashes of the drawn runs and of their data to the sources of the figure. */
void lra_figure_add_cell(lra_plot *p, const lra_listops_cell *c);
void lra_figure_add_ladder(lra_plot *p, const lra_ladder_view *v);

#endif
