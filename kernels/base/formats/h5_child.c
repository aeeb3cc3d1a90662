/* Reads untrusted HDF5 files in a child process. A forged file can make the library crash, loop or
 * run foreign code. The parsing is therefore done by a child with limits, which answers questions
 * of the reading interface: fixed-size structures and plain bytes over a socket. Its answers are
 * not trusted: sizes are compared with the request, and texts are copied with their length.
 *
 * The child is limited in memory and processor time. It has no descriptors except for the file and
 * the socket, and cannot create or open files. If the kernel offers seccomp, it may only call read,
 * write, memory management and exit. */
#include "kernels/base/formats/h5_child.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernels/base/core/mem.h"
#include "kernels/base/os/sandbox.h"
#include "kernels/base/os/terminal.h"

typedef enum { HAS, FIND, GET, TEXT, HAS_ATTR, INT, REAL, ATTR_TEXT, LIST } question_kind;

typedef struct {
    uint32_t kind, type, n_path, n_name;
    int32_t rank;
    int64_t dims[LRA_H5_MAX_RANK];
} query;

typedef struct {
    int32_t rc;
    uint32_t yes;
    uint64_t n_bytes; /* number of bytes of data after this header */
    int64_t number;
    double real;
    lra_h5_info info;
    lra_err err;
} reply_header;

/* The first answer about a dataset, which is cached: a child that later gives another answer cannot
 * make a caller read more than it has allocated. */
typedef struct {
    char *path;
    lra_h5_info info;
} found_set;

struct lra_h5_child {
    pid_t pid;
    int fd;
    double seconds; /* time limit of an answer, in seconds */
    found_set *found;
    int n_found;
    char *failure; /* why the child failed; NULL: it has not failed */
    lra_cause cause;
};

enum { SMALL = 4096, LONGEST_PATH = 1 << 12, LONGEST_LIST = 64 << 20, MiB = 1 << 20 };

/* ---- bytes ----------------------------------------------------------------------------------- */

static bool send_all(int fd, const void *bytes, size_t n)
{
    const char *at = bytes;
    while (n > 0) {
        ssize_t sent = write(fd, at, n);
        if (sent < 0 && errno == EINTR) continue;
        if (sent <= 0) return false;
        at += sent, n -= (size_t)sent;
    }
    return true;
}

/* In the child: receives n bytes, without a time limit. The socket closes when the parent ends. */
static bool receive(int fd, void *bytes, size_t n)
{
    char *at = bytes;
    while (n > 0) {
        ssize_t got = read(fd, at, n);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        at += got, n -= (size_t)got;
    }
    return true;
}

/* ---- the child ------------------------------------------------------------------------------- */

static void reply(int fd, reply_header *a, const lra_err *e, const void *bytes)
{
    a->err = *e;
    if (a->rc != 0) a->n_bytes = 0;
    char first[sizeof *a + SMALL]; /* sent in one piece, so that the parent wakes up once */
    size_t small = a->n_bytes < SMALL ? (size_t)a->n_bytes : SMALL, rest = a->n_bytes - small;
    memcpy(first, a, sizeof *a);
    if (small) memcpy(first + sizeof *a, bytes, small);
    if (!send_all(fd, first, sizeof *a + small) ||
        (rest && !send_all(fd, (const char *)bytes + small, rest)))
        _exit(0);
}

static size_t bytes_of(const lra_h5_info *info)
{
    return (size_t)info->n * lra_h5_type_bytes(info->type);
}

static void *get_array(lra_h5 *f, const char *path, const query *q, reply_header *a, lra_err *e)
{
    lra_h5_info info;
    void *data = NULL;
    lra_h5_type type = q->type < LRA_H5_OTHER ? (lra_h5_type)q->type : LRA_H5_OTHER;
    a->rc = lra_h5_find(f, path, &info, e);
    if (a->rc == 0 && info.type == type && type != LRA_H5_OTHER) {
        a->n_bytes = bytes_of(&info);
        data = lra_try_alloc(a->n_bytes + 1, path, e);
        if (!data) a->rc = LRA_FAILED;
    }
    /* the child reports a wrong type or shape before anything is written to `data` */
    if (a->rc == 0) a->rc = lra_h5_get(f, path, type, q->rank, q->dims, data, e);
    return data;
}

