/* Reads HDF5. Rank, type and extent are compared with what the caller expects before any data are
 * read. Links that leave the file and data stored outside of it are refused. Files without a seal,
 * and files that the user names, are read by a child process (h5_child.h). */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "kernels/base/formats/h5_child.h"
#include "kernels/base/formats/h5_impl.h"
#include "kernels/base/core/mem.h"

enum {
    TEXT_MAX = LRA_H5_TEXT_MAX,
    CHUNK_MAX = 64 << 20,
    CHILDREN_MAX = 100000,
    DEFLATE_MOST = 1032 /* maximum compression ratio of deflate */
};

static int read_format(lra_h5 *f, lra_err *e)
{
    int64_t format;
    if (!lra_h5_has_attr(f, "/", "lra.format") || !lra_h5_has_attr(f, "/", "lra.kind"))
        return lra_fail(e, "'%s' is not a file of lra-locality (no attribute 'lra.format')",
                        f->path);
    if (lra_h5_get_int(f, "/", "lra.format", &format, e) != 0) return LRA_FAILED;
    f->format = format;
    if (format > LRA_H5_FORMAT)
        return lra_fail_as(e, LRA_CAUSE_NEWER, "'%s' has format %lld, this program reads up to %d",
                           f->path, (long long)format, LRA_H5_FORMAT);
    if (format < 1)
        return lra_fail(e, "'%s' has format %lld, this program reads up to %d", f->path,
                        (long long)format, LRA_H5_FORMAT);
    f->kind = lra_h5_attr_text(f, "/", "lra.kind", e);
    return f->kind ? 0 : LRA_FAILED;
}

int lra_h5_check_kind(const lra_h5 *f, const char *kind, lra_err *e)
{
    if (!kind || strcmp(f->kind, kind) == 0) return 0;
    return lra_fail(e, "'%s' is a %s file, expected a %s file", f->path, f->kind, kind);
}

int lra_h5_open_inside(lra_h5 *f, const char *kind, lra_err *e)
{
    f->id = lra_h5_stream_open(f);
    if (f->id < 0) return lra_h5_fail(f, "not a complete HDF5 file (cut short, or damaged)", e);
    int rc = read_format(f, e);
    return rc == 0 ? lra_h5_check_kind(f, kind, e) : rc;
}

/* ---- which files are read in a child --------------------------------------------------------- */

typedef struct {
    dev_t device;
    ino_t number;
} file_identity; /* identity of a file, whatever path names it */
static file_identity *distrusted;
static int n_distrusted;

void lra_h5_distrust(const char *path)
{
    struct stat s;
    if (stat(path, &s) != 0) return; /* a missing file needs no mark: opening it fails */
    distrusted = lra_resize(distrusted, (size_t)(n_distrusted + 1) * sizeof *distrusted);
    distrusted[n_distrusted++] = (file_identity){s.st_dev, s.st_ino};
}

/* True if the file must be read in a child process. A seal shows that the file has not changed
 * since it was written, but any program can write one. */
static bool is_foreign(const lra_h5 *f, const struct stat *s)
{
    bool foreign = !f->sealed;
    for (int i = 0; i < n_distrusted && !foreign; i++)
        foreign = distrusted[i].device == s->st_dev && distrusted[i].number == s->st_ino;
    return foreign;
}

lra_h5 *lra_h5_open(const char *path, const char *kind, lra_err *e)
{
    if (lra_h5_room(path, e) != 0) return NULL;
    FILE *source = lra_file_open(path, e);
    if (!source) return NULL;
    lra_h5_start();
    lra_h5 *f = lra_alloc(sizeof *f);
    *f = (lra_h5){.id = H5I_INVALID_HID, .path = lra_copy_text(path), .source = source};
    int rc = lra_h5_check_seal(source, path, &f->sealed, e);
    struct stat s = {0};
    if (rc == 0 && fstat(fileno(source), &s) != 0) rc = lra_fail_errno(e, "cannot read '%s'", path);
    f->size = (int64_t)s.st_size;
    if (rc == 0)
        rc = is_foreign(f, &s) ? lra_h5_child_open(f, kind, e) : lra_h5_open_inside(f, kind, e);
    if (rc == 0) return f;
    lra_h5_close(f);
    return NULL;
}

