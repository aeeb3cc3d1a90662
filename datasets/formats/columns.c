/* Finds, converts and frees columns. */
#include "datasets/formats/columns.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "datasets/formats/column_parts.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/core/nearest.h"

const char *lra_data_column_kind_text(lra_data_column_kind kind)
{
    switch (kind) {
    case LRA_DATA_COLUMN_TEXT: return "text";
    case LRA_DATA_COLUMN_NUMBER: return "a number";
    case LRA_DATA_COLUMN_IDS: return "a list of integers";
    case LRA_DATA_COLUMN_VALUES: return "a list of numbers";
    case LRA_DATA_COLUMN_REFUSED: break;
    }
    return "nothing that can be used";
}

void lra_data_columns_free(lra_data_columns *c)
{
    for (int i = 0; i < c->n_columns; i++) {
        lra_data_column *column = &c->column[i];
        lra_free(column->name);
        lra_free(column->reason);
        lra_free_large(column->start);
        lra_free_large(column->text);
        lra_free_large(column->number);
        lra_free_large(column->id);
        lra_free_large(column->value);
    }
    lra_free(c->column);
    *c = (lra_data_columns){0};
}

/* ---- by name --------------------------------------------------------------------------------- */

static int fail_name(const lra_data_columns *c, const char *name, const char *path, lra_err *e)
{
    enum { SHOWN = 12 };
    lra_text list = {0};
    const char **names = lra_alloc_array((size_t)c->n_columns + 1, sizeof *names);
    for (int i = 0; i < c->n_columns; i++) {
        names[i] = c->column[i].name;
        if (i < SHOWN) lra_text_add(&list, "%s%s", i ? ", " : "", lra_quote_text(names[i]).text);
    }
    if (c->n_columns > SHOWN) lra_text_add(&list, " and %d more", c->n_columns - SHOWN);
    const char *nearest = lra_nearest(name, c->n_columns, names);
    lra_fail(e, "'%s' has no column '%s'%s%s%s; its columns are: %s", path,
             lra_quote_text(name).text, nearest ? " (did you mean '" : "",
             nearest ? lra_quote_text(nearest).text : "", nearest ? "'?)" : "", list.s);
    lra_text_free(&list);
    lra_free(names);
    return LRA_FAILED;
}

static lra_data_column *find(const lra_data_columns *c, const char *name, const char *path,
                             lra_err *e)
{
    for (int i = 0; i < c->n_columns; i++) {
        lra_data_column *column = &c->column[i];
        if (strcmp(column->name, name) != 0) continue;
        if (column->kind != LRA_DATA_COLUMN_REFUSED) return column;
        lra_fail(e, "'%s', column '%s': %s", path, lra_quote_text(name).text, column->reason);
        return NULL;
    }
    fail_name(c, name, path, e);
    return NULL;
}

const lra_data_column *lra_data_columns_find(const lra_data_columns *c, const char *name,
                                             const char *path, lra_err *e)
{
    return find(c, name, path, e);
}

/* ---- conversion ------------------------------------------------------------------------------ */

/* every integer up to this number is exact in float32 */
#define LARGEST_EXACT 16777216.0f

static int fail_example(const lra_data_column *c, const char *path, int64_t row, const char *what,
                        lra_err *e)
{
    return lra_fail(e, "'%s', column '%s', example %lld: %s", path, lra_quote_text(c->name).text,
                    (long long)row + 1, what);
}

static int values_to_ids(lra_data_column *c, const char *path, int64_t n, lra_err *e)
{
    if (c->width != 1)
        return lra_fail(e, "'%s', column '%s' has %d numbers in each step, expected integers", path,
                        lra_quote_text(c->name).text, c->width);
    int64_t *id = lra_try_alloc((size_t)(c->start[n] + 1) * sizeof *id, path, e);
    if (!id) return LRA_FAILED;
    for (int64_t row = 0; row < n; row++)
        for (int64_t i = c->start[row]; i < c->start[row + 1]; i++) {
            float v = c->value[i];
            if (!(v > -LARGEST_EXACT && v < LARGEST_EXACT && floorf(v) == v)) {
                char what[64];
                snprintf(what, sizeof what, "%g is not an integer below 2^24", (double)v);
                lra_free_large(id);
                return fail_example(c, path, row, what, e);
            }
            id[i] = (int64_t)v;
        }
    lra_free_large(c->value);
    c->value = NULL, c->width = 0;
    c->id = id;
    c->kind = LRA_DATA_COLUMN_IDS;
    return 0;
}

static int ids_to_values(lra_data_column *c, const char *path, int64_t n, lra_err *e)
{
    float *value = lra_try_alloc((size_t)(c->start[n] + 1) * sizeof *value, path, e);
    if (!value) return LRA_FAILED;
    for (int64_t i = 0; i < c->start[n]; i++) value[i] = (float)c->id[i];
    lra_free_large(c->id);
    c->id = NULL;
    c->value = value, c->width = 1;
    c->kind = LRA_DATA_COLUMN_VALUES;
    return 0;
}

static bool separates(char c)
{
    return c == ' ' || c == ',' || c == ';' || c == '\t' || c == '\n' || c == '\r';
}

