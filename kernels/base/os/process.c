/* Child processes. */
#include "kernels/base/os/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kernels/base/os/executable.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/os/signals.h"
#include "kernels/base/os/terminal.h"

enum { MOST_TEXT = 1 << 20 };

/* ---- children -------------------------------------------------------------------------------- */

static void child_stream(int to, int from)
{
    if (from >= 0) dup2(from, to);
}

/* In the child: makes it end when its parent is killed. */
static void live_with(pid_t parent)
{
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGTERM);
#endif
    if (getppid() != parent) _exit(128 + SIGTERM); /* the parent ended before prctl() */
}

/* In the child: sets folder (Nullable), streams and default signal handling, then executes the
 * program. `program` is an absolute path: PATH is not searched again in `folder`, which may contain
 * foreign files. NULL: this program's own executable. */
static void become(const char *folder, const char *program, char *const *argv, const int in[2],
                   const int out[2], const int err[2], unsigned flags, pid_t parent)
{
    live_with(parent);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    child_stream(0, in[0] >= 0 ? in[0] : null);
    child_stream(1, out[1] >= 0 ? out[1] : flags & LRA_QUIET_OUT ? null : -1);
    child_stream(2, err[1]);
    if (folder && chdir(folder) != 0) _exit(126);
    if (program)
        execv(program, argv);
    else
        lra_self_exec(argv);
    _exit(127);
}

static int make_pipe(int fd[2], lra_err *e)
{
    if (pipe(fd) != 0) return lra_fail_errno(e, "cannot make a pipe");
    fcntl(fd[0], F_SETFD, FD_CLOEXEC);
    fcntl(fd[1], F_SETFD, FD_CLOEXEC);
    return 0;
}

static void close_pipe(int fd[2])
{
    for (int i = 0; i < 2; i++)
        if (fd[i] >= 0) close(fd[i]);
}

static int start_program(lra_process *p, const char *folder, const char *program, char *const *argv,
                         unsigned flags, int in[2], lra_err *e)
{
    int out[2] = {-1, -1}, err[2] = {-1, -1};
    if ((flags & LRA_PIPE_OUT) && make_pipe(out, e) != 0) return LRA_FAILED;
    if ((flags & LRA_PIPE_ERR) && make_pipe(err, e) != 0) {
        close_pipe(out);
        return LRA_FAILED;
    }
    fflush(NULL);
    lra_signals_adopt();
    pid_t parent = getpid(), pid = fork();
    if (pid == 0) become(folder, program, argv, in, out, err, flags, parent);
    if (pid < 0) {
        close_pipe(out);
        close_pipe(err);
        return lra_fail_errno(e, "cannot start '%s'", argv[0]);
    }
    if (out[1] >= 0) close(out[1]);
    if (err[1] >= 0) close(err[1]);
    *p = (lra_process){pid, out[0], err[0]};
    return 0;
}

static int start(lra_process *p, const char *folder, char *const *argv, unsigned flags, int in[2],
                 lra_err *e)
{
    bool self = flags & LRA_SELF;
    *p = (lra_process){0, -1, -1};
    char *program = self ? NULL : lra_process_find(argv[0]);
    int rc = self || program ? start_program(p, folder, program, argv, flags, in, e)
                             : lra_fail(e, "'%s' is not installed", argv[0]);
    lra_free(program);
    return rc;
}

int lra_process_start(lra_process *p, char *const *argv, unsigned flags, lra_err *e)
{
    int in[2] = {-1, -1};
    return start(p, NULL, argv, flags, in, e);
}

