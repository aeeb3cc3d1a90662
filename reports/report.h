/* Interface of the reports for other programs. */
#ifndef LRA_REPORTS_REPORT_H
#define LRA_REPORTS_REPORT_H

#include <stdio.h>

#include "reports/draw/plot.h"
#include "reports/report_input.h"
#include "reports/print/table.h"

/* Declaration of a table: one file, and one line in tables.def. */
typedef struct {
    const char *name, *summary;
    /* Makes the tables. Returns their number, or a negative code; the caller frees them with
     * lra_tables_free(). */
    int (*make)(const lra_report_input *in, lra_table ***list, lra_err *e);
    lra_report_source source;
    /* Returns one tidy table for CSV and JSON, made from the tables of make(). NULL: CSV and JSON
     * use the tables of make() */
    lra_table *(*records)(const lra_report_input *in, lra_table *const *list, int n);
} lra_report_table;
/* Makes the tables for a format: those of make(), or that of records() together with the notes of
 * make(). Files without a seal are marked. Returns the number of tables, or a negative code. */
int lra_report_make(const lra_report_table *t, const lra_report_input *in, const char *format,
                    lra_table ***list, lra_err *e);
/* Makes and prints the tables. On a terminal, text has its width, at least LRA_TABLE_WIDTH, and
 * columns that do not fit continue below. In files and pipes, text has no limit. format: text,
 * markdown, latex, csv or json. */
int lra_report_print(const lra_report_table *t, FILE *out, const lra_report_input *in,
                     const char *format, lra_err *e);
/* Same as lra_report_print(), without details (lra_tables_brief()). */
int lra_report_print_brief(const lra_report_table *t, FILE *out, const lra_report_input *in,
                           const char *format, lra_err *e);
/* Prints ladders: accuracy by reach, baselines, locality index. */
int lra_report_ladder(FILE *out, const lra_report_input *in, const char *format, lra_err *e);
/* Prints ListOps breakdowns: models and heuristics by operator, label, arity, depth, length;
 * agreement; confusion matrices. */
int lra_report_listops(FILE *out, const lra_report_input *in, const char *format, lra_err *e);

typedef struct {
    const char *name, *summary;
    /* Fills a zero-initialised plot; the caller frees it with lra_plot_free(), also after a
     * failure. */
    int (*make)(const lra_report_input *in, lra_plot *p, lra_err *e);
    lra_report_source source;
} lra_report_figure;

#define LRA_TABLE(name) extern const lra_report_table lra_table_##name;
#include "reports/tables.def"
#undef LRA_TABLE
#define LRA_FIGURE(name) extern const lra_report_figure lra_figure_##name;
#include "reports/figures.def"
#undef LRA_FIGURE

#endif
