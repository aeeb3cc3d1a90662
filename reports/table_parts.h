/* What the printers of tables share. */
#ifndef LRA_REPORTS_TABLE_PARTS_H
#define LRA_REPORTS_TABLE_PARTS_H

#include "reports/table.h"

enum { LRA_NOTE_KEY = 64 };

const char *lra_table_text(const lra_table *t, int row, int column); /* row -1: the head */
/* Columns that people see, from the left; returns their number. */
int lra_table_shown(const lra_table *t, int column[LRA_TABLE_COLUMNS]);
int lra_text_width(const char *text); /* characters of UTF-8 */
/* "key\ttext": copies the key, "" when there is none; returns the text. */
const char *lra_note_split(const char *note, char key[LRA_NOTE_KEY]);

/* The i-th of a list, which are one document. */
void lra_table_print_latex(lra_table *const *list, int i, FILE *out);

#endif
