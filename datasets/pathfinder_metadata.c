/* Metadata of Pathfinder folders: which images there are, and their labels. */
#include <stdlib.h>
#include <string.h>

#include "datasets/pathfinder_file.h"
#include "kernels/base/file.h"
#include "kernels/base/mem.h"
#include "kernels/base/npy.h"
#include "kernels/base/options.h"

enum { MAX_METADATA = 1 << 28, N_FIELDS = 11, USED_FIELDS = 4, LABEL = 3 };

/* ---- metadata ----------------------------------------------------------------------------------------- */

void lra_pathfinder_list_free(lra_pathfinder_list *l)
{
    for (int64_t i = 0; i < l->n; i++) lra_free(l->path[i]);
    lra_free(l->path);
    lra_free(l->label);
    *l = (lra_pathfinder_list){0};
}

/* A path must stay below its folder: no leading '/', no '..'. */
static bool stays_below(const char *path)
{
    if (*path == 0 || *path == '/') return false;
    for (const char *part = path; part; part = strchr(part, '/')) {
        if (*part == '/') part++;
        if (strncmp(part, "..", 2) == 0 && (part[2] == 0 || part[2] == '/')) return false;
    }
    return true;
}

static int add_row(const char *folder, const char *name, int64_t row, char *const field[],
                   lra_pathfinder_list *out, lra_err *e)
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
    out->path[out->n] = lra_format("%s/%s/%s", folder, field[0], field[1]);
    out->label[out->n++] = field[LABEL][0] - '0';
    return 0;
}

/* Cuts a line at blanks, in place; returns the number of fields, at most N_FIELDS + 1. */
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

static int read_text(const char *bytes, size_t n, const char *folder, const char *name,
                     lra_pathfinder_list *out, lra_err *e)
{
    int64_t row = 0;
    int rc = 0;
    if (memchr(bytes, 0, n)) return lra_fail(e, "'%s' is neither text nor a NumPy file", name);
    for (size_t at = 0; at < n && rc == 0;) {
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
            rc = add_row(folder, name, row, field, out, e);
        lra_free(line);
        at += length + 1;
    }
    return rc;
}

static int read_numpy(const void *bytes, size_t n, const char *folder, const char *name,
                      lra_pathfinder_list *out, lra_err *e)
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
        if (rc == 0) rc = add_row(folder, name, row + 1, field, out, e);
        for (int k = 0; k < USED_FIELDS; k++) lra_free(field[k]);
    }
    return rc;
}

int lra_pathfinder_metadata(const void *bytes, size_t n, const char *folder, const char *name,
                            lra_pathfinder_list *out, lra_err *e)
{
    if (n >= 6 && memcmp(bytes, "\x93NUMPY", 6) == 0)
        return read_numpy(bytes, n, folder, name, out, e);
    return read_text(bytes, n, folder, name, out, e);
}

/* ---- the batches of a level ---------------------------------------------------------------------------- */

static int ascending(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Numbers of the files NUMBER.npy, ascending; other files are left alone.  -1: no such folder. */
static int find_batches(const char *folder, int64_t **numbers, lra_err *e)
{
    char **names = NULL;
    int found = 0, n = lra_folder_list(folder, &names, e);
    if (n < 0) return -1;
    *numbers = lra_alloc_array((size_t)n + 1, sizeof **numbers);
    for (int i = 0; i < n; i++) {
        size_t length = strlen(names[i]);
        if (length < 5 || strcmp(names[i] + length - 4, ".npy") != 0) continue;
        names[i][length - 4] = 0;
        char *again = NULL;
        int64_t number;
        if (lra_parse_int(names[i], &number) && number >= 0) {
            again = lra_format("%lld", (long long)number);
            if (strcmp(again, names[i]) == 0) (*numbers)[found++] = number;
        }
        lra_free(again);
    }
    lra_names_free(names, n);
    qsort(*numbers, (size_t)found, sizeof **numbers, ascending);
    return found;
}

static int read_batch(const char *level_folder, int64_t number, lra_pathfinder_list *out,
                      lra_err *e)
{
    char *path = lra_format("%s/metadata/%lld.npy", level_folder, (long long)number);
    size_t n;
    char *bytes = lra_file_read(path, MAX_METADATA, &n, e);
    int rc = bytes ? lra_pathfinder_metadata(bytes, n, level_folder, path, out, e) : LRA_FAILED;
    if (rc == 0) {
        uint64_t both[2] = {out->hash, lra_hash64(bytes, n)};
        out->hash = lra_hash64(both, sizeof both);
    }
    lra_free_large(bytes);
    lra_free(path);
    return rc;
}

int lra_pathfinder_list_read(const char *level_folder, lra_pathfinder_list *out, lra_err *e)
{
    char *metadata = lra_format("%s/metadata", level_folder);
    int64_t *numbers = NULL;
    int n = find_batches(metadata, &numbers, e), rc = n < 0 ? LRA_FAILED : 0;
    for (int i = 0; i < n && rc == 0; i++) rc = read_batch(level_folder, numbers[i], out, e);
    if (rc == 0 && out->n == 0) rc = lra_fail(e, "'%s' lists no images", metadata);
    if (rc == 0) {
        out->n_batches = n;
        out->n_gaps = numbers[n - 1] - numbers[0] + 1 - n;
    }
    lra_free(numbers);
    lra_free(metadata);
    return rc;
}
