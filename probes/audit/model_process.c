/* Runs an external model as child processes, with one poll loop for the descriptors of all
 * copies. */
#include "probes/audit/model_process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kernels/base/core/log.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/core/printable.h"
#include "kernels/base/os/executable.h"
#include "kernels/base/os/signals.h"
#include "kernels/base/os/terminal.h"

extern char **environ;

/* SLICE_MS: time limit of a poll() call, so that a stop signal just before it is noticed soon. */
enum { SLICE_MS = 100, LONGEST_LINE = 4096, MOST_TEXT = 4096 };
/* Maximum number of consecutive reads of one descriptor; then the others and the time limits are
 * checked. */
enum { MOST_READS = 256 };
struct lra_model_process {
    lra_model_command command;
    char name[32]; /* name in messages: "model", "model 2" */
    pid_t pid;     /* 0: a connected socket, or the child was reaped */
    int group;     /* index returned by lra_group_add() */
    int in, out, err;
    lra_frame_reader reader;
    lra_text line, kept;   /* of stderr: the incomplete last line; the last bytes */
    lra_model_exchange *x; /* the open request; NULL: idle */
    size_t sent;
    double end, limit; /* end: time at which the request times out; limit: its time limit */
};

lra_model_command lra_model_command_default(void)
{
    return (lra_model_command){.fd = -1,
                               .start_limit = 600,
                               .limit = 300,
                               .bye_limit = 10,
                               .term_limit = 5,
                               .exit_limit = 5,
                               .frame = lra_frame_default_limits};
}

/* ---- start ----------------------------------------------------------------------------------- */

static void close_fd(int *fd)
{
    if (*fd >= 0) close(*fd);
    *fd = -1;
}

static int make_pipe(int fd[2], lra_err *e)
{
    if (pipe(fd) != 0) {
        fd[0] = fd[1] = -1;
        return lra_fail_errno(e, "cannot make a pipe");
    }
    return 0;
}

/* Sets FD_CLOEXEC on all descriptors above 2, including those that libraries have opened. */
static void close_all_on_exec(void)
{
    DIR *d = opendir("/proc/self/fd");
    if (!d) {
        for (int fd = 3; fd < 1024; fd++) fcntl(fd, F_SETFD, FD_CLOEXEC);
        return;
    }
    for (struct dirent *entry = readdir(d); entry; entry = readdir(d)) {
        int fd = (int)strtol(entry->d_name, NULL, 10);
        if (fd > 2) fcntl(fd, F_SETFD, FD_CLOEXEC);
    }
    closedir(d);
}

static bool is_variable(const char *text, const char *name)
{
    size_t n = strlen(name);
    return strncmp(text, name, n) == 0 && text[n] == '=';
}

/* Returns the GPU of a slot from the list "0,1,2", as a line of the environment; a shorter list is
 * repeated. */
static char *gpu_of(const char *gpus, int slot)
{
    int n = 1;
    for (const char *c = gpus; *c; c++) n += *c == ',';
    for (int i = slot % n; i > 0; i--) gpus = strchr(gpus, ',') + 1;
    return lra_format("CUDA_VISIBLE_DEVICES=%.*s", (int)strcspn(gpus, ","), gpus);
}

/* Returns the environment of a copy, terminated by NULL; the caller frees the array and its first
 * *own texts. */
static char **make_environment(const char *gpus, int slot, int *own)
{
    int n = 0, k = 0;
    while (environ[n]) n++;
    char **list = lra_alloc_array((size_t)n + 3, sizeof *list);
    list[k++] = lra_format("LRAX_SLOT=%d", slot);
    if (gpus) list[k++] = gpu_of(gpus, slot);
    *own = k;
    for (int i = 0; i < n; i++) {
        if (is_variable(environ[i], "LRAX_SLOT")) continue;
        if (gpus && is_variable(environ[i], "CUDA_VISIBLE_DEVICES")) continue;
        if (strcmp(environ[i], lra_threads_variable) == 0) continue;
        list[k++] = environ[i];
    }
    return list;
}

