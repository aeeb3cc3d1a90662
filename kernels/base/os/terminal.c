/* Verbosity, width of the terminal, time. */
#include "kernels/base/os/terminal.h"

#include <stdlib.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

static lra_log_level log_level = LRA_LOG_NORMAL;

void lra_terminal_init(lra_log_level level)
{
    log_level = level;
}

lra_log_level lra_terminal_level(void)
{
    return log_level;
}
bool lra_is_tty(FILE *f)
{
    return isatty(fileno(f)) == 1;
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
