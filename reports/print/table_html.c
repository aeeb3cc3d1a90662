/* Prints tables as HTML: a caption, heads with a scope, numbers aligned at the decimal point, and
 * the notes as a list. All texts are escaped. */
#include <ctype.h>
#include <string.h>

#include "reports/html/escape.h"
#include "reports/print/table_html.h"
#include "reports/print/table_parts.h"

enum { MOST_BEFORE_CONSTANTS = 7, TALL = 32, WIDE = 13 };

/* Number of characters after the decimal point of a plain number; -1: the text is no number. */
static int decimals_of(const char *text)
{
    size_t sign = strspn(text, "<>+- ~"), whole = strspn(text + sign, "0123456789");
    const char *rest = text + sign + whole;
    if (whole == 0) return -1;
    if (!*rest) return 0;
    if (*rest != '.') return -1;
    size_t digits = strspn(rest + 1, "0123456789");
    return rest[1 + digits] ? -1 : (int)digits;
}

/* True if the cells of a column are numbers or intervals, of which at least one has a value. */
static bool is_numeric(const lra_table *t, int column)
{
    bool any = false;
    for (int r = 0; r < t->n_rows; r++) {
        const lra_cell *x = &t->cell[r][column];
        const char *text = lra_table_text(t, r, column);
        if (!*text || strcmp(text, "-") == 0) continue;
        if (x->kind == LRA_CELL_TEXT && decimals_of(text) < 0) return false;
        any = true;
    }
    return any;
}

static int most_decimals(const lra_table *t, int column)
{
    int most = 0;
    for (int r = 0; r < t->n_rows; r++) {
        int n = decimals_of(lra_table_text(t, r, column));
        if (n > most) most = n;
    }
    return most;
}

/* Adds blanks of the width of a digit and of a point, so that the decimal points of a column are
 * below each other. */
static void add_padding(lra_text *to, int decimals, int most)
{
    if (decimals < 0 || decimals >= most) return;
    if (decimals == 0) lra_text_add(to, "\xE2\x80\x88"); /* U+2008, the width of a point */
    /* U+2007, the width of a digit */
    for (int i = decimals; i < most; i++) lra_text_add(to, "\xE2\x80\x87");
}

static void add_cell(lra_text *to, const lra_table *t, int r, int column, bool first, bool numeric,
                     int most)
{
    const char *text = lra_table_text(t, r, column);
    bool missing = !*text || strcmp(text, "-") == 0;
    if (first) {
        lra_text_add(to, "<th scope=\"row\">");
        lra_html_text(to, text);
        lra_text_add(to, "</th>");
        return;
    }
    lra_text_add(to, "<td%s>", numeric ? missing ? " class=\"n none\"" : " class=\"n\"" : "");
    if (numeric || missing)
        lra_html_number(to, text);
    else
        lra_html_text(to, text);
    if (numeric && !missing) add_padding(to, decimals_of(text), most);
    lra_text_add(to, "</td>");
}

static void add_rows(lra_text *to, const lra_table *t, int n, const int *column)
{
    bool numeric[LRA_TABLE_COLUMNS];
    int most[LRA_TABLE_COLUMNS];
    lra_text_add(to, "<thead><tr>");
    for (int c = 0; c < n; c++) {
        numeric[c] = c > 0 && is_numeric(t, column[c]);
        most[c] = most_decimals(t, column[c]);
        lra_text_add(to, "<th scope=\"col\"%s>", numeric[c] ? " class=\"n\"" : "");
        lra_html_text(to, t->head[column[c]]);
        lra_text_add(to, "</th>");
    }
    lra_text_add(to, "</tr></thead>\n<tbody>\n");
    for (int r = 0; r < t->n_rows; r++) {
        lra_text_add(to, "<tr>");
        for (int c = 0; c < n; c++) add_cell(to, t, r, column[c], c == 0, numeric[c], most[c]);
        lra_text_add(to, "</tr>\n");
    }
    lra_text_add(to, "</tbody>\n");
}

/* Prints a table of one row with many columns: its columns become rows. */
static void add_transposed(lra_text *to, const lra_table *t, int n, const int *column)
{
    lra_text_add(to, "<tbody>\n");
    for (int c = 0; c < n; c++) {
        lra_html_wrap(to, "<tr><th scope=\"row\">", t->head[column[c]], "</th>");
        lra_html_wrap_number(to, "<td>", lra_table_text(t, 0, column[c]), "</td></tr>\n");
    }
    lra_text_add(to, "</tbody>\n");
}