static char *list_names(lra_h5 *f, const char *path, reply_header *a, lra_err *e)
{
    char **names;
    lra_text all = {0};
    int n = lra_h5_list(f, path, &names, e);
    a->rc = n < 0 ? LRA_FAILED : 0;
    a->number = n;
    for (int i = 0; i < n; i++) lra_text_bytes(&all, names[i], strlen(names[i]) + 1);
    if (n >= 0) lra_h5_free_names(names, n);
    a->n_bytes = all.n;
    return all.s;
}

static void answer_one(lra_h5 *f, int fd, const query *q, const char *path, const char *name)
{
    reply_header a;
    lra_err e = {{0}};
    void *bytes = NULL;
    memset(&a, 0, sizeof a);
    switch ((question_kind)q->kind) {
    case HAS: a.yes = lra_h5_has(f, path); break;
    case FIND: a.rc = lra_h5_find(f, path, &a.info, &e); break;
    case GET: bytes = get_array(f, path, q, &a, &e); break;
    case TEXT: bytes = lra_h5_get_text(f, path, &e); break;
    case HAS_ATTR: a.yes = lra_h5_has_attr(f, path, name); break;
    case INT: a.rc = lra_h5_get_int(f, path, name, &a.number, &e); break;
    case REAL: a.rc = lra_h5_get_real(f, path, name, &a.real, &e); break;
    case ATTR_TEXT: bytes = lra_h5_attr_text(f, path, name, &e); break;
    case LIST: bytes = list_names(f, path, &a, &e); break;
    }
    if (q->kind == TEXT || q->kind == ATTR_TEXT) {
        a.rc = bytes ? 0 : LRA_FAILED;
        a.n_bytes = bytes ? strlen(bytes) : 0;
    }
    reply(fd, &a, &e, bytes);
    lra_free_large(bytes);
}

/* Serves requests until the parent process exits. */
LRA_NORETURN static void serve(lra_h5 *f, const char *kind, int fd)
{
    query q;
    reply_header a;
    lra_err e = {{0}};
    memset(&a, 0, sizeof a);
    a.rc = lra_h5_open_inside(f, kind, &e);
    a.number = f->format;
    a.n_bytes = f->kind ? strlen(f->kind) : 0;
    reply(fd, &a, &e, f->kind);
    while (a.rc == 0 && receive(fd, &q, sizeof q)) {
        if (q.n_path > LONGEST_PATH || q.n_name > LONGEST_PATH) break;
        char *path = lra_alloc(q.n_path + 1), *name = lra_alloc(q.n_name + 1);
        if (!receive(fd, path, q.n_path) || !receive(fd, name, q.n_name)) break;
        answer_one(f, fd, &q, path, name);
        lra_free(path);
        lra_free(name);
    }
    _exit(0);
}

/* ---- the parent ------------------------------------------------------------------------------ */

static bool is_crash(int number)
{
    return number == SIGSEGV || number == SIGBUS || number == SIGABRT || number == SIGILL ||
           number == SIGFPE || number == SIGSYS || number == SIGTRAP;
}

static void set_failure(lra_h5 *f, lra_cause cause, const char *reason)
{
    f->child->failure = lra_format("'%s': %s", f->path, reason);
    f->child->cause = cause;
}

/* Records why an answer is missing, and ends the child if it still runs. If another process has
 * killed the child, the message does not blame the file. late: the time limit has passed. */
