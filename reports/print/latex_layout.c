/* Computes the layout of LaTeX tables (latex_layout.h). Widths are estimated from the letters of
 * Computer Modern. */
#include "reports/print/latex_layout.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "reports/print/table_parts.h"

/* Text width in points of an article on letter or A4 paper. */
static const double line_width = 345;
/* Width in points of a column of a two-column article. */
static const double column_width = 225;
/* Maximum number of columns that identify a row; maximum number of rows on a page, in addition to
 * caption and notes. */
enum { MOST_NAMES = 3, MOST_ROWS = 36 };

/* ---- columns --------------------------------------------------------------------------------- */

static bool says_nothing(const char *text)
{
    return !*text || strcmp(text, "-") == 0;
}

static void choose_columns(lra_latex_layout *l, const lra_table *t)
{
    int shown[LRA_TABLE_COLUMNS], n = lra_table_shown(t, shown);
    for (int i = 0; i < n; i++) {
        const char *same = i ? lra_table_constant(t, shown[i]) : NULL;
        if (!same)
            l->column[l->n++] = shown[i];
        else if (*same)
            lra_text_add(&l->same, "%s%s %s", l->same.n ? ", " : "", t->head[shown[i]], same);
    }
}

bool lra_latex_is_words(const lra_table *t, int column)
{
    bool words = false;
    for (int r = 0; r < t->n_rows; r++) {
        const char *text = lra_table_text(t, r, column);
        if (says_nothing(text)) continue;
        if (t->cell[r][column].kind != LRA_CELL_TEXT || !isalpha((unsigned char)*text))
            return false;
        words = true;
    }
    return words;
}

/* ---- widths ---------------------------------------------------------------------------------- */

/* Estimated width of a text in Computer Modern, in em. */
static double text_em(const char *text)
{
    static const struct {
        const char *letters;
        double em;
    } width[] = {{".,:;'!|ijl", 0.28}, {"frtsz()[]-/ ", 0.39}, {"<>=+", 0.78}, {"%mwMW@&", 0.84}};
    enum { WIDTHS = sizeof width / sizeof *width };
    double em = 0;
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        int i = 0;
        if ((c & 0xC0) == 0x80) continue; /* continuation byte of UTF-8 */
        while (i < WIDTHS && !strchr(width[i].letters, c)) i++;
        em += i < WIDTHS ? width[i].em : isupper(c) ? 0.72 : 0.5;
    }
    return em;
}

static double column_em(const lra_table *t, int column)
{
    double most = 0;
    for (int r = -1; r < t->n_rows; r++) most = fmax(most, text_em(lra_table_text(t, r, column)));
    return most;
}

static double column_points(const lra_latex_layout *l, const lra_table *t, int i, double size)
{
    return column_em(t, l->column[i]) * size + 2 * l->space;
}

/* Splits the columns into parts: each has as many columns as fit, at least one. */
static void part(lra_latex_layout *l, const lra_table *t, double width, double size)
{
    l->n_names = 1;
    for (int i = 1; i < MOST_NAMES && i + 1 < l->n; i++)
        if (lra_latex_is_words(t, l->column[i])) l->n_names = i + 1;
    double names = 0;
    for (int i = 0; i < l->n_names; i++) names += column_points(l, t, i, size);
    double used = names;
    l->n_parts = 1, l->part[0] = l->n_names;
    for (int i = l->n_names, to; i < l->n; i = to) {
        double own = 0;
        for (to = i; to < l->n && (to == i || lra_table_is_tied(t, l->column[to])); to++)
            own += column_points(l, t, to, size);
        if (used + own > width && i > l->part[l->n_parts - 1]) {
            l->part[l->n_parts++] = i;
            used = names;
        }
        used += own;
    }
    l->part[l->n_parts] = l->n;
}

/* Splits the rows into parts; indented rows stay in the part of the row above them. */
static void part_rows(lra_latex_layout *l, const lra_table *t)
{
    int from = 0, group = 0;
    l->n_row_parts = 0;
    l->row = lra_alloc_array((size_t)t->n_rows + 2, sizeof *l->row);
    for (int r = 0; r < t->n_rows; r++) {
        if (*lra_table_text(t, r, l->column[0]) != ' ') group = r;
        if (r - from < MOST_ROWS || group == from) continue;
        l->row[l->n_row_parts++] = from;
        from = group;
    }
    l->row[l->n_row_parts++] = from;
    l->row[l->n_row_parts] = t->n_rows;
}

void lra_latex_layout_find(lra_latex_layout *l, const lra_table *t)
{
    static const struct {
        const char *name;
        double points; /* effective font size: small fonts are relatively wide */
        int space;
    } sizes[] = {{"small", 9.25, 6},
                 {"small", 9.25, 3},
                 {"footnotesize", 8.5, 3},
                 {"scriptsize", 8, 3},
                 {"scriptsize", 8, 2}};
    enum { SIZES = sizeof sizes / sizeof *sizes, PARTED = 2 };
    *l = (lra_latex_layout){0};
    choose_columns(l, t);
    double width = INFINITY;
    int s = 0;
    for (; s < SIZES && width > line_width; s++) {
        l->size = sizes[s].name, l->space = sizes[s].space, width = 0;
        for (int i = 0; i < l->n; i++) width += column_points(l, t, i, sizes[s].points);
    }
    bool fits = width <= line_width;
    l->wide = width > column_width;
    if (!fits) l->size = sizes[PARTED].name;
    part_rows(l, t);
    part(l, t, fits ? INFINITY : line_width, sizes[PARTED].points);
}

void lra_latex_layout_free(lra_latex_layout *l)
{
    lra_text_free(&l->same);
    lra_free(l->row);
}
