/* Reads JSON lines. jansson parses each line; its values are appended to growing columns. Missing
 * values are added when the next value of the column arrives, or at the end. */
#include "datasets/formats/json_lines.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include <jansson.h>

#include "datasets/formats/bom.h"
#include "datasets/formats/column_parts.h"
#include "kernels/base/core/mem.h"

enum { LONGEST_LINE = 64 << 20, WIDEST = 1 << 20, MOST_CELLS = 1 << 27 };

/* A column to which values are appended. */
typedef struct {
    lra_data_column c;
    /* true: c.kind is set; false: so far all values of the column were null or [] */
    bool known;
    bool lists;        /* true: a value was a list, possibly an empty one */
    int64_t line;      /* line that determined the kind, or had the first list */
    int64_t rows;      /* number of rows filled so far */
    int64_t used;      /* used bytes of text, or used time steps */
    int64_t room_rows; /* room_rows, room_used: capacities in rows, and in bytes or time steps */
    int64_t room_used;
} growing;

typedef struct {
    const char *name;
    size_t n_bytes; /* size of the file in bytes */
    int64_t line;   /* number of the current line, from 1 */
    int64_t row;
    growing *column;
    int n_columns, capacity;
    json_t *index; /* maps a column name to its index */
    lra_err *e;
} reader;

/* ---- memory ---------------------------------------------------------------------------------- */

static void free_column(lra_data_column *c)
{
    lra_free_large(c->start);
    lra_free_large(c->text);
    lra_free_large(c->number);
    lra_free_large(c->id);
    lra_free_large(c->value);
    c->start = NULL, c->text = NULL, c->number = NULL, c->id = NULL, c->value = NULL;
}

/* Marks a column as REFUSED and frees its memory; takes ownership of the reason. */
static int refuse(growing *g, char *reason)
{
    free_column(&g->c);
    g->known = true;
    g->c.kind = LRA_DATA_COLUMN_REFUSED;
    g->c.reason = reason;
    return 0;
}

static int room_for_rows(const reader *r, growing *g, int64_t rows)
{
    if (g->c.kind == LRA_DATA_COLUMN_NUMBER) {
        double *number = lra_grow(g->c.number, &g->room_rows, g->rows, rows, sizeof *number,
                                  r->name, r->e);
        if (number) g->c.number = number;
        return number ? 0 : LRA_FAILED;
    }
    bool first = !g->c.start;
    int64_t *start = lra_grow(g->c.start, &g->room_rows, first ? 0 : g->rows + 1, rows + 1,
                              sizeof *start, r->name, r->e);
    if (!start) return LRA_FAILED;
    if (first) start[0] = 0;
    g->c.start = start;
    return 0;
}

static int room_for(const reader *r, growing *g, int64_t more)
{
    lra_data_column *c = &g->c;
    void *old = c->kind == LRA_DATA_COLUMN_TEXT  ? (void *)c->text
                : c->kind == LRA_DATA_COLUMN_IDS ? (void *)c->id
                                                 : (void *)c->value;
    size_t size = c->kind == LRA_DATA_COLUMN_TEXT  ? 1
                  : c->kind == LRA_DATA_COLUMN_IDS ? sizeof *c->id
                                                   : (size_t)c->width * sizeof *c->value;
    void *p = lra_grow(old, &g->room_used, g->used, g->used + more, size, r->name, r->e);
    if (!p) return LRA_FAILED;
    if (c->kind == LRA_DATA_COLUMN_TEXT)
        c->text = p;
    else if (c->kind == LRA_DATA_COLUMN_IDS)
        c->id = p;
    else
        c->value = p;
    return 0;
}

/* Appends missing values until the column has `row` rows. */
static int fill(const reader *r, growing *g, int64_t row)
{
    if (g->c.kind == LRA_DATA_COLUMN_REFUSED || row == g->rows) return 0;
    if (room_for_rows(r, g, row) != 0) return LRA_FAILED;
    g->c.missing += row - g->rows;
    for (; g->rows < row; g->rows++)
        if (g->c.kind == LRA_DATA_COLUMN_NUMBER)
            g->c.number[g->rows] = (double)NAN;
        else
            g->c.start[g->rows + 1] = g->used;
    return 0;
}

