/* Notes on the files from which a table is made: missing seals (checksums), and results that were
 * computed with different instruction sets. */
#ifndef LRA_REPORTS_VIEWS_INTEGRITY_H
#define LRA_REPORTS_VIEWS_INTEGRITY_H

#include "reports/report_input.h"
#include "reports/print/table.h"

/* Text of a warning: "unsealed: 1 of 6 files has no seal, its values may have been changed: listops
 * resconv fedcba9876543210". NULL if all files have a seal. The caller frees it. */
char *lra_report_integrity(const lra_report_input *in);
/* Adds the warning of lra_report_integrity() below every table, with the fact `unsealed` (number of
 * files), and the word "unsealed" in the column `flags` of every row. */
void lra_report_mark_integrity(const lra_report_input *in, lra_table **list, int n);

/* Adds a note below every table that combines runs on different instruction sets: their results
 * agree only up to rounding. */
void lra_report_note_levels(const lra_report_input *in, lra_table **list, int n);

#endif
