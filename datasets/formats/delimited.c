/* Reads csv and tsv in two passes. The first pass finds all errors, counts records, and decides
 * which columns are numbers. Memory is then allocated once, and the second pass fills it. */
#include "datasets/formats/delimited.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "datasets/formats/bom.h"
#include "datasets/formats/column_parts.h"
#include "kernels/base/core/mem.h"

enum { LONGEST_NAME = 256 };

/* ---- fields ---------------------------------------------------------------------------------- */

typedef struct {
    const char *bytes, *at, *end;
    const char *name;
    char separator;
    lra_err *e;
} scanner;

typedef struct {
    const char *p;
    size_t n;
    size_t doubled; /* number of doubled quotes ("") in the field, each of which is one quote */
    bool last;      /* the field is the last of its record */
} field;

static int fail_at(const scanner *s, const char *at, const char *what)
{
    size_t byte;
    int64_t line = lra_line_of(s->bytes, (size_t)(at - s->bytes), &byte);
    return lra_fail(s->e, "'%s', line %lld, byte %zu: %s", s->name, (long long)line, byte, what);
}

/* Skips the separator or the line end after a field. */
static int end_field(scanner *s, field *f)
{
    f->last = true;
    if (s->at == s->end) return 0;
    char c = *s->at;
    if (c != s->separator && c != '\r' && c != '\n')
        return fail_at(s, s->at,
                       "text after the closing quote of a field; a quote inside a quoted field is "
                       "written twice");
    s->at++;
    if (c == s->separator)
        f->last = false;
    else if (c == '\r' && s->at < s->end && *s->at == '\n')
        s->at++;
    return 0;
}

static int next_field(scanner *s, field *f)
{
    const char *p = s->at, *end = s->end;
    *f = (field){.p = p};
    if (p == end || *p != '"') {
        const char separator = s->separator;
        while (p < end && *p != separator && *p != '\n' && *p != '\r') p++;
        f->n = (size_t)(p - f->p);
        s->at = p;
        return end_field(s, f);
    }
    const char *quote = ++p;
    f->p = p;
    for (;; quote += 2, f->doubled++) {
        quote = quote < end ? memchr(quote, '"', (size_t)(end - quote)) : NULL;
        if (!quote)
            return fail_at(
                s, p - 1,
                s->separator == '\t'
                    ? "a quoted field begins here and does not end; a tsv without quoting "
                      "is converted by pandas.read_csv('IN', sep='\\t', quoting=3)"
                      ".to_csv('OUT.csv', index=False)"
                    : "a quoted field begins here and does not end");
        if (quote + 1 == end || quote[1] != '"') break;
    }
    f->n = (size_t)(quote - p);
    s->at = quote + 1;
    return end_field(s, f);
}

static void skip_empty_lines(scanner *s)
{
    while (s->at < s->end && (*s->at == '\n' || *s->at == '\r')) s->at++;
}

/* Copies the text of a field, with doubled quotes as one quote; returns the number of bytes
 * written, n - doubled. */
static size_t copy_field(const field *f, char *to)
{
    if (f->doubled == 0) {
        memcpy(to, f->p, f->n);
        return f->n;
    }
    size_t n = 0;
    for (size_t i = 0; i < f->n; i++) {
        to[n++] = f->p[i];
        if (f->p[i] == '"') i++;
    }
    return n;
}

/* ---- the line of names ----------------------------------------------------------------------- */

/* Returns true if numbers in the first line are column names. pandas names columns 0, 1, 2, ...
 * that have no names; any other numbers are data. */
static bool numbers_are_names(const lra_data_columns *c)
{
    int next = 0, named = 0;
    for (int i = 0; i < c->n_columns; i++) {
        double v;
        const char *name = c->column[i].name;
        if (!*name) continue;
        named++;
        if (!lra_read_number(name, strlen(name), &v) || v != (double)next) return false;
        next++;
    }
    return named > 1 || (named == 1 && c->n_columns > 1 && !*c->column[0].name);
}

static int check_heads(const lra_data_columns *c, const char *name, lra_err *e)
{
    double v;
    bool numbered = numbers_are_names(c);
    for (int i = 0; i < c->n_columns; i++) {
        const char *head = c->column[i].name;
        if (!numbered && *head && lra_read_number(head, strlen(head), &v))
            return lra_fail(e,
                            "'%s' has no line of column names: line 1 has '%s' in column %d; add a "
                            "first line such as text,label",
                            name, lra_quote_text(head).text, i + 1);
        if (strlen(head) > LONGEST_NAME || strchr(head, '\n'))
            return lra_fail(e,
                            "'%s' has no line of column names: column %d of line 1 is '%s'; add a "
                            "first line such as text,label",
                            name, i + 1, lra_quote_text(head).text);
    }
    return 0;
}

/* Fails if the fields seem to have another separator: the file then has one column, whose name
 * contains that separator. */
