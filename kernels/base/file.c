/* Files: whole or absent. */
#include "kernels/base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "kernels/base/mem.h"
#include "kernels/base/process.h"
#include "kernels/base/terminal.h"

struct lra_file {
    FILE *stream;
    char *path, *temporary;
};

/* ---- read ----------------------------------------------------------------------------------------- */

static int read_all(FILE *f, const char *path, char *to, size_t n, lra_err *e)
{
    size_t got = fread(to, 1, n, f);
    if (got == n) return 0;
    if (ferror(f)) return lra_fail_errno(e, "cannot read '%s'", path);
    return lra_fail(e, "'%s' ended after %zu of %zu bytes", path, got, n);
}

char *lra_file_read(const char *path, size_t max_bytes, size_t *n_bytes, lra_err *e)
{
    char *bytes = NULL;
    struct stat s;
    FILE *f = fopen(path, "rb");
    if (!f) {
        lra_fail_errno(e, "cannot open '%s'", path);
        return NULL;
    }
    if (fstat(fileno(f), &s) != 0) {
        lra_fail_errno(e, "cannot read '%s'", path);
    } else if (!S_ISREG(s.st_mode)) {
        lra_fail(e, "'%s' is not a regular file", path);
    } else if ((uint64_t)s.st_size > max_bytes) {
        lra_fail(e, "'%s' has %lld bytes, at most %zu are expected", path, (long long)s.st_size,
                 max_bytes);
    } else {
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

/* ---- write ---------------------------------------------------------------------------------------- */

lra_file *lra_file_create(const char *path, lra_err *e)
{
    lra_file *w = lra_alloc(sizeof *w);
    w->path = lra_copy_text(path);
    w->temporary = lra_format("%s.tmp", path);
    w->stream = fopen(w->temporary, "wb");
    if (w->stream) return w;
    lra_fail_errno(e, "cannot write '%s'", path);
    lra_free(w->path);
    lra_free(w->temporary);
    lra_free(w);
    return NULL;
}

FILE *lra_file_stream(lra_file *w)
{
    return w->stream;
}

static void forget(lra_file *w)
{
    lra_free(w->path);
    lra_free(w->temporary);
    lra_free(w);
}

int lra_file_commit(lra_file *w, lra_err *e)
{
    int rc = 0;
    if (fflush(w->stream) != 0 || fsync(fileno(w->stream)) != 0)
        rc = lra_fail_errno(e, "cannot write '%s'", w->path);
    else if (ferror(w->stream)) /* its errno is gone */
        rc = lra_fail(e, "cannot write '%s': an earlier write failed (is the disk full?)", w->path);
    if (fclose(w->stream) != 0 && rc == 0) rc = lra_fail_errno(e, "cannot write '%s'", w->path);
    if (rc == 0 && rename(w->temporary, w->path) != 0)
        rc = lra_fail_errno(e, "cannot write '%s'", w->path);
    if (rc == 0)
        rc = lra_file_sync_folder(w->path, e);
    else
        unlink(w->temporary);
    forget(w);
    return rc;
}

void lra_file_abort(lra_file *w)
{
    if (!w) return;
    fclose(w->stream);
    unlink(w->temporary);
    forget(w);
}

int lra_file_write(const char *path, const void *bytes, size_t n, lra_err *e)
{
    lra_file *w = lra_file_create(path, e);
    if (!w) return LRA_FAILED;
    if (n && fwrite(bytes, 1, n, w->stream) != n) {
        lra_fail_errno(e, "cannot write '%s'", path);
        lra_file_abort(w);
        return LRA_FAILED;
    }
    return lra_file_commit(w, e);
}

int lra_file_sync_folder(const char *path_of_file, lra_err *e)
{
    char *folder = lra_copy_text(path_of_file);
    char *slash = strrchr(folder, '/');
    if (slash) slash[slash == folder] = 0;
    int fd = open(slash ? folder : ".", O_RDONLY);
    int rc = 0;
    /* Some file systems cannot sync a folder (EINVAL); there is then nothing to be done. */
    if (fd < 0 || (fsync(fd) != 0 && errno != EINVAL))
        rc = lra_fail_errno(e, "cannot sync the folder of '%s'", path_of_file);
    if (fd >= 0) close(fd);
    lra_free(folder);
    return rc;
}

int lra_file_remove(const char *path, lra_err *e)
{
    if (unlink(path) == 0 || errno == ENOENT) return 0;
    return lra_fail_errno(e, "cannot remove '%s'", path);
}

/* ---- folders -------------------------------------------------------------------------------------- */

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

int lra_folder_make(const char *path, lra_err *e)
{
    if (!*path) return lra_fail(e, "the name of the folder is empty");
    char *p = lra_copy_text(path);
    int rc = 0;
    for (char *at = p + 1; rc == 0; at++) {
        if (*at != '/' && *at) continue;
        char kept = *at;
        *at = 0;
        if (!lra_is_folder(p) && mkdir(p, 0777) != 0 && errno != EEXIST)
            rc = lra_fail_errno(e, "cannot make the folder '%s'", p);
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

/* ---- hashes, locks -------------------------------------------------------------------------------- */

uint64_t lra_hash64(const void *bytes, size_t n)
{
    return XXH3_64bits(bytes, n);
}
uint32_t lra_hash32(const char *text)
{
    return XXH32(text, strlen(text), 0);
}

int lra_lock(const char *path, lra_err *e)
{
    int fd = open(path, O_RDWR | O_CREAT, 0666);
    if (fd < 0) return lra_fail_errno(e, "cannot open '%s'", path);
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (fcntl(fd, F_SETLK, &whole) == 0) return fd;
    if (errno != EACCES && errno != EAGAIN) {
        lra_fail_errno(e, "cannot lock '%s'", path);
        close(fd);
        return LRA_FAILED;
    }
    struct flock holder = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    fcntl(fd, F_GETLK, &holder);
    close(fd);
    return lra_fail(e, "'%s' is in use by process %ld", path, (long)holder.l_pid);
}

/* The file may have been removed by the one that held it, while others opened it. */
static bool still_there(int fd, const char *path)
{
    struct stat held, named;
    return fstat(fd, &held) == 0 && stat(path, &named) == 0 && held.st_ino == named.st_ino;
}

int lra_lock_wait(const char *path, lra_err *e)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    for (;;) {
        lra_err why;
        int fd = lra_lock(path, &why);
        if (fd >= 0 && still_there(fd, path)) return fd;
        lra_unlock(fd);
        if (fd >= 0) continue;
        fd = open(path, O_RDWR | O_CREAT, 0666);
        if (fd < 0) return lra_fail_errno(e, "cannot open '%s'", path);
        lra_note("%s: waiting", why.msg);
        int rc = fcntl(fd, F_SETLKW, &whole);
        if (rc == 0 && still_there(fd, path)) return fd;
        close(fd);
        if (rc != 0 && errno != EINTR) return lra_fail_errno(e, "cannot lock '%s'", path);
        if (lra_stop_signal()) return lra_fail(e, "stopped while waiting for '%s'", path);
    }
}

void lra_unlock(int lock)
{
    if (lock >= 0) close(lock);
}

int64_t lra_lock_holder(const char *path)
{
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct flock holder = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
    bool held = fd >= 0 && fcntl(fd, F_GETLK, &holder) == 0 && holder.l_type != F_UNLCK;
    if (fd >= 0) close(fd);
    return held ? (int64_t)holder.l_pid : 0;
}
