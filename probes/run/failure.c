/* Writes and reads the failures of runs (failure.h). */
#include "probes/run/failure.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kernels/base/core/mem.h"
#include "kernels/base/core/origin.h"
#include "kernels/base/core/printable.h"
#include "kernels/base/os/claim.h"
#include "kernels/base/os/file.h"

enum { MOST_BYTES = 1 << 14 };

static char *path_in(const char *folder)
{
    return lra_format("%s/failed.json", folder);
}

void lra_run_failure_write(const char *folder, int code, bool diverged, const char *text)
{
    char date[32], *path = path_in(folder);
    char *message = lra_make_printable(lra_copy_text(text));
    lra_lock_owner self = lra_lock_owner_self();
    char *host = lra_make_printable(lra_copy_text(self.host));
    json_t *o = json_pack("{s:i, s:b, s:s, s:s, s:s}", "exit", code, "diverged", diverged,
                          "message", message, "date", lra_date_text(date, time(NULL)), "host",
                          host);
    char *json = o ? json_dumps(o, JSON_INDENT(1)) : NULL;
    lra_err ignored;
    if (json) lra_file_write(path, json, strlen(json), &ignored);
    free(json);
    json_decref(o);
    lra_free(message);
    lra_free(host);
    lra_free(path);
}

static void copy_text(const json_t *o, const char *key, char *to, size_t size)
{
    const char *text = json_string_value(json_object_get(o, key));
    snprintf(to, size, "%s", text ? text : "");
    lra_make_printable(to);
}

bool lra_run_failure_read(const char *folder, lra_run_failure *f)
{
    lra_err ignored;
    size_t n;
    char *path = path_in(folder);
    char *text = lra_file_exists(path) ? lra_file_read(path, MOST_BYTES, &n, &ignored) : NULL;
    json_t *o = text ? json_loads(text, 0, NULL) : NULL;
    bool valid = json_is_object(o);
    *f = (lra_run_failure){0};
    if (valid) {
        f->code = (int)json_integer_value(json_object_get(o, "exit"));
        f->diverged = json_is_true(json_object_get(o, "diverged"));
        copy_text(o, "message", f->message, sizeof f->message);
        copy_text(o, "date", f->date, sizeof f->date);
        copy_text(o, "host", f->host, sizeof f->host);
    }
    json_decref(o);
    lra_free_large(text);
    lra_free(path);
    return valid;
}

void lra_run_failure_remove(const char *folder)
{
    lra_err ignored;
    char *path = path_in(folder);
    if (lra_file_exists(path)) lra_file_remove(path, &ignored);
    lra_free(path);
}

static char *folder_of(const char *result)
{
    return lra_format("%.*s", (int)(strrchr(result, '/') - result), result);
}

bool lra_run_diverged(const char *result)
{
    lra_run_failure f;
    char *folder = folder_of(result);
    bool diverged = lra_run_failure_read(folder, &f) && f.diverged;
    lra_free(folder);
    return diverged;
}

bool lra_run_failed(const char *result, lra_run_failure *f)
{
    char *folder = folder_of(result);
    bool failed = !lra_file_exists(result) && lra_run_failure_read(folder, f);
    lra_free(folder);
    return failed;
}

void lra_run_failure_of_process(const char *result, int code)
{
    lra_err ignored;
    lra_run_failure f;
    char text[96], *folder = folder_of(result);
    if (code > 128)
        snprintf(text, sizeof text, "signal %d ended the process%s", code - 128,
                 code - 128 == 9 ? " (the system does so if memory runs out)" : "");
    else
        snprintf(text, sizeof text, "the process ended before training; its message was printed");
    if (!lra_run_failure_read(folder, &f) && lra_folder_make(folder, &ignored) == 0)
        lra_run_failure_write(folder, code, false, text);
    lra_free(folder);
}

void lra_run_failure_forget(const char *result)
{
    char *folder = folder_of(result);
    lra_run_failure_remove(folder);
    lra_free(folder);
}

char *lra_run_failure_text(const lra_run_failure *f)
{
    return lra_format("exit code %d%s%s%s%s: %s", f->code, *f->date ? ", " : "", f->date,
                      *f->host ? " on " : "", f->host, f->message);
}