int lra_h5_intact(const lra_h5 *f, lra_err *e)
{
    return f->child ? lra_h5_child_intact(f, e) : 0;
}

int64_t lra_h5_format(const lra_h5 *f)
{
    return f->format;
}

bool lra_h5_sealed(const lra_h5 *f)
{
    return f->sealed;
}

/* ---- measurement ----------------------------------------------------------------------------- */

/* True if the path exists and each of its components is a hard link, so that it stays inside the
 * file. */
bool lra_h5_has(lra_h5 *f, const char *path)
{
    if (!*path) return false;
    if (f->child) return lra_h5_child_has(f, path);
    char *part = lra_copy_text(path);
    bool there = true;
    for (char *at = part + 1; there; at++) {
        if (*at && *at != '/') continue;
        char kept = *at;
        H5L_info_t link;
        *at = 0;
        if (strcmp(part, "/") != 0)
            there = H5Lexists(f->id, part, H5P_DEFAULT) > 0 &&
                    H5Lget_info(f->id, part, &link, H5P_DEFAULT) >= 0 && link.type == H5L_TYPE_HARD;
        *at = kept;
        if (!kept) break;
    }
    lra_free(part);
    return there;
}

static lra_h5_type type_of(hid_t set)
{
    static const lra_h5_type known[] = {LRA_H5_F32, LRA_H5_F64, LRA_H5_I32, LRA_H5_I64,
                                        LRA_H5_U8,  LRA_H5_U16, LRA_H5_U32};
    lra_h5_type found = LRA_H5_OTHER;
    hid_t type = H5Dget_type(set);
    for (size_t i = 0; i < sizeof known / sizeof *known && type >= 0; i++)
        if (H5Tequal(type, lra_h5_file_type(known[i])) > 0) found = known[i];
    if (type >= 0) H5Tclose(type);
    return found;
}

/* True if all filters are built into the library (no plug-ins) and their output is bounded. */
static bool known_filters(hid_t list)
{
    int n = H5Pget_nfilters(list);
    for (int i = 0; i < n; i++) {
        unsigned flags;
        size_t n_values = 0;
        H5Z_filter_t id = H5Pget_filter2(list, (unsigned)i, &flags, &n_values, NULL, 0, NULL, NULL);
        if (id != H5Z_FILTER_DEFLATE && id != H5Z_FILTER_SHUFFLE && id != H5Z_FILTER_FLETCHER32)
            return false;
    }
    return n >= 0;
}

static bool small_chunks(hid_t list, size_t element)
{
    hsize_t chunk[H5S_MAX_RANK];
    int rank = H5Pget_chunk(list, H5S_MAX_RANK, chunk);
    double bytes = (double)element;
    for (int i = 0; i < rank; i++) bytes *= (double)chunk[i];
    return rank >= 1 && rank <= LRA_H5_MAX_RANK && bytes <= CHUNK_MAX;
}

/* True if the data are inside the file, in a supported layout. This is checked before the extent,
 * because a virtual dataset can take its extent from other files. */
static bool stored_inside(hid_t set)
{
    hid_t list = H5Dget_create_plist(set), type = H5Dget_type(set);
    size_t element = type >= 0 ? H5Tget_size(type) : 0;
    H5D_layout_t layout = list >= 0 ? H5Pget_layout(list) : H5D_LAYOUT_ERROR;
    bool inside = element > 0 && known_filters(list) && H5Pget_external_count(list) == 0 &&
                  (layout == H5D_CONTIGUOUS || layout == H5D_COMPACT ||
                   (layout == H5D_CHUNKED && small_chunks(list, element)));
    if (list >= 0) H5Pclose(list);
    if (type >= 0) H5Tclose(type);
    return inside;
}

/* True if the stored bytes can decompress to the extent. Otherwise the file would make the reader
 * allocate memory that it does not fill. */
static bool stored_whole(hid_t set, const lra_h5_info *info)
{
    hid_t type = H5Dget_type(set);
    size_t element = type >= 0 ? H5Tget_size(type) : 0;
    if (type >= 0) H5Tclose(type);
    return (double)info->n * (double)element <= (double)H5Dget_storage_size(set) * DEFLATE_MOST;
}

