/* Converts a ListOps breakdown to measurements of a probe, and reads probe files of any kind. */
#ifndef LRA_REPORTS_RESULTS_LISTOPS_SUMMARY_H
#define LRA_REPORTS_RESULTS_LISTOPS_SUMMARY_H

#include "reports/results/listops_result.h"
#include "reports/results/probe_result.h"

/* Accuracy on the test split with its Wilson interval, as a probe result with the units `model`
 * (all rows), `root.min` to `root.digit` (rows of one root operator) and one unit for each
 * heuristic. Each unit has the measurements `accuracy` and `rows`. The caller frees it. */
lra_probe_result *lra_listops_summary(const lra_listops *r);

/* Reads a probe file of any kind; a ListOps breakdown is read as its summary. *is_probe: true if
 * the file is a probe file. If it is not, returns NULL without an error message. */
lra_probe_result *lra_probe_file_read(const char *path, bool *is_probe, lra_err *e);

#endif
