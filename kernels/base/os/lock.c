/* Locks between processes. */
#include "kernels/base/os/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernels/base/core/log.h"
#include "kernels/base/os/signals.h"

/* Opens the lock file. A symbolic link in its place is not followed, so that no file is created
 * elsewhere. */
static int open_lock(const char *path, lra_err *e)
{
    int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
    return fd >= 0 ? fd : lra_fail_errno(e, "cannot open '%s'", path);
}

/* environment variable, which child processes inherit */
static const char without_locks[] = "LRA_NO_LOCKS";

void lra_locks_off(void)
{
    setenv(without_locks, "1", 1);
}

/* Tries to lock. Returns 0: locked; 1: another process holds the lock; -1: the file cannot be
 * locked. */
static int try_lock(int fd, const char *path, int how, lra_err *e)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (getenv(without_locks) || fcntl(fd, how, &whole) == 0) return 0;
    if (errno == EACCES || errno == EAGAIN || errno == EINTR) return 1;
    bool never = errno == ENOLCK || errno == ENOSYS || errno == EINVAL || errno == EOPNOTSUPP;
    lra_fail_errno(e, "cannot lock '%s'", path);
    if (!never) return LRA_FAILED;
    lra_err why = *e;
    return lra_fail(
        e, "%s (option '--no-locks' works without locks, if no other process uses the folder)",
        why.msg);
}

int lra_lock(const char *path, lra_err *e)
{
    int fd = open_lock(path, e);
    if (fd < 0) return LRA_FAILED;
    int rc = try_lock(fd, path, F_SETLK, e);
    if (rc == 0) return fd;
    struct flock holder = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (rc > 0) fcntl(fd, F_GETLK, &holder);
    close(fd);
    if (rc < 0) return LRA_FAILED;
    return lra_fail(e, "'%s' is in use by process %ld", path, (long)holder.l_pid);
}

/* False if the process that held the lock has removed the file after this process opened it. */
static bool still_there(int fd, const char *path)
{
    struct stat held, named;
    return fstat(fd, &held) == 0 && stat(path, &named) == 0 && held.st_ino == named.st_ino;
}

/* Reports the process that holds the lock. */
static void say_waiting(int fd, const char *path)
{
    struct flock holder = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    fcntl(fd, F_GETLK, &holder);
    lra_note("'%s' is in use by process %ld: waiting", path, (long)holder.l_pid);
}

int lra_lock_wait(const char *path, lra_err *e)
{
    for (;;) {
        int fd = open_lock(path, e);
        if (fd < 0) return LRA_FAILED;
        int rc = try_lock(fd, path, F_SETLK, e);
        if (rc > 0) {
            say_waiting(fd, path);
            rc = try_lock(fd, path, F_SETLKW, e);
        }
        if (rc == 0 && still_there(fd, path)) return fd;
        close(fd);
        if (rc < 0) return LRA_FAILED;
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