static void fail_child(lra_h5 *f, bool late)
{
    lra_h5_child *c = f->child;
    int status = 0;
    char reason[128];
    if (late) kill(c->pid, SIGKILL);
    pid_t ended = waitpid(c->pid, &status, 0);
    c->pid = 0;
    int number = ended > 0 && WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    if (late) {
        set_failure(f, LRA_CAUSE_SYSTEM,
                    "the device, or the process that reads it, did not answer");
    } else if (number == SIGXCPU) {
        set_failure(f, LRA_CAUSE_OTHER,
                    "the HDF5 library did not finish reading it (damaged, or malicious)");
    } else if (is_crash(number)) {
        snprintf(reason, sizeof reason,
                 "the HDF5 library crashed on it, signal %d (damaged, or malicious)", number);
        set_failure(f, LRA_CAUSE_OTHER, reason);
    } else if (number) {
        snprintf(reason, sizeof reason, "the process that reads it was ended by signal %d", number);
        set_failure(f, LRA_CAUSE_SYSTEM, reason);
    } else {
        set_failure(f, LRA_CAUSE_MEMORY, "reading it takes more memory than is available");
    }
}

static int report_failure(const lra_h5 *f, lra_err *e)
{
    return lra_fail_as(e, f->child->cause, "%s", f->child->failure);
}

/* Receives n bytes within c->seconds. Returns false, with the error recorded, if the child has
 * failed. */
static bool receive_reply(lra_h5 *f, void *bytes, size_t n)
{
    lra_h5_child *c = f->child;
    char *at = bytes;
    double end = lra_now() + c->seconds;
    while (n > 0) {
        struct pollfd p = {c->fd, POLLIN, 0};
        double left = end - lra_now();
        int ready = left > 0 ? poll(&p, 1, (int)(1000 * left) + 1) : 0;
        if (ready < 0 && errno == EINTR) continue;
        ssize_t got = ready > 0 ? read(c->fd, at, n) : 0;
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) {
            fail_child(f, ready == 0);
            return false;
        }
        at += got, n -= (size_t)got;
    }
    return true;
}

/* Fails with the error message of the child, if it sent one. The message may lack its terminating
 * 0; the byte after it is the cause. */
static int check_answer(reply_header *a, lra_err *e)
{
    a->err.msg[sizeof a->err.msg - 2] = 0;
    return a->rc == 0 ? 0 : lra_fail_as(e, lra_err_cause(&a->err), "%s", a->err.msg);
}

/* Sends a question and receives the fixed-size part of the answer; its data follow. */
static int send_query(lra_h5 *f, query *q, const char *path, const char *name, reply_header *a,
                      lra_err *e)
{
    lra_h5_child *c = f->child;
    bool sent = false;
    memset(a, 0, sizeof *a);
    q->n_path = (uint32_t)strlen(path), q->n_name = (uint32_t)strlen(name);
    if (q->n_path > LONGEST_PATH || q->n_name > LONGEST_PATH)
        return lra_fail(e, "'%s': a name is too long", f->path);
    if (!c->failure) {
        /* sent in one piece, so that the child wakes up once */
        char all[sizeof *q + 2 * LONGEST_PATH];
        size_t n = sizeof *q + q->n_path + q->n_name;
        memcpy(all, q, sizeof *q);
        memcpy(all + sizeof *q, path, q->n_path);
        memcpy(all + sizeof *q + q->n_path, name, q->n_name);
        sent = send(c->fd, all, n, MSG_NOSIGNAL) == (ssize_t)n;
        if (!sent) fail_child(f, false);
    }
    if (!sent || !receive_reply(f, a, sizeof *a)) return report_failure(f, e);
    return check_answer(a, e);
}

/* Receives the data of an answer as text; limit: maximum length in bytes. */
static char *receive_text(lra_h5 *f, const reply_header *a, size_t limit, const char *path,
                          lra_err *e)
{
    if (a->n_bytes > limit) {
        lra_fail(e, "'%s': '%s' has %llu bytes, at most %zu are accepted", f->path, path,
                 (unsigned long long)a->n_bytes, limit);
        return NULL;
    }
    char *text = lra_try_alloc(a->n_bytes + 1, path, e);
    if (text && !receive_reply(f, text, a->n_bytes)) {
        report_failure(f, e);
        lra_free_large(text);
        text = NULL;
    }
    if (text) text[a->n_bytes] = 0;
    return text;
}