static int describe(hid_t set, lra_h5_info *info)
{
    hsize_t dims[H5S_MAX_RANK];
    hid_t space = H5Dget_space(set);
    if (space < 0) return -1;
    int rank = H5Sget_simple_extent_ndims(space);
    bool usable = rank >= 1 && rank <= LRA_H5_MAX_RANK &&
                  H5Sget_simple_extent_dims(space, dims, NULL) == rank;
    H5Sclose(space);
    if (!usable) return -1;
    *info = (lra_h5_info){type_of(set), rank, {0}, 1};
    for (int i = 0; i < rank; i++) {
        if (dims[i] > (hsize_t)1 << 40) return -1;
        info->dims[i] = (int64_t)dims[i];
        if (info->n > ((int64_t)1 << 48) / (info->dims[i] > 0 ? info->dims[i] : 1)) return -1;
        info->n *= info->dims[i];
    }
    return 0;
}

hid_t lra_h5_open_set(lra_h5 *f, const char *path, lra_h5_info *info, lra_err *e)
{
    if (!lra_h5_has(f, path)) {
        lra_fail(e, "'%s' has no '%s'", f->path, path);
        return -1;
    }
    hid_t set = H5Dopen2(f->id, path, H5P_DEFAULT);
    if (set < 0) {
        lra_h5_fail(f, path, e);
    } else if (!stored_inside(set) || describe(set, info) != 0 || !stored_whole(set, info)) {
        lra_fail(e, "'%s': '%s' is stored in an unsupported way", f->path, path);
        H5Dclose(set);
        set = -1;
    }
    return set;
}

int lra_h5_find(lra_h5 *f, const char *path, lra_h5_info *info, lra_err *e)
{
    if (f->child) return lra_h5_child_find(f, path, info, e);
    hid_t set = lra_h5_open_set(f, path, info, e);
    if (set < 0) return LRA_FAILED;
    H5Dclose(set);
    return 0;
}

static const char *shape_text(int rank, const int64_t *dims, char buf[96])
{
    int at = snprintf(buf, 96, "(");
    for (int i = 0; i < rank && at < 80; i++)
        at += snprintf(buf + at, (size_t)(96 - at), i ? ",%lld" : "%lld", (long long)dims[i]);
    if (at < 95) snprintf(buf + at, (size_t)(96 - at), ")");
    return buf;
}

int lra_h5_check_extent(const lra_h5 *f, const char *path, const lra_h5_info *found,
                        lra_h5_type type, int rank, const int64_t *dims, lra_err *e)
{
    static const char *const names[] = {"float32", "float64", "int32",  "int64",
                                        "uint8",   "uint16",  "uint32", "another type"};
    char a[96], b[96];
    bool same = found->rank == rank;
    for (int i = 0; i < rank && same; i++) same = dims[i] < 0 || dims[i] == found->dims[i];
    if (!same)
        return lra_fail(e, "'%s': '%s' has shape %s, expected %s", f->path, path,
                        shape_text(found->rank, found->dims, a), shape_text(rank, dims, b));
    if (found->type != type)
        return lra_fail(e, "'%s': '%s' holds %s, expected %s", f->path, path, names[found->type],
                        names[type]);
    return 0;
}

int lra_h5_get(lra_h5 *f, const char *path, lra_h5_type type, int rank, const int64_t *dims,
               void *data, lra_err *e)
{
    if (f->child) return lra_h5_child_get(f, path, type, rank, dims, data, e);
    lra_h5_info info;
    hid_t set = lra_h5_open_set(f, path, &info, e);
    if (set < 0) return LRA_FAILED;
    int rc = lra_h5_check_extent(f, path, &info, type, rank, dims, e);
    if (rc == 0 && info.n > 0 &&
        H5Dread(set, lra_h5_memory_type(type), H5S_ALL, H5S_ALL, H5P_DEFAULT, data) < 0) {
        lra_h5_fail(f, path, e);
        rc = lra_fail_in(e, "damaged data");
    }
    H5Dclose(set);
    return rc;
}

/* ---- attributes ------------------------------------------------------------------------------ */

bool lra_h5_has_attr(lra_h5 *f, const char *path, const char *name)
{
    if (f->child) return lra_h5_child_has_attr(f, path, name);
    return lra_h5_has(f, path) && H5Aexists_by_name(f->id, path, name, H5P_DEFAULT) > 0;
}

/* Opens an attribute, which must be one value of the expected type. H5T_C_S1 matches strings of any
 * fixed length. */
