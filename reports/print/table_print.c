/* Prints tables as text and as Markdown, and selects the printer of a format (table.h). */
#include <ctype.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "kernels/base/os/terminal.h"
#include "reports/print/table.h"
#include "reports/print/table_html.h"
#include "reports/print/table_parts.h"

/* ---- text ------------------------------------------------------------------------------------ */

static void pad(int n, FILE *out)
{
    for (int i = 0; i < n; i++) fputc(' ', out);
}

/* Prints the words of a text from column `at` on, with line breaks at `most` characters; further
 * lines are indented. Returns the column after the text. */
static int print_words(const char *text, int at, int indent, int most, FILE *out)
{
    for (const char *word = text; *word; word += strspn(word, " ")) {
        int n = (int)strcspn(word, " "), space = at > indent;
        char *one = lra_format("%.*s", n, word);
        int w = lra_text_width(one);
        if (at > indent && at + 1 + w > most) {
            fputc('\n', out);
            pad(indent, out);
            at = indent, space = 0;
        }
        fprintf(out, "%s%s", space ? " " : "", one);
        at += space + w;
        word += n;
        lra_free(one);
    }
    return at;
}

/* Prints notes. The texts of notes with a key are aligned; on a terminal, lines are broken at
 * `most` characters (0: never). */
static void print_text_notes(const lra_table *t, int most, FILE *out)
{
    char key[LRA_NOTE_KEY];
    int widest = 0;
    for (int i = 0; i < t->n_notes; i++) {
        lra_note_split(t->note[i], key);
        if (lra_text_width(key) > widest) widest = lra_text_width(key);
    }
    for (int i = 0; i < t->n_notes; i++) {
        const char *text = lra_note_split(t->note[i], key);
        int indent = *key ? widest + 2 : 0;
        fputs(key, out);
        if (*key) pad(indent - lra_text_width(key), out);
        if (most && lra_is_tty(out))
            print_words(text, indent, indent, most, out);
        else
            fputs(text, out);
        fputc('\n', out);
    }
}

/* Prints the sentences of the verdict as one paragraph, with line breaks at LRA_TABLE_WIDTH
 * characters. */
static void print_verdict(const lra_table *t, FILE *out)
{
    int at = 0;
    for (int i = 0; i < t->verdict.n; i++)
        at = print_words(t->verdict.sentence[i], at, 0, LRA_TABLE_WIDTH, out);
    if (at) fputs("\n\n", out);
}

/* For a table that is too wide: moves columns with the same text in all rows from `column` to
 * `same` ("preset quick, prec. f32"). Returns the number of remaining columns. */
static int take_constants(const lra_table *t, int n, int column[LRA_TABLE_COLUMNS], lra_text *same)
{
    int left = 0;
    for (int c = 0; c < n; c++) {
        const char *text = c ? lra_table_constant(t, column[c]) : NULL;
        if (text && *text)
            lra_text_add(same, "%s%s %s", same->n ? ", " : "", t->head[column[c]], text);
        else if (!text)
            column[left++] = column[c];
    }
    return left;
}

enum { MOST_NAMES = 4 };

/* Returns the number of leading columns that identify a row, which every block repeats. total:
 * their width. */
static int find_names(const lra_table *t, int n, const int *column, const int *width, int most,
                      int *total)
{
    int names = n ? 1 : 0;
    *total = n ? width[0] : 0;
    while (names < n && names < MOST_NAMES && lra_table_is_name(t, column[names]) &&
           *total + 2 + width[names] <= most / 2)
        *total += 2 + width[names++];
    return names;
}

/* Splits the columns into blocks: block b has the columns from[b] to from[b + 1] - 1, and repeats
 * the n_names first columns. An interval stays in the block of its value. */
static int find_blocks(const lra_table *t, int n, const int *column, const int *width, int most,
                       int n_names, int used, int from[LRA_TABLE_COLUMNS + 1])
{
    const int names = used;
    int n_blocks = 1;
    from[0] = n_names;
    for (int c = n_names, to; c < n; c = to) {
        int own = 0;
        for (to = c; to < n && (to == c || lra_table_is_tied(t, column[to])); to++)
            own += 2 + width[to];
        if (most && used + own > most && c > from[n_blocks - 1]) {
            from[n_blocks++] = c;
            used = names;
        }
        used += own;
    }
    from[n_blocks] = n;
    return n_blocks;
}

static void print_line(const lra_table *t, int r, int n, const int *column, const int *width,
                       FILE *out)
{
    int last = n - 1;
    while (last > 0 && !*lra_table_text(t, r, column[last])) last--;
    for (int c = 0; c <= last; c++) {
        const char *text = lra_table_text(t, r, column[c]);
        int space = width[c] - lra_text_width(text);
        bool left = c == 0 || t->left[column[c]];
        if (c) pad(2 + (left ? 0 : space), out);
        fputs(text, out);
        if (left && c < last) pad(space, out);
    }
    fputc('\n', out);
}

