/* Files and folders: reading, checks, hashing. */
#define _GNU_SOURCE /* declares SEEK_HOLE */
#include "kernels/base/os/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "kernels/base/core/mem.h"

/* ---- read ------------------------------------------------------------------------------------ */

static int read_all(FILE *f, const char *path, char *to, size_t n, lra_err *e)
{
    size_t got = fread(to, 1, n, f);
    if (got == n) return 0;
    if (ferror(f)) return lra_fail_errno(e, "cannot read '%s'", path);
    return lra_fail(e, "'%s' ended after %zu of %zu bytes", path, got, n);
}

FILE *lra_file_open(const char *path, lra_err *e)
{
    struct stat s;
    /* Opening a device can have side effects, and opening a FIFO blocks. The type is therefore
     * checked before the open, and again after it, because the name may then refer to another
     * file. */
    bool there = stat(path, &s) == 0, plain = there && S_ISREG(s.st_mode);
    int fd = plain ? open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC) : -1;
    if (fd >= 0 && (fstat(fd, &s) != 0 || !S_ISREG(s.st_mode))) plain = false;
    FILE *f = fd >= 0 && plain ? fdopen(fd, "rb") : NULL;
    if (f) return f;
    if (there && !plain)
        lra_fail(e, "'%s' is not a regular file", path);
    else
        lra_fail_errno(e, "cannot open '%s'", path);
    if (fd >= 0) close(fd);
    return NULL;
}

int lra_file_check_holes(FILE *f, const char *path, lra_err *e)
{
    enum { SMALL = 64 << 20, MOST_PARTS = 1000, SHARE = 16 };
#if defined(SEEK_HOLE) && defined(SEEK_DATA)
    struct stat s;
    int fd = fileno(f);
    if (fstat(fd, &s) != 0 || s.st_size < SMALL) return 0;
    off_t before = lseek(fd, 0, SEEK_CUR), at = 0, stored = 0;
    for (int i = 0; i < MOST_PARTS && at < s.st_size; i++) {
        off_t from = lseek(fd, at, SEEK_DATA), to = from >= 0 ? lseek(fd, from, SEEK_HOLE) : -1;
        if (to < 0) break; /* no data after `at` (ENXIO): the rest is a hole */
        stored += to - from;
        at = to;
    }
    lseek(fd, before, SEEK_SET);
    if (stored < s.st_size / SHARE)
        return lra_fail(e, "'%s' has %lld bytes, of which %lld are stored and the others are holes",
                        path, (long long)s.st_size, (long long)stored);
#else
    (void)f, (void)path, (void)e;
#endif
    return 0;
}

char *lra_file_read(const char *path, size_t max_bytes, size_t *n_bytes, lra_err *e)
{
    char *bytes = NULL;
    struct stat s;
    FILE *f = lra_file_open(path, e);
    if (!f) return NULL;
    if (fstat(fileno(f), &s) != 0) {
        lra_fail_errno(e, "cannot read '%s'", path);
    } else if ((uint64_t)s.st_size > max_bytes) {
        lra_fail(e, "'%s' has %lld bytes, at most %zu are expected", path, (long long)s.st_size,
                 max_bytes);
    } else if (lra_file_check_holes(f, path, e) == 0) {
        *n_bytes = (size_t)s.st_size;
        bytes = lra_try_alloc(*n_bytes + 1, path, e);
        if (bytes && read_all(f, path, bytes, *n_bytes, e) != 0) {
            lra_free_large(bytes);
            bytes = NULL;
        }
        if (bytes) bytes[*n_bytes] = 0;
    }
    fclose(f);
    return bytes;
}

/* ---- folders --------------------------------------------------------------------------------- */

bool lra_file_exists(const char *path)
{
    struct stat s;
    return stat(path, &s) == 0;
}

bool lra_is_folder(const char *path)
{
    struct stat s;
    return stat(path, &s) == 0 && S_ISDIR(s.st_mode);
}

int lra_file_remove(const char *path, lra_err *e)
{
    if (unlink(path) == 0 || errno == ENOENT) return 0;
    return lra_fail_errno(e, "cannot remove '%s'", path);
}

int lra_folder_sync(const char *path, lra_err *e)
{
    char *folder = lra_copy_text(path);
    char *slash = strrchr(folder, '/');
    if (slash) slash[slash == folder] = 0;
    int fd = open(slash ? folder : ".", O_RDONLY | O_CLOEXEC), rc = 0;
    /* some file systems cannot sync a folder (EINVAL), and some folders are not readable; both are
     * ignored */
    if (fd < 0 ? errno != EACCES : fsync(fd) != 0 && errno != EINVAL)
        rc = lra_fail_errno(e, "cannot sync the folder of '%s'", path);
    if (fd >= 0) close(fd);
    lra_free(folder);
    return rc;
}

int lra_folder_make(const char *path, lra_err *e)
{
    if (!*path) return lra_fail(e, "the name of the folder is empty");
    char *p = lra_copy_text(path);
    int rc = 0;
    for (char *at = p + 1; rc == 0; at++) {
        if (*at != '/' && *at) continue;
        char kept = *at;
        *at = 0;
        bool there = lra_is_folder(p), made = !there && mkdir(p, 0777) == 0;
        if (!there && !made && errno != EEXIST)
            rc = lra_fail_errno(e, "cannot make the folder '%s'", p);
        else if (made)
            /* syncs the parent too: otherwise a power failure could lose the new folder */
            rc = lra_folder_sync(p, e);
        else if (!lra_is_folder(p))
            rc = lra_fail(e, "'%s' is not a folder", p);
        *at = kept;
        if (!kept) break;
    }
    lra_free(p);
    return rc;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

int lra_folder_list(const char *path, char ***names, lra_err *e)
{
    DIR *d = opendir(path);
    if (!d) return lra_fail_errno(e, "cannot read the folder '%s'", path);
    int n = 0, capacity = 16;
    *names = lra_alloc_array((size_t)capacity, sizeof **names);
    for (const struct dirent *entry = readdir(d); entry; entry = readdir(d)) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        if (n == capacity) {
            capacity *= 2;
            *names = lra_resize(*names, (size_t)capacity * sizeof **names);
        }
        (*names)[n++] = lra_copy_text(entry->d_name);
    }
    closedir(d);
    qsort(*names, (size_t)n, sizeof **names, by_name);
    return n;
}

void lra_names_free(char **names, int n)
{
    for (int i = 0; i < n; i++) lra_free(names[i]);
    lra_free(names);
}

/* ---- hashes -------------------------------------------------------------------------------- */

uint64_t lra_hash64(const void *bytes, size_t n)
{
    return XXH3_64bits(bytes, n);
}
uint32_t lra_hash32(const char *text)
{
    return XXH32(text, strlen(text), 0);
}
