/* Reads the metadata of Pathfinder: paths of images and their labels. */
#include <string.h>

#include "datasets/formats/bom.h"
#include "datasets/pathfinder/metadata.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/formats/npy.h"

enum { N_FIELDS = 11, USED_FIELDS = 4, LABEL = 3 };

/* ---- metadata -------------------------------------------------------------------------------- */

void lra_pathfinder_list_free(lra_pathfinder_list *l)
{
    for (int64_t i = 0; i < l->n; i++) lra_free(l->path[i]);
    lra_free(l->path);
    lra_free(l->label);
    *l = (lra_pathfinder_list){0};
}

/* Returns true if a path stays below its folder: it has no leading '/' and no '..'. */
static bool stays_below(const char *path)
{
    if (*path == 0 || *path == '/') return false;
    for (const char *part = path; part; part = strchr(part, '/')) {
        if (*part == '/') part++;
        if (strncmp(part, "..", 2) == 0 && (part[2] == 0 || part[2] == '/')) return false;
    }
    return true;
}

/* Returns FOLDER/FILE without empty parts and ".", which is the name of the file in a walk. */
static char *tidy_path(const char *folder, const char *file)
{
    char *path = lra_format("%s/%s", folder, file), *to = path;
    for (const char *part = path; *part;) {
        size_t n = strcspn(part, "/");
        bool counts = n > 0 && !(n == 1 && *part == '.');
        if (counts && to > path) *to++ = '/';
        if (counts) memmove(to, part, n), to += n;
        part += n + (part[n] == '/');
    }
    *to = 0;
    return path;
}

static int add_row(const char *name, int64_t row, char *const field[], lra_pathfinder_list *out,
                   lra_err *e)
{
    if (!stays_below(field[0]) || !stays_below(field[1]))
        return lra_fail(e, "'%s' row %lld names '%.80s/%.80s', expected a file below the folder",
                        name, (long long)row, field[0], field[1]);
    if (strcmp(field[LABEL], "0") != 0 && strcmp(field[LABEL], "1") != 0)
        return lra_fail(e, "'%s' row %lld: label is '%.40s', expected 0 or 1", name, (long long)row,
                        field[LABEL]);
    if (out->n == out->capacity) {
        out->capacity = out->capacity ? 2 * out->capacity : 1024;
        out->path = lra_resize(out->path, (size_t)out->capacity * sizeof *out->path);
        out->label = lra_resize(out->label, (size_t)out->capacity * sizeof *out->label);
    }
    out->path[out->n] = tidy_path(field[0], field[1]);
    out->label[out->n++] = field[LABEL][0] - '0';
    return 0;
}

/* Splits a line at blanks, in place; returns the number of fields, at most N_FIELDS + 1. */
static int cut_fields(char *line, char *field[N_FIELDS + 1])
{
    int n = 0;
    for (char *at = line; *at && n <= N_FIELDS;) {
        at += strspn(at, " \t\r");
        if (!*at) break;
        field[n++] = at;
        at += strcspn(at, " \t\r");
        if (*at) *at++ = 0;
    }
    return n;
}

static int read_text(const char *bytes, size_t n, const char *name, lra_pathfinder_list *out,
                     lra_err *e)
{
    int64_t row = 0;
    int rc = 0;
    if (memchr(bytes, 0, n)) return lra_fail(e, "'%s' is neither text nor a NumPy file", name);
    for (size_t at = lra_bom_size(bytes, n); at < n && rc == 0;) {
        const char *end = memchr(bytes + at, '\n', n - at);
        size_t length = end ? (size_t)(end - (bytes + at)) : n - at;
        char *line = lra_format("%.*s", (int)length, bytes + at), *field[N_FIELDS + 1];
        int fields = cut_fields(line, field);
        row++;
        if (fields != 0 && fields != N_FIELDS)
            rc = lra_fail(e, "'%s' row %lld has %s%d fields, expected %d", name, (long long)row,
                          fields > N_FIELDS ? "more than " : "",
                          fields > N_FIELDS ? N_FIELDS : fields, N_FIELDS);
        else if (fields)
            rc = add_row(name, row, field, out, e);
        lra_free(line);
        at += length + 1;
    }
    return rc;
}

static int read_numpy(const void *bytes, size_t n, const char *name, lra_pathfinder_list *out,
                      lra_err *e)
{
    lra_ndarray a;
    if (lra_npy_parse(bytes, n, name, true, &a, e) != 0) return LRA_FAILED;
    if ((a.dtype != LRA_DTYPE_TEXT && a.dtype != LRA_DTYPE_BYTES) || a.rank != 2 ||
        a.dims[1] != N_FIELDS)
        return lra_fail(e, "'%s' is not a table of texts with %d columns", name, N_FIELDS);
    int rc = 0;
    for (int64_t row = 0; row < a.dims[0] && rc == 0; row++) {
        char *field[USED_FIELDS] = {NULL};
        for (int k = 0; k < USED_FIELDS && rc == 0; k++) {
            field[k] = lra_ndarray_text(&a, row * N_FIELDS + k, name, e);
            if (!field[k]) rc = LRA_FAILED;
        }
        if (rc == 0) rc = add_row(name, row + 1, field, out, e);
        for (int k = 0; k < USED_FIELDS; k++) lra_free(field[k]);
    }
    return rc;
}

int lra_pathfinder_metadata(const void *bytes, size_t n, const char *name, lra_pathfinder_list *out,
                            lra_err *e)
{
    if (n >= 6 && memcmp(bytes, "\x93NUMPY", 6) == 0) return read_numpy(bytes, n, name, out, e);
    return read_text(bytes, n, name, out, e);
}
