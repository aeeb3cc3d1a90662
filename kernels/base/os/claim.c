/* Claim files (claim.h). */
#include "kernels/base/os/claim.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "kernels/base/core/mem.h"
#include "kernels/base/os/signals.h"

/* Contents of a claim file. */
typedef struct {
    lra_lock_owner owner;
    uint64_t start; /* start time of the process in clock ticks since boot; 0: unknown */
} claim_text;

/* A claim of this process. */
typedef struct held_claim {
    int fd;
    char *file;
    struct held_claim *next;
} held_claim;

static held_claim *claims;
static pthread_mutex_t claims_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t heart = PTHREAD_ONCE_INIT;

/* ---- processes ------------------------------------------------------------------------------- */

lra_lock_owner lra_lock_owner_self(void)
{
    lra_lock_owner self = {.pid = getpid()};
    if (gethostname(self.host, sizeof self.host - 1) != 0) self.host[0] = 0;
    for (char *c = self.host; *c; c++)
        if (*c <= ' ' || *c > '~') *c = '_';
    return self;
}

/* Reads the state of a process of this machine, and its start time, from /proc. Returns false if it
 * does not have them. They are fields 3 and 22 of the file; the name of the program, field 2, is in
 * parentheses and can contain spaces. */
static bool read_process(int64_t pid, char *state, uint64_t *start)
{
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%" PRId64 "/stat", pid);
    FILE *f = fopen(path, "re");
    size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
    if (f) fclose(f);
    text[n] = 0;
    char *at = strrchr(text, ')');
    if (!at || strlen(at) < 3) return false;
    *state = at[2];
    for (int field = 2; at && field < 22; field++) at = strchr(at + 1, ' ');
    *start = at ? strtoull(at, NULL, 10) : 0;
    return at != NULL;
}

static uint64_t start_of(int64_t pid)
{
    char state;
    uint64_t start;
    return read_process(pid, &state, &start) ? start : 0;
}

/* False if the process has ended, or if its id now belongs to another process. */
static bool is_alive(const claim_text *c)
{
    char state;
    uint64_t start;
    if (kill((pid_t)c->owner.pid, 0) != 0 && errno == ESRCH) return false;
    if (!read_process(c->owner.pid, &state, &start)) return true;
    return state != 'Z' && (!c->start || start == c->start);
}

/* ---- files ----------------------------------------------------------------------------------- */

static char *file_of(const char *path)
{
    return lra_format("%s.claim", path);
}

/* Reads a claim file. Returns false if it is missing. A file without valid contents, such as one
 * whose holder is about to write it, has an unknown owner. */
static bool read_claim(const char *file, claim_text *c, struct stat *s)
{
    char text[256] = "";
    int fd = open(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) return false;
    ssize_t n = read(fd, text, sizeof text - 1);
    bool there = fstat(fd, s) == 0;
    close(fd);
    text[n > 0 ? n : 0] = 0;
    *c = (claim_text){.start = 0};
    if (sscanf(text, "%71s %" SCNd64 " %" SCNu64, c->owner.host, &c->owner.pid, &c->start) < 2 ||
        c->owner.pid < 1)
        *c = (claim_text){.start = 0};
    return there;
}

static bool write_claim(int fd)
{
    lra_lock_owner self = lra_lock_owner_self();
    char text[256];
    int n = snprintf(text, sizeof text, "%s %" PRId64 " %" PRIu64 "\n",
                     *self.host ? self.host : "unknown", self.pid, start_of(self.pid));
    return write(fd, text, (size_t)n) == n;
}

/* Seconds since the last modification, by the clock of the file server: the time of a new file in
 * the same folder minus the time of `s`. Returns 0 if no file can be created. */