static int spawn(lra_model_process *p, const char *program, char *const *argv, char **environment,
                 const int fd[3])
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, standard;
    sigemptyset(&none);
    sigemptyset(&standard);
    static const int number[] = {SIGPIPE, SIGXFSZ, SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGALRM};
    for (size_t i = 0; i < sizeof number / sizeof *number; i++) sigaddset(&standard, number[i]);
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    for (int i = 0; i < 3; i++) posix_spawn_file_actions_adddup2(&actions, fd[i], i);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF |
                                              POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setsigdefault(&attributes, &standard);
    posix_spawnattr_setsigmask(&attributes, &none);
    int rc = posix_spawn(&p->pid, program, &actions, &attributes, argv, environment);
    if (rc != 0) p->pid = 0;
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return rc;
}

/* Moves a descriptor above 2, so that dup2() to one of the streams does not close it. */
static int above_streams(int fd)
{
    if (fd < 0 || fd > 2) return fd;
    int to = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    close(fd);
    return to;
}

static int start_child(lra_model_process *p, int slot, lra_err *e)
{
    int in[2] = {-1, -1}, out[2] = {-1, -1}, err[2] = {-1, -1}, own = 0;
    char *const *argv = p->command.argv;
    char *program = lra_process_find(argv[0]);
    if (!program) return lra_fail(e, "'%s' is not a program (not found in PATH)", argv[0]);
    int rc = make_pipe(in, e);
    if (rc == 0) rc = make_pipe(out, e);
    if (rc == 0) rc = make_pipe(err, e);
    for (int i = 0; i < 2; i++)
        in[i] = above_streams(in[i]), out[i] = above_streams(out[i]),
        err[i] = above_streams(err[i]);
    if (rc == 0) {
        char **environment = make_environment(p->command.gpus, slot, &own);
        close_all_on_exec();
        const int fd[3] = {in[0], out[1], err[1]};
        int failed = spawn(p, program, argv, environment, fd);
        if (failed) {
            errno = failed;
            rc = lra_fail_errno(e, "cannot start '%s'", argv[0]);
        }
        for (int i = 0; i < own; i++) lra_free(environment[i]);
        lra_free(environment);
    }
    if (rc == 0) p->group = lra_group_add(p->pid);
    p->in = in[1], p->out = out[0], p->err = err[0];
    close_fd(&in[0]);
    close_fd(&out[1]);
    close_fd(&err[1]);
    lra_free(program);
    return rc;
}

static int connect_socket(lra_model_process *p, lra_err *e)
{
    if (fcntl(p->command.fd, F_GETFD) < 0)
        return lra_fail_errno(e, "descriptor %d of the model", p->command.fd);
    p->in = fcntl(p->command.fd, F_DUPFD_CLOEXEC, 3);
    p->out = fcntl(p->command.fd, F_DUPFD_CLOEXEC, 3);
    if (p->in < 0 || p->out < 0)
        return lra_fail_errno(e, "descriptor %d of the model", p->command.fd);
    return 0;
}

lra_model_process *lra_model_process_start(const lra_model_command *c, int slot, int slots,
                                           lra_err *e)
{
    lra_model_process *p = lra_alloc(sizeof *p);
    *p = (lra_model_process){.command = *c, .group = -1, .in = -1, .out = -1, .err = -1};
    if (slots > 1)
        snprintf(p->name, sizeof p->name, "model %d", slot);
    else
        snprintf(p->name, sizeof p->name, "model");
    lra_frame_reader_init(&p->reader, p->name, &c->frame);
    lra_signals_hold();
    signal(SIGPIPE, SIG_IGN);
    signal(SIGCHLD, SIG_DFL); /* if SIGCHLD were ignored (inherited), exit statuses would be lost */
    int rc = c->argv ? start_child(p, slot, e) : connect_socket(p, e);
    const int fd[3] = {p->in, p->out, p->err};
    for (int i = 0; i < 3; i++)
        if (fd[i] >= 0) fcntl(fd[i], F_SETFL, fcntl(fd[i], F_GETFL) | O_NONBLOCK);
    if (rc == 0) return p;
    lra_model_process_free(p);
    return NULL;
}

