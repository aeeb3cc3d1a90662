/* Error messages: one line, always terminated, truncated with "..." if too long. Control
 * characters, which a damaged file may bring into a message and from there to a terminal, are
 * replaced by '?'. */
#include "kernels/base/core/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/core/printable.h"

/* Marks a truncated message and removes control characters; written: the return value of
 * snprintf(). */
static void clean(char *msg, size_t size, int written)
{
    if (written >= (int)size) memcpy(msg + size - 4, "...", 4);
    lra_make_printable(msg);
}

/* index of the last byte of msg, which stores the cause; the text and its terminating 0 come before
 * it */
enum { CAUSE_AT = sizeof(((lra_err *)0)->msg) - 1 };

static void set_cause(lra_err *e, lra_cause cause)
{
    e->msg[CAUSE_AT] = (char)cause;
}

lra_cause lra_err_cause(const lra_err *e)
{
    return (lra_cause)e->msg[CAUSE_AT];
}

static void set(lra_err *e, const char *fmt, va_list args)
{
    if (!e) return;
    char text[CAUSE_AT]; /* the arguments may point into e->msg */
    int n = vsnprintf(text, sizeof text, fmt, args);
    clean(text, sizeof text, n);
    memcpy(e->msg, text, sizeof text);
    set_cause(e, LRA_CAUSE_OTHER);
}

int lra_fail(lra_err *e, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    set(e, fmt, args);
    va_end(args);
    return LRA_FAILED;
}

int lra_fail_as(lra_err *e, lra_cause cause, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    set(e, fmt, args);
    va_end(args);
    if (e) set_cause(e, cause);
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
    int n = snprintf(e->msg, CAUSE_AT, "%s: %s", context.msg, inner.msg);
    clean(e->msg, CAUSE_AT, n);
    return LRA_FAILED;
}

static lra_cause cause_of(int code)
{
    switch (code) {
    case EACCES:
    case EPERM: return LRA_CAUSE_ACCESS;
    case ENOMEM: return LRA_CAUSE_MEMORY;
    case EIO:
    case EMFILE:
    case ENFILE:
    case ESTALE:
    case ETIMEDOUT:
    case EINTR: return LRA_CAUSE_SYSTEM;
    default: return LRA_CAUSE_OTHER;
    }
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
    int n = snprintf(e->msg, CAUSE_AT, "%s: %s", what.msg, strerror(code));
    clean(e->msg, CAUSE_AT, n);
    set_cause(e, cause_of(code));
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