/* Reads numbers separated by blanks, commas or semicolons, in one pair of brackets or none. Returns
 * their number, -1 for any other text. Nullable: to (then only counts). */
static int64_t read_list(const char *p, size_t n, double *to)
{
    while (n > 0 && separates(*p)) p++, n--;
    while (n > 0 && separates(p[n - 1])) n--;
    if (n >= 2 && ((*p == '[' && p[n - 1] == ']') || (*p == '(' && p[n - 1] == ')'))) p++, n -= 2;
    int64_t count = 0;
    for (size_t i = 0; i < n;) {
        size_t from = i;
        double v;
        while (i < n && !separates(p[i])) i++;
        if (i > from) {
            if (!lra_read_number(p + from, i - from, &v)) return -1;
            if (to) to[count] = v;
            count++;
        }
        while (i < n && separates(p[i])) i++;
    }
    return count;
}

/* Returns the index of the first element of each example's list, and the total at the end: (n+1),
 * which the caller frees. *longest: length of the longest list. */
static int64_t *list_starts(const lra_data_column *c, const char *path, int64_t n, int64_t *longest,
                            lra_err *e)
{
    int64_t *start = lra_try_alloc((size_t)(n + 1) * sizeof *start, path, e);
    if (start) start[0] = 0;
    for (int64_t row = 0; start && row < n; row++) {
        const char *p = c->text + c->start[row];
        size_t length = (size_t)(c->start[row + 1] - c->start[row]);
        int64_t steps = read_list(p, length, NULL);
        if (steps < 0) {
            char what[96];
            snprintf(what, sizeof what, "'%s' is no list of numbers",
                     lra_quote_bytes(p, length).text);
            fail_example(c, path, row, what, e);
            lra_free_large(start);
            return NULL;
        }
        start[row + 1] = start[row] + steps;
        if (steps > *longest) *longest = steps;
    }
    return start;
}

/* Writes the list of an example to id or, if that is NULL, to value. Returns false if an id is not
 * an integer. */
static bool put_numbers(const double *list, int64_t n, int64_t *id, float *value)
{
    for (int64_t i = 0; i < n; i++) {
        if (value)
            value[i] = (float)list[i];
        else if (!(fabs(list[i]) <= 9007199254740992.0 && floor(list[i]) == list[i]))
            return false;
        else
            id[i] = (int64_t)list[i];
    }
    return true;
}

static int text_to_list(lra_data_column *c, lra_data_column_kind kind, const char *path, int64_t n,
                        lra_err *e)
{
    int64_t longest = 0, row = 0;
    int64_t *start = list_starts(c, path, n, &longest, e), *id = NULL;
    if (!start) return LRA_FAILED;
    size_t steps = (size_t)start[n] + 1;
    float *value = NULL;
    double *list = lra_try_alloc((size_t)(longest + 1) * sizeof *list, path, e);
    if (list && kind == LRA_DATA_COLUMN_IDS) id = lra_try_alloc(steps * sizeof *id, path, e);
    if (list && kind == LRA_DATA_COLUMN_VALUES)
        value = lra_try_alloc(steps * sizeof *value, path, e);
    int rc = id || value ? 0 : LRA_FAILED;
    for (; row < n && rc == 0; row++) {
        int64_t count = read_list(c->text + c->start[row],
                                  (size_t)(c->start[row + 1] - c->start[row]), list);
        if (!put_numbers(list, count, id ? id + start[row] : NULL,
                         value ? value + start[row] : NULL))
            rc = fail_example(c, path, row, "its list has a number that is not an integer", e);
    }
    lra_free_large(list);
    if (rc != 0) {
        lra_free_large(start);
        lra_free_large(id);
        lra_free_large(value);
        return rc;
    }
    lra_free_large(c->start);
    lra_free_large(c->text);
    c->text = NULL;
    c->start = start, c->id = id, c->value = value;
    c->missing = 0;
    for (row = 0; row < n; row++) c->missing += start[row + 1] == start[row];
    c->kind = kind;
    c->width = kind == LRA_DATA_COLUMN_VALUES;
    return 0;
}

const lra_data_column *lra_data_columns_take(lra_data_columns *c, const char *name,
                                             lra_data_column_kind kind, const char *path,
                                             lra_err *e)
{
    lra_data_column *column = find(c, name, path, e);
    if (!column || column->kind == kind) return column;
    bool lists = kind == LRA_DATA_COLUMN_IDS || kind == LRA_DATA_COLUMN_VALUES;
    int rc;
    if (lists && column->kind == LRA_DATA_COLUMN_TEXT)
        rc = text_to_list(column, kind, path, c->n, e);
    else if (kind == LRA_DATA_COLUMN_IDS && column->kind == LRA_DATA_COLUMN_VALUES)
        rc = values_to_ids(column, path, c->n, e);
    else if (kind == LRA_DATA_COLUMN_VALUES && column->kind == LRA_DATA_COLUMN_IDS)
        rc = ids_to_values(column, path, c->n, e);
    else
        rc = lra_fail(e, "'%s', column '%s' has %s in each example, expected %s", path,
                      lra_quote_text(name).text, lra_data_column_kind_text(column->kind),
                      lra_data_column_kind_text(kind));
    return rc == 0 ? column : NULL;
}
