/* Tables: their five formats. */
#include <ctype.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/mem.h"
#include "kernels/base/utf8.h"
#include "reports/table.h"
#include "reports/table_parts.h"

enum { VERDICT_WIDTH = 100 };

/* ---- for people ------------------------------------------------------------------------------ */

static void pad(int n, FILE *out)
{
    for (int i = 0; i < n; i++) fputc(' ', out);
}

/* The texts of notes with a key start below each other. */
static void print_text_notes(const lra_table *t, FILE *out)
{
    char key[LRA_NOTE_KEY];
    int widest = 0;
    for (int i = 0; i < t->n_notes; i++) {
        lra_note_split(t->note[i], key);
        if (lra_text_width(key) > widest) widest = lra_text_width(key);
    }
    for (int i = 0; i < t->n_notes; i++) {
        const char *text = lra_note_split(t->note[i], key);
        fputs(key, out);
        if (*key) pad(widest + 2 - lra_text_width(key), out);
        fprintf(out, "%s\n", text);
    }
}

/* The sentences as one paragraph, broken at VERDICT_WIDTH characters. */
static void print_verdict(const lra_table *t, FILE *out)
{
    int at = 0;
    for (int i = 0; i < t->verdict.n; i++)
        for (const char *word = t->verdict.sentence[i]; *word; word += strspn(word, " ")) {
            int n = (int)strcspn(word, " "), space = at > 0;
            char *text = lra_format("%.*s", n, word);
            int w = lra_text_width(text);
            if (at && at + 1 + w > VERDICT_WIDTH) fputc('\n', out), at = space = 0;
            fprintf(out, "%s%s", space ? " " : "", text);
            at += space + w;
            word += n;
            lra_free(text);
        }
    if (at) fputs("\n\n", out);
}

static void print_text(lra_table *const *list, int i, FILE *out)
{
    const lra_table *t = list[i];
    int column[LRA_TABLE_COLUMNS], n = lra_table_shown(t, column), width[LRA_TABLE_COLUMNS] = {0},
                                   total = 0;
    for (int c = 0; c < n; c++) {
        for (int r = -1; r < t->n_rows; r++) {
            int w = lra_text_width(lra_table_text(t, r, column[c]));
            if (w > width[c]) width[c] = w;
        }
        total += width[c] + (c ? 2 : 0);
    }
    fprintf(out, "%s\n\n", t->title);
    print_verdict(t, out);
    for (int r = -1; r < t->n_rows; r++) {
        int last = n - 1;
        while (last > 0 && !*lra_table_text(t, r, column[last])) last--;
        for (int c = 0; c <= last; c++) {
            const char *text = lra_table_text(t, r, column[c]);
            int space = width[c] - lra_text_width(text);
            if (c) pad(2 + space, out);
            fputs(text, out);
            if (c == 0 && last > 0) pad(space, out);
        }
        fputc('\n', out);
        for (int k = 0; r < 0 && k < total; k++) fputc('-', out);
        if (r < 0) fputc('\n', out);
    }
    if (t->n_notes) fputc('\n', out);
    print_text_notes(t, out);
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || (c & 0x80);
}

/* Would it mean something there: a link, HTML, code, emphasis, a formula, or the end of the
 * cell? */
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

