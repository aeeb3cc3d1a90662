/* Results of probes as one table for CSV and JSON: one row for each measurement of each run. */
#ifndef LRA_REPORTS_VIEWS_PROBE_RECORDS_H
#define LRA_REPORTS_VIEWS_PROBE_RECORDS_H

#include "reports/report_input.h"
#include "reports/print/table.h"

/* Columns: run task model kernel preset precision data seed label (the run), settings (how it was
 * measured), part layer head (where in the model), id x (the measurement; x: the point of a curve,
 * such as a limit in tokens), value lo hi unit, null_uniform null_init null_shuffled null_perm
 * (null values), examples seeds undefined flags. */
lra_table *lra_probe_records(const char *title, const lra_report_input *in);

#endif
