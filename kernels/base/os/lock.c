/* Locks between processes (lock.h). */
#include "kernels/base/os/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernels/base/core/log.h"
#include "kernels/base/os/signals.h"

/* ---- kind of locks --------------------------------------------------------------------------- */

/* Environment variables that child processes inherit. LRA_LOCKS: "none" or "claims";
 * LRA_BREAK_LOCKS: take over claims of other machines. */
static const char kind_name[] = "LRA_LOCKS", take_over_name[] = "LRA_BREAK_LOCKS";

void lra_locks_use(lra_lock_kind kind, bool take_over)
{
    if (kind == LRA_LOCKS_AUTO)
        unsetenv(kind_name);
    else
        setenv(kind_name, kind == LRA_LOCKS_NONE ? "none" : "claims", 1);
    if (take_over)
        setenv(take_over_name, "1", 1);
    else
        unsetenv(take_over_name);
}

static lra_lock_kind kind_of_locks(void)
{
    const char *kind = getenv(kind_name);
    return !kind ? LRA_LOCKS_AUTO : strcmp(kind, "none") == 0 ? LRA_LOCKS_NONE : LRA_LOCKS_CLAIMS;
}

/* ---- kernel locks ---------------------------------------------------------------------------- */

/* Opens the lock file. A symbolic link in its place is not followed, so that no file is created
 * elsewhere. */
static int open_lock(const char *path, lra_err *e)
{
    int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
    return fd >= 0 ? fd : lra_fail_errno(e, "cannot open '%s'", path);
}

typedef enum { TAKEN, HELD, NO_LOCKS, BROKEN } lock_state;

/* Tries to lock. NO_LOCKS: the file system has no locks; BROKEN: e is filled. */
static lock_state try_lock(int fd, const char *path, int how, lra_err *e)
{
    struct flock range = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (fcntl(fd, how, &range) == 0) return TAKEN;
    if (errno == EACCES || errno == EAGAIN || errno == EINTR) return HELD;
    if (errno == ENOLCK || errno == ENOSYS || errno == EINVAL || errno == EOPNOTSUPP)
        return NO_LOCKS;
    lra_fail_errno(e, "cannot lock '%s'", path);
    return BROKEN;
}

/* Writes the id and the machine of this process into its lock file, because the kernel does not
 * know the holders on other machines. */
static void sign(int fd)
{
    lra_lock_owner self = lra_lock_owner_self();
    char text[128];
    int n = snprintf(text, sizeof text, "%s %" PRId64 "\n", self.host, self.pid);
    (void)!ftruncate(fd, 0); /* a full disk does not prevent locking */
    (void)!pwrite(fd, text, (size_t)n, 0);
}

/* Reads the holder of a held lock. The kernel's id is preferred, because the holder may not have
 * written its own yet; it is 0 or negative for holders on other machines. */
static lra_lock_owner read_owner(int fd, int64_t pid)
{
    lra_lock_owner owner = {.pid = pid > 0 ? pid : 0}, written = {.pid = 0};
    char text[128] = "";
    ssize_t n = pread(fd, text, sizeof text - 1, 0);
    text[n > 0 ? n : 0] = 0;
    if (sscanf(text, "%71s %" SCNd64, written.host, &written.pid) < 2) return owner;
    return owner.pid == 0 || owner.pid == written.pid ? written : owner;
}

/* False if the process that held the lock has removed the file after this process opened it. */
static bool still_there(int fd, const char *path)
{
    struct stat held, named;
    return fstat(fd, &held) == 0 && stat(path, &named) == 0 && held.st_ino == named.st_ino;
}

static bool holder_of(int fd, lra_lock_owner *owner)
{
    struct flock holder = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    bool held = fcntl(fd, F_GETLK, &holder) == 0 && holder.l_type != F_UNLCK;
    if (held && owner) *owner = read_owner(fd, holder.l_pid);
    return held;
}

/* ---- both kinds ------------------------------------------------------------------------------ */