/* The text that all rows of a column share. In contrast to lra_table_constant(), it may contain a
 * decimal point, if it is no number ("v0.1"). */
static const char *same_text(const lra_table *t, int column)
{
    const char *first = t->n_rows > 1 ? lra_table_text(t, 0, column) : "";
    bool text = *first && strcmp(first, "-") != 0 && t->cell[0][column].kind == LRA_CELL_TEXT &&
                decimals_of(first) < 0;
    for (int r = 1; r < t->n_rows && text; r++)
        text = strcmp(lra_table_text(t, r, column), first) == 0;
    return text ? first : lra_table_constant(t, column);
}

/* Removes columns without values, and, from a table with many columns, those whose rows share a
 * text. Returns the number of columns that remain. */
static int take_constants(const lra_table *t, int n, int column[LRA_TABLE_COLUMNS], lra_text *same)
{
    int left = 0, values = 0;
    bool wide = n > MOST_BEFORE_CONSTANTS;
    for (int c = 1; c < n; c++) {
        const char *text = lra_table_constant(t, column[c]);
        values += !text || *text;
    }
    if (values == 0) return n; /* a table without any value keeps its columns */
    for (int c = 0; c < n; c++) {
        const char *text = same_text(t, column[c]);
        bool last = left == 0 && c + 1 == n; /* one column must remain */
        bool fixed = text && (wide || !*text) && t->n_rows > 1 && !last;
        if (!fixed)
            column[left++] = column[c];
        else if (*text)
            lra_text_add(same, "%s%s %s", same->n ? ", " : "", t->head[column[c]], text);
    }
    return left;
}

static void add_notes(lra_text *to, const lra_table *t, const char *same)
{
    bool list = false;
    char key[LRA_NOTE_KEY];
    if (same) lra_html_wrap(to, "<p class=\"note\">In all rows: ", same, ".</p>\n");
    for (int i = 0; i < t->n_notes; i++) {
        const char *text = lra_note_split(t->note[i], key);
        if (list != (*key != 0))
            lra_text_add(to, "%s", list ? "</dl>\n" : "<dl class=\"notes\">\n");
        list = *key != 0;
        if (list) {
            lra_html_wrap(to, "<div><dt>", key, "</dt>");
            lra_html_wrap(to, "<dd>", text, "</dd></div>\n");
        } else {
            lra_html_wrap(to, "<p class=\"note\">", text, "</p>\n");
        }
    }
    if (list) lra_text_add(to, "</dl>\n");
}

void lra_table_add_html(lra_text *to, const lra_table *t, const char *id, bool notes)
{
    int column[LRA_TABLE_COLUMNS], n = lra_table_shown(t, column);
    lra_text same = {0};
    bool row = t->n_rows == 1 && n > WIDE;
    n = take_constants(t, n, column, &same);
    lra_text_add(to,
                 "<div class=\"scroll%s%s\" role=\"region\" tabindex=\"0\" "
                 "aria-labelledby=\"%s-caption\">\n<table id=\"%s\">\n<caption id=\"%s-caption\">",
                 t->n_rows > TALL ? " tall" : "", n > WIDE && !row ? " wide" : "", id, id, id);
    lra_html_text(to, t->title);
    lra_text_add(to, "</caption>\n");
    if (row)
        add_transposed(to, t, n, column);
    else
        add_rows(to, t, n, column);
    lra_text_add(to, "</table>\n</div>\n");
    if (notes) {
        bool many = t->n_notes > 3;
        if (many)
            lra_text_add(to, "<details class=\"legend\"><summary>Columns and notes</summary>\n");
        add_notes(to, t, same.s);
        if (many) lra_text_add(to, "</details>\n");
    }
    lra_text_free(&same);
}

void lra_tables_print_html(lra_table *const *list, int n, FILE *out)
{
    lra_text to = {0};
    for (int i = 0; i < n; i++) {
        char *id = lra_format("table-%d", i + 1);
        if (list[i]->verdict.n) lra_text_add(&to, "<p class=\"verdict\">");
        for (int k = 0; k < list[i]->verdict.n; k++)
            lra_html_wrap_number(&to, k ? " " : "", list[i]->verdict.sentence[k], "");
        if (list[i]->verdict.n) lra_text_add(&to, "</p>\n");
        lra_table_add_html(&to, list[i], id, true);
        lra_free(id);
    }
    if (to.n) fwrite(to.s, 1, to.n, out);
    lra_text_free(&to);
}
