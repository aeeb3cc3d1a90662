/* Levels, colour, columns, time. */
#include "kernels/base/os/terminal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

static lra_log_level log_level = LRA_LOG_NORMAL;
static bool color_off;

void lra_terminal_init(lra_log_level level, bool no_color)
{
    const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
    log_level = level;
    color_off = no_color || (no && *no) || (term && strcmp(term, "dumb") == 0);
}

lra_log_level lra_terminal_level(void)
{
    return log_level;
}
bool lra_is_tty(FILE *f)
{
    return isatty(fileno(f)) == 1;
}

const char *lra_color_on(FILE *f, lra_color c)
{
    static const char *const codes[] = {"\033[0m",  "\033[1m",  "\033[2m", "\033[31m",
                                        "\033[32m", "\033[33m", "\033[34m"};
    return color_off || !lra_is_tty(f) ? "" : codes[c];
}

int lra_terminal_columns(FILE *f)
{
    const char *columns = getenv("COLUMNS");
    struct winsize size = {0};
    if (!lra_is_tty(f)) return 80;
    long n = columns ? strtol(columns, NULL, 10) : 0;
    if (n <= 0 && ioctl(fileno(f), TIOCGWINSZ, &size) == 0) n = size.ws_col;
    return n >= 20 && n <= 1000 ? (int)n : 80;
}

char *lra_time_text(char buf[32], double seconds)
{
    int whole = (int)(seconds < 1e6 ? seconds : 1e6);
    if (seconds < 10)
        snprintf(buf, 32, "%.1f s", seconds);
    else if (seconds < 60)
        snprintf(buf, 32, "%d s", whole);
    else if (seconds < 3600)
        snprintf(buf, 32, "%d min %02d s", whole / 60, whole % 60);
    else
        snprintf(buf, 32, "%.1f h", seconds / 3600);
    return buf;
}

double lra_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
