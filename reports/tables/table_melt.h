/* Wide tables as one long table: a row for each number. */
#ifndef LRA_REPORTS_TABLES_TABLE_MELT_H
#define LRA_REPORTS_TABLES_TABLE_MELT_H

#include "reports/print/table.h"

/* A table for programs from n tables: their facts that are texts and their columns of `id` (keys,
 * NULL after the last) name a row; every number of another column is a row with the column's key in
 * `column`, and value, lo, hi.  Numbers that do not exist have no row. */
lra_table *lra_tables_melt(lra_table *const *list, int n, const char *title, const char *const *id);

#endif
