/* Writes the status of a run by one pwrite() of a line padded to a fixed size, so that a reader
 * always finds a complete line. */
#include "models/training/run_status.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "kernels/base/core/mem.h"
#include "kernels/base/os/terminal.h"

struct lra_run_reporter {
    lra_run_status now;
    char *path;
    int file; /* file descriptor; -1: there is no status file */
    double started, written;
    int64_t first_step; /* first step done by this process; -1: none yet */
};

/* Copies a title or value; every character other than printable ASCII, and '"' and '\', becomes
 * '?'. */
static void put_text(char *to, size_t size, const char *from)
{
    size_t n = 0;
    for (; from && from[n] && n + 1 < size; n++)
        to[n] = from[n] < 32 || from[n] > 126 || from[n] == '"' || from[n] == '\\' ? '?' : from[n];
    to[n] = 0;
}

static void write_status(lra_run_reporter *r)
{
    char line[LRA_RUN_STATUS_BYTES + 1];
    const lra_run_status *s = &r->now;
    int n = snprintf(line, sizeof line,
                     "{\"title\":\"%s\",\"value\":\"%s\",\"epoch\":%" PRId64 ",\"epochs\":%" PRId64
                     ",\"step\":%" PRId64 ",\"steps\":%" PRId64 ",\"left\":%.3f}",
                     s->title, s->value, s->epoch, s->epochs, s->step, s->steps, s->left);
    if (r->file < 0 || n < 0 || n >= LRA_RUN_STATUS_BYTES) return;
    memset(line + n, ' ', (size_t)(LRA_RUN_STATUS_BYTES - n));
    line[LRA_RUN_STATUS_BYTES - 1] = '\n';
    if (pwrite(r->file, line, LRA_RUN_STATUS_BYTES, 0) != LRA_RUN_STATUS_BYTES) {
        /* write error, for example a full disk: training continues without a status */
        close(r->file);
        r->file = -1;
    }
}

lra_run_reporter *lra_run_reporter_new(const char *folder, const char *title, int64_t epochs,
                                       int64_t steps)
{
    lra_run_reporter *r = lra_alloc(sizeof *r);
    r->path = lra_format("%s/status", folder);
    r->file = open(r->path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0666);
    r->now.epochs = epochs, r->now.steps = steps, r->now.left = -1;
    r->first_step = -1;
    put_text(r->now.title, sizeof r->now.title, title);
    return r;
}

bool lra_run_reporter_due(const lra_run_reporter *r)
{
    return r->file >= 0 && (r->first_step < 0 || lra_now() - r->written >= 1);
}

void lra_run_reporter_at(lra_run_reporter *r, int64_t epoch, int64_t step, const char *value)
{
    double now = lra_now();
    if (r->first_step < 0) r->first_step = step, r->started = now;
    r->now.epoch = epoch, r->now.step = step;
    put_text(r->now.value, sizeof r->now.value, value);
    int64_t made = step - r->first_step;
    if (made > 0) r->now.left = (now - r->started) / (double)made * (double)(r->now.steps - step);
    write_status(r);
    r->written = now;
}

void lra_run_reporter_free(lra_run_reporter *r, bool finished)
{
    if (!r) return;
    if (r->file >= 0) close(r->file);
    if (finished) unlink(r->path);
    lra_free(r->path);
    lra_free(r);
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Reads "KEY":"TEXT" (without escapes) from a line of JSON. */
static bool find_text(const char *line, const char *key, char *to, size_t size)
{
    char name[32];
    snprintf(name, sizeof name, "\"%s\":\"", key);
    const char *at = strstr(line, name);
    if (!at) return false;
    at += strlen(name);
    size_t n = strcspn(at, "\"");
    if (at[n] != '"' || n >= size) return false;
    /* reject control characters, because the text is printed to a terminal */
    for (size_t i = 0; i < n; i++)
        if (at[i] < 32 || at[i] > 126) return false;
    memcpy(to, at, n), to[n] = 0;
    return true;
}

bool lra_run_status_read(const char *folder, lra_run_status *s)
{
    char line[LRA_RUN_STATUS_BYTES + 1] = {0};
    char *path = lra_format("%s/status", folder);
    int file = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    lra_free(path);
    if (file < 0) return false;
    ssize_t n = pread(file, line, LRA_RUN_STATUS_BYTES, 0);
    close(file);
    if (n != LRA_RUN_STATUS_BYTES) return false;
    memset(s, 0, sizeof *s);
    const char *numbers = strstr(line, ",\"epoch\":");
    if (!numbers || !find_text(line, "title", s->title, sizeof s->title) ||
        !find_text(line, "value", s->value, sizeof s->value))
        return false;
    int found = sscanf(numbers,
                       ",\"epoch\":%" SCNd64 ",\"epochs\":%" SCNd64 ",\"step\":%" SCNd64
                       ",\"steps\":%" SCNd64 ",\"left\":%lf}",
                       &s->epoch, &s->epochs, &s->step, &s->steps, &s->left);
    return found == 5 && s->step >= 0 && s->step <= s->steps && s->epoch >= 0;
}