/* ---- stderr ---------------------------------------------------------------------------------- */

static void print_line(lra_model_process *p)
{
    lra_note("%s: %s", p->name, p->line.s ? p->line.s : "");
    p->line.n = 0;
    if (p->line.s) p->line.s[0] = 0;
}

static void keep(lra_model_process *p, const char *bytes, size_t n)
{
    lra_text *k = &p->kept;
    for (size_t i = 0; i < n; i++) {
        bool end = bytes[i] == '\n' || bytes[i] == '\r';
        if (!end && bytes[i]) lra_text_bytes(&p->line, &bytes[i], 1);
        if ((end && p->line.n) || p->line.n >= LONGEST_LINE) print_line(p);
        if (bytes[i]) lra_text_bytes(k, &bytes[i], 1);
    }
    if (k->n <= LRA_MODEL_KEPT_STDERR) return;
    size_t gone = k->n - LRA_MODEL_KEPT_STDERR;
    memmove(k->s, k->s + gone, k->n - gone + 1);
    k->n -= gone;
}

/* Reads the available bytes of stderr, and closes it at its end. */
static void read_stderr(lra_model_process *p)
{
    char buf[4096];
    for (int i = 0; i < MOST_READS && p->err >= 0; i++) {
        ssize_t n = read(p->err, buf, sizeof buf);
        if (n > 0)
            keep(p, buf, (size_t)n);
        else if (n < 0 && (errno == EAGAIN || errno == EINTR))
            return;
        else
            close_fd(&p->err);
    }
}

const char *lra_model_process_stderr(const lra_model_process *p)
{
    return p->kept.s ? p->kept.s : "";
}

/* Returns "; last line of its stderr: '...'", or "" if stderr is empty. The caller frees it. */
static char *last_words(const lra_model_process *p)
{
    const char *s = lra_model_process_stderr(p);
    size_t end = strlen(s);
    while (end && strchr("\n\r ", s[end - 1])) end--;
    size_t from = end;
    while (from && !strchr("\n\r", s[from - 1])) from--;
    if (from == end) return lra_copy_text("");
    char *line = lra_format("%.*s", end - from > 200 ? 200 : (int)(end - from), s + from);
    char *text = lra_format("; last line of its stderr: '%s'", lra_make_printable(line));
    lra_free(line);
    return text;
}

/* ---- the end of a child ---------------------------------------------------------------------- */

