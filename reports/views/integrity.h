/* Notes on the files that a table is made from: some have no seal, some were computed on other
 * instruction levels. */
#ifndef LRA_REPORTS_VIEWS_INTEGRITY_H
#define LRA_REPORTS_VIEWS_INTEGRITY_H

#include "reports/report_input.h"
#include "reports/print/table.h"

/* "unsealed: 1 of 6 files has no seal, its values may have been changed: listops resconv
 * fedcba9876543210"; NULL: all have theirs.  The caller frees it. */
char *lra_report_integrity(const lra_report_input *in);
/* Puts it below every table, with the fact `unsealed` (how many files) and the word in the column
 * `flags` of every row. */
void lra_report_mark_integrity(const lra_report_input *in, lra_table **list, int n);

/* A note below every table that is made from runs whose bits depend on different instruction levels
 * of processors: equal results are then equal to rounding. */
void lra_report_note_levels(const lra_report_input *in, lra_table **list, int n);

#endif
