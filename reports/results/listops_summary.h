/* Accuracies of a ListOps breakdown as measurements of a probe, and probe files of every kind. */
#ifndef LRA_REPORTS_RESULTS_LISTOPS_SUMMARY_H
#define LRA_REPORTS_RESULTS_LISTOPS_SUMMARY_H

#include "reports/results/listops_result.h"
#include "reports/results/probe_result.h"

/* Accuracy on the test split with its Wilson interval, in units `model` (all rows), `root.min` to
 * `root.digit` (rows of one root operator) and one for each heuristic; measurements `accuracy` and
 * `rows`.  The caller frees it. */
lra_probe_result *lra_listops_summary(const lra_listops *r);

/* Reads a probe file of any kind; a ListOps breakdown as its summary.  *is_probe: the file is one;
 * if it is not, the result is NULL and e is not set. */
lra_probe_result *lra_probe_file_read(const char *path, bool *is_probe, lra_err *e);

#endif