/* ---- kinds ----------------------------------------------------------------------------------- */

/* Contents of a list: number of time steps; numbers per time step (0: unknown); whether time steps
 * are lists; whether all numbers are integers. */
typedef struct {
    int64_t steps;
    int width;
    bool nested, integers;
    int64_t bad; /* number (from 1) of the first element that does not fit; 0: all fit */
} extent;

static bool is_number(const json_t *v)
{
    return json_is_number(v) || json_is_boolean(v);
}

/* Returns true if an element is a valid time step: a number or null, or a list of `width` of
 * these. */
static bool step_fits(const json_t *v, extent *x)
{
    if (!json_is_array(v)) {
        if (!json_is_real(v) && !json_is_null(v)) return is_number(v);
        x->integers = false;
        return true;
    }
    size_t n = json_array_size(v);
    if (n != (size_t)x->width) return false;
    for (size_t i = 0; i < n; i++) {
        const json_t *number = json_array_get(v, i);
        if (!is_number(number) && !json_is_null(number)) return false;
    }
    return true;
}

static extent measure(const json_t *list)
{
    extent x = {.steps = (int64_t)json_array_size(list), .integers = true};
    const json_t *first = json_array_get(list, 0);
    x.nested = json_is_array(first);
    size_t width = x.nested ? json_array_size(first) : 1;
    if (x.nested) x.integers = false;
    if (width == 0 || width > WIDEST) x.bad = 1;
    x.width = x.bad ? 0 : (int)width;
    for (int64_t i = 0; i < x.steps && x.bad == 0; i++) {
        const json_t *step = json_array_get(list, (size_t)i);
        if (json_is_array(step) != x.nested || !step_fits(step, &x)) x.bad = i + 1;
    }
    return x;
}

static char *list_reason(const reader *r, const json_t *list, const extent *x)
{
    const json_t *step = json_array_get(list, (size_t)x->bad - 1);
    if (json_is_object(step) || json_is_string(step))
        return lra_format("line %lld: a list of %s, expected numbers", (long long)r->line,
                          json_is_string(step) ? "text" : "objects");
    return lra_format("line %lld: step %lld of the list differs from the first, expected numbers, "
                      "or lists of as many numbers",
                      (long long)r->line, (long long)x->bad);
}

/* Converts a column of lists of integers to lists of reals, when its first list of reals occurs. */
static int widen(const reader *r, growing *g)
{
    float *value = lra_try_alloc((size_t)g->room_used * sizeof *value, r->name, r->e);
    if (!value) return LRA_FAILED;
    for (int64_t i = 0; i < g->used; i++) value[i] = (float)g->c.id[i];
    lra_free_large(g->c.id);
    g->c.id = NULL;
    g->c.value = value;
    g->c.kind = LRA_DATA_COLUMN_VALUES;
    g->c.width = 1;
    return 0;
}

/* Sets the kind of a column from its first value. For later values, refuses the column if the kind
 * differs. */
static int agree(const reader *r, growing *g, lra_data_column_kind kind, int width)
{
    if (!g->known && (!g->lists || kind == LRA_DATA_COLUMN_IDS || kind == LRA_DATA_COLUMN_VALUES)) {
        g->known = true;
        g->line = r->line;
        g->c.kind = kind;
        g->c.width = kind == LRA_DATA_COLUMN_VALUES ? width : 0;
        g->c.integral = kind == LRA_DATA_COLUMN_NUMBER;
        return 0;
    }
    lra_data_column_kind before = g->known ? g->c.kind : LRA_DATA_COLUMN_IDS;
    if (before == LRA_DATA_COLUMN_IDS && kind == LRA_DATA_COLUMN_VALUES && width == 1)
        return widen(r, g);
    if (before == LRA_DATA_COLUMN_VALUES && kind == LRA_DATA_COLUMN_IDS && g->c.width == 1)
        return 0;
    if (before == kind && (kind != LRA_DATA_COLUMN_VALUES || width == g->c.width)) return 0;
    if (kind == LRA_DATA_COLUMN_VALUES && before == LRA_DATA_COLUMN_VALUES)
        return refuse(g, lra_format("line %lld has %d numbers in each step, line %lld has %d",
                                    (long long)r->line, width, (long long)g->line, g->c.width));
    return refuse(g, lra_format("line %lld is %s, line %lld %s", (long long)r->line,
                                lra_data_column_kind_text(kind), (long long)g->line,
                                lra_data_column_kind_text(before)));
}

