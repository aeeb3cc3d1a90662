/* The progress line: title, bar, percentage, detail, time left; redrawn in place on a terminal. */
#include "kernels/base/cli/progress.h"

#include <stdio.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "kernels/base/os/terminal.h"

struct lra_progress {
    char *title;
    double total, done, started, drawn;
    /* remaining seconds; negative: no estimate was set, so it follows from the completed share */
    double left;
    char detail[160];
    bool visible;
    struct lra_progress *below; /* the enclosing progress bar */
};

static lra_progress *current; /* the innermost progress bar; only the main thread draws */

static void erase(lra_progress *p)
{
    if (p && p->visible) fputs("\r\033[K", stderr);
    if (p) p->visible = false;
}

/* Draws the line. On a narrow terminal the bar is omitted first, then the end of the detail, then
 * that of the title. */
static void draw(lra_progress *p)
{
    char left[32] = "?", line[512], bar[25];
    double share = p->total > 0 ? p->done / p->total : 0, spent = lra_now() - p->started;
    if (p->left >= 0)
        lra_time_text(left, p->left);
    else if (share > 0)
        lra_time_text(left, spent * (1 - share) / share);
    int columns = lra_terminal_columns(stderr) - 1, full = (int)(share * 24);
    for (int i = 0; i < 24; i++) bar[i] = i < full ? '#' : '.';
    bar[24] = 0;
    int n = snprintf(line, sizeof line, "%s [%s] %3.0f %%  %s%s%s left", p->title, bar, 100 * share,
                     p->detail, *p->detail ? "  " : "", left);
    if (n > columns)
        n = snprintf(line, sizeof line, "%s %3.0f %%  %s left  %s", p->title, 100 * share, left,
                     p->detail);
    if (n - (int)strlen(p->detail) > columns)
        snprintf(line, sizeof line, "%3.0f %%  %s left  %s", 100 * share, left, p->title);
    fprintf(stderr, "\r\033[K%.*s", columns, line);
    fflush(stderr);
    p->visible = true;
    p->drawn = lra_now();
}

lra_progress *lra_progress_new(const char *title, double total)
{
    lra_progress *p = lra_alloc(sizeof *p);
    p->title = lra_copy_text(title);
    p->total = total;
    p->left = -1;
    p->started = lra_now();
    p->below = current;
    erase(current);
    current = p;
    return p;
}

void lra_progress_at(lra_progress *p, double done, const char *detail)
{
    p->done = done < p->total ? done : p->total;
    if (detail) snprintf(p->detail, sizeof p->detail, "%s", detail);
    bool wanted = lra_terminal_level() >= LRA_LOG_NORMAL && lra_is_tty(stderr);
    double now = lra_now();
    if (wanted && p == current && now - p->started > 1 && now - p->drawn > 0.1) draw(p);
}

void lra_progress_title(lra_progress *p, const char *title)
{
    lra_free(p->title);
    p->title = lra_copy_text(title);
}

void lra_progress_left(lra_progress *p, double seconds)
{
    p->left = seconds;
}

void lra_progress_free(lra_progress *p)
{
    if (!p) return;
    erase(p);
    if (current == p) current = p->below;
    lra_free(p->title);
    lra_free(p);
}

void lra_progress_hide(void)
{
    if (current && current->visible) fputs("\r\033[K", stderr);
}

void lra_progress_show(void)
{
    if (current && current->visible) draw(current);
}
