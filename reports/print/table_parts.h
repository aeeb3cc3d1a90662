/* Functions that the printers of tables share. */
#ifndef LRA_REPORTS_PRINT_TABLE_PARTS_H
#define LRA_REPORTS_PRINT_TABLE_PARTS_H

#include <stdbool.h>

#include "reports/print/table.h"

enum { LRA_NOTE_KEY = 64 };

/* text of a cell, or of the head if row is -1 */
const char *lra_table_text(const lra_table *t, int row, int column);
/* Writes the indices of the columns that are printed as text, from left to right; returns their
 * number. */
int lra_table_shown(const lra_table *t, int column[LRA_TABLE_COLUMNS]);
int lra_text_width(const char *text); /* number of UTF-8 characters */
/* width of the widest cell or of the head */
int lra_table_column_width(const lra_table *t, int column);
/* width of n columns, printed as text */
int lra_table_text_width(const lra_table *t, int n, const int *column);
/* True if the column must stay on the same line as the previous one: it is an interval, or a
 * visible column without a key. */
bool lra_table_is_tied(const lra_table *t, int column);
/* True if the column identifies a row: it contains words, or the number of a kernel, seed, layer or
 * head. */
bool lra_table_is_name(const lra_table *t, int column);
/* The text that all rows of the column share ("": all are empty). NULL: the texts differ, only some
 * cells are empty, the column is a measured number, or there is only one row. */
const char *lra_table_constant(const lra_table *t, int column);
/* Splits a note "key\ttext": copies the key ("" if there is none), returns the text. */
const char *lra_note_split(const char *note, char key[LRA_NOTE_KEY]);

/* Prints all tables with one header: the keys of all tables, and, for several tables, "table" (the
 * title). A field that a table does not have is empty. */
void lra_tables_print_csv(lra_table *const *list, int n, FILE *out);
int lra_tables_print_json(lra_table *const *list, int n, FILE *out, lra_err *e);
/* Prints table i of a list as LaTeX; labels are unique within the list. */
void lra_table_print_latex(lra_table *const *list, int i, FILE *out);

#endif
