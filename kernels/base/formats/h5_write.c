/* Writes HDF5. A file under its final name is always complete. A full disk is an ordinary write
 * error. */
#include <string.h>

#include "kernels/base/formats/h5_impl.h"
#include "kernels/base/core/mem.h"

enum { CHUNK_BYTES = 1 << 20 };

/* ---- create and commit ----------------------------------------------------------------------- */

lra_h5 *lra_h5_create(const char *path, const char *kind, lra_err *e)
{
    if (lra_h5_room(path, e) != 0) return NULL;
    lra_h5_start();
    lra_file *target = lra_file_create(path, e);
    if (!target) return NULL;
    lra_h5 *f = lra_alloc(sizeof *f);
    f->path = lra_copy_text(path);
    f->kind = lra_copy_text(kind);
    f->target = target;
    f->id = lra_h5_stream_create(f);
    if (f->id < 0) {
        lra_h5_fail(f, "cannot be made", e);
    } else if (lra_h5_set_int(f, "/", "lra.format", LRA_H5_FORMAT, e) == 0 &&
               lra_h5_set_text(f, "/", "lra.kind", kind, e) == 0) {
        return f;
    }
    lra_h5_close(f);
    return NULL;
}

int lra_h5_commit(lra_h5 *f, lra_err *e)
{
    int rc = 0;
    bool closed = H5Fclose(f->id) >= 0;
    f->id = H5I_INVALID_HID;
    if (!closed || f->write_error)
        rc = lra_h5_fail(f, "cannot be completed", e);
    else if (lra_h5_seal(lra_file_stream(f->target)) != 0)
        rc = lra_fail_errno(e, "cannot write '%s'", f->path);
    if (rc == 0) {
        rc = lra_file_commit(f->target, e);
        f->target = NULL;
    }
    lra_h5_close(f);
    return rc;
}

/* ---- datasets -------------------------------------------------------------------------------- */

/* Sets the chunk shape: at most 1 MiB, filled from the last dimension to the first. */
static void chunk_of(size_t element, int rank, const int64_t *dims, hsize_t *chunk)
{
    hsize_t room = element < CHUNK_BYTES ? CHUNK_BYTES / element : 1;
    for (int i = rank - 1; i >= 0; i--) {
        hsize_t all = (hsize_t)(dims[i] > 0 ? dims[i] : 1);
        chunk[i] = all < room ? all : room;
        room /= chunk[i];
        if (room == 0) room = 1;
    }
}

hid_t lra_h5_creation(size_t element, int rank, const int64_t *dims)
{
    hsize_t chunk[LRA_H5_MAX_RANK];
    hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    chunk_of(element, rank, dims, chunk);
    H5Pset_chunk(list, rank, chunk);
    H5Pset_shuffle(list);
    H5Pset_deflate(list, 1);
    H5Pset_fletcher32(list);
    return list;
}

hid_t lra_h5_make_groups(void)
{
    hid_t list = H5Pcreate(H5P_LINK_CREATE);
    H5Pset_create_intermediate_group(list, 1);
    return list;
}

int lra_h5_put(lra_h5 *f, const char *path, lra_h5_type type, int rank, const int64_t *dims,
               const void *data, lra_err *e)
{
    if (rank < 1 || rank > LRA_H5_MAX_RANK) LRA_BUG("'%s' has rank %d", path, rank);
    if (lra_h5_room(f->path, e) != 0) return LRA_FAILED;
    hsize_t extent[LRA_H5_MAX_RANK];
    int64_t n = 1;
    for (int i = 0; i < rank; i++) extent[i] = (hsize_t)dims[i], n *= dims[i];
    hid_t list = lra_h5_creation(lra_h5_type_bytes(type), rank, dims), links = lra_h5_make_groups();
    hid_t space = H5Screate_simple(rank, extent, NULL);
    hid_t set = H5Dcreate2(f->id, path, lra_h5_file_type(type), space, links, list, H5P_DEFAULT);
    int rc = set < 0 ? -1 : 0;
    if (rc == 0 && n > 0 &&
        H5Dwrite(set, lra_h5_memory_type(type), H5S_ALL, H5S_ALL, H5P_DEFAULT, data) < 0)
        rc = -1;
    if (set >= 0 && H5Dclose(set) < 0) rc = -1;
    if (f->write_error) /* ends the write at the first failure, because gigabytes might follow */
        rc = -1;
    if (rc != 0) lra_h5_fail(f, path, e);
    H5Sclose(space);
    H5Pclose(list);
    H5Pclose(links);
    return rc;
}

/* ---- attributes ------------------------------------------------------------------------------ */

/* Opens the object `path`; creates a group if it is missing. */
static hid_t object(lra_h5 *f, const char *path)
{
    if (strcmp(path, "/") == 0 || lra_h5_has(f, path)) return H5Oopen(f->id, path, H5P_DEFAULT);
    hid_t links = lra_h5_make_groups();
    hid_t group = H5Gcreate2(f->id, path, links, H5P_DEFAULT, H5P_DEFAULT);
    H5Pclose(links);
    return group;
}

static int set_attribute(lra_h5 *f, const char *path, const char *name, hid_t file_type,
                         hid_t memory_type, const void *value, lra_err *e)
{
    hid_t owner = object(f, path), space = H5Screate(H5S_SCALAR), a = -1;
    if (owner >= 0 && H5Aexists(owner, name) > 0) H5Adelete(owner, name);
    if (owner >= 0) a = H5Acreate2(owner, name, file_type, space, H5P_DEFAULT, H5P_DEFAULT);
    int rc = a >= 0 && H5Awrite(a, memory_type, value) >= 0 ? 0 : lra_h5_fail(f, name, e);
    if (a >= 0) H5Aclose(a);
    if (owner >= 0) H5Oclose(owner);
    H5Sclose(space);
    return rc;
}

int lra_h5_set_int(lra_h5 *f, const char *path, const char *name, int64_t value, lra_err *e)
{
    return set_attribute(f, path, name, H5T_STD_I64LE, H5T_NATIVE_INT64, &value, e);
}

int lra_h5_set_real(lra_h5 *f, const char *path, const char *name, double value, lra_err *e)
{
    return set_attribute(f, path, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, &value, e);
}

int lra_h5_set_text(lra_h5 *f, const char *path, const char *name, const char *text, lra_err *e)
{
    hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, strlen(text) + 1);
    H5Tset_cset(type, H5T_CSET_UTF8);
    int rc = set_attribute(f, path, name, type, type, text, e);
    H5Tclose(type);
    return rc;
}
