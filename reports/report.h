/* What other programs may ask of the report. */
#ifndef LRA_REPORTS_REPORT_H
#define LRA_REPORTS_REPORT_H

#include <stdio.h>

#include "reports/result.h"

/* The ladder of n results as a table; format: text markdown latex csv json. */
int lra_report_ladder(FILE *out, lra_result *const *list, int n, const char *format, lra_err *e);

#endif
