/* Files without their seal are read, but whatever is made from them says so. */
#ifndef LRA_REPORTS_UNSEALED_H
#define LRA_REPORTS_UNSEALED_H

#include "reports/report_input.h"
#include "reports/table.h"

/* "unsealed: 1 of 6 files has no seal, its values may have been changed: listops resconv
 * fedcba9876543210"; NULL: all have theirs.  The caller frees it. */
char *lra_report_unsealed(const lra_report_input *in);
/* Puts it below every table, with the fact `unsealed` (how many files) and the word in the column
 * `flags` of every row. */
void lra_report_mark_unsealed(const lra_report_input *in, lra_table **list, int n);

#endif
