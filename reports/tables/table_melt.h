/* Converts wide tables to one long table: one row per number. */
#ifndef LRA_REPORTS_TABLES_TABLE_MELT_H
#define LRA_REPORTS_TABLES_TABLE_MELT_H

#include "reports/print/table.h"

/* Makes one long table for CSV and JSON from n tables. Text facts and the columns in `id` (keys,
 * NULL after the last) identify a row. Each number in another column becomes a row with that
 * column's key in `column`, and value, lo, hi. Missing numbers have no row. */
lra_table *lra_tables_melt(lra_table *const *list, int n, const char *title, const char *const *id);

#endif
