/* A table of cells, printed as text, Markdown, LaTeX (booktabs), CSV or JSON. Text, Markdown and
 * LaTeX contain the heads and the texts of cells; CSV and JSON contain keys and the numbers in full
 * precision, so that programs need not parse formatted text. */
#ifndef LRA_REPORTS_PRINT_TABLE_H
#define LRA_REPORTS_PRINT_TABLE_H

#include <stdbool.h>
#include <stdio.h>

#include "kernels/base/core/err.h"
#include "reports/verdict/verdict.h"

enum { LRA_TABLE_COLUMNS = 128, LRA_TABLE_FACTS = 96, LRA_TABLE_WIDTH = 100 };

typedef enum { LRA_CELL_TEXT, LRA_CELL_NUMBER, LRA_CELL_INTERVAL } lra_cell_kind;
typedef struct {
    char *text;  /* NULL: an empty cell */
    char *shown; /* text in place of `text` for text, Markdown and LaTeX; NULL: `text` */
    lra_cell_kind kind;
    double x, hi; /* x: the number; x, hi: the ends of an interval; NAN: no value */
} lra_cell;

/* A fact of a table, for JSON: a number or a text with a key. */
typedef struct {
    char *key, *text; /* value: the text or, if it is NULL, the number x */
    double x;
} lra_fact;

/* The verdict of one of the tables from which a tidy table was made. */
typedef struct {
    char *title;
    lra_verdict verdict;
} lra_table_part;

typedef struct {
    char *title;
    int n_columns, n_rows, n_notes, n_facts;
    char *head[LRA_TABLE_COLUMNS], *key[LRA_TABLE_COLUMNS];
    bool left[LRA_TABLE_COLUMNS]; /* true: left-aligned in text and Markdown, for sentences */
    lra_cell **cell;              /* (n_rows, LRA_TABLE_COLUMNS) cells */
    lra_verdict verdict;          /* printed before the rows */
    lra_table_part *part;         /* (n_parts) verdicts, for JSON only */
    int n_parts;
    char **note;     /* (n_notes) texts */
    bool *is_detail; /* (n_notes) true if lra_table_detail() marked the note */
    lra_fact fact[LRA_TABLE_FACTS];
} lra_table;

/* Creates a table. A column with the head "" appears only in CSV and JSON. */
lra_table *lra_table_new(const char *title, int n_columns, const char *const *head);
void lra_table_free(lra_table *t);             /* Nullable: t */
void lra_tables_free(lra_table **list, int n); /* Frees n tables and their list. */
/* Sets the names of the columns in CSV and JSON (default: their heads). "": the column is left out;
 * "lo,hi": an interval. The head LRA_TABLE_CI of an interval is completed with the head of the
 * value before it: "accuracy CI". */
void lra_table_keys(lra_table *t, const char *const *key);
#define LRA_TABLE_CI "CI"
/* Adds the note that explains intervals over test examples and seeds (lra_sample_value()). */
void lra_table_note_ci(lra_table *t);

/* Moves the verdict of table `from`, with its title, to the parts of table `to`; does nothing if it
 * is empty. */
void lra_table_take_verdict(lra_table *to, lra_table *from);

/* Adds a column for CSV and JSON that has the same text in all existing rows. */
void lra_table_add_constant(lra_table *t, const char *key, const char *text);

/* Adds a column for CSV and JSON with one text for each existing row (NULL: an empty cell). Texts
 * that are numbers become numbers. If another column has the same key, "_2" is appended. */
void lra_table_add_values(lra_table *t, const char *key, const char *const *text);

/* ---- fill: cells follow from the left ---- */

void lra_table_row(lra_table *t); /* starts a new row */
void lra_table_cell(lra_table *t, const char *fmt, ...) LRA_PRINTF(2, 3);
/* Sets the text of the last cell for text, Markdown and LaTeX; CSV and JSON keep its own text. */
void lra_table_show(lra_table *t, const char *shown);
/* Adds a number, printed with this number of decimals; NAN is printed as "-". */
void lra_table_number(lra_table *t, double x, int decimals);
/* Adds a number that is printed as the formatted text. */
void lra_table_value(lra_table *t, double x, const char *fmt, ...) LRA_PRINTF(3, 4);
/* Adds an interval, printed as "lo-hi" (or "lo to hi" if lo is negative); NAN is printed as "-". */
void lra_table_interval(lra_table *t, double lo, double hi, int decimals);
/* Adds an interval, printed after multiplication by `scale`; CSV and JSON contain lo and hi. */
void lra_table_scaled_interval(lra_table *t, double lo, double hi, double scale, int decimals);

/* Adds an interval that is printed as the text; CSV and JSON contain lo and hi. */
void lra_table_interval_text(lra_table *t, double lo, double hi, const char *text);

/* Adds a line below the table. "key\ttext" explains a word of the table; the texts of such notes
 * are aligned. */
void lra_table_note(lra_table *t, const char *fmt, ...) LRA_PRINTF(2, 3);
/* Marks the note with this key as a detail; does nothing if there is no such note. */
void lra_table_detail(lra_table *t, const char *key);
/* Removes all details from the tables; adds a note with their number and the option that prints
 * them. */
void lra_tables_brief(lra_table *const *list, int n);
void lra_table_fact(lra_table *t, const char *key, double x);
void lra_table_fact_text(lra_table *t, const char *key, const char *text);

/* ---- print ---- */

/* Prints n tables as one document. format: text, markdown (md), latex, csv, json or html (a
 * fragment of a page). CSV has one header for all tables; with several tables, the last column
 * "table" is the title. JSON is {"schema": 1, "tables": [{"title", "verdict", "facts", "rows",
 * "notes"}, ...]}; "verdict" is missing if a table has none. A tidy table that was made from several
 * tables has "verdicts" instead: [{"table", "verdict"}, ...]. */
int lra_tables_print(lra_table *const *list, int n, const char *format, FILE *out, lra_err *e);
/* Same as lra_tables_print(), with a limit of `width` characters for text (0: no limit) in place of
 * LRA_TABLE_WIDTH: a wider table prints constant columns once, and continues in a second block
 * below. */
int lra_tables_print_wide(lra_table *const *list, int n, const char *format, int width, FILE *out,
                          lra_err *e);
/* Removes all columns except those in a list such as "model,value,lo", by key or by head, and their
 * intervals; hidden columns in the list become visible. Fails if no table has one of the
 * columns. */
int lra_tables_choose(lra_table *const *list, int n, const char *columns, lra_err *e);
int lra_table_print(const lra_table *t, const char *format, FILE *out, lra_err *e);

#endif
