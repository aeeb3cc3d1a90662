/* Initialises the HDF5 library without messages of its own, reads the reasons of its errors, maps
 * types, and closes files. */
#include <errno.h>
#include <string.h>

#include "kernels/base/formats/h5_child.h"
#include "kernels/base/formats/h5_impl.h"
#include "kernels/base/core/mem.h"

void lra_h5_start(void)
{
    static bool started;
    if (started) return;
    /* Disables the library's cleanup at exit: it can crash after a failure, and every file is
     * closed by its owner anyway. */
    H5dont_atexit();
    H5open();
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    H5PLset_loading_state(0);
    started = true;
}

static herr_t innermost(unsigned n, const H5E_error2_t *entry, void *to)
{
    if (n == 0 && entry->desc) *(char **)to = lra_copy_text(entry->desc);
    return 0;
}

int lra_h5_fail(const lra_h5 *f, const char *what, lra_err *e)
{
    char *reason = NULL;
    if (f->write_error) { /* the library was told that this write succeeded (h5_stream.c) */
        H5Eclear2(H5E_DEFAULT);
        errno = f->write_error;
        return lra_fail_errno(e, "cannot write '%s'", f->path);
    }
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, innermost, &reason);
    H5Eclear2(H5E_DEFAULT);
    lra_fail(e, "'%s': %s%s%s", f->path, what, reason ? ": " : "", reason ? reason : "");
    lra_free(reason);
    return LRA_FAILED;
}

const char *lra_h5_version(void)
{
    static char text[32];
    unsigned a = H5_VERS_MAJOR, b = H5_VERS_MINOR, c = H5_VERS_RELEASE;
    /* the call starts the library, which crashes if there is too little memory */
    if (lra_memory_room(LRA_H5_ROOM)) H5get_libversion(&a, &b, &c);
    snprintf(text, sizeof text, "%u.%u.%u", a, b, c);
    return text;
}

hid_t lra_h5_memory_type(lra_h5_type t)
{
    switch (t) {
    case LRA_H5_F32: return H5T_NATIVE_FLOAT;
    case LRA_H5_F64: return H5T_NATIVE_DOUBLE;
    case LRA_H5_I32: return H5T_NATIVE_INT32;
    case LRA_H5_I64: return H5T_NATIVE_INT64;
    case LRA_H5_U8: return H5T_NATIVE_UINT8;
    case LRA_H5_U16: return H5T_NATIVE_UINT16;
    case LRA_H5_U32: return H5T_NATIVE_UINT32;
    case LRA_H5_OTHER: break;
    }
    LRA_BUG("no such HDF5 type");
}

hid_t lra_h5_file_type(lra_h5_type t)
{
    switch (t) {
    case LRA_H5_F32: return H5T_IEEE_F32LE;
    case LRA_H5_F64: return H5T_IEEE_F64LE;
    case LRA_H5_I32: return H5T_STD_I32LE;
    case LRA_H5_I64: return H5T_STD_I64LE;
    case LRA_H5_U8: return H5T_STD_U8LE;
    case LRA_H5_U16: return H5T_STD_U16LE;
    case LRA_H5_U32: return H5T_STD_U32LE;
    case LRA_H5_OTHER: break;
    }
    LRA_BUG("no such HDF5 type");
}

size_t lra_h5_type_bytes(lra_h5_type t)
{
    return H5Tget_size(lra_h5_memory_type(t));
}

int lra_h5_room(const char *path, lra_err *e)
{
    return lra_memory_room(LRA_H5_ROOM)
               ? 0
               : lra_fail_as(e, LRA_CAUSE_MEMORY, "'%s': no memory: the library needs about %d MiB",
                             path, LRA_H5_ROOM >> 20);
}

void lra_h5_close(lra_h5 *f)
{
    if (!f) return;
    lra_h5_child_close(f);
    if (f->id >= 0) H5Fclose(f->id);
    if (f->source) fclose(f->source);
    lra_file_abort(f->target);
    lra_free(f->path);
    lra_free(f->kind);
    lra_free(f);
}