static hid_t open_attribute(lra_h5 *f, const char *path, const char *name, hid_t expected,
                            lra_err *e)
{
    if (!lra_h5_has_attr(f, path, name)) {
        lra_fail(e, "'%s': '%s' has no attribute '%s'", f->path, path, name);
        return -1;
    }
    hid_t a = H5Aopen_by_name(f->id, path, name, H5P_DEFAULT, H5P_DEFAULT);
    if (a < 0) {
        lra_h5_fail(f, name, e);
        return -1;
    }
    hid_t type = H5Aget_type(a), space = H5Aget_space(a);
    bool same = expected == H5T_C_S1
                    ? H5Tget_class(type) == H5T_STRING && H5Tis_variable_str(type) == 0
                    : H5Tequal(type, expected) > 0;
    bool ok = same && space >= 0 && H5Sget_simple_extent_npoints(space) == 1;
    if (type >= 0) H5Tclose(type);
    if (space >= 0) H5Sclose(space);
    if (ok) return a;
    lra_fail(e, "'%s': attribute '%s' of '%s' has another type than expected", f->path, name, path);
    H5Aclose(a);
    return -1;
}

static int get_number(lra_h5 *f, const char *path, const char *name, hid_t stored, hid_t type,
                      void *value, lra_err *e)
{
    hid_t a = open_attribute(f, path, name, stored, e);
    if (a < 0) return LRA_FAILED;
    int rc = H5Aread(a, type, value) < 0 ? lra_h5_fail(f, name, e) : 0;
    H5Aclose(a);
    return rc;
}

int lra_h5_get_int(lra_h5 *f, const char *path, const char *name, int64_t *value, lra_err *e)
{
    if (f->child) return lra_h5_child_int(f, path, name, value, e);
    return get_number(f, path, name, H5T_STD_I64LE, H5T_NATIVE_INT64, value, e);
}

int lra_h5_get_real(lra_h5 *f, const char *path, const char *name, double *value, lra_err *e)
{
    if (f->child) return lra_h5_child_real(f, path, name, value, e);
    return get_number(f, path, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, value, e);
}

char *lra_h5_attr_text(lra_h5 *f, const char *path, const char *name, lra_err *e)
{
    if (f->child) return lra_h5_child_attr_text(f, path, name, e);
    hid_t a = open_attribute(f, path, name, H5T_C_S1, e);
    if (a < 0) return NULL;
    hid_t type = H5Aget_type(a);
    size_t n = H5Tget_size(type);
    char *text = NULL;
    if (n > TEXT_MAX)
        lra_fail(e, "'%s': attribute '%s' has %zu bytes, at most %d are accepted", f->path, name, n,
                 TEXT_MAX);
    else
        text = lra_try_array((int64_t)n + 1, 1, name, e);
    if (text && H5Aread(a, type, text) < 0) {
        lra_h5_fail(f, name, e);
        lra_free(text);
        text = NULL;
    }
    H5Tclose(type);
    H5Aclose(a);
    return text;
}

/* ---- children -------------------------------------------------------------------------------- */

typedef struct {
    char **names;
    int n;
} children;

static herr_t add_child(hid_t group, const char *name, const H5L_info_t *link, void *to)
{
    (void)group;
    children *c = to;
    if (link->type != H5L_TYPE_HARD) return 0;
    if (c->n == CHILDREN_MAX) return -1;
    c->names = lra_resize(c->names, (size_t)(c->n + 1) * sizeof *c->names);
    c->names[c->n++] = lra_copy_text(name);
    return 0;
}

int lra_h5_list(lra_h5 *f, const char *group, char ***names, lra_err *e)
{
    children c = {NULL, 0};
    if (f->child) return lra_h5_child_list(f, group, names, e);
    if (!lra_h5_has(f, group)) return lra_fail(e, "'%s' has no '%s'", f->path, group);
    if (H5Literate_by_name(f->id, group, H5_INDEX_NAME, H5_ITER_INC, NULL, add_child, &c,
                           H5P_DEFAULT) < 0) {
        lra_names_free(c.names, c.n);
        return lra_h5_fail(f, group, e);
    }
    *names = c.names;
    return c.n;
}

void lra_h5_free_names(char **names, int n)
{
    lra_names_free(names, n);
}
