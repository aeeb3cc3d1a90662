/* Locks between processes. */
#include "kernels/base/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernels/base/log.h"
#include "kernels/base/signals.h"

/* A link that stands where the lock should is not followed: no file elsewhere is made. */
static int open_lock(const char *path, lra_err *e)
{
    int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
    return fd >= 0 ? fd : lra_fail_errno(e, "cannot open '%s'", path);
}

int lra_lock(const char *path, lra_err *e)
{
    int fd = open_lock(path, e);
    if (fd < 0) return LRA_FAILED;
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
        fd = open_lock(path, e);
        if (fd < 0) return LRA_FAILED;
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
