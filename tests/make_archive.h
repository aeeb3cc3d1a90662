/* Archives that tests make, in memory. */
#ifndef LRA_TESTS_MAKE_ARCHIVE_H
#define LRA_TESTS_MAKE_ARCHIVE_H

#include <archive.h>
#include <archive_entry.h>
#include <string.h>

#include "kernels/base/file.h"
#include "kernels/base/mem.h"

typedef struct {
    const char *name;
    const char *bytes;
    size_t n; /* 0: as long as the text */
} packed_file;

typedef enum { PACK_TAR, PACK_TAR_GZ, PACK_TAR_XZ, PACK_ZIP, PACK_GZ, PACK_XZ, N_PACKS } pack;
static const char *const pack_suffix[N_PACKS] = {".tar", ".tar.gz", ".tar.xz",
                                                 ".zip", ".gz",     ".xz"};

static inline void pack_check(struct archive *a, int code)
{
    if (code != ARCHIVE_OK) LRA_BUG("%s", archive_error_string(a));
}

static inline struct archive *pack_new(pack kind)
{
    struct archive *a = archive_write_new();
    bool gz = kind == PACK_TAR_GZ || kind == PACK_GZ, xz = kind == PACK_TAR_XZ || kind == PACK_XZ;
    pack_check(a, kind == PACK_ZIP                     ? archive_write_set_format_zip(a)
                  : kind == PACK_GZ || kind == PACK_XZ ? archive_write_set_format_raw(a)
                                                       : archive_write_set_format_ustar(a));
    if (gz) pack_check(a, archive_write_add_filter_gzip(a));
    if (xz) pack_check(a, archive_write_add_filter_xz(a));
    if (kind == PACK_ZIP) pack_check(a, archive_write_set_options(a, "zip:compression=store"));
    if (gz) pack_check(a, archive_write_set_options(a, "gzip:!timestamp"));
    archive_write_set_bytes_per_block(a, 512);
    archive_write_set_bytes_in_last_block(a, 1);
    return a;
}

/* Appends the archive of n files to `to` (PACK_GZ, PACK_XZ: of the first file's bytes). */
static inline void pack_files(pack kind, const packed_file *file, int n, lra_text *to)
{
    size_t capacity = 1 << 16, used = 0;
    if (kind == PACK_GZ || kind == PACK_XZ) n = 1;
    for (int i = 0; i < n; i++) capacity += 2048 + (file[i].n ? file[i].n : strlen(file[i].bytes));
    char *bytes = lra_alloc(capacity);
    struct archive *a = pack_new(kind);
    pack_check(a, archive_write_open_memory(a, bytes, capacity, &used));
    for (int i = 0; i < n; i++) {
        size_t size = file[i].n ? file[i].n : strlen(file[i].bytes);
        struct archive_entry *entry = archive_entry_new();
        archive_entry_set_pathname(entry, file[i].name);
        archive_entry_set_size(entry, (int64_t)size);
        archive_entry_set_filetype(entry, AE_IFREG);
        archive_entry_set_perm(entry, 0644);
        archive_entry_set_mtime(entry, 86400, 0);
        pack_check(a, archive_write_header(a, entry));
        if (size && archive_write_data(a, file[i].bytes, size) < 0) pack_check(a, ARCHIVE_FATAL);
        archive_entry_free(entry);
    }
    pack_check(a, archive_write_close(a));
    archive_write_free(a);
    lra_text_bytes(to, bytes, used);
    lra_free(bytes);
}

/* Writes the archive of n files below a folder. */
static inline void pack_write(const char *where, const char *name, const packed_file *file, int n,
                              pack kind)
{
    lra_err e = {{0}};
    lra_text packed = {0};
    char *path = lra_format("%s/%s", where, name), *slash = strrchr(path, '/');
    *slash = 0;
    if (lra_folder_make(path, &e) != 0) LRA_BUG("%s", e.msg);
    *slash = '/';
    pack_files(kind, file, n, &packed);
    if (lra_file_write(path, packed.s, packed.n, &e) != 0) LRA_BUG("%s", e.msg);
    lra_text_free(&packed);
    lra_free(path);
}

#endif
