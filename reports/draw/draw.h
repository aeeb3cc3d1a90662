/* Draws a figure with gnuplot, from a script and a data file. */
#ifndef LRA_REPORTS_DRAW_DRAW_H
#define LRA_REPORTS_DRAW_DRAW_H

#include "reports/report.h"

/* Checks a comma-separated list of formats (pdf, svg, png).  Returns LRA_USAGE if one is
 * unknown. */
int lra_draw_check(const char *formats, lra_err *e);
/* Writes FOLDER/NAME.dat and FOLDER/NAME.gp and renders FOLDER/NAME.FORMAT from them; prints the
 * names of the images to stdout. */
int lra_draw(const lra_report_figure *f, const lra_report_input *in, const char *folder,
             const char *formats, lra_err *e);
/* Draws a figure as SVG, in a folder that is removed afterwards. Fills *p, whose title, caption,
 * sources and data describe the figure; the caller frees it, also after a failure, and the SVG. */
int lra_draw_svg(const lra_report_figure *f, const lra_report_input *in, lra_plot *p, lra_text *svg,
                 lra_err *e);

#endif
