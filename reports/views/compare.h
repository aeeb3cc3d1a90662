/* Comparison of runs: the settings and measurements in which they differ. */
#ifndef LRA_REPORTS_VIEWS_COMPARE_H
#define LRA_REPORTS_VIEWS_COMPARE_H

#include "reports/report_input.h"
#include "reports/print/table.h"

enum { LRA_COMPARE_MOST = 60 }; /* maximum number of runs */

/* Returns a table with one column per result of `in` and one row for each property in which they
 * differ: settings (a missing one is "default"), host and program, and measurements (the metric
 * always; also those of complete models in in->probes). NULL: fewer than two results, or more than
 * LRA_COMPARE_MOST. */
lra_table *lra_compare_table(const lra_report_input *in, lra_err *e);

#endif