/* True if the child has ended. It is not reaped, so that the id of its group is not reused. */
static bool has_ended(const lra_model_process *p, siginfo_t *info)
{
    memset(info, 0, sizeof *info);
    return p->pid == 0 || (waitid(P_PID, (id_t)p->pid, info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
                           info->si_pid == p->pid);
}

/* Reads and discards the available bytes of stdout; returns their number. */
static size_t discard_stdout(lra_model_process *p)
{
    char buf[4096];
    size_t total = 0;
    for (int i = 0; i < MOST_READS && p->out >= 0; i++) {
        ssize_t n = read(p->out, buf, sizeof buf);
        if (n > 0)
            total += (size_t)n;
        else if (n < 0 && (errno == EAGAIN || errno == EINTR))
            break;
        else
            close_fd(&p->out);
    }
    return total;
}

/* Waits at most `seconds` until the child has ended, and reads its stderr meanwhile. Returns
 * whether it has ended. stops: a stop signal ends the wait. *said: number of bytes on stdout, which
 * are discarded. Nullable: said (stdout is not read) */
static bool wait_end(lra_model_process *p, double seconds, bool stops, size_t *said,
                     siginfo_t *info)
{
    for (double end = lra_now() + seconds;;) {
        read_stderr(p);
        if (said) *said += discard_stdout(p);
        if (has_ended(p, info)) break;
        if (lra_now() >= end || (stops && lra_stop_signal())) return false;
        struct pollfd fd[2] = {{p->err, POLLIN, 0}, {said ? p->out : -1, POLLIN, 0}};
        poll(fd, 2, 10);
    }
    read_stderr(p);
    if (said) *said += discard_stdout(p);
    return true;
}

static char *end_text(const siginfo_t *info)
{
    if (info->si_code == CLD_EXITED) return lra_format("exit status %d", info->si_status);
    return lra_format("signal %d (%s)", info->si_status, strsignal(info->si_status));
}

static int fail_ended(lra_model_process *p, const char *closed, lra_err *e)
{
    siginfo_t info;
    char *open = p->x ? lra_format("request '%s' (id %lld)", p->x->op, (long long)p->x->id)
                      : lra_copy_text("no request");
    char *where = lra_frame_reader_empty(&p->reader) ? lra_copy_text("")
                                                     : lra_format(", in the middle of its answer");
    if (p->command.argv == NULL) {
        lra_fail(e, "%s closed the connection; unanswered: %s%s", p->name, open, where);
    } else if (wait_end(p, p->command.exit_limit, true, NULL, &info)) {
        char *end = end_text(&info), *words = last_words(p);
        lra_fail(e, "%s ended with %s; unanswered: %s%s%s", p->name, end, open, where, words);
        lra_free(end);
        lra_free(words);
    } else {
        lra_fail(e, "%s closed its %s and did not exit; unanswered: %s%s", p->name, closed, open,
                 where);
    }
    lra_free(open);
    lra_free(where);
    return LRA_FAILED;
}

/* ---- the poll loop --------------------------------------------------------------------------- */

static void assign(lra_model_process *p, lra_model_exchange *x)
{
    p->x = x, p->sent = 0;
    p->limit = strcmp(x->op, "hello") == 0 ? p->command.start_limit : p->command.limit;
    p->end = lra_now() + p->limit;
}

static int send_some(lra_model_process *p, lra_err *e)
{
    while (p->sent < p->x->n) {
        ssize_t n = write(p->in, p->x->frame + p->sent, p->x->n - p->sent);
        if (n > 0) {
            p->sent += (size_t)n;
        } else if (n < 0 && errno == EINTR) {
            continue;
        } else if (n < 0 && errno == EAGAIN) {
            return 0;
        } else {
            close_fd(&p->in);
            return fail_ended(p, "stdin", e);
        }
    }
    return 0;
}

/* Fails because text was received instead of a frame; the message shows the text. */
static int fail_text(lra_model_process *p, lra_err *e)
{
    char *text = lra_alloc(LRA_FRAME_HEAD + MOST_TEXT);
    size_t n = p->reader.n_head;
    memcpy(text, p->reader.head, n);
    ssize_t more = read(p->out, text + n, MOST_TEXT);
    if (more > 0) n += (size_t)more;
    lra_frame_fail_text(p->name, text, n, e);
    lra_free(text);
    return LRA_FAILED;
}

/* Converts the complete frame to the answer to the open request, and checks op and id. */
static int take_answer(lra_model_process *p, lra_err *e)
{
    lra_model_exchange *x = p->x;
    lra_message *m = &x->answer;
    lra_message_free(m);
    if (lra_frame_message(&p->reader, m, e) != 0)
        return lra_fail_in(e, "answer to '%s' (id %lld)", x->op, (long long)x->id);
    if (m->id != x->id)
        return lra_fail(e, "%s answered '%s' with id %lld, expected %lld", p->name, x->op,
                        (long long)m->id, (long long)x->id);
    bool hello = strcmp(x->op, "hello") == 0, error = strcmp(m->op, "error") == 0;
    if (!error && strcmp(m->op, hello ? "ready" : "result") != 0)
        return lra_fail(e, "%s answered '%s' with op '%.40s', expected '%s' or 'error'", p->name,
                        x->op, m->op, hello ? "ready" : "result");
    if (p->sent < x->n)
        return lra_fail(e, "%s answered '%s' (id %lld) before it had read the complete request",
                        p->name, x->op, (long long)x->id);
    p->x = NULL;
    return 0;
}

static int receive_some(lra_model_process *p, lra_err *e)
{
    for (bool complete = false; !complete;) {
        void *to;
        size_t room = lra_frame_room(&p->reader, &to);
        ssize_t n = read(p->out, to, room);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0 && errno == EAGAIN) return 0;
        if (n <= 0) return fail_ended(p, "stdout", e);
        if (lra_frame_took(&p->reader, (size_t)n, &complete, e) != 0)
            return lra_frame_is_text(&p->reader) ? fail_text(p, e) : LRA_FAILED;
    }
    return take_answer(p, e);
}