/* ---- values ---------------------------------------------------------------------------------- */

static double real_of(const json_t *v)
{
    if (json_is_boolean(v)) return json_is_true(v);
    return json_is_number(v) ? json_number_value(v) : (double)NAN;
}

static int64_t integer_of(const json_t *v)
{
    return json_is_boolean(v) ? json_is_true(v) : (int64_t)json_integer_value(v);
}

static int put_text(const reader *r, growing *g, const json_t *v)
{
    int64_t n = (int64_t)json_string_length(v);
    if (room_for(r, g, n) != 0) return LRA_FAILED;
    if (n) memcpy(g->c.text + g->used, json_string_value(v), (size_t)n);
    g->used += n;
    return 0;
}

static int put_list(const reader *r, growing *g, const json_t *list)
{
    int64_t n = (int64_t)json_array_size(list);
    if (room_for(r, g, n) != 0) return LRA_FAILED;
    for (int64_t i = 0; i < n; i++, g->used++) {
        const json_t *step = json_array_get(list, (size_t)i);
        if (g->c.kind == LRA_DATA_COLUMN_IDS) {
            g->c.id[g->used] = integer_of(step);
            continue;
        }
        float *to = g->c.value + g->used * g->c.width;
        for (int k = 0; k < g->c.width; k++)
            to[k] = (float)real_of(json_is_array(step) ? json_array_get(step, (size_t)k) : step);
    }
    return 0;
}

/* Appends a value, which has the column's kind, as the current row; earlier rows without a value
 * become missing. */
static int put(const reader *r, growing *g, const json_t *v)
{
    if (fill(r, g, r->row) != 0 || room_for_rows(r, g, r->row + 1) != 0) return LRA_FAILED;
    int64_t before = g->used;
    if (g->c.kind == LRA_DATA_COLUMN_NUMBER) {
        double number = real_of(v);
        g->c.number[r->row] = number;
        if (floor(number) != number) g->c.integral = false;
        g->rows++;
        return 0;
    }
    if ((g->c.kind == LRA_DATA_COLUMN_TEXT ? put_text(r, g, v) : put_list(r, g, v)) != 0)
        return LRA_FAILED;
    g->c.start[++g->rows] = g->used;
    g->c.missing += g->used == before;
    return 0;
}

static int take_list(const reader *r, growing *g, const json_t *list)
{
    if (json_array_size(list) == 0) { /* an empty list does not determine the kind of the column */
        if (g->known && g->c.kind != LRA_DATA_COLUMN_IDS && g->c.kind != LRA_DATA_COLUMN_VALUES)
            return agree(r, g, LRA_DATA_COLUMN_IDS, 1);
        if (!g->known && !g->lists) g->lists = true, g->line = r->line;
        return 0;
    }
    extent x = measure(list);
    if (x.bad) return refuse(g, list_reason(r, list, &x));
    lra_data_column_kind kind = x.integers ? LRA_DATA_COLUMN_IDS : LRA_DATA_COLUMN_VALUES;
    if (agree(r, g, kind, x.width) != 0) return LRA_FAILED;
    return g->c.kind == LRA_DATA_COLUMN_REFUSED ? 0 : put(r, g, list);
}

static int take_value(const reader *r, growing *g, const json_t *v)
{
    if (g->c.kind == LRA_DATA_COLUMN_REFUSED || json_is_null(v)) return 0;
    if (json_is_array(v)) return take_list(r, g, v);
    if (json_is_object(v))
        return refuse(g, lra_format("line %lld: an object; expected text, a number or a list",
                                    (long long)r->line));
    lra_data_column_kind kind = json_is_string(v) ? LRA_DATA_COLUMN_TEXT : LRA_DATA_COLUMN_NUMBER;
    if (agree(r, g, kind, 1) != 0) return LRA_FAILED;
    return g->c.kind == LRA_DATA_COLUMN_REFUSED ? 0 : put(r, g, v);
}

/* ---- lines ----------------------------------------------------------------------------------- */

/* Fails if almost all values are missing: these take memory, too, so that a small file could need a
 * large multiple of its size. */
