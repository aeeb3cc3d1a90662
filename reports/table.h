/* A table of text cells, printed as text, Markdown, LaTeX (booktabs), CSV or JSON. */
#ifndef LRA_REPORTS_TABLE_H
#define LRA_REPORTS_TABLE_H

#include <stdio.h>

#include "kernels/base/err.h"

enum { LRA_TABLE_COLUMNS = 16, LRA_TABLE_ROWS = 256, LRA_TABLE_NOTES = 32 };

typedef struct {
    char *title;
    int n_columns, n_rows, n_notes;
    char *head[LRA_TABLE_COLUMNS];
    char *cell[LRA_TABLE_ROWS][LRA_TABLE_COLUMNS];
    char *note[LRA_TABLE_NOTES]; /* one line each, below */
} lra_table;

lra_table *lra_table_new(const char *title, int n_columns, const char *const *head);
void lra_table_free(lra_table *t); /* Nullable: t */
/* Starts a row; cells follow from the left. */
void lra_table_row(lra_table *t);
void lra_table_cell(lra_table *t, const char *fmt, ...) LRA_PRINTF(2, 3);
void lra_table_note(lra_table *t, const char *fmt, ...) LRA_PRINTF(2, 3);
/* format: text markdown latex csv json. */
int lra_table_print(const lra_table *t, const char *format, FILE *out, lra_err *e);

#endif
