/* Parts of the table `listops`, in their order in the document. */
#ifndef LRA_REPORTS_TABLES_TABLE_LISTOPS_H
#define LRA_REPORTS_TABLES_TABLE_LISTOPS_H

#include "reports/views/listops_view.h"
#include "reports/print/table.h"

enum { LRA_LISTOPS_SETTING = 2 }; /* columns of CSV and JSON before all others: preset, data */
/* Creates an empty table with the title and the common facts.  head, key: of the columns after the
 * setting, in text and in CSV and JSON. */
lra_table *lra_listops_table_new(const lra_listops_view *v, const char *what, int n_columns,
                                 const char *const *head, const char *const *key);
/* Starts a row with its setting. */
void lra_listops_table_row(lra_table *t, const lra_listops_view *v);
/* The caller owns the tables below. */
/* Agreement of each model with each heuristic, on all rows and on the rows where the heuristic is
 * wrong. */
void lra_listops_tables_agreement(const lra_listops_view *v, lra_table **all, lra_table **wrong);
/* Confusion matrix of a model, by operator. */
lra_table *lra_listops_table_confusion(const lra_listops_view *v, const lra_listops_cell *c);

#endif
