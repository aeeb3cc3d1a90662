/* Writes files completely or not at all. The bytes go to a temporary file in the folder of PATH,
 * created with O_EXCL and O_NOFOLLOW, so that no planted link is followed and no other writer's
 * file is shared. The writer holds a lock on it. An unlocked temporary file belongs to a killed
 * writer and is removed by the next writer that needs its name. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernels/base/os/file.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/os/signals.h"

enum { MOST_WRITERS = 1000 };

struct lra_file {
    FILE *stream;
    char *path, *temporary;
    int unfinished; /* index returned by lra_unfinished_add() */
};

/* ---- temporary files ------------------------------------------------------------------------- */

/* Locks a file exclusively. Uses flock() instead of lra_lock(), because it also excludes a second
 * descriptor of the same process. */
static bool lock_alone(int fd)
{
    if (flock(fd, LOCK_EX | LOCK_NB) == 0) return true;
    return errno != EWOULDBLOCK && errno != EINTR;
}

/* True if the name still refers to this open file. */
static bool is_named(int fd, const char *name)
{
    struct stat held, named;
    return fstat(fd, &held) == 0 && lstat(name, &named) == 0 && held.st_ino == named.st_ino &&
           held.st_dev == named.st_dev;
}

/* Removes the temporary file of a killed writer. Without file locks a writer cannot be known to be
 * dead, and nothing is removed. */
static bool remove_stale(const char *name)
{
    struct stat s;
    int fd = open(name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    bool stale = fd >= 0 && fstat(fd, &s) == 0 && S_ISREG(s.st_mode) &&
                 flock(fd, LOCK_EX | LOCK_NB) == 0 && is_named(fd, name) && unlink(name) == 0;
    if (fd >= 0) close(fd);
    return stale;
}

/* Creates and locks the file `temporary`. Returns -1 with errno; EEXIST: another process writes
 * it. */
static int make_temporary(const char *temporary)
{
    for (;;) {
        int fd = open(temporary, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
        if (fd < 0 && errno != EEXIST) return -1;
        if (fd < 0 && remove_stale(temporary)) continue;
        if (fd < 0) {
            errno = EEXIST;
            return -1;
        }
        /* between open() and the lock another writer may have removed the file, because it looked
         * stale */
        if (lock_alone(fd) && is_named(fd, temporary)) return fd;
        close(fd);
    }
}

/* True for names that make_temporary() is given: "X.0.tmp" to "X.999.tmp". */
static bool is_temporary(const char *name)
{
    size_t n = strlen(name), digits = 0;
    if (n < 7 || strcmp(name + n - 4, ".tmp") != 0) return false;
    while (digits < 3 && name[n - 5 - digits] >= '0' && name[n - 5 - digits] <= '9') digits++;
    return digits > 0 && n > 5 + digits && name[n - 5 - digits] == '.';
}

void lra_folder_clean(const char *path)
{
    char **names;
    int n = lra_folder_list(path, &names, NULL);
    for (int i = 0; i < n; i++) {
        if (!is_temporary(names[i])) continue;
        char *name = lra_format("%s/%s", path, names[i]);
        remove_stale(name);
        lra_free(name);
    }
    if (n >= 0) lra_names_free(names, n);
}

/* ---- write ----------------------------------------------------------------------------------- */

static void forget(lra_file *w)
{
    lra_unfinished_remove(w->unfinished);
    lra_free(w->path);
    lra_free(w->temporary);
    lra_free(w);
}

lra_file *lra_file_create(const char *path, lra_err *e)
{
    struct stat s;
    int fd = -1;
    /* the rename would replace a device, a FIFO or a socket */
    if (stat(path, &s) == 0 && !S_ISREG(s.st_mode) && !S_ISDIR(s.st_mode)) {
        lra_fail(e, "cannot write '%s': it is not a regular file", path);
        return NULL;
    }
    char *temporary = NULL;
    for (int i = 0; i < MOST_WRITERS && fd < 0; i++) {
        lra_free(temporary);
        temporary = lra_format("%s.%d.tmp", path, i);
        fd = make_temporary(temporary);
        if (fd < 0 && errno != EEXIST) break;
    }
    FILE *stream = fd >= 0 ? fdopen(fd, "r+b") : NULL;
    if (!stream) {
        lra_fail_errno(e, "cannot write '%s'", path);
        lra_free(temporary);
        return NULL;
    }
    lra_file *w = lra_alloc(sizeof *w);
    *w = (lra_file){stream, lra_copy_text(path), temporary, lra_unfinished_add(temporary)};
    return w;
}

FILE *lra_file_stream(lra_file *w)
{
    return w->stream;
}

const char *lra_file_temporary(const lra_file *w)
{
    return w->temporary;
}

int lra_file_commit(lra_file *w, lra_err *e)
{
    int rc = 0;
    if (fflush(w->stream) != 0 || fsync(fileno(w->stream)) != 0)
        rc = lra_fail_errno(e, "cannot write '%s'", w->path);
    else if (ferror(w->stream)) /* a write failed earlier, and its errno is no longer known */
        rc = lra_fail(e, "cannot write '%s': an earlier write failed (is the disk full?)", w->path);
    /* renamed before it is closed: without its lock it would look like the file of a killed
     * writer */
    if (rc == 0 && rename(w->temporary, w->path) != 0)
        rc = lra_fail_errno(e, "cannot write '%s'", w->path);
    if (rc == 0)
        rc = lra_folder_sync(w->path, e);
    else
        unlink(w->temporary);
    fclose(w->stream); /* ignores errors: all data are on the disk already */
    forget(w);
    return rc;
}

void lra_file_abort(lra_file *w)
{
    if (!w) return;
    unlink(w->temporary);
    fclose(w->stream);
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
