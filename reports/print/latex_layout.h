/* Layout of a table in an article: its columns, its font size, and its parts. */
#ifndef LRA_REPORTS_PRINT_LATEX_LAYOUT_H
#define LRA_REPORTS_PRINT_LATEX_LAYOUT_H

#include <stdbool.h>

#include "kernels/base/core/mem.h"
#include "reports/print/table.h"

typedef struct {
    int n, column[LRA_TABLE_COLUMNS]; /* indices of the columns that are printed */
    /* Columns that moved to the caption, "seeds 3, preset small"; NULL: none. */
    lra_text same;
    const char
        /* LaTeX size: "small", "footnotesize" or "scriptsize", which are 9, 8 or 7 points in an
         * article with 10 points */
        *size;
    int space; /* \tabcolsep in points */
    /* true: the table is wider than one column of a two-column page, so it spans both columns */
    bool wide;
    /* A table that is too wide is split into n_parts parts. Each part begins with the n_names
     * columns that identify a row; then part i has the columns part[i] to part[i + 1] - 1. */
    int n_names, n_parts, part[LRA_TABLE_COLUMNS + 1];
    /* A table that is too long for a page is also split by rows: part i has the rows row[i] to
     * row[i + 1] - 1. */
    int n_row_parts, *row;
} lra_latex_layout;

/* Finds the layout. Columns with the same word or integer in every row, and no empty cell, move to
 * the caption; columns that are empty in all rows are removed. A value and its interval stay in one
 * part. The font size is the largest in which the other columns fit; a table that does not fit at 7
 * points is split. */
void lra_latex_layout_find(lra_latex_layout *l, const lra_table *t);
void lra_latex_layout_free(lra_latex_layout *l);
/* True if the column contains words, which are left-aligned. */
bool lra_latex_is_words(const lra_table *t, int column);

#endif