static int check_separator(const lra_data_columns *c, char separator, const char *name, lra_err *e)
{
    static const char others[] = "\t;|,";
    const char *head = c->column[0].name;
    for (const char *other = others; c->n_columns == 1 && *other; other++) {
        if (*other == separator || !strchr(head, *other)) continue;
        const char *shown = *other == '\t' ? "a tab" : *other == ',' ? "','" : "';' or '|'";
        return lra_fail(e,
                        "'%s' has one column '%s'; its fields seem to be separated by %s, expected "
                        "%s%s",
                        name, lra_quote_text(head).text, shown, separator == '\t' ? "a tab" : "','",
                        *other == '\t'  ? " (name the file .tsv)"
                        : *other == ',' ? " (name the file .csv)"
                                        : "; save it with commas and decimal points");
    }
    return 0;
}

static int by_name(const void *a, const void *b)
{
    const lra_data_column *p = *(const lra_data_column *const *)a,
                          *q = *(const lra_data_column *const *)b;
    int order = strcmp(p->name, q->name);
    return order ? order : p < q ? -1 : p > q;
}

static int check_names(const lra_data_columns *c, const char *name, lra_err *e)
{
    int rc = 0;
    const lra_data_column **sorted = lra_alloc_array((size_t)c->n_columns, sizeof *sorted);
    for (int i = 0; i < c->n_columns; i++) sorted[i] = &c->column[i];
    qsort(sorted, (size_t)c->n_columns, sizeof *sorted, by_name);
    for (int i = 0; i + 1 < c->n_columns && rc == 0; i++) {
        if (strcmp(sorted[i]->name, sorted[i + 1]->name) != 0) continue;
        rc = lra_fail(e, "'%s': columns %d and %d are both named '%s'; rename one", name,
                      (int)(sorted[i] - c->column) + 1, (int)(sorted[i + 1] - c->column) + 1,
                      lra_quote_text(sorted[i]->name).text);
    }
    lra_free(sorted);
    return rc;
}

static char *field_text(const field *f)
{
    char *text = lra_alloc(f->n - f->doubled + 1);
    size_t n = copy_field(f, text);
    while (n > 0 && text[n - 1] == ' ') n--;
    size_t from = 0;
    while (from < n && text[from] == ' ') from++;
    memmove(text, text + from, n - from);
    text[n - from] = 0;
    return text;
}

/* Reads the names of the columns, without blanks around them. */
static int read_heads(scanner *s, lra_data_columns *c)
{
    int64_t capacity = 0;
    field f;
    do {
        if (next_field(s, &f) != 0) return LRA_FAILED;
        if (c->n_columns == LRA_COLUMNS_MAX)
            return lra_fail(s->e, "'%s' has more than %d columns", s->name, LRA_COLUMNS_MAX);
        if (c->n_columns == capacity) {
            capacity = capacity ? 2 * capacity : 16;
            c->column = lra_resize(c->column, (size_t)capacity * sizeof *c->column);
        }
        c->column[c->n_columns++] = (lra_data_column){.name = field_text(&f)};
    } while (!f.last);
    if (check_heads(c, s->name, s->e) != 0 || check_separator(c, s->separator, s->name, s->e) != 0)
        return LRA_FAILED;
    for (int i = 0; i < c->n_columns; i++) {
        if (*c->column[i].name) continue;
        lra_free(c->column[i].name);
        c->column[i].name = lra_format("column %d", i + 1);
    }
    return check_names(c, s->name, s->e);
}

/* ---- first pass ------------------------------------------------------------------------------ */

typedef struct {
    int64_t bytes, numbers, empty;
    bool text; /* true: at least one field is not a number */
} counts;

/* Returns true for missing numbers as pandas and R write them. */
static bool is_missing(const char *p, size_t n)
{
    static const char *const words[] = {"NA", "NaN", "nan", "null", "NULL", "None"};
    for (size_t i = 0; n >= 2 && n <= 4 && i < sizeof words / sizeof *words; i++)
        if (strlen(words[i]) == n && memcmp(words[i], p, n) == 0) return true;
    return false;
}

static void count_field(counts *k, const field *f)
{
    double v;
    k->bytes += (int64_t)(f->n - f->doubled);
    if (f->n == 0) {
        k->empty++;
    } else if (!k->text && !is_missing(f->p, f->n)) {
        if (f->doubled || !lra_read_number(f->p, f->n, &v))
            k->text = true;
        else if (!isnan(v))
            k->numbers++;
    }
}

static int fail_count(const scanner *s, const char *at, int64_t found, int expected)
{
    int64_t line = lra_line_of(s->bytes, (size_t)(at - s->bytes), NULL);
    return lra_fail(
        s->e,
        "'%s', line %lld: %lld field%s, the line of names has %d; a field that contains '%s' or a "
        "line end is written in quotes",
        s->name, (long long)line, (long long)found, found == 1 ? "" : "s", expected,
        s->separator == '\t' ? "\\t" : (const char[]){s->separator, 0});
}