/* Assigns the next requests to idle processes; returns the number of busy processes. */
static int deal_out(lra_model_process *const *p, int slots, lra_model_exchange *x, int n,
                    bool *started)
{
    int busy = 0;
    for (int s = 0; s < slots; s++) {
        for (int i = 0; i < n && !p[s]->x; i++) {
            if (started[i] || (x[i].slot >= 0 && x[i].slot != s)) continue;
            assign(p[s], &x[i]);
            started[i] = true;
        }
        busy += p[s]->x != NULL;
    }
    return busy;
}

static int wait_ready(lra_model_process *const *p, int slots, struct pollfd *fd, lra_err *e)
{
    double left = SLICE_MS / 1e3;
    for (int s = 0; s < slots; s++) {
        bool busy = p[s]->x != NULL;
        fd[3 * s] = (struct pollfd){busy && p[s]->sent < p[s]->x->n ? p[s]->in : -1, POLLOUT, 0};
        fd[3 * s + 1] = (struct pollfd){busy ? p[s]->out : -1, POLLIN, 0};
        fd[3 * s + 2] = (struct pollfd){p[s]->err, POLLIN, 0};
        if (busy && p[s]->end - lra_now() < left) left = p[s]->end - lra_now();
    }
    if (poll(fd, (nfds_t)(3 * slots), left > 0 ? (int)(left * 1e3) + 1 : 0) < 0 && errno != EINTR)
        return lra_fail_errno(e, "cannot wait for the model");
    return 0;
}

/* Fails because a request has timed out. */
static int fail_late(lra_model_process *p, lra_err *e)
{
    char *words = last_words(p);
    if (strcmp(p->x->op, "hello") == 0)
        lra_fail(
            e,
            "%s did not answer 'hello' within %.6g s of its start%s; it must answer the frames "
            "on its stdin, and --start-timeout gives it more time to load",
            p->name, p->limit, words);
    else
        lra_fail(e,
                 "%s did not answer '%s' (id %lld) within %.6g s%s; --model-timeout gives it more "
                 "time, a smaller --batch less work",
                 p->name, p->x->op, (long long)p->x->id, p->limit, words);
    lra_free(words);
    return LRA_FAILED;
}

static int serve_one(lra_model_process *p, const struct pollfd *fd, lra_err *e)
{
    if (fd[2].fd >= 0 && fd[2].revents) read_stderr(p);
    if (fd[0].fd >= 0 && fd[0].revents && send_some(p, e) != 0) return LRA_FAILED;
    if (fd[1].fd >= 0 && fd[1].revents && receive_some(p, e) != 0) return LRA_FAILED;
    if (!p->x || lra_now() < p->end) return 0;
    return fail_late(p, e);
}

