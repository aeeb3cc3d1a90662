/* Converts arrays to columns. */
#include "datasets/formats/array_columns.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "datasets/formats/column_parts.h"
#include "kernels/base/core/mem.h"

typedef struct {
    const char *path;
    lra_data_columns *out;
    lra_err *e;
} building;

/* ---- shapes ---------------------------------------------------------------------------------- */

static bool is_integer(lra_dtype t)
{
    switch (t) {
    case LRA_DTYPE_BOOL:
    case LRA_DTYPE_U8:
    case LRA_DTYPE_I8:
    case LRA_DTYPE_U16:
    case LRA_DTYPE_I16:
    case LRA_DTYPE_U32:
    case LRA_DTYPE_I32:
    case LRA_DTYPE_U64:
    case LRA_DTYPE_I64: return true;
    default: return false;
    }
}

static bool is_text(lra_dtype t)
{
    return t == LRA_DTYPE_TEXT || t == LRA_DTYPE_BYTES;
}

static int by_size(const void *a, const void *b)
{
    int64_t p = *(const int64_t *)a, q = *(const int64_t *)b;
    return p < q ? -1 : p > q;
}

/* Returns the first dimension that most arrays have, the largest one if there is a tie; -1: there
 * is no array. */
static int64_t count_examples(int n, const lra_array_source *source)
{
    int64_t *dims = lra_alloc_array((size_t)n, sizeof *dims), best = -1;
    int n_dims = 0, most = 0;
    for (int i = 0; i < n; i++)
        if (!source[i].reason && source[i].array.rank > 0) dims[n_dims++] = source[i].array.dims[0];
    qsort(dims, (size_t)n_dims, sizeof *dims, by_size);
    for (int i = 0, same = 0; i < n_dims; i++) {
        same = i > 0 && dims[i] == dims[i - 1] ? same + 1 : 1;
        if (same >= most) most = same, best = dims[i];
    }
    lra_free(dims);
    return best;
}

static char *shape_text(const lra_ndarray *a)
{
    lra_text t = {0};
    for (int i = 0; i < a->rank; i++)
        lra_text_add(&t, "%s%lld", i ? "," : "", (long long)a->dims[i]);
    return t.s;
}

/* Sets the kind and the width of a column, or the reason why it is REFUSED. */
static void set_kind(lra_data_column *c, const lra_array_source *s, int64_t n)
{
    const lra_ndarray *a = &s->array;
    bool number = a->rank == 1 || (a->rank == 2 && a->dims[1] == 1);
    bool text = is_text(a->dtype);
    c->kind = LRA_DATA_COLUMN_REFUSED;
    if (s->reason) {
        c->reason = lra_copy_text(s->reason);
    } else if (a->dims[0] != n) {
        c->reason = lra_format("it has %lld examples, the other arrays have %lld; one file holds "
                               "one set of examples",
                               (long long)a->dims[0], (long long)n);
    } else if (a->rank > 3 || (text && !number)) {
        char *shape = shape_text(a);
        c->reason = lra_format("its shape is (%s), expected %s", shape,
                               text ? "(n)"
                                    : "(n), (n,T) or (n,T,F); images are reshaped to "
                                      "(n,H*W,channels)");
        lra_free(shape);
    } else if (a->rank == 3 && (a->dims[2] < 1 || a->dims[2] > INT_MAX)) {
        c->reason = lra_format("it has %lld numbers in each step", (long long)a->dims[2]);
    } else {
        c->kind = text                                   ? LRA_DATA_COLUMN_TEXT
                  : number                               ? LRA_DATA_COLUMN_NUMBER
                  : a->rank == 2 && is_integer(a->dtype) ? LRA_DATA_COLUMN_IDS
                                                         : LRA_DATA_COLUMN_VALUES;
        c->width = c->kind != LRA_DATA_COLUMN_VALUES ? 0 : a->rank == 3 ? (int)a->dims[2] : 1;
    }
}

/* ---- conversion ------------------------------------------------------------------------------ */