const char *lra_lock_owner_text(const lra_lock_owner *owner, char text[128])
{
    lra_lock_owner self = lra_lock_owner_self();
    bool here = !*owner->host || strcmp(owner->host, self.host) == 0;
    if (!owner->pid)
        snprintf(text, 128, "another process");
    else
        snprintf(text, 128, "process %" PRId64 "%s%s", owner->pid, here ? "" : " on ",
                 here ? "" : owner->host);
    return text;
}

static int fail_held(const char *path, const lra_lock_owner *owner, lra_err *e)
{
    char text[128];
    return lra_fail(e, "'%s' is in use by %s", path, lra_lock_owner_text(owner, text));
}

static int claim(const char *path, bool *held, lra_lock_owner *owner, lra_err *e)
{
    int fd = lra_claim(path, getenv(take_over_name) != NULL, held, owner, e);
    return fd >= 0 || !*held ? fd : fail_held(path, owner, e);
}

/* Falls back to claim files, and reports it once. */
static void say_claims(const char *path)
{
    static bool said;
    if (!said)
        lra_note("'%s' is on a file system without locks: files '*.claim' with machine and process "
                 "are used instead; a claim of another machine ends %d s after its last heartbeat",
                 path, LRA_CLAIM_STALE);
    said = true;
    setenv(kind_name, "claims", 1);
}

/* Tries once to take the lock, or the claim if the file system has no locks. Does not wait. */
static int take(const char *path, bool *held, lra_lock_owner *owner, lra_err *e)
{
    *held = false;
    if (kind_of_locks() == LRA_LOCKS_CLAIMS) return claim(path, held, owner, e);
    int fd = open_lock(path, e);
    if (fd < 0 || kind_of_locks() == LRA_LOCKS_NONE) return fd;
    lock_state state = try_lock(fd, path, F_SETLK, e);
    if (state == TAKEN) {
        sign(fd);
        return fd;
    }
    *held = state == HELD;
    if (*held && !holder_of(fd, owner)) *owner = (lra_lock_owner){.pid = 0};
    close(fd);
    if (state == NO_LOCKS) {
        say_claims(path);
        return claim(path, held, owner, e);
    }
    return *held ? fail_held(path, owner, e) : LRA_FAILED;
}

int lra_lock(const char *path, bool *held, lra_err *e)
{
    bool ignored;
    lra_lock_owner owner;
    return take(path, held ? held : &ignored, &owner, e);
}

/* Waits until a claim is released, or until the kernel releases the lock. */
static void wait_for(const char *path)
{
    if (kind_of_locks() == LRA_LOCKS_CLAIMS) {
        lra_sleep(0.2);
        return;
    }
    lra_err ignored;
    int fd = open_lock(path, &ignored);
    if (fd < 0) return;
    try_lock(fd, path, F_SETLKW, &ignored);
    close(fd);
}

int lra_lock_wait(const char *path, lra_err *e)
{
    for (bool said = false;;) {
        bool held;
        lra_lock_owner owner;
        char text[128];
        int fd = take(path, &held, &owner, e);
        bool gone = fd >= 0 && kind_of_locks() == LRA_LOCKS_AUTO && !still_there(fd, path);
        if (gone) close(fd);
        if (!gone && (fd >= 0 || !held)) return fd;
        if (held && !said)
            lra_note("'%s' is in use by %s: waiting", path, lra_lock_owner_text(&owner, text));
        said |= held;
        if (held) wait_for(path);
        if (lra_stop_signal()) return lra_fail(e, "stopped while waiting for '%s'", path);
    }
}

void lra_unlock(int lock)
{
    if (lock >= 0 && !lra_claim_release(lock)) close(lock);
}

bool lra_lock_held(const char *path, lra_lock_owner *owner)
{
    if (lra_claim_held(path, owner)) return true;
    int fd = open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    bool held = fd >= 0 && holder_of(fd, owner);
    if (fd >= 0) close(fd);
    return held;
}
