/* Termination signals, and the removal of incomplete files. */
#include "kernels/base/os/signals.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "kernels/base/core/mem.h"

enum { MOST_FILES = 16, MOST_GROUPS = 64 };
/* name of the variable that holds the id of the parent */
static const char parent_name[] = "LRA_PARENT";

static volatile sig_atomic_t stop_signal;
static atomic_int holders;
/* parent: 0 if this process is not a child of this program; owner: this process */
static pid_t parent, owner;

/* A file that is being written. The signal handler may run on any thread at any time. */
static struct {
    atomic_int there;
    dev_t dev;
    ino_t ino;
    char path[PATH_MAX];
} unfinished[MOST_FILES];

void lra_sleep(double seconds)
{
    struct timespec pause = {.tv_sec = (time_t)seconds};
    pause.tv_nsec = (long)(1e9 * (seconds - (double)pause.tv_sec));
    nanosleep(&pause, NULL);
}

int lra_unfinished_add(const char *path)
{
    struct stat s;
    if (strlen(path) >= PATH_MAX || lstat(path, &s) != 0) return -1;
    for (int i = 0; i < MOST_FILES; i++) {
        if (unfinished[i].there) continue;
        strncpy(unfinished[i].path, path, PATH_MAX - 1);
        unfinished[i].dev = s.st_dev, unfinished[i].ino = s.st_ino;
        unfinished[i].there = 1;
        return i;
    }
    return -1;
}

void lra_unfinished_remove(int i)
{
    if (i >= 0) unfinished[i].there = 0;
}

/* Process groups that are killed when this process ends; 0: an unused entry. */
static atomic_long group[MOST_GROUPS];

/* Kills the registered process groups with SIGKILL. Async-signal-safe. */
static void kill_groups(void)
{
    for (int i = 0; i < MOST_GROUPS && getpid() == owner; i++) {
        long id = group[i];
        if (id > 0) kill((pid_t)-id, SIGKILL);
    }
}

int lra_group_add(int64_t pid)
{
    static atomic_flag registered = ATOMIC_FLAG_INIT;
    if (!atomic_flag_test_and_set(&registered)) atexit(kill_groups);
    if (owner == 0) owner = getpid();
    for (int i = 0; i < MOST_GROUPS; i++) {
        long none = 0;
        if (atomic_compare_exchange_strong(&group[i], &none, (long)pid)) return i;
    }
    return -1;
}

void lra_group_remove(int i)
{
    if (i >= 0) group[i] = 0;
}

static const char *limit_text;

/* Removes unfinished files. Async-signal-safe: calls only functions that POSIX allows in a
 * handler. */
static void remove_unfinished(void)
{
    struct stat s;
    for (int i = 0; i < MOST_FILES && getpid() == owner;
         i++) /* a child that has not called exec yet is not the owner and removes nothing */
        if (unfinished[i].there && lstat(unfinished[i].path, &s) == 0 &&
            s.st_ino == unfinished[i].ino && s.st_dev == unfinished[i].dev)
            unlink(unfinished[i].path);
}

static void leave(void)
{
    static const char stopped_line[] = "stopped\n";
    remove_unfinished();
    kill_groups();
    /* a child of the command that starts many runs prints nothing: its parent prints one message
     * for all */
    ssize_t n = parent ? 0 : write(2, stopped_line, sizeof stopped_line - 1);
    (void)n; /* the message is optional: a failed write is ignored */
    _exit(LRA_EXIT_INTERRUPTED);
}

static void on_time(int number)
{
    (void)number;
    remove_unfinished();
    kill_groups();
    ssize_t n = write(2, limit_text, strlen(limit_text));
    (void)n; /* nothing can be done about a failed write */
    _exit(1);
}

void lra_time_limit(int seconds, const char *text)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_time;
    limit_text = text;
    sigaction(SIGALRM, &action, NULL);
    alarm((unsigned)seconds);
}

static void on_signal(int number)
{
    if (stop_signal == SIGINT && number == SIGINT) {
        kill_groups();
        signal(SIGINT, SIG_DFL);
        raise(SIGINT);
    }
    stop_signal = number;
    if (number != SIGUSR1 && holders == 0) leave();
}

void lra_signals_init(void)
{
    static const int caught[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1};
    struct sigaction action, before;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof caught / sizeof *caught; i++)
        if (caught[i] != SIGHUP ||
            (sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler != SIG_IGN))
            sigaction(caught[i], &action, NULL);
    signal(SIGPIPE, SIG_IGN);
    /* exceeding a file size limit is then a write error, like a full disk */
    signal(SIGXFSZ, SIG_IGN);
    owner = getpid();
    const char *id = getenv(parent_name);
    long number = id ? strtol(id, NULL, 10) : 0;
    if (number > 0 && number == (long)getppid()) parent = (pid_t)number;
}

void lra_signals_hold(void)
{
    holders++;
}

void lra_signals_release(void)
{
    holders--;
}

int lra_stop_signal(void)
{
    if (parent && !stop_signal && getppid() != parent) stop_signal = SIGTERM;
    return (int)stop_signal;
}

void lra_signals_adopt(void)
{
    char *id = lra_format("%ld", (long)getpid());
    setenv(parent_name, id, 1);
    lra_free(id);
}
