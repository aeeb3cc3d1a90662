/* Comparison of runs: the settings and measurements in which they differ. */
#ifndef LRA_REPORTS_VIEWS_COMPARE_H
#define LRA_REPORTS_VIEWS_COMPARE_H

#include "reports/report_input.h"
#include "reports/print/table.h"

enum { LRA_COMPARE_MOST = 60 }; /* runs */

/* Returns a table with a column for each result of `in` and a row for each property that differs
 * between any of them: settings (missing ones are "default"), host and program, measurements (its
 * metric always; those of entire models in in->probes).  NULL: fewer than two results, or more than
 * LRA_COMPARE_MOST. */
lra_table *lra_compare_table(const lra_report_input *in, lra_err *e);

#endif
