/* Texts and tables in HDF5, in a form that generic HDF5 programs display. */
#include <string.h>

#include "kernels/base/formats/h5_child.h"
#include "kernels/base/formats/h5_impl.h"
#include "kernels/base/core/mem.h"

/* ---- texts: an element for each line --------------------------------------------------------- */

static hid_t line_type(size_t longest)
{
    hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, longest ? longest : 1);
    H5Tset_cset(type, H5T_CSET_UTF8);
    H5Tset_strpad(type, H5T_STR_NULLPAD);
    return type;
}

static size_t length_of_line(const char *at)
{
    return strcspn(at, "\n");
}

static const char *next_line(const char *at)
{
    at += length_of_line(at);
    return *at ? at + 1 : at;
}

int lra_h5_put_text(lra_h5 *f, const char *path, const char *text, lra_err *e)
{
    size_t longest = 1;
    int64_t n = 0;
    for (const char *at = text; *at; at = next_line(at), n++)
        if (length_of_line(at) > longest) longest = length_of_line(at);
    char *lines = lra_alloc((size_t)n * longest + 1), *to = lines;
    for (const char *at = text; *at; at = next_line(at), to += longest)
        memcpy(to, at, length_of_line(at));
    hsize_t extent = (hsize_t)n;
    hid_t type = line_type(longest), space = H5Screate_simple(1, &extent, NULL),
          list = lra_h5_creation(longest, 1, &n), links = lra_h5_make_groups(),
          set = H5Dcreate2(f->id, path, type, space, links, list, H5P_DEFAULT);
    int rc = set < 0 ? LRA_FAILED : 0;
    if (rc == 0 && n > 0 && H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, lines) < 0)
        rc = LRA_FAILED;
    if (rc != 0) lra_h5_fail(f, path, e);
    if (set >= 0) H5Dclose(set);
    H5Pclose(links);
    H5Pclose(list);
    H5Sclose(space);
    H5Tclose(type);
    lra_free(lines);
    return rc;
}

/* Bytes of an element; 0: the dataset is not an array of fixed-length strings. */
static size_t string_size(hid_t set)
{
    hid_t type = H5Dget_type(set);
    bool text = type >= 0 && H5Tget_class(type) == H5T_STRING && H5Tis_variable_str(type) == 0;
    size_t size = text ? H5Tget_size(type) : 0;
    if (type >= 0) H5Tclose(type);
    return size;
}

/* Reads n strings of `size` bytes, padded with zeros, as lines. */
static char *read_lines(lra_h5 *f, hid_t set, const char *path, size_t size, int64_t n, lra_err *e)
{
    hid_t type = H5Dget_type(set);
    char *lines = lra_try_array(n + 1, size, path, e), *text = NULL, *to;
    bool read = lines && (n == 0 || H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, lines) >= 0);
    if (lines && !read) {
        lra_h5_fail(f, path, e);
        lra_fail_in(e, "damaged data");
    }
    if (read) to = text = lra_try_array(n + 1, size + 1, path, e);
    for (int64_t i = 0; text && i < n; i++) {
        const char *line = lines + (size_t)i * size, *end = memchr(line, 0, size);
        size_t length = end ? (size_t)(end - line) : size;
        memcpy(to, line, length);
        to[length] = '\n';
        to += length + 1;
    }
    if (text) *to = 0;
    lra_free(lines);
    H5Tclose(type);
    return text;
}

static char *read_bytes(lra_h5 *f, const char *path, const lra_h5_info *info, lra_err *e)
{
    char *text = lra_try_array(info->n + 1, 1, path, e);
    if (text && lra_h5_get(f, path, LRA_H5_U8, 1, info->dims, text, e) == 0) return text;
    lra_free(text);
    return NULL;
}

