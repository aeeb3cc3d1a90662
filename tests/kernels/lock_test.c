/* Locks between processes, and file systems without locks. */
#include "tests/fixtures/test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernels/base/os/lock.h"
#include "tests/fixtures/folder.h"

long syscall(long number, ...);

static lra_err err;
static bool no_locks;

/* Replaces fcntl() of the C library. */
int fcntl(int fd, int command, ...)
{
    va_list args;
    va_start(args, command);
    void *argument = va_arg(args, void *);
    va_end(args);
    if (no_locks && (command == F_SETLK || command == F_SETLKW || command == F_GETLK)) {
        errno = ENOLCK;
        return -1;
    }
    return (int)syscall(SYS_fcntl, fd, command, argument);
}

TEST(a_file_system_without_locks_has_a_way_round)
{
    char *path = lra_format("%s/lock", folder);
    no_locks = true;
    assert_int_equal(lra_lock(path, &err), -1);
    if (!strstr(err.msg, "--no-locks")) fail_msg("%s", err.msg);
    assert_int_equal(lra_lock_wait(path, &err), -1);
    if (!strstr(err.msg, "--no-locks")) fail_msg("%s", err.msg);
    lra_locks_off();
    int lock = lra_lock_wait(path, &err);
    assert_true(lock >= 0);
    lra_unlock(lock);
    assert_int_equal(unsetenv("LRA_NO_LOCKS"), 0);
    no_locks = false;
    lra_free(path);
}

TEST(a_lock_excludes_others)
{
    int status;
    char *path = lra_format("%s/lock", folder);
    int lock = lra_lock_wait(path, &err);
    assert_true(lock >= 0);
    pid_t pid = fork();
    if (pid == 0)
        _exit(lra_lock(path, &err) == -1 && strstr(err.msg, "is in use by process") ? 0 : 1);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    lra_unlock(lock);
    lra_free(path);
}

GROUP(make_folder, remove_folder);
