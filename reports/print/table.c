/* Fills tables (table.h). */
#include "reports/print/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "kernels/base/core/printable.h"

lra_table *lra_table_new(const char *title, int n_columns, const char *const *head)
{
    if (n_columns > LRA_TABLE_COLUMNS)
        LRA_BUG("a table of %d columns, at most %d", n_columns, LRA_TABLE_COLUMNS);
    lra_table *t = lra_alloc(sizeof *t);
    t->title = lra_make_printable(lra_copy_text(title));
    t->n_columns = n_columns;
    for (int c = 0; c < n_columns; c++) {
        t->head[c] = lra_make_printable(lra_copy_text(head[c]));
        t->key[c] = lra_copy_text(t->head[c]);
    }
    return t;
}

void lra_table_free(lra_table *t)
{
    if (!t) return;
    for (int c = 0; c < t->n_columns; c++) {
        lra_free(t->head[c]);
        lra_free(t->key[c]);
        for (int r = 0; r < t->n_rows; r++) {
            lra_free(t->cell[r][c].text);
            lra_free(t->cell[r][c].shown);
        }
    }
    for (int r = 0; r < t->n_rows; r++) lra_free(t->cell[r]);
    lra_free(t->cell);
    for (int i = 0; i < t->n_notes; i++) lra_free(t->note[i]);
    lra_free(t->note);
    lra_free(t->is_detail);
    for (int i = 0; i < t->n_facts; i++) {
        lra_free(t->fact[i].key);
        lra_free(t->fact[i].text);
    }
    lra_verdict_free(&t->verdict);
    for (int i = 0; i < t->n_parts; i++) {
        lra_verdict_free(&t->part[i].verdict);
        lra_free(t->part[i].title);
    }
    lra_free(t->part);
    lra_free(t->title);
    lra_free(t);
}

void lra_tables_free(lra_table **list, int n)
{
    for (int i = 0; i < n; i++) lra_table_free(list[i]);
    lra_free(list);
}

/* Sets the head of the interval in column c: "accuracy CI", the head of its value without the
 * unit. */
static void name_interval(lra_table *t, int c)
{
    int value = c - 1;
    while (value >= 0 && !*t->head[value]) value--;
    if (value < 0) return;
    const char *head = t->head[value], *unit = strstr(head, " (");
    size_t n = unit ? (size_t)(unit - head) : strlen(head);
    if (n > 2 && strcmp(head + n - 2, " %") == 0) n -= 2;
    lra_free(t->head[c]);
    t->head[c] = lra_format("%.*s " LRA_TABLE_CI, (int)n, head);
}

void lra_table_keys(lra_table *t, const char *const *key)
{
    for (int c = 0; c < t->n_columns; c++) {
        lra_free(t->key[c]);
        t->key[c] = lra_copy_text(key[c]);
        if (strchr(key[c], ',') && strcmp(t->head[c], LRA_TABLE_CI) == 0) name_interval(t, c);
    }
}

void lra_table_take_verdict(lra_table *to, lra_table *from)
{
    if (from->verdict.n == 0) return;
    to->part = lra_resize(to->part, ((size_t)to->n_parts + 1) * sizeof *to->part);
    to->part[to->n_parts++] = (lra_table_part){lra_copy_text(from->title), from->verdict};
    from->verdict = (lra_verdict){0};
}

void lra_table_add_constant(lra_table *t, const char *key, const char *text)
{
    int c = t->n_columns;
    /* a full table gets no column; the text is in its title, too */
    if (c == LRA_TABLE_COLUMNS) return;
    t->head[c] = lra_copy_text(""), t->key[c] = lra_copy_text(key);
    t->n_columns++;
    for (int r = 0; r < t->n_rows; r++) {
        t->cell[r] = lra_resize(t->cell[r], (size_t)(c + 2) * sizeof **t->cell);
        t->cell[r][c] = (lra_cell){.text = lra_make_printable(lra_copy_text(text))};
        t->cell[r][c + 1] = (lra_cell){.text = NULL};
    }
}

/* Makes a number cell if the text is a number, otherwise a text cell. */
static lra_cell cell_of(const char *text)
{
    char *end;
    double x = text ? strtod(text, &end) : 0;
    if (!text) return (lra_cell){.text = NULL};
    lra_cell cell = {.text = lra_make_printable(lra_copy_text(text))};
    if (*text && !*end && isfinite(x)) cell.kind = LRA_CELL_NUMBER, cell.x = x;
    return cell;
}

void lra_table_add_values(lra_table *t, const char *key, const char *const *text)
{
    int c = t->n_columns;
    bool known = false;
    for (int k = 0; k < c && !known; k++) known = strcmp(t->key[k], key) == 0;
    char *name = lra_format("%s%s", key, known ? "_2" : "");
    lra_table_add_constant(t, name, "");
    lra_free(name);
    if (t->n_columns == c) return; /* the table has no room for another column */
    for (int r = 0; r < t->n_rows; r++) {
        lra_free(t->cell[r][c].text);
        lra_free(t->cell[r][c].shown);
        t->cell[r][c] = cell_of(text[r]);
    }
}

/* Formats a text and replaces control characters, so that all texts of a table are printable. */
static char *format_text(const char *fmt, va_list args)
{
    lra_text text = {0};
    lra_text_addv(&text, fmt, args);
    return lra_make_printable(text.s);
}

