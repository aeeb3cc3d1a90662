/* What the figures of ListOps breakdowns share: one view in, data and script out. */
#ifndef LRA_REPORTS_LISTOPS_FIGURE_H
#define LRA_REPORTS_LISTOPS_FIGURE_H

#include "kernels/base/mem.h"
#include "reports/listops_view.h"
#include "reports/report.h"

/* Writes FOLDER/NAME.{dat,gp} as fill() makes them from the one view that `in` must be. */
int lra_listops_figure_write(const char *folder, const char *name, const lra_report_input *in,
                             int (*fill)(const lra_listops_view *v, lra_text *data,
                                         lra_text *script, lra_err *e),
                             lra_err *e);

#endif