/* Frees the data of a column and marks it as REFUSED, with the message of `why`. Returns 0. */
static int refuse(lra_data_column *c, const lra_err *why)
{
    lra_free_large(c->start);
    lra_free_large(c->text);
    lra_free_large(c->number);
    lra_free_large(c->id);
    lra_free_large(c->value);
    *c = (lra_data_column){.name = c->name, .kind = LRA_DATA_COLUMN_REFUSED};
    c->reason = lra_copy_text(why->msg);
    return 0;
}

static int read_text(const building *b, lra_data_column *c, const lra_ndarray *a)
{
    int64_t capacity = 0, used = 0;
    lra_err why = {{0}};
    for (int64_t i = 0; i < b->out->n; i++) {
        char *text = lra_ndarray_text(a, i, c->name, &why);
        if (!text) return refuse(c, &why);
        int64_t n = (int64_t)strlen(text);
        char *p = lra_grow(c->text, &capacity, used, used + n, 1, b->path, b->e);
        if (p) {
            memcpy(p + used, text, (size_t)n);
            c->text = p;
        }
        lra_free(text);
        if (!p) return LRA_FAILED;
        used += n;
        c->start[i + 1] = used;
        c->missing += n == 0;
    }
    return 0;
}

static int read_numbers(const building *b, lra_data_column *c, const lra_ndarray *a)
{
    lra_err why = {{0}};
    c->integral = true;
    if (lra_ndarray_get_f64(a, c->name, c->number, &why) != 0) return refuse(c, &why);
    for (int64_t i = 0; i < b->out->n; i++) {
        double v = c->number[i];
        if (isnan(v))
            c->missing++;
        else if (!(isfinite(v) && floor(v) == v))
            c->integral = false;
    }
    return 0;
}

static int allocate(const building *b, lra_data_column *c, const lra_ndarray *a)
{
    size_t rows = (size_t)b->out->n;
    bool ok = true;
    if (c->kind == LRA_DATA_COLUMN_NUMBER) {
        c->number = lra_try_alloc(rows * sizeof *c->number, b->path, b->e);
        return c->number ? 0 : LRA_FAILED;
    }
    c->start = lra_try_alloc((rows + 1) * sizeof *c->start, b->path, b->e);
    if (!c->start) return LRA_FAILED;
    c->start[0] = 0;
    if (c->kind == LRA_DATA_COLUMN_IDS) {
        c->id = lra_try_alloc((size_t)a->n * sizeof *c->id, b->path, b->e);
        ok = c->id;
    } else if (c->kind == LRA_DATA_COLUMN_VALUES) {
        c->value = lra_try_alloc((size_t)a->n * sizeof *c->value, b->path, b->e);
        ok = c->value;
    }
    return ok ? 0 : LRA_FAILED;
}

static int read_array(const building *b, lra_data_column *c, const lra_ndarray *a)
{
    lra_err why = {{0}};
    int64_t steps = a->rank > 1 ? a->dims[1] : 1;
    if (allocate(b, c, a) != 0) return LRA_FAILED;
    if (c->kind == LRA_DATA_COLUMN_TEXT) return read_text(b, c, a);
    if (c->kind == LRA_DATA_COLUMN_NUMBER) return read_numbers(b, c, a);
    for (int64_t i = 0; i < b->out->n; i++) c->start[i + 1] = (i + 1) * steps;
    if (steps == 0) c->missing = b->out->n;
    int rc = c->kind == LRA_DATA_COLUMN_IDS ? lra_ndarray_get_i64(a, c->name, c->id, &why)
                                            : lra_ndarray_get_f32(a, c->name, c->value, &why);
    return rc == 0 ? 0 : refuse(c, &why);
}

/* ---- lengths --------------------------------------------------------------------------------- */