static int count_records(scanner *s, lra_data_columns *c, counts *k)
{
    for (skip_empty_lines(s); s->at < s->end; skip_empty_lines(s), c->n++) {
        const char *from = s->at;
        field f;
        int64_t i = 0;
        do {
            if (next_field(s, &f) != 0) return LRA_FAILED;
            if (i < c->n_columns) count_field(&k[i], &f);
            i++;
        } while (!f.last);
        if (i != c->n_columns) return fail_count(s, from, i, c->n_columns);
    }
    if (c->n == 0) return lra_fail(s->e, "'%s' has a line of names and no examples", s->name);
    return 0;
}

/* ---- second pass ----------------------------------------------------------------------------- */

static bool is_listed(const char *const *names, const char *name)
{
    for (; names && *names; names++)
        if (strcmp(*names, name) == 0) return true;
    return false;
}

static int allocate(lra_data_columns *c, counts *k, const char *const *as_text, const char *name,
                    lra_err *e)
{
    for (int i = 0; i < c->n_columns; i++) {
        lra_data_column *column = &c->column[i];
        bool text = k[i].text || is_listed(as_text, column->name) ||
                    (k[i].numbers == 0 && k[i].empty < c->n);
        column->kind = text ? LRA_DATA_COLUMN_TEXT : LRA_DATA_COLUMN_NUMBER;
        column->integral = !text;
        column->missing = text ? k[i].empty : c->n - k[i].numbers;
        if (text) {
            column->start = lra_try_alloc((size_t)(c->n + 1) * sizeof *column->start, name, e);
            column->text = column->start ? lra_try_alloc((size_t)k[i].bytes + 1, name, e) : NULL;
        } else {
            column->number = lra_try_alloc((size_t)c->n * sizeof *column->number, name, e);
        }
        if (!(text ? (void *)column->text : (void *)column->number)) return LRA_FAILED;
        if (text) column->start[0] = 0;
    }
    return 0;
}

static void fill_field(lra_data_column *c, int64_t row, const field *f)
{
    if (c->kind == LRA_DATA_COLUMN_TEXT) {
        c->start[row + 1] = c->start[row] + (int64_t)copy_field(f, c->text + c->start[row]);
        return;
    }
    double v = (double)NAN;
    if (!is_missing(f->p, f->n)) (void)lra_read_number(f->p, f->n, &v);
    c->number[row] = v;
    if (!isnan(v) && !(isfinite(v) && floor(v) == v)) c->integral = false;
}

static void fill_records(scanner *s, lra_data_columns *c)
{
    for (int64_t row = 0; row < c->n; row++) {
        skip_empty_lines(s);
        for (int i = 0; i < c->n_columns; i++) {
            field f;
            if (next_field(s, &f) != 0) LRA_BUG("the second pass differs from the first");
            fill_field(&c->column[i], row, &f);
        }
    }
}

/* ---- the file -------------------------------------------------------------------------------- */

/* Reads the separator from a first line 'sep=X', an extension of Excel. */
static void take_separator_line(scanner *s)
{
    size_t n = (size_t)(s->end - s->at);
    if (n < 6 || memcmp(s->at, "sep=", 4) != 0 || (s->at[5] != '\r' && s->at[5] != '\n')) return;
    if (!strchr(",;\t|", s->at[4])) return;
    s->separator = s->at[4];
    s->at += 5;
}

static int read_records(scanner *s, const char *const *as_text, lra_data_columns *out)
{
    take_separator_line(s);
    skip_empty_lines(s);
    if (s->at == s->end) return lra_fail(s->e, "'%s' is empty", s->name);
    if (read_heads(s, out) != 0) return LRA_FAILED;
    scanner second = *s;
    counts *k = lra_alloc_array((size_t)out->n_columns, sizeof *k);
    int rc = count_records(s, out, k);
    if (rc == 0) rc = allocate(out, k, as_text, s->name, s->e);
    if (rc == 0) fill_records(&second, out);
    lra_free(k);
    return rc;
}

int lra_delimited_parse(const char *bytes, size_t n, const char *name, char separator,
                        const char *const *as_text, lra_data_columns *out, lra_err *e)
{
    *out = (lra_data_columns){0};
    if (lra_expect_utf8(bytes, n, name, e) != 0) return LRA_FAILED;
    size_t skip = lra_bom_size(bytes, n);
    scanner s = {bytes, bytes + skip, bytes + n, name, separator, e};
    const char *zero = n ? memchr(bytes, 0, n) : NULL;
    if (zero && n > 3 && zero < bytes + 2 && (bytes[2] == 0 || bytes[3] == 0))
        return lra_fail(e,
                        "'%s' is UTF-16 text, expected UTF-8; convert it by 'iconv -f %s -t UTF-8'",
                        name, zero == bytes ? "UTF-16BE" : "UTF-16LE");
    if (zero) return fail_at(&s, zero, "a NUL byte; the file is not UTF-8 text");
    if (lra_check_utf8_lines(bytes, n, name, e) != 0) return LRA_FAILED;
    int rc = read_records(&s, as_text, out);
    if (rc != 0) lra_data_columns_free(out);
    return rc;
}