int lra_model_exchange_all(lra_model_process *const *p, int slots, lra_model_exchange *x, int n,
                           lra_err *e)
{
    bool *started = lra_alloc_array((size_t)n + 1, sizeof *started);
    struct pollfd *fd = lra_alloc_array((size_t)slots * 3, sizeof *fd);
    int rc = 0;
    while (rc == 0) {
        if (lra_stop_signal()) {
            rc = lra_fail(e, "stopped by a signal");
            break;
        }
        if (deal_out(p, slots, x, n, started) == 0) break;
        rc = wait_ready(p, slots, fd, e);
        for (int s = 0; s < slots && rc == 0; s++) rc = serve_one(p[s], &fd[3 * s], e);
    }
    lra_free(fd);
    lra_free(started);
    return rc;
}

/* ---- end ------------------------------------------------------------------------------------- */

/* Waits until the child has ended. Sends SIGTERM if it has not ended within first_limit seconds,
 * and SIGKILL after the next time limit. Returns the last signal sent; 0: none was needed. */
static int make_end(lra_model_process *p, double first_limit, size_t *said, siginfo_t *info)
{
    if (wait_end(p, first_limit, true, said, info)) return 0;
    kill(-p->pid, SIGTERM);
    if (wait_end(p, p->command.term_limit, false, said, info)) return SIGTERM;
    kill(-p->pid, SIGKILL);
    while (!wait_end(p, 1, false, said, info)) continue;
    return SIGKILL;
}

/* Kills the remaining processes of the group and reaps the child. */
static void reap(lra_model_process *p)
{
    if (p->pid == 0) return;
    kill(-p->pid, SIGKILL);
    while (waitpid(p->pid, NULL, 0) < 0 && errno == EINTR) continue;
    lra_group_remove(p->group);
    p->pid = 0;
}

static void release(lra_model_process *p)
{
    if (p->line.n) print_line(p);
    close_fd(&p->in);
    close_fd(&p->out);
    close_fd(&p->err);
    lra_frame_reader_free(&p->reader);
    lra_text_free(&p->line);
    lra_text_free(&p->kept);
    lra_signals_release();
    lra_free(p);
}

/* Writes bye without waiting; the frame is smaller than the buffer of a pipe. */
static void say_bye(lra_model_process *p, int64_t id)
{
    lra_err e;
    size_t n, sent = 0;
    char *frame = lra_frame_write("bye", id, NULL, 0, NULL, &n, &e);
    while (frame && p->in >= 0 && sent < n) {
        ssize_t k = write(p->in, frame + sent, n - sent);
        if (k < 0 && errno == EINTR) continue;
        if (k <= 0) break;
        sent += (size_t)k;
    }
    lra_free_large(frame);
    close_fd(&p->in);
}

void lra_model_process_bye(lra_model_process *p, int64_t id)
{
    siginfo_t info;
    size_t said = 0;
    say_bye(p, id);
    if (p->pid == 0) {
        release(p);
        return;
    }
    int number = make_end(p, p->command.bye_limit, &said, &info);
    if (said) lra_warn("%s wrote %zu bytes after 'bye', which has no answer", p->name, said);
    if (number == SIGTERM)
        lra_warn("%s did not exit after 'bye' and was ended by SIGTERM", p->name);
    if (number == SIGKILL)
        lra_warn("%s did not exit after 'bye' and SIGTERM and was ended by SIGKILL", p->name);
    if (number == 0 && (info.si_code != CLD_EXITED || info.si_status != 0)) {
        char *end = end_text(&info);
        lra_warn("%s ended with %s after 'bye', expected exit status 0", p->name, end);
        lra_free(end);
    }
    reap(p);
    release(p);
}

void lra_model_process_free(lra_model_process *p)
{
    siginfo_t info;
    size_t said = 0;
    if (!p) return;
    close_fd(&p->in);
    if (p->pid) {
        make_end(p, 0, &said, &info);
        reap(p);
    }
    release(p);
}