bool lra_h5_child_has(lra_h5 *f, const char *path)
{
    query q = {.kind = HAS};
    reply_header a;
    return send_query(f, &q, path, "", &a, NULL) == 0 && a.yes;
}

bool lra_h5_child_has_attr(lra_h5 *f, const char *path, const char *name)
{
    query q = {.kind = HAS_ATTR};
    reply_header a;
    return send_query(f, &q, path, name, &a, NULL) == 0 && a.yes;
}

static bool sensible(const lra_h5_info *info)
{
    double n = 1;
    if (info->rank < 1 || info->rank > LRA_H5_MAX_RANK || (int)info->type < 0 ||
        info->type > LRA_H5_OTHER)
        return false;
    for (int i = 0; i < info->rank; i++) {
        if (info->dims[i] < 0) return false;
        n *= (double)info->dims[i];
    }
    return n <= 0x1p48 && (double)info->n == n;
}

int lra_h5_child_find(lra_h5 *f, const char *path, lra_h5_info *info, lra_err *e)
{
    lra_h5_child *c = f->child;
    query q = {.kind = FIND};
    reply_header a;
    for (int i = 0; i < c->n_found; i++)
        if (strcmp(c->found[i].path, path) == 0) {
            *info = c->found[i].info;
            return 0;
        }
    if (send_query(f, &q, path, "", &a, e) != 0) return LRA_FAILED;
    if (!sensible(&a.info)) return lra_fail(e, "'%s': '%s' has an implausible size", f->path, path);
    c->found = lra_resize(c->found, (size_t)(c->n_found + 1) * sizeof *c->found);
    c->found[c->n_found++] = (found_set){lra_copy_text(path), a.info};
    *info = a.info;
    return 0;
}

int lra_h5_child_get(lra_h5 *f, const char *path, lra_h5_type type, int rank, const int64_t *dims,
                     void *data, lra_err *e)
{
    query q = {.kind = GET, .type = (uint32_t)type, .rank = rank};
    lra_h5_info info;
    reply_header a;
    if (lra_h5_child_find(f, path, &info, e) != 0) return LRA_FAILED;
    /* checked here too, not only in the child: `data` must have space for these dimensions */
    if (lra_h5_check_extent(f, path, &info, type, rank, dims, e) != 0) return LRA_FAILED;
    memcpy(q.dims, info.dims, sizeof q.dims);
    if (send_query(f, &q, path, "", &a, e) != 0) return LRA_FAILED;
    if (a.n_bytes != bytes_of(&info))
        return lra_fail(e, "'%s': '%s' has another size than before", f->path, path);
    return receive_reply(f, data, a.n_bytes) ? 0 : report_failure(f, e);
}

char *lra_h5_child_text(lra_h5 *f, const char *path, lra_err *e)
{
    query q = {.kind = TEXT};
    reply_header a;
    if (send_query(f, &q, path, "", &a, e) != 0) return NULL;
    return receive_text(f, &a, 2 * (size_t)LRA_H5_TEXT_MAX, path, e);
}

int lra_h5_child_int(lra_h5 *f, const char *path, const char *name, int64_t *value, lra_err *e)
{
    query q = {.kind = INT};
    reply_header a;
    int rc = send_query(f, &q, path, name, &a, e);
    if (rc == 0) *value = a.number;
    return rc;
}

int lra_h5_child_real(lra_h5 *f, const char *path, const char *name, double *value, lra_err *e)
{
    query q = {.kind = REAL};
    reply_header a;
    int rc = send_query(f, &q, path, name, &a, e);
    if (rc == 0) *value = a.real;
    return rc;
}