/* Prints the columns that identify a row, and those of a block. */
static void print_block(const lra_table *t, int n_names, int from, int to, const int *column,
                        const int *width, FILE *out)
{
    int own[LRA_TABLE_COLUMNS], own_width[LRA_TABLE_COLUMNS], n = 0, total = -2;
    for (int c = 0; c < to; c++) {
        if (c >= n_names && c < from) continue;
        own[n] = column[c], own_width[n++] = width[c];
        total += 2 + width[c];
    }
    for (int r = -1; r < t->n_rows; r++) {
        print_line(t, r, n, own, own_width, out);
        for (int k = 0; r < 0 && k < total; k++) fputc('-', out);
        if (r < 0) fputc('\n', out);
    }
}

static void print_text(const lra_table *t, int most, FILE *out)
{
    int column[LRA_TABLE_COLUMNS], n = lra_table_shown(t, column), width[LRA_TABLE_COLUMNS] = {0},
                                   from[LRA_TABLE_COLUMNS + 1];
    lra_text same = {0};
    if (most && lra_table_text_width(t, n, column) > most) n = take_constants(t, n, column, &same);
    for (int c = 0; c < n; c++) width[c] = lra_table_column_width(t, column[c]);
    fprintf(out, "%s\n\n", t->title);
    print_verdict(t, out);
    int names_width, n_names = find_names(t, n, column, width, most, &names_width);
    int n_blocks = find_blocks(t, n, column, width, most, n_names, names_width, from);
    for (int b = 0; b < n_blocks; b++) {
        if (b) fputc('\n', out);
        print_block(t, n_names, from[b], from[b + 1], column, width, out);
    }
    if (t->n_notes || same.n) fputc('\n', out);
    if (same.n) fprintf(out, "In all rows: %s\n", same.s);
    lra_text_free(&same);
    print_text_notes(t, most, out);
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || (c & 0x80);
}

/* True if the character has a meaning in Markdown at this position: it could begin a link, HTML,
 * code, emphasis or a formula, or end the cell. */
static bool is_markup(char before, const char *at)
{
    switch (*at) {
    case '<': return is_word(at[1]) || (at[1] && strchr("/!?", at[1]));
    case '&': return is_word(at[1]) || at[1] == '#';
    case '_': return !is_word(before) || !is_word(at[1]);
    case '~': return before == '~' || at[1] == '~';
    case '#': return !before;
    default: return strchr("\\`*[]|$", *at) != NULL;
    }
}

static void print_markdown_text(const char *text, FILE *out)
{
    for (char before = 0; *text; before = *text++) {
        if (is_markup(before, text)) fputc('\\', out);
        fputc(*text, out);
    }
}

static void print_markdown(const lra_table *t, FILE *out)
{
    int column[LRA_TABLE_COLUMNS], n = lra_table_shown(t, column);
    fputs("**", out);
    print_markdown_text(t->title, out);
    fputs("**\n\n", out);
    for (int k = 0; k < t->verdict.n; k++) {
        if (k) fputc(' ', out);
        print_markdown_text(t->verdict.sentence[k], out);
    }
    if (t->verdict.n) fputs("\n\n", out);
    for (int r = -1; r < t->n_rows; r++) {
        for (int c = 0; c < n; c++) {
            fputs("| ", out);
            print_markdown_text(lra_table_text(t, r, column[c]), out);
            fputc(' ', out);
        }
        fputs("|\n", out);
        for (int c = 0; r < 0 && c < n; c++)
            fputs(c && !t->left[column[c]] ? "| ---: " : "| --- ", out);
        if (r < 0) fputs("|\n", out);
    }
    if (t->n_notes) fputc('\n', out);
    for (int k = 0; k < t->n_notes; k++) {
        char key[LRA_NOTE_KEY];
        const char *text = lra_note_split(t->note[k], key);
        fputs("* ", out);
        print_markdown_text(key, out);
        fputs(*key ? ": " : "", out);
        print_markdown_text(text, out);
        fputc('\n', out);
    }
}

/* ---- all formats ----------------------------------------------------------------------------- */

int lra_tables_print_wide(lra_table *const *list, int n, const char *format, int width, FILE *out,
                          lra_err *e)
{
    bool text = strcmp(format, "text") == 0, latex = strcmp(format, "latex") == 0;
    bool markdown = strcmp(format, "markdown") == 0 || strcmp(format, "md") == 0;
    for (int i = 0; i < n && (text || latex || markdown); i++) {
        if (i) fputc('\n', out);
        if (text) print_text(list[i], width, out);
        if (markdown) print_markdown(list[i], out);
        if (latex) lra_table_print_latex(list, i, out);
    }
    if (strcmp(format, "html") == 0) lra_tables_print_html(list, n, out);
    if (strcmp(format, "csv") == 0)
        lra_tables_print_csv(list, n, out);
    else if (strcmp(format, "json") == 0 && lra_tables_print_json(list, n, out, e) != 0)
        return LRA_FAILED;
    return ferror(out) ? lra_fail_errno(e, "cannot write the table") : 0;
}

int lra_tables_print(lra_table *const *list, int n, const char *format, FILE *out, lra_err *e)
{
    return lra_tables_print_wide(list, n, format, LRA_TABLE_WIDTH, out, e);
}

int lra_table_print(const lra_table *t, const char *format, FILE *out, lra_err *e)
{
    lra_table *list[] = {(lra_table *)(uintptr_t)t};
    return lra_tables_print(list, 1, format, out, e);
}
