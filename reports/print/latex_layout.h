/* How a table fits into the text of an article: which columns it shows, how large, and in how many
 * parts. */
#ifndef LRA_REPORTS_PRINT_LATEX_LAYOUT_H
#define LRA_REPORTS_PRINT_LATEX_LAYOUT_H

#include <stdbool.h>

#include "kernels/base/core/mem.h"
#include "reports/print/table.h"

typedef struct {
    int n, column[LRA_TABLE_COLUMNS]; /* those that are set */
    /* What moved to the caption: "seeds 3, preset small"; NULL: nothing. */
    lra_text same;
    const char
        *size; /* "small", "footnotesize" or "scriptsize": 9, 8 or 7 points in an article of 10 */
    int space; /* \tabcolsep in points */
    bool wide; /* than a column of a page with two: it is set across both */
    /* A table that is too wide is several, which all begin with the columns that name a row; part i
     * goes on with those from part[i] to part[i + 1] - 1. */
    int n_names, n_parts, part[LRA_TABLE_COLUMNS + 1];
    /* One that is too long for a page, too: from row[i] to row[i + 1] - 1. */
    int n_row_parts, *row;
} lra_latex_layout;

/* Columns with the same word or whole number in every row, none of them empty, move to the
 * caption; those that are empty in all rows go.  A value and its interval stay in one part.  The
 * largest size in which the rest fits is taken; below 7 points the table is parted instead. */
void lra_latex_layout_find(lra_latex_layout *l, const lra_table *t);
void lra_latex_layout_free(lra_latex_layout *l);
/* Is the column of words, which stand at the left? */
bool lra_latex_is_words(const lra_table *t, int column);

#endif