static int check_cells(const reader *r)
{
    const double cells = (double)(r->row + 1) * r->n_columns;
    if (cells < MOST_CELLS || cells < 16 * (double)r->n_bytes) return 0;
    return lra_fail(r->e, "'%s', line %lld: %d columns and %lld examples, most values are missing",
                    r->name, (long long)r->line, r->n_columns, (long long)r->row + 1);
}

/* Returns the column of a key, adding it if it is new. guess: its index if this line has the same
 * keys as the previous line. */
static growing *find_column(reader *r, const char *key, int guess)
{
    if (guess < r->n_columns && strcmp(r->column[guess].c.name, key) == 0) return &r->column[guess];
    const json_t *number = json_object_get(r->index, key);
    if (number) return &r->column[json_integer_value(number)];
    if (r->n_columns == LRA_COLUMNS_MAX) {
        lra_fail(r->e, "'%s' has more than %d columns", r->name, LRA_COLUMNS_MAX);
        return NULL;
    }
    if (json_object_set_new(r->index, key, json_integer(r->n_columns)) != 0) {
        lra_fail(r->e, "'%s', line %lld: out of memory for the key '%s'", r->name,
                 (long long)r->line, lra_quote_text(key).text);
        return NULL;
    }
    if (r->n_columns == r->capacity) {
        r->capacity = r->capacity ? 2 * r->capacity : 16;
        r->column = lra_resize(r->column, (size_t)r->capacity * sizeof *r->column);
    }
    growing *g = &r->column[r->n_columns++];
    *g = (growing){.c.name = lra_copy_text(key)};
    return g;
}

static int take_object(reader *r, json_t *object)
{
    const char *key;
    json_t *value;
    int guess = 0;
    json_object_foreach(object, key, value)
    {
        growing *g = find_column(r, key, guess);
        if (!g || check_cells(r) != 0) return LRA_FAILED;
        guess = (int)(g - r->column) + 1;
        if (take_value(r, g, value) != 0) return LRA_FAILED;
    }
    int rc = check_cells(r); /* needed for a line without keys, for which the loop checks nothing */
    r->row++;
    return rc;
}

/* Returns true if the bytes contain the word; only used for advice in messages. */
static bool holds(const char *p, size_t n, const char *word)
{
    size_t length = strlen(word);
    for (size_t i = 0; i + length <= n; i++)
        if (memcmp(p + i, word, length) == 0) return true;
    return false;
}

static int fail_json(const reader *r, const char *line, size_t n, const json_error_t *why)
{
    const char *advice = "";
    lra_quote text = lra_quote_text(why->text);
    switch (json_error_code(why)) {
    case json_error_numeric_overflow:
        if (strstr(text.text, "integer")) advice = "; integers are at most 2^63 - 1";
        break;
    case json_error_premature_end_of_input:
        advice = "; expected one complete object per line";
        break;
    case json_error_end_of_input_expected:
        advice = "; expected one object per line, and nothing after it";
        break;
    case json_error_invalid_syntax:
        if (holds(line, n, "NaN") || holds(line, n, "Infinity"))
            advice = "; JSON has no NaN or Infinity: write null";
        else if (holds(line, n, "{'"))
            advice = "; JSON has double quotes";
        break;
    default: break;
    }
    return lra_fail(r->e, "'%s', line %lld, byte %d: %s%s", r->name, (long long)r->line,
                    why->position, text.text, advice);
}

static int read_line(reader *r, const char *line, size_t n)
{
    json_error_t why;
    if (n > LONGEST_LINE)
        return lra_fail(r->e, "'%s', line %lld has %zu bytes, at most %d are accepted", r->name,
                        (long long)r->line, n, LONGEST_LINE);
    json_t *root = json_loadb(line, n, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &why);
    if (!root) return fail_json(r, line, n, &why);
    int rc;
    if (json_is_object(root))
        rc = take_object(r, root);
    else if (json_is_array(root) && r->row == 0)
        rc = lra_fail(r->e,
                      "'%s' is a JSON array, expected one object per line; convert it by 'jq -c "
                      "\".[]\"' or pandas.read_json(FILE).to_json(OTHER, orient='records', "
                      "lines=True)",
                      r->name);
    else
        rc = lra_fail(r->e, "'%s', line %lld is no object, expected {\"NAME\": VALUE, ...}",
                      r->name, (long long)r->line);
    json_decref(root);
    return rc;
}

