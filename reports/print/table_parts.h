/* Helpers shared by the printers of tables. */
#ifndef LRA_REPORTS_PRINT_TABLE_PARTS_H
#define LRA_REPORTS_PRINT_TABLE_PARTS_H

#include <stdbool.h>

#include "reports/print/table.h"

enum { LRA_NOTE_KEY = 64 };

const char *lra_table_text(const lra_table *t, int row, int column); /* row -1: the head */
/* Writes the indices of the columns shown in text, from the left; returns their number. */
int lra_table_shown(const lra_table *t, int column[LRA_TABLE_COLUMNS]);
int lra_text_width(const char *text);                       /* characters of UTF-8 */
int lra_table_column_width(const lra_table *t, int column); /* of the widest cell, or the head */
int lra_table_text_width(const lra_table *t, int n, const int *column); /* of n columns as text */
/* True if a line break must not separate the column from the one before it: an interval, or a shown
 * column without a key of its own. */
bool lra_table_is_tied(const lra_table *t, int column);
/* True if the column identifies a row: words, or the number of a kernel, seed, layer or head. */
bool lra_table_is_name(const lra_table *t, int column);
/* The text that all rows of the column share ("": all are empty); NULL: texts differ, a cell is
 * empty, the column is a measured number, or there is only one row. */
const char *lra_table_constant(const lra_table *t, int column);
/* "key\ttext": copies the key, "" when there is none; returns the text. */
const char *lra_note_split(const char *note, char key[LRA_NOTE_KEY]);

/* One header for all tables: every key of any of them, then, of several, "table": the title; a
 * field that a table lacks is empty. */
void lra_tables_print_csv(lra_table *const *list, int n, FILE *out);
int lra_tables_print_json(lra_table *const *list, int n, FILE *out, lra_err *e);
/* Prints the i-th table of a list; the tables of the list are one document. */
void lra_table_print_latex(lra_table *const *list, int i, FILE *out);

#endif