static const lra_data_column *find_lengths(const lra_data_columns *c)
{
    static const char *const names[] = {"length", "lengths"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        for (int i = 0; i < c->n_columns; i++)
            if (strcmp(c->column[i].name, names[k]) == 0 &&
                c->column[i].kind == LRA_DATA_COLUMN_NUMBER && c->column[i].integral &&
                c->column[i].missing == 0)
                return &c->column[i];
    return NULL;
}

static bool is_sequence(const lra_data_column *c)
{
    return c->kind == LRA_DATA_COLUMN_IDS || c->kind == LRA_DATA_COLUMN_VALUES;
}

static void cut(lra_data_column *c, const double *length, int64_t n)
{
    int64_t steps = c->start[1], to = 0;
    size_t size = c->kind == LRA_DATA_COLUMN_IDS ? sizeof *c->id
                                                 : (size_t)c->width * sizeof *c->value;
    char *bytes = c->kind == LRA_DATA_COLUMN_IDS ? (char *)c->id : (char *)c->value;
    c->missing = 0;
    for (int64_t i = 0; i < n; i++) {
        int64_t keep = (int64_t)length[i];
        memmove(bytes + (size_t)to * size, bytes + (size_t)(i * steps) * size, (size_t)keep * size);
        c->start[i] = to;
        to += keep;
        c->missing += keep == 0;
    }
    c->start[n] = to;
}

static int cut_all(const building *b)
{
    lra_data_columns *c = b->out;
    const lra_data_column *lengths = find_lengths(c);
    int64_t longest = 0, row = 0, n_cut = 0, most = -1;
    if (!lengths) return 0;
    for (int64_t i = 0; i < c->n; i++) {
        double v = lengths->number[i];
        if (v < 0 || v > (double)((int64_t)1 << 40))
            return lra_fail(b->e,
                            "'%s': '%s' of example %lld is %g, expected the number of its "
                            "steps",
                            b->path, lengths->name, (long long)i + 1, v);
        if ((int64_t)v > longest) longest = (int64_t)v, row = i;
    }
    for (int i = 0; i < c->n_columns; i++) {
        if (!is_sequence(&c->column[i])) continue;
        if (c->column[i].start[1] > most) most = c->column[i].start[1];
        if (c->column[i].start[1] < longest) continue;
        cut(&c->column[i], lengths->number, c->n);
        n_cut++;
    }
    if (most < 0 || n_cut > 0) return 0;
    return lra_fail(b->e, "'%s': '%s' of example %lld is %lld, the arrays have %lld steps", b->path,
                    lengths->name, (long long)row + 1, (long long)longest, (long long)most);
}

/* ---- all of them ----------------------------------------------------------------------------- */

static int fail_without(const char *path, int n, const lra_array_source *source, int64_t examples,
                        lra_err *e)
{
    for (int i = 0; i < n && examples < 0; i++)
        if (source[i].reason)
            return lra_fail(e, "'%s' has no arrays of examples: %s", path, source[i].reason);
    return lra_fail(e, "'%s' has no %s", path,
                    examples == 0 ? "examples: the first dimension of its arrays is 0"
                                  : "arrays of examples");
}

int lra_data_columns_of_arrays(const char *path, int n, const lra_array_source *source,
                               int (*load)(void *of, int i, lra_ndarray *a, lra_err *e), void *of,
                               lra_data_columns *out, lra_err *e)
{
    const building b = {path, out, e};
    *out = (lra_data_columns){0};
    if (n > LRA_COLUMNS_MAX)
        return lra_fail(e, "'%s' has %d arrays, at most %d are accepted", path, n, LRA_COLUMNS_MAX);
    int64_t examples = count_examples(n, source);
    if (examples < 1) return fail_without(path, n, source, examples, e);
    out->n = examples;
    out->column = lra_alloc_array((size_t)n, sizeof *out->column);
    int rc = 0;
    for (int i = 0; i < n && rc == 0; i++) {
        if (source[i].array.rank == 0 && !source[i].reason) continue;
        lra_data_column *c = &out->column[out->n_columns++];
        c->name = lra_copy_text(source[i].name);
        set_kind(c, &source[i], out->n);
        if (c->kind == LRA_DATA_COLUMN_REFUSED) continue;
        lra_ndarray a = source[i].array;
        rc = load(of, i, &a, e);
        if (rc == 0) rc = read_array(&b, c, &a);
    }
    if (rc == 0) rc = cut_all(&b);
    if (rc != 0) lra_data_columns_free(out);
    return rc;
}
