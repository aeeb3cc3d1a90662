/* The options --task, --model and --label of tables and figures: what of the files is shown. */
#ifndef LRA_REPORTS_VIEWS_FILTER_H
#define LRA_REPORTS_VIEWS_FILTER_H

#include "kernels/base/cli/options.h"
#include "reports/report_input.h"

extern const lra_option lra_filter_options[];
/* Frees everything that is not asked for, and shortens the lists.  Fails where nothing is left. */
int lra_filter(const lra_options *o, lra_report_input *in, lra_err *e);

#endif
