/* Log lines; the progress line is hidden while one is printed. */
#include "kernels/base/core/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "kernels/base/core/printable.h"
#include "kernels/base/cli/progress.h"
#include "kernels/base/os/terminal.h"
#include "kernels/base/core/warnings.h"

static lra_text *warnings; /* receives the warnings; NULL: they are written to stderr */

/* Messages can contain file names and texts from files: control characters other than newlines are
 * replaced by '?'. */
static void line(const char *before, const char *fmt, va_list args)
{
    lra_text message = {0};
    lra_text_addv(&message, fmt, args);
    for (char *at = message.s, *end; at; at = end) {
        end = strchr(at, '\n');
        if (end) *end = 0;
        lra_make_printable(at);
        if (end) *end++ = '\n';
    }
    fflush(stdout); /* keeps the order of lines if stdout and stderr are the same file */
    lra_progress_hide();
    fprintf(stderr, "%s%s\n", before, message.s);
    lra_progress_show();
    lra_text_free(&message);
}

void lra_note(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    if (lra_terminal_level() >= LRA_LOG_NORMAL) line("", fmt, args);
    va_end(args);
}

void lra_detail(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    if (lra_terminal_level() >= LRA_LOG_VERBOSE) line("", fmt, args);
    va_end(args);
}

void lra_warn(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    if (warnings) {
        lra_text_addv(warnings, fmt, args);
        lra_text_add(warnings, "\n");
    } else {
        line("warning: ", fmt, args);
    }
    va_end(args);
}

lra_text *lra_warn_into(lra_text *to)
{
    lra_text *before = warnings;
    warnings = to;
    return before;
}
