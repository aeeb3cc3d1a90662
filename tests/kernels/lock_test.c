/* Locks between processes, and file systems without locks. */
#include "tests/fixtures/test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
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

/* Runs `child` in another process. Returns its exit code. */
static int in_child(int (*child)(const char *path), const char *path)
{
    int status;
    pid_t pid = fork();
    if (pid == 0) _exit(child(path));
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* 0 if the lock is refused because this test's process holds it. */
static int is_refused(const char *path)
{
    bool held = false;
    char *expected = lra_format("is in use by process %ld", (long)getppid());
    return lra_lock(path, &held, &err) == -1 && held && strstr(err.msg, expected) ? 0 : 1;
}
static int is_free(const char *path)
{
    int lock = lra_lock(path, NULL, &err);
    lra_unlock(lock);
    return lock >= 0 ? 0 : 1;
}
/* Ends without releasing the lock. */
static int dies(const char *path)
{
    return lra_lock(path, NULL, &err) >= 0 ? 0 : 1;
}

static void expect_exclusion(void)
{
    char *path = lra_format("%s/lock", folder);
    lra_lock_owner owner;
    int lock = lra_lock_wait(path, &err);
    assert_true(lock >= 0);
    assert_int_equal(in_child(is_refused, path), 0);
    lra_unlock(lock);
    assert_false(lra_lock_held(path, &owner));
    assert_int_equal(in_child(is_free, path), 0);
    assert_int_equal(in_child(dies, path), 0);
    assert_false(lra_lock_held(path, &owner));
    assert_int_equal(in_child(is_free, path), 0);
    lra_free(path);
}

TEST(a_lock_excludes_others)
{
    expect_exclusion();
}

TEST(a_file_system_without_locks_has_claims)
{
    no_locks = true;
    expect_exclusion();
    no_locks = false;
    lra_locks_use(LRA_LOCKS_AUTO, false);
}

TEST(no_locks_lock_nothing)
{
    char *path = lra_format("%s/lock", folder);
    lra_locks_use(LRA_LOCKS_NONE, false);
    int lock = lra_lock_wait(path, &err);
    assert_true(lock >= 0);
    assert_int_equal(in_child(is_free, path), 0);
    lra_unlock(lock);
    lra_locks_use(LRA_LOCKS_AUTO, false);
    lra_free(path);
}

/* Writes the claim of a process of another machine, last touched `age` seconds ago. */
static void claim_elsewhere(const char *path, const char *text, int age)
{
    char *file = lra_format("%s.claim", path);
    FILE *f = fopen(file, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    const struct timespec at = {.tv_sec = time(NULL) - age};
    const struct timespec times[] = {at, at};
    assert_int_equal(utimensat(AT_FDCWD, file, times, 0), 0);
    lra_free(file);
}

TEST(claims_of_other_machines)
{
    char *path = lra_format("%s/lock", folder), text[128];
    bool held = false;
    lra_lock_owner owner;
    lra_locks_use(LRA_LOCKS_CLAIMS, false);
    claim_elsewhere(path, "node-of-another-rack 12 345\n", 10);
    assert_int_equal(lra_lock(path, &held, &err), -1);
    assert_true(held);
    if (!strstr(err.msg, "in use by process 12 on node-of-another-rack")) fail_msg("%s", err.msg);
    assert_true(lra_lock_held(path, &owner));
    assert_string_equal(lra_lock_owner_text(&owner, text), "process 12 on node-of-another-rack");

    claim_elsewhere(path, "node-of-another-rack 12 345\n", LRA_CLAIM_STALE + 60);
    assert_false(lra_lock_held(path, &owner));
    int lock = lra_lock(path, &held, &err);
    assert_true(lock >= 0);
    lra_unlock(lock);

    claim_elsewhere(path, "node-of-another-rack 12 345\n", 10);
    lra_locks_use(LRA_LOCKS_CLAIMS, true);
    lock = lra_lock(path, &held, &err);
    assert_true(lock >= 0);
    lra_unlock(lock);

    /* an empty claim: its process has created the file and not yet written it */
    claim_elsewhere(path, "", 10);
    assert_int_equal(lra_lock(path, &held, &err), -1);
    assert_true(held);
    claim_elsewhere(path, "", LRA_CLAIM_STALE + 60);
    lock = lra_lock(path, &held, &err);
    assert_true(lock >= 0);
    lra_unlock(lock);
    lra_locks_use(LRA_LOCKS_AUTO, false);
    lra_free(path);
}

/* Twenty processes take the claim of a process that has ended: one at a time has it. */
static int counts(const char *path)
{
    char *inside = lra_format("%s.inside", path);
    int bad = 0;
    for (int i = 0; i < 20; i++) {
        int lock = lra_lock_wait(path, &err);
        int fd = open(inside, O_CREAT | O_EXCL | O_WRONLY, 0600);
        bad += lock < 0 || fd < 0;
        if (fd >= 0) close(fd), unlink(inside);
        if (i == 10) _exit(bad ? 1 : 0); /* ends while it holds the lock */
        lra_unlock(lock);
    }
    return bad ? 1 : 0;
}

TEST(one_process_at_a_time_has_a_claim)
{
    enum { N = 6 };
    char *path = lra_format("%s/lock", folder);
    pid_t pid[N];
    lra_locks_use(LRA_LOCKS_CLAIMS, false);
    for (int i = 0; i < N; i++) {
        pid[i] = fork();
        if (pid[i] == 0) _exit(counts(path));
    }
    for (int i = 0, status; i < N; i++) {
        assert_int_equal(waitpid(pid[i], &status, 0), pid[i]);
        assert_int_equal(status, 0);
    }
    lra_locks_use(LRA_LOCKS_AUTO, false);
    lra_free(path);
}

GROUP(make_folder, remove_folder);
