/* Figures drawn by gnuplot from the script and data that they write. */
#ifndef LRA_REPORTS_DRAW_DRAW_H
#define LRA_REPORTS_DRAW_DRAW_H

#include "reports/report.h"

/* Formats: pdf, svg, png, separated by commas.  LRA_USAGE when one is unknown. */
int lra_draw_check(const char *formats, lra_err *e);
/* FOLDER/NAME.dat and FOLDER/NAME.gp, and from them FOLDER/NAME.FORMAT; says on stdout which images
 * it wrote. */
int lra_draw(const lra_report_figure *f, const lra_report_input *in, const char *folder,
             const char *formats, lra_err *e);

#endif