static double age_of(const char *file, const struct stat *s)
{
    char *probe = lra_format("%s.%ld.now", file, (long)getpid());
    struct stat now;
    int fd = open(probe, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    double age = 0;
    if (fd >= 0 && fstat(fd, &now) == 0) age = difftime(now.st_mtim.tv_sec, s->st_mtim.tv_sec);
    if (fd >= 0) close(fd), unlink(probe);
    lra_free(probe);
    return age;
}

static bool is_stale(const char *file, const claim_text *c, const struct stat *s, bool take_over)
{
    lra_lock_owner self = lra_lock_owner_self();
    if (c->owner.pid && strcmp(c->owner.host, self.host) == 0) return !is_alive(c);
    return (take_over && c->owner.pid) || age_of(file, s) > LRA_CLAIM_STALE;
}

static bool same_claim(const claim_text *a, const claim_text *b)
{
    return a->owner.pid == b->owner.pid && a->start == b->start &&
           strcmp(a->owner.host, b->owner.host) == 0;
}

/* Removes a stale claim. It is renamed first: if another process has replaced it meanwhile, the
 * renamed file is a valid claim and is put back. */
static void remove_stale(const char *file, const claim_text *stale)
{
    char *aside = lra_format("%s.%ld.stale", file, (long)getpid());
    claim_text now;
    struct stat s;
    if (rename(file, aside) == 0) {
        if (read_claim(aside, &now, &s) && !same_claim(&now, stale)) (void)!link(aside, file);
        unlink(aside);
    }
    lra_free(aside);
}

/* ---- heartbeat ------------------------------------------------------------------------------- */

/* Thread that renews the claims of this process until it ends: it sets their modification times. */
static _Noreturn void *beat(void *unused)
{
    (void)unused;
    for (;;) {
        lra_sleep(LRA_CLAIM_BEAT);
        pthread_mutex_lock(&claims_lock);
        for (const held_claim *c = claims; c; c = c->next) (void)!futimens(c->fd, NULL);
        pthread_mutex_unlock(&claims_lock);
    }
}

static void start_heart(void)
{
    pthread_t thread;
    sigset_t all, before;
    sigfillset(&all);
    /* the new thread inherits this mask and receives no signals */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (pthread_create(&thread, NULL, beat, NULL) == 0) pthread_detach(thread);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* ---- claims ---------------------------------------------------------------------------------- */

static int keep_claim(int fd, char *file)
{
    held_claim *c = lra_alloc(sizeof *c);
    *c = (held_claim){.fd = fd, .file = file};
    pthread_mutex_lock(&claims_lock);
    c->next = claims, claims = c;
    pthread_mutex_unlock(&claims_lock);
    pthread_once(&heart, start_heart);
    return fd;
}

int lra_claim(const char *path, bool take_over, bool *held, lra_lock_owner *owner, lra_err *e)
{
    char *file = file_of(path);
    *held = false;
    for (int tries = 0; tries < 100; tries++) {
        int fd = open(file, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
        if (fd >= 0 && write_claim(fd)) return keep_claim(fd, file);
        if (fd >= 0) {
            lra_fail_errno(e, "cannot write '%s'", file);
            close(fd), unlink(file), lra_free(file);
            return LRA_FAILED;
        }
        if (errno != EEXIST) break;
        claim_text c;
        struct stat s;
        /* another process has released the claim meanwhile */
        if (!read_claim(file, &c, &s)) continue;
        if (!is_stale(file, &c, &s, take_over)) {
            *held = true, *owner = c.owner;
            lra_free(file);
            return LRA_FAILED;
        }
        remove_stale(file, &c);
    }
    int rc = lra_fail_errno(e, "cannot create '%s'", file);
    lra_free(file);
    return rc;
}

bool lra_claim_release(int claim)
{
    pthread_mutex_lock(&claims_lock);
    held_claim **at = &claims;
    while (*at && (*at)->fd != claim) at = &(*at)->next;
    held_claim *c = *at;
    if (c) *at = c->next;
    pthread_mutex_unlock(&claims_lock);
    if (!c) return false;
    claim_text now, self = {.owner = lra_lock_owner_self()};
    struct stat s;
    /* removes the file only if it still names this process: another machine may have taken it
     * over */
    if (read_claim(c->file, &now, &s) && now.owner.pid == self.owner.pid &&
        strcmp(now.owner.host, self.owner.host) == 0)
        unlink(c->file);
    close(c->fd);
    lra_free(c->file);
    lra_free(c);
    return true;
}

bool lra_claim_held(const char *path, lra_lock_owner *owner)
{
    char *file = file_of(path);
    claim_text c;
    struct stat s;
    bool held = read_claim(file, &c, &s) && !is_stale(file, &c, &s, false);
    if (held && owner) *owner = c.owner;
    lra_free(file);
    return held;
}
