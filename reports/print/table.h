/* A table of cells, printed as text, Markdown, LaTeX (booktabs), CSV or JSON.
 * Text, Markdown and LaTeX show heads and the text of cells; CSV and JSON have keys and the numbers
 * in full precision, so that programs need not parse formatted text. */
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
    char *shown; /* of text, Markdown and LaTeX; NULL: the text */
    lra_cell_kind kind;
    double x, hi; /* the number, or the ends of an interval; NAN: there is none */
} lra_cell;

/* A value of a table as a unit, for JSON: a number, or a text. */
typedef struct {
    char *key, *text; /* text NULL: the number */
    double x;
} lra_fact;

/* The verdict of one of the tables that a tidy table was made from. */
typedef struct {
    char *title;
    lra_verdict verdict;
} lra_table_part;

typedef struct {
    char *title;
    int n_columns, n_rows, n_notes, n_facts;
    char *head[LRA_TABLE_COLUMNS], *key[LRA_TABLE_COLUMNS];
    lra_cell **cell;      /* (n_rows, LRA_TABLE_COLUMNS) */
    lra_verdict verdict;  /* printed before the rows */
    lra_table_part *part; /* (n_parts) in JSON only */
    int n_parts;
    char **note;     /* (n_notes) */
    bool *is_detail; /* (n_notes) lra_table_detail() */
    lra_fact fact[LRA_TABLE_FACTS];
} lra_table;

/* A column with the head "" appears in CSV and JSON only. */
lra_table *lra_table_new(const char *title, int n_columns, const char *const *head);
void lra_table_free(lra_table *t);             /* Nullable: t */
void lra_tables_free(lra_table **list, int n); /* the tables and their list */
/* Sets the names of the columns in CSV and JSON (default: their heads).  "": the column is left
 * out; "lo,hi": an interval.  The head LRA_TABLE_CI of an interval is extended by the head of the
 * value before it: "accuracy CI". */
void lra_table_keys(lra_table *t, const char *const *key);
#define LRA_TABLE_CI "CI"
/* Adds the note on intervals over test examples and seeds (lra_sample_value()). */
void lra_table_note_ci(lra_table *t);

/* Moves the verdict of a table, with its title, to the parts of another one; an empty verdict is
 * left out. */
void lra_table_take_verdict(lra_table *to, lra_table *from);

/* Adds a column for CSV and JSON with the same text in all existing rows. */
void lra_table_add_constant(lra_table *t, const char *key, const char *text);

/* Same, with a text for each existing row (NULL: an empty cell); texts that are numbers become
 * numbers.  A key that another column has gets the suffix "_2". */
void lra_table_add_values(lra_table *t, const char *key, const char *const *text);

/* ---- fill: cells follow from the left ---- */

void lra_table_row(lra_table *t); /* starts a row */
void lra_table_cell(lra_table *t, const char *fmt, ...) LRA_PRINTF(2, 3);
/* Sets the text of the last cell in text, Markdown and LaTeX; CSV and JSON keep its own. */
void lra_table_show(lra_table *t, const char *shown);
/* A number, printed with this number of decimals; NAN is "-". */
void lra_table_number(lra_table *t, double x, int decimals);
/* A number that is printed as the formatted text. */
void lra_table_value(lra_table *t, double x, const char *fmt, ...) LRA_PRINTF(3, 4);
/* "lo-hi" ("lo to hi" below zero); NAN is "-". */
void lra_table_interval(lra_table *t, double lo, double hi, int decimals);
/* Same; printed times `scale`. */
void lra_table_scaled_interval(lra_table *t, double lo, double hi, double scale, int decimals);

/* Same; printed as the text. */
void lra_table_interval_text(lra_table *t, double lo, double hi, const char *text);

/* A line below the table.  "key\ttext" explains the key, a word of the table; texts are aligned. */
void lra_table_note(lra_table *t, const char *fmt, ...) LRA_PRINTF(2, 3);
/* Marks the note with this key as a detail; a missing note is ignored. */
void lra_table_detail(lra_table *t, const char *key);
/* Removes all details from the tables, and adds a note with their number and the option that prints
 * them. */
void lra_tables_brief(lra_table *const *list, int n);
void lra_table_fact(lra_table *t, const char *key, double x);
void lra_table_fact_text(lra_table *t, const char *key, const char *text);

/* ---- print ---- */

/* format: text markdown (md) latex csv json.  Several tables are one document: CSV has one header
 * for all of them, with "table" (the title) last; JSON is {"schema": 1, "tables": [{"title", "verdict",
 * "facts", "rows", "notes"}, ...]}, without "verdict" where a table has none.  A tidy table that was made
 * from several has "verdicts" instead: [{"table", "verdict"}, ...]. */
int lra_tables_print(lra_table *const *list, int n, const char *format, FILE *out, lra_err *e);
/* The same; a text table that is wider than `width` characters (0: no limit) states constant
 * columns once, and continues in a second block below.  lra_tables_print(): LRA_TABLE_WIDTH. */
int lra_tables_print_wide(lra_table *const *list, int n, const char *format, int width, FILE *out,
                          lra_err *e);
/* Keeps the columns of a list such as "model,value,lo", by key or by head, with the interval of
 * each; hidden columns in the list are shown.  Fails where no table has such a column. */
int lra_tables_choose(lra_table *const *list, int n, const char *columns, lra_err *e);
int lra_table_print(const lra_table *t, const char *format, FILE *out, lra_err *e);

#endif
