/* Options --task, --model and --label of tables and figures, which select results. */
#ifndef LRA_REPORTS_VIEWS_FILTER_H
#define LRA_REPORTS_VIEWS_FILTER_H

#include "kernels/base/cli/options.h"
#include "reports/report_input.h"

extern const lra_option lra_filter_options[];
/* Removes and frees the results that are not selected. Fails if none remains. */
int lra_filter(const lra_options *o, lra_report_input *in, lra_err *e);

#endif