char *lra_h5_get_text(lra_h5 *f, const char *path, lra_err *e)
{
    lra_h5_info info;
    if (f->child) return lra_h5_child_text(f, path, e);
    hid_t set = lra_h5_open_set(f, path, &info, e);
    if (set < 0) return NULL;
    size_t size = string_size(set);
    char *text = NULL;
    /* files of format 1 store text as bytes */
    if (info.rank == 1 && info.type == LRA_H5_U8 && info.n <= LRA_H5_TEXT_MAX)
        text = read_bytes(f, path, &info, e);
    else if (info.rank == 1 && size > 0 && info.n <= LRA_H5_TEXT_MAX / (int64_t)(size + 1))
        text = read_lines(f, set, path, size, info.n, e);
    else
        lra_fail(e, "'%s': '%s' is not text", f->path, path);
    H5Dclose(set);
    return text;
}

/* ---- tables ---------------------------------------------------------------------------------- */

static int n_names(const char *names)
{
    int n = 0;
    for (; *names; names += *names == ' ') names += strcspn(names, " "), n++;
    return n;
}

/* Index of `name` in a list of names; -1: not found. */
static int find_name(const char *names, const char *name)
{
    size_t n = strcspn(name, " ");
    for (int i = 0; *names; i++) {
        size_t m = strcspn(names, " ");
        if (m == n && strncmp(names, name, n) == 0) return i;
        names += m + (names[m] == ' ');
    }
    return -1;
}

int lra_h5_put_table(lra_h5 *f, const char *path, const char *columns, int64_t n_rows,
                     const double *values, lra_err *e)
{
    const int64_t dims[] = {n_rows, n_names(columns)};
    int rc = lra_h5_put(f, path, LRA_H5_F64, 2, dims, values, e);
    return rc == 0 ? lra_h5_set_text(f, path, "columns", columns, e) : rc;
}

/* Copies the wanted columns of a table to values. found: names of the columns in the file. */
static int pick_columns(const lra_h5_info *info, const double *all, const char *path,
                        const char *found, const char *wanted, double *values, lra_err *e)
{
    int64_t n = n_names(wanted);
    for (int64_t k = 0; k < n; k++) {
        int from = find_name(found, wanted);
        if (from < 0)
            return lra_fail(e, "'%s' has no column '%.*s', it has '%s'", path,
                            (int)strcspn(wanted, " "), wanted, found);
        for (int64_t i = 0; i < info->dims[0]; i++)
            values[i * n + k] = all[i * info->dims[1] + from];
        wanted += strcspn(wanted, " ");
        wanted += *wanted == ' ';
    }
    return 0;
}

static int read_table(lra_h5 *f, const char *path, const char *found, const char *wanted,
                      const lra_h5_info *info, double **values, lra_err *e)
{
    if (info->rank != 2 || info->type != LRA_H5_F64 || info->dims[1] != n_names(found))
        return lra_fail(e, "'%s' is not a table of %d columns of float64", path, n_names(found));
    double *all = lra_try_array(info->n + 1, sizeof *all, path, e);
    *values = all ? lra_try_array(info->dims[0] * n_names(wanted) + 1, sizeof **values, path, e)
                  : NULL;
    int rc = *values ? lra_h5_get(f, path, LRA_H5_F64, 2, info->dims, all, e) : LRA_FAILED;
    if (rc == 0) rc = pick_columns(info, all, path, found, wanted, *values, e);
    lra_free(all);
    return rc;
}

int lra_h5_get_table(lra_h5 *f, const char *path, const char *columns, int64_t *n_rows,
                     double **values, lra_err *e)
{
    lra_h5_info info;
    *values = NULL;
    int rc = lra_h5_find(f, path, &info, e);
    if (rc != 0) return rc;
    char *found = f->format > 1 ? lra_h5_attr_text(f, path, "columns", e) : lra_copy_text(columns);
    rc = found ? read_table(f, path, found, columns, &info, values, e) : LRA_FAILED;
    lra_free(found);
    *n_rows = rc == 0 ? info.dims[0] : 0;
    if (rc == 0) return 0;
    lra_free(*values);
    *values = NULL;
    return rc;
}
