/* Error messages: one line, always terminated, cut with "..." when too long; control characters,
 * which a damaged file may bring into a message and from there to a terminal, are shown as '?'. */
#include "kernels/base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/printable.h"

/* A message that was cut shows it; written: what snprintf() returned. */
static void clean(char *msg, size_t size, int written)
{
    if (written >= (int)size) memcpy(msg + size - 4, "...", 4);
    lra_make_printable(msg);
}

static void set(lra_err *e, const char *fmt, va_list args)
{
    if (!e) return;
    char text[sizeof e->msg]; /* the arguments may point into e->msg */
    int n = vsnprintf(text, sizeof text, fmt, args);
    clean(text, sizeof text, n);
    memcpy(e->msg, text, sizeof text);
}

int lra_fail(lra_err *e, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    set(e, fmt, args);
    va_end(args);
    return LRA_FAILED;
}

int lra_fail_usage(lra_err *e, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    set(e, fmt, args);
    va_end(args);
    return LRA_USAGE;
}

int lra_fail_absent(lra_err *e, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    set(e, fmt, args);
    va_end(args);
    return LRA_ABSENT;
}

int lra_fail_in(lra_err *e, const char *fmt, ...)
{
    if (!e) return LRA_FAILED;
    lra_err inner = *e;
    lra_err context;
    va_list args;
    va_start(args, fmt);
    set(&context, fmt, args);
    va_end(args);
    int n = snprintf(e->msg, sizeof e->msg, "%s: %s", context.msg, inner.msg);
    clean(e->msg, sizeof e->msg, n);
    return LRA_FAILED;
}

int lra_fail_errno(lra_err *e, const char *fmt, ...)
{
    int code = errno;
    if (!e) return LRA_FAILED;
    lra_err what;
    va_list args;
    va_start(args, fmt);
    set(&what, fmt, args);
    va_end(args);
    int n = snprintf(e->msg, sizeof e->msg, "%s: %s", what.msg, strerror(code));
    clean(e->msg, sizeof e->msg, n);
    return LRA_FAILED;
}

void lra_bug(const char *file, int line, const char *fmt, ...)
{
    va_list args;
    fprintf(stderr, "bug at %s:%d: ", file, line);
    va_start(args, fmt);
    vfprintf(stderr, fmt, args);
    va_end(args);
    fputc('\n', stderr);
    abort();
}