static int exit_status(int status)
{
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int lra_process_wait(lra_process *p, lra_err *e)
{
    int status;
    while (waitpid((pid_t)p->pid, &status, 0) < 0)
        if (errno != EINTR) return lra_fail_errno(e, "cannot wait for process %ld", (long)p->pid);
    p->pid = 0;
    return exit_status(status);
}

int lra_process_wait_any(lra_process *p, int n, double seconds, int *status, lra_err *e)
{
    for (double end = lra_now() + seconds;;) {
        int raw;
        pid_t pid = waitpid(-1, &raw, WNOHANG);
        if (pid < 0) return lra_fail_errno(e, "cannot wait for a process");
        for (int i = 0; i < n && pid > 0; i++)
            if (p[i].pid == pid) {
                p[i].pid = 0;
                *status = exit_status(raw);
                return i;
            }
        if (pid > 0) continue;
        for (int i = 0; i < n && lra_stop_signal(); i++) lra_process_signal(&p[i], SIGTERM);
        if (seconds >= 0 && lra_now() >= end) return n;
        lra_sleep(0.01); /* a blocking wait would miss a signal that arrives just before it */
    }
}

void lra_process_signal(const lra_process *p, int number)
{
    if (p->pid > 0) kill((pid_t)p->pid, number);
}

/* Writes `input` to the child's stdin and collects both outputs until the child closes them. At
 * most slightly more than `most` bytes of each are stored. */
static void exchange(const lra_process *p, int in, const char *input, size_t most, lra_text *out,
                     lra_text *err)
{
    struct pollfd fd[3] = {{p->out, POLLIN, 0}, {p->err, POLLIN, 0}, {in, POLLOUT, 0}};
    size_t sent = 0, total = input ? strlen(input) : 0;
    lra_text *texts[2] = {out, err};
    while (fd[0].fd >= 0 || fd[1].fd >= 0) {
        if (poll(fd, 3, -1) < 0) {
            if (errno == EINTR) continue;
            break;
        }
        for (int i = 0; i < 2; i++) {
            char buf[4096];
            if (fd[i].fd < 0 || !fd[i].revents) continue;
            ssize_t n = read(fd[i].fd, buf, sizeof buf);
            if (n <= 0)
                fd[i].fd = -1;
            else if (texts[i]->n <= most)
                lra_text_bytes(texts[i], buf, (size_t)n);
        }
        if (fd[2].fd >= 0 && fd[2].revents) {
            ssize_t n = sent < total ? write(in, input + sent, total - sent) : -1;
            if (n > 0) sent += (size_t)n;
            if (n <= 0 || sent == total) {
                close(in);
                fd[2].fd = -1;
            }
        }
    }
    if (fd[2].fd >= 0) close(in);
}

static int run(const char *folder, char *const *argv, const char *input, size_t most, lra_text *out,
               lra_text *err, lra_err *e)
{
    int in[2];
    lra_process p;
    if (make_pipe(in, e) != 0) return LRA_FAILED;
    int rc = start(&p, folder, argv, LRA_PIPE_OUT | LRA_PIPE_ERR, in, e);
    close(in[0]);
    if (rc != 0) {
        close(in[1]);
        return LRA_FAILED;
    }
    fcntl(in[1], F_SETFL, O_NONBLOCK);
    exchange(&p, in[1], input, most, out, err);
    close(p.out);
    close(p.err);
    return lra_process_wait(&p, e);
}

/* Moves the text, or "", to *to, unless `to` is NULL. */
static void hand_over(lra_text *t, char **to)
{
    if (to) *to = lra_copy_text(t->s ? t->s : "");
    lra_text_free(t);
}

int lra_process_run(char *const *argv, const char *input, char **out, char **err, lra_err *e)
{
    lra_text text_out = {0}, text_err = {0};
    int status = run(NULL, argv, input, MOST_TEXT, &text_out, &text_err, e);
    hand_over(&text_out, status < 0 ? NULL : out);
    hand_over(&text_err, status < 0 ? NULL : err);
    return status;
}

int lra_process_run_in(const char *folder, char *const *argv, size_t most, lra_text *out,
                       char **err, lra_err *e)
{
    lra_text text_err = {0};
    int status = run(folder, argv, NULL, most, out, &text_err, e);
    hand_over(&text_err, status < 0 ? NULL : err);
    if (status >= 0 && out->n > most)
        status = lra_fail(e, "'%s' wrote more than %zu bytes", argv[0], most);
    return status;
}
