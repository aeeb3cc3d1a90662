/* Parts of table listops, in the order of the document. */
#ifndef LRA_REPORTS_TABLES_TABLE_LISTOPS_H
#define LRA_REPORTS_TABLES_TABLE_LISTOPS_H

#include "reports/views/listops_view.h"
#include "reports/print/table.h"

/* number of columns before all others in CSV and JSON: preset, data */
enum { LRA_LISTOPS_SETTING = 2 };
/* Creates an empty table with the title and the facts that all parts have. head, key: heads and
 * keys of the columns after the first LRA_LISTOPS_SETTING ones. */
lra_table *lra_listops_table_new(const lra_listops_view *v, const char *what, int n_columns,
                                 const char *const *head, const char *const *key);
/* Starts a row with the columns preset and data. */
void lra_listops_table_row(lra_table *t, const lra_listops_view *v);
/* Agreement of each model with each heuristic: on all rows, and on the rows where the heuristic is
 * wrong. The caller owns the tables. */
void lra_listops_tables_agreement(const lra_listops_view *v, lra_table **all, lra_table **wrong);
/* Confusion matrix of a model by operator. The caller owns the table. */
lra_table *lra_listops_table_confusion(const lra_listops_view *v, const lra_listops_cell *c);

#endif
