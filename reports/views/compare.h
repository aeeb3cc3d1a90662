/* Runs side by side: the settings and measurements in which they differ. */
#ifndef LRA_REPORTS_VIEWS_COMPARE_H
#define LRA_REPORTS_VIEWS_COMPARE_H

#include "reports/report_input.h"
#include "reports/print/table.h"

enum { LRA_COMPARE_MOST = 60 }; /* runs */

/* A table with a column for each result of `in` and a row for each thing that differs between any
 * of them: what was set (settings that a run lacks are "default"), where it ran, what was measured
 * on it (its metric always; whole-model numbers of in->probes).  NULL: fewer than two results, or
 * more than LRA_COMPARE_MOST. */
lra_table *lra_compare_table(const lra_report_input *in, lra_err *e);

#endif