void lra_table_row(lra_table *t)
{
    if ((t->n_rows & (t->n_rows - 1)) == 0) /* the capacity is doubled at powers of two */
        t->cell = lra_resize(t->cell, (2 * (size_t)t->n_rows + 1) * sizeof *t->cell);
    t->cell[t->n_rows++] = lra_alloc_array((size_t)t->n_columns + 1, sizeof **t->cell);
}

/* Adds the next cell of the last row; takes ownership of the text. */
static void put(lra_table *t, lra_cell_kind kind, double x, double hi, char *text)
{
    lra_cell *row = t->cell[t->n_rows - 1];
    int c = 0;
    while (c < t->n_columns && row[c].text) c++;
    if (c == t->n_columns) LRA_BUG("a row of more than %d cells", t->n_columns);
    row[c] = (lra_cell){.text = text, .kind = kind, .x = x, .hi = hi};
}

void lra_table_show(lra_table *t, const char *shown)
{
    lra_cell *row = t->cell[t->n_rows - 1];
    int c = 0;
    while (c < t->n_columns && row[c].text) c++;
    if (c == 0) LRA_BUG("a row without a cell to show as '%s'", shown);
    lra_free(row[c - 1].shown);
    row[c - 1].shown = lra_make_printable(lra_copy_text(shown));
}

void lra_table_cell(lra_table *t, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    put(t, LRA_CELL_TEXT, 0, 0, format_text(fmt, args));
    va_end(args);
}

/* Formats x with this number of decimals; zero has no sign. */
static char *decimal(double x, int decimals)
{
    char *text = lra_format("%.*f", decimals, x);
    if (*text != '-' || text[strspn(text, "-0.")]) return text;
    lra_free(text);
    return lra_format("%.*f", decimals, 0.0);
}

void lra_table_number(lra_table *t, double x, int decimals)
{
    put(t, LRA_CELL_NUMBER, x, 0, isnan(x) ? lra_copy_text("-") : decimal(x, decimals));
}

void lra_table_value(lra_table *t, double x, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    put(t, LRA_CELL_NUMBER, x, 0, format_text(fmt, args));
    va_end(args);
}

void lra_table_scaled_interval(lra_table *t, double lo, double hi, double scale, int decimals)
{
    if (isnan(lo) || isnan(hi)) {
        put(t, LRA_CELL_INTERVAL, lo, hi, lra_copy_text("-"));
        return;
    }
    char *from = decimal(scale * lo, decimals), *to = decimal(scale * hi, decimals);
    put(t, LRA_CELL_INTERVAL, lo, hi, lra_format(*from == '-' ? "%s to %s" : "%s-%s", from, to));
    lra_free(from);
    lra_free(to);
}

void lra_table_interval(lra_table *t, double lo, double hi, int decimals)
{
    lra_table_scaled_interval(t, lo, hi, 1, decimals);
}

void lra_table_interval_text(lra_table *t, double lo, double hi, const char *text)
{
    put(t, LRA_CELL_INTERVAL, lo, hi, lra_copy_text(text));
}

void lra_table_note(lra_table *t, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    if ((t->n_notes & (t->n_notes - 1)) == 0) {
        size_t room = 2 * (size_t)t->n_notes + 1;
        t->note = lra_resize(t->note, room * sizeof *t->note);
        t->is_detail = lra_resize(t->is_detail, room * sizeof *t->is_detail);
    }
    lra_text text = {0};
    lra_text_addv(&text, fmt, args);
    char *tab = strchr(text.s, '\t'); /* the tab separates key and text */
    lra_make_printable(text.s);
    if (tab) *tab = '\t';
    t->is_detail[t->n_notes] = false;
    t->note[t->n_notes++] = text.s;
    va_end(args);
}

void lra_table_note_ci(lra_table *t)
{
    lra_table_note(t, LRA_TABLE_CI
                   "\t95 %% confidence interval over test examples (normal) and seeds "
                   "(Student t, S - 1 degrees of freedom); accuracy of one seed: Wilson interval");
}

void lra_table_detail(lra_table *t, const char *key)
{
    size_t n = strlen(key);
    for (int i = 0; i < t->n_notes; i++)
        if (strncmp(t->note[i], key, n) == 0 && t->note[i][n] == '\t') t->is_detail[i] = true;
}

void lra_tables_brief(lra_table *const *list, int n)
{
    for (int i = 0; i < n; i++) {
        lra_table *t = list[i];
        int left = 0, all = t->n_notes;
        for (int k = 0; k < all; k++)
            if (t->is_detail[k])
                lra_free(t->note[k]);
            else
                t->is_detail[left] = false, t->note[left++] = t->note[k];
        t->n_notes = left;
        if (left == all) continue;
        t->note = lra_resize(t->note, ((size_t)all + 1) * sizeof *t->note);
        t->is_detail[left] = false;
        t->note[t->n_notes++] = lra_format("more\t%d more line%s of statistics: --verbose",
                                           all - left, all - left == 1 ? "" : "s");
    }
}

static lra_fact *new_fact(lra_table *t, const char *key)
{
    if (t->n_facts == LRA_TABLE_FACTS) LRA_BUG("a table of more than %d facts", LRA_TABLE_FACTS);
    lra_fact *f = &t->fact[t->n_facts++];
    f->key = lra_copy_text(key);
    return f;
}

void lra_table_fact(lra_table *t, const char *key, double x)
{
    new_fact(t, key)->x = x;
}

void lra_table_fact_text(lra_table *t, const char *key, const char *text)
{
    new_fact(t, key)->text = lra_make_printable(lra_copy_text(text));
}