static void print_markdown(lra_table *const *list, int i, FILE *out)
{
    const lra_table *t = list[i];
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
        for (int c = 0; r < 0 && c < n; c++) fputs(c ? "| ---: " : "| --- ", out);
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

/* ---- for programs ---------------------------------------------------------------------------- */

/* The names of a column: none, its key, or the two of an interval. */
static int names_of(const lra_table *t, int c, char name[2][64])
{
    const char *key = t->key[c], *comma = strchr(key, ',');
    if (!*key) return 0;
    snprintf(name[0], 64, "%.*s", (int)(comma ? comma - key : (int)strlen(key)), key);
    if (comma) snprintf(name[1], 64, "%s", comma + 1);
    return comma ? 2 : 1;
}

static void csv_field(const char *text, bool *first, FILE *out)
{
    bool quoted = strpbrk(text, ",\"\n\r") != NULL;
    if (!*first) fputc(',', out);
    *first = false;
    if (quoted) fputc('"', out);
    for (; *text; text++) {
        if (*text == '"') fputc('"', out);
        fputc(*text, out);
    }
    if (quoted) fputc('"', out);
}

/* Spreadsheets take a text that starts like this for a formula, which may run programs; not behind
 * an apostrophe. */
static void csv_text(const char *text, bool *first, FILE *out)
{
    bool formula = *text && strchr("=+-@", *text);
    char *plain = lra_format("%s%s", formula ? "'" : "", text);
    csv_field(plain, first, out);
    lra_free(plain);
}

static void csv_number(double x, bool *first, FILE *out)
{
    char text[40] = "";
    if (isfinite(x)) snprintf(text, sizeof text, "%.17g", x);
    csv_field(text, first, out);
}

static void print_csv_row(const lra_table *t, int r, FILE *out)
{
    char name[2][64];
    bool first = true;
    for (int c = 0; c < t->n_columns; c++) {
        int n = names_of(t, c, name);
        const lra_cell *x = r < 0 ? NULL : &t->cell[r][c];
        for (int i = 0; i < n; i++)
            if (r < 0)
                csv_text(name[i], &first, out);
            else if (!x->text || x->kind == LRA_CELL_TEXT)
                csv_text(i || !x->text || strcmp(x->text, "-") == 0 ? "" : x->text, &first, out);
            else
                csv_number(i ? x->hi : x->x, &first, out);
    }
    fputc('\n', out);
}

static bool same_keys(const lra_table *a, const lra_table *b)
{
    bool same = a->n_columns == b->n_columns;
    for (int c = 0; same && c < a->n_columns; c++) same = strcmp(a->key[c], b->key[c]) == 0;
    return same;
}

static void print_csv(lra_table *const *list, int n, FILE *out)
{
    for (int i = 0; i < n; i++) {
        bool change = i == 0 || !same_keys(list[i - 1], list[i]);
        if (i && change) fputc('\n', out);
        for (int r = change ? -1 : 0; r < list[i]->n_rows; r++) print_csv_row(list[i], r, out);
    }
}

static json_t *json_of(double x)
{
    if (!isfinite(x)) return json_null();
    return floor(x) == x && fabs(x) < 9e15 ? json_integer((json_int_t)x) : json_real(x);
}

static json_t *json_row(const lra_table *t, int r)
{
    json_t *row = json_object();
    char name[2][64];
    for (int c = 0; c < t->n_columns; c++) {
        int n = names_of(t, c, name);
        const lra_cell *x = &t->cell[r][c];
        bool none = !x->text || (x->kind == LRA_CELL_TEXT && strcmp(x->text, "-") == 0);
        for (int i = 0; i < n; i++)
            json_object_set_new(row, name[i],
                                none || (i && x->kind == LRA_CELL_TEXT) ? json_null()
                                : x->kind == LRA_CELL_TEXT              ? json_string(x->text)
                                                           : json_of(i ? x->hi : x->x));
    }
    return row;
}

static json_t *json_table(const lra_table *t)
{
    json_t *facts = json_object(), *rows = json_array(), *notes = json_array();
    for (int i = 0; i < t->n_facts; i++)
        json_object_set_new(facts, t->fact[i].key,
                            t->fact[i].text ? json_string(t->fact[i].text) : json_of(t->fact[i].x));
    for (int r = 0; r < t->n_rows; r++) json_array_append_new(rows, json_row(t, r));
    for (int i = 0; i < t->n_notes; i++) {
        char key[LRA_NOTE_KEY];
        const char *text = lra_note_split(t->note[i], key);
        json_array_append_new(notes, json_sprintf("%s%s%s", key, *key ? ": " : "", text));
    }
    json_t *table = json_pack("{s:s}", "title", t->title);
    json_t *verdict = t->verdict.n ? json_array() : NULL;
    for (int i = 0; i < t->verdict.n; i++)
        json_array_append_new(verdict, json_string(t->verdict.sentence[i]));
    if (verdict) json_object_set_new(table, "verdict", verdict);
    json_object_set_new(table, "facts", facts);
    json_object_set_new(table, "rows", rows);
    json_object_set_new(table, "notes", notes);
    return table;
}

/* Everything that JSON shows of a table can stand in it. */
static int check_texts(const lra_table *t, lra_err *e)
{
    int rc = lra_utf8_check(t->title, e);
    for (int i = 0; i < t->n_facts && rc == 0; i++) rc = lra_utf8_check(t->fact[i].text, e);
    for (int i = 0; i < t->n_notes && rc == 0; i++) rc = lra_utf8_check(t->note[i], e);
    for (int i = 0; i < t->verdict.n && rc == 0; i++)
        rc = lra_utf8_check(t->verdict.sentence[i], e);
    for (int i = 0; i < t->n_rows * t->n_columns && rc == 0; i++)
        rc = lra_utf8_check(t->cell[i / t->n_columns][i % t->n_columns].text, e);
    return rc;
}

static int print_json(lra_table *const *list, int n, FILE *out, lra_err *e)
{
    for (int i = 0; i < n; i++)
        if (check_texts(list[i], e) != 0) return LRA_FAILED;
    json_t *tables = json_array();
    for (int i = 0; i < n; i++) json_array_append_new(tables, json_table(list[i]));
    json_t *all = json_pack("{s:i,s:o}", "schema", 1, "tables", tables);
    char *text = json_dumps(all, JSON_INDENT(1) | JSON_REAL_PRECISION(17));
    fprintf(out, "%s\n", text);
    free(text);
    json_decref(all);
    return 0;
}

/* ---- both ------------------------------------------------------------------------------------ */

int lra_tables_print(lra_table *const *list, int n, const char *format, FILE *out, lra_err *e)
{
    static const struct {
        const char *name;
        void (*print)(lra_table *const *list, int i, FILE *out);
    } one_by_one[] = {
        {"text", print_text}, {"markdown", print_markdown}, {"latex", lra_table_print_latex}};
    enum { N = sizeof one_by_one / sizeof *one_by_one };
    int f = 0;
    while (f < N && strcmp(one_by_one[f].name, format) != 0) f++;
    if (f < N)
        for (int i = 0; i < n; i++) {
            if (i) fputc('\n', out);
            one_by_one[f].print(list, i, out);
        }
    else if (strcmp(format, "csv") == 0)
        print_csv(list, n, out);
    else if (strcmp(format, "json") != 0)
        LRA_BUG("unknown table format '%s'", format);
    else if (print_json(list, n, out, e) != 0)
        return LRA_FAILED;
    return ferror(out) ? lra_fail_errno(e, "cannot write the table") : 0;
}

int lra_table_print(const lra_table *t, const char *format, FILE *out, lra_err *e)
{
    lra_table *list[] = {(lra_table *)(uintptr_t)t};
    return lra_tables_print(list, 1, format, out, e);
}