char *lra_h5_child_attr_text(lra_h5 *f, const char *path, const char *name, lra_err *e)
{
    query q = {.kind = ATTR_TEXT};
    reply_header a;
    if (send_query(f, &q, path, name, &a, e) != 0) return NULL;
    return receive_text(f, &a, LRA_H5_TEXT_MAX, name, e);
}

int lra_h5_child_list(lra_h5 *f, const char *group, char ***names, lra_err *e)
{
    query q = {.kind = LIST};
    reply_header a;
    int n = 0;
    if (send_query(f, &q, group, "", &a, e) != 0) return LRA_FAILED;
    char *all = receive_text(f, &a, LONGEST_LIST, group, e), *at = all;
    if (!all) return LRA_FAILED;
    char **list = NULL;
    for (char *end = all + a.n_bytes; at < end; at += strlen(at) + 1) {
        list = lra_resize(list, (size_t)(n + 1) * sizeof *list);
        list[n++] = lra_copy_text(at);
    }
    lra_free_large(all);
    *names = list;
    return n;
}

/* ---- beginning and end ----------------------------------------------------------------------- */

/* Limits of the child, in proportion to the file size; no file of this suite exceeds them. */
static lra_sandbox limits_of(const lra_h5 *f, const int *keep)
{
    double size = (double)f->size;
    return (lra_sandbox){
        .memory = 512.0 * MiB + 32 * size,
        /* processor time: decompressed data may be a hundred times as large as the file */
        .seconds = 2 + size / (2.0 * MiB),
        .keep = keep,
        .n_keep = 2};
}

static int start_child(lra_h5 *f, const char *kind, lra_err *e)
{
    int pair[2], keep[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
        return lra_fail_errno(e, "'%s': cannot make a socket", f->path);
    keep[0] = fileno(f->source), keep[1] = pair[1];
    lra_sandbox limits = limits_of(f, keep);
    fflush(NULL);
    /* initialises the library in the parent, so that no child spends its time on it */
    lra_h5_start();
    pid_t parent = getpid(), pid = fork();
    if (pid == 0) {
        if (!lra_sandbox_enter(&limits, parent)) _exit(1);
        serve(f, kind, pair[1]);
    }
    close(pair[1]);
    if (pid < 0) {
        close(pair[0]);
        return lra_fail_errno(e, "'%s': cannot start a process to read it", f->path);
    }
    f->child = lra_alloc(sizeof *f->child);
    f->child->pid = pid, f->child->fd = pair[0];
    /* seconds to wait for an answer: more than the processor time, for slow disks and busy
     * machines */
    f->child->seconds = 60 + 10 * limits.seconds;
    return 0;
}

int lra_h5_child_open(lra_h5 *f, const char *kind, lra_err *e)
{
    reply_header a;
    if (start_child(f, kind, e) != 0) return LRA_FAILED;
    if (!receive_reply(f, &a, sizeof a)) return report_failure(f, e);
    if (check_answer(&a, e) != 0) return LRA_FAILED;
    f->format = a.number;
    f->kind = receive_text(f, &a, LRA_H5_TEXT_MAX, "lra.kind", e);
    if (!f->kind) return LRA_FAILED;
    return lra_h5_check_kind(f, kind, e);
}

int lra_h5_child_intact(const lra_h5 *f, lra_err *e)
{
    return f->child->failure ? report_failure(f, e) : 0;
}

void lra_h5_child_close(lra_h5 *f)
{
    lra_h5_child *c = f->child;
    if (!c) return;
    close(c->fd);
    if (c->pid > 0) {
        kill(c->pid, SIGKILL);
        while (waitpid(c->pid, NULL, 0) < 0 && errno == EINTR) continue;
    }
    for (int i = 0; i < c->n_found; i++) lra_free(c->found[i].path);
    lra_free(c->found);
    lra_free(c->failure);
    lra_free(c);
    f->child = NULL;
}