/* ---- the file -------------------------------------------------------------------------------- */

static bool is_blank(const char *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (p[i] != ' ' && p[i] != '\t' && p[i] != '\r') return false;
    return true;
}

/* Fails if the first line is the start of an array or object that extends over several lines. */
static int check_first(const reader *r, const char *line, size_t n, bool more)
{
    while (n > 0 && (*line == ' ' || *line == '\t')) line++, n--;
    while (n > 0 && is_blank(line + n - 1, 1)) n--;
    if (!more || n == 0 || (line[n - 1] != '[' && line[n - 1] != '{' && line[n - 1] != ','))
        return 0;
    if ((*line != '[' && *line != '{') || holds(line, n, "},")) return 0;
    return lra_fail(r->e,
                    "'%s' is %s over several lines, expected one object per line; convert "
                    "it by 'jq -c %s'",
                    r->name, *line == '[' ? "a JSON array" : "a JSON object",
                    *line == '[' ? "\".[]\"" : ".");
}

static int read_lines(reader *r, const char *at, const char *end)
{
    for (const char *next; at < end; at = next) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        next = stop ? stop + 1 : end;
        size_t n = (size_t)((stop ? stop : end) - at);
        r->line++;
        if (is_blank(at, n)) continue;
        if (r->row == 0 && check_first(r, at, n, next < end) != 0) return LRA_FAILED;
        if (read_line(r, at, n) != 0) return LRA_FAILED;
    }
    return r->row ? 0 : lra_fail(r->e, "'%s' is empty", r->name);
}

static int finish_column(const reader *r, growing *g)
{
    if (!g->known) { /* all values of the column are missing */
        g->c.kind = g->lists ? LRA_DATA_COLUMN_IDS : LRA_DATA_COLUMN_NUMBER;
        g->c.integral = !g->lists;
    }
    if (fill(r, g, r->row) != 0) return LRA_FAILED;
    if (g->c.kind == LRA_DATA_COLUMN_REFUSED || g->c.kind == LRA_DATA_COLUMN_NUMBER) return 0;
    return room_for(r, g, 0); /* allocates the arrays even if the column is empty */
}

static int finish(reader *r, lra_data_columns *out)
{
    if (r->n_columns == 0) return lra_fail(r->e, "'%s': its objects have no keys", r->name);
    for (int i = 0; i < r->n_columns && r->row == 1; i++)
        if (r->column[i].c.kind == LRA_DATA_COLUMN_REFUSED) /* the default format of pandas: one
                                                             * object of columns */
            return lra_fail(r->e,
                            "'%s' is one object, expected one per line and example; convert it "
                            "by pandas.read_json('IN').to_json('OUT.jsonl', "
                            "orient='records', lines=True)",
                            r->name);
    for (int i = 0; i < r->n_columns; i++)
        if (finish_column(r, &r->column[i]) != 0) return LRA_FAILED;
    out->n = r->row;
    out->column = lra_alloc_array((size_t)r->n_columns, sizeof *out->column);
    out->n_columns = r->n_columns;
    for (int i = 0; i < r->n_columns; i++) {
        out->column[i] = r->column[i].c;
        r->column[i].c = (lra_data_column){0};
    }
    return 0;
}

int lra_json_lines_parse(const char *bytes, size_t n, const char *name, lra_data_columns *out,
                         lra_err *e)
{
    *out = (lra_data_columns){0};
    if (lra_expect_utf8(bytes, n, name, e) != 0) return LRA_FAILED;
    if (lra_check_utf8_lines(bytes, n, name, e) != 0) return LRA_FAILED;
    reader r = {.name = name, .n_bytes = n, .index = json_object(), .e = e};
    int rc = read_lines(&r, bytes + lra_bom_size(bytes, n), bytes + n);
    if (rc == 0) rc = finish(&r, out);
    for (int i = 0; i < r.n_columns; i++) {
        free_column(&r.column[i].c);
        lra_free(r.column[i].c.name);
        lra_free(r.column[i].c.reason);
    }
    lra_free(r.column);
    json_decref(r.index);
    return rc;
}
