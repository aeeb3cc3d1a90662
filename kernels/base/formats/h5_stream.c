/* An HDF5 file driver that reads and writes one open file and never opens another one. A forged
 * file may name external links, external raw data and virtual datasets, whose files (devices,
 * FIFOs) the library would open.
 * A failed write is recorded and not reported to the library, because the library cannot close a
 * file after a failed write and crashes on the remaining state. The library continues as if the
 * write had succeeded, and lra_h5_commit() reports the failure. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "kernels/base/formats/h5_impl.h"
#include "kernels/base/core/mem.h"
#if H5_VERSION_GE(1, 13, 0)
#include <H5FDdevelop.h>
#endif

typedef struct {
    H5FD_t common; /* fields that the library requires at the start of a driver's structure */
    lra_h5 *f;
    int fd;
    haddr_t end, allocated; /* end of the written data; end of the allocated space */
} stream;

static H5FD_t *stream_open(const char *name, unsigned flags, hid_t access, haddr_t max)
{
    (void)name, (void)max;
    lra_h5 *const *f = H5Pget_driver_info(access);
    if (!f || (*f)->opened) return NULL;
    bool writes = (*f)->target != NULL;
    if (writes != ((flags & H5F_ACC_CREAT) != 0))
        return NULL; /* the library checks whether a file exists before it creates one */
    stream *s = lra_alloc(sizeof *s);
    s->f = *f;
    s->fd = fileno(writes ? lra_file_stream((*f)->target) : (*f)->source);
    if (!writes) s->end = (haddr_t)(*f)->size;
    return &s->common;
}

static herr_t stream_close(H5FD_t *file)
{
    lra_free(file);
    return 0;
}

static int stream_compare(const H5FD_t *a, const H5FD_t *b)
{
    return (a > b) - (a < b);
}

static herr_t stream_query(const H5FD_t *file, unsigned long *flags)
{
    (void)file;
    *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_DATA_SIEVE |
             H5FD_FEAT_AGGREGATE_SMALLDATA;
    return 0;
}

static haddr_t stream_allocated(const H5FD_t *file, H5FD_mem_t type)
{
    (void)type;
    return ((const stream *)file)->allocated;
}

static herr_t stream_allocate(H5FD_t *file, H5FD_mem_t type, haddr_t n)
{
    (void)type;
    ((stream *)file)->allocated = n;
    return 0;
}

static haddr_t stream_end(const H5FD_t *file, H5FD_mem_t type)
{
    (void)type;
    return ((const stream *)file)->end;
}

/* Reads bytes; those that were never written are 0. */
static herr_t stream_read(H5FD_t *file, H5FD_mem_t type, hid_t transfer, haddr_t at, size_t n,
                          void *to)
{
    (void)type, (void)transfer;
    const stream *s = (const stream *)file;
    size_t done = 0;
    memset(to, 0, n);
    while (done < n) {
        ssize_t got = pread(s->fd, (char *)to + done, n - done, (off_t)(at + done));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return -1;
        if (got == 0) break;
        done += (size_t)got;
    }
    return 0;
}

static herr_t stream_write(H5FD_t *file, H5FD_mem_t type, hid_t transfer, haddr_t at, size_t n,
                           const void *from)
{
    (void)type, (void)transfer;
    stream *s = (stream *)file;
    size_t done = 0;
    if (!s->f->target) return -1;
    while (done < n && s->f->write_error == 0) {
        ssize_t put = pwrite(s->fd, (const char *)from + done, n - done, (off_t)(at + done));
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) s->f->write_error = put < 0 ? errno : EIO;
        if (put > 0) done += (size_t)put;
    }
    if (at + n > s->end) s->end = at + n;
    return 0;
}

static herr_t stream_truncate(H5FD_t *file, hid_t transfer, hbool_t closing)
{
    (void)transfer, (void)closing;
    stream *s = (stream *)file;
    if (!s->f->target) return 0;
    if (s->f->write_error == 0 && ftruncate(s->fd, (off_t)s->allocated) != 0)
        s->f->write_error = errno;
    s->end = s->allocated;
    return 0;
}

static hid_t driver(void)
{
    static hid_t id = H5I_INVALID_HID;
    static const H5FD_class_t record = {
#if H5_VERSION_GE(1, 13, 0)
        .version = H5FD_CLASS_VERSION,
        /* driver number; HDF5 reserves those from 512 on for applications */
        .value = (H5FD_class_value_t)513,
#endif
        .name = "lra",
        .maxaddr = INT64_MAX,
        .fc_degree = H5F_CLOSE_WEAK,
        .fapl_size = sizeof(lra_h5 *),
        .open = stream_open,
        .close = stream_close,
        .cmp = stream_compare,
        .query = stream_query,
        .get_eoa = stream_allocated,
        .set_eoa = stream_allocate,
        .get_eof = stream_end,
        .read = stream_read,
        .write = stream_write,
        .truncate = stream_truncate,
        .fl_map = H5FD_FLMAP_DICHOTOMY
    };
    if (id < 0) id = H5FDregister(&record);
    return id;
}

hid_t lra_h5_stream_create(lra_h5 *f)
{
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_driver(access, driver(), &f);
    H5Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_V110);
    hid_t id = H5Fcreate(f->path, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    H5Pclose(access);
    if (id >= 0) H5Eclear2(H5E_DEFAULT); /* clears the error of the check whether the file exists */
    return id;
}

hid_t lra_h5_stream_open(lra_h5 *f)
{
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_driver(access, driver(), &f);
    H5Pset_libver_bounds(access, H5F_LIBVER_EARLIEST, H5F_LIBVER_LATEST);
    hid_t id = H5Fopen(f->path, H5F_ACC_RDONLY, access);
    H5Pclose(access);
    f->opened = true;
    return id;
}
