/* What a person sees: log levels, colour, progress.
 * stdout is the answer, stderr everything else.  Colour and progress only on a terminal, per stream;
 * NO_COLOR, TERM=dumb and --no-color switch colour off. */
#ifndef LRA_BASE_TERMINAL_H
#define LRA_BASE_TERMINAL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "kernels/base/err.h"

typedef enum { LRA_LOG_QUIET, LRA_LOG_NORMAL, LRA_LOG_VERBOSE } lra_log_level;

/* Once, by main(). */
void lra_terminal_init(lra_log_level level, bool no_color);
lra_log_level lra_terminal_level(void);
bool lra_is_tty(FILE *f);

typedef enum { LRA_PLAIN, LRA_BOLD, LRA_DIM, LRA_RED, LRA_GREEN, LRA_YELLOW, LRA_BLUE } lra_color;
/* Escape sequence that switches to (or, LRA_PLAIN, back from) a colour; "" when colour is off. */
const char *lra_color_on(FILE *f, lra_color c);
int lra_terminal_columns(FILE *f); /* 80 when unknown */

/* A line on stderr: note at normal level, detail at verbose, warning always ("warning: ..."). */
void lra_note(const char *fmt, ...) LRA_PRINTF(1, 2);
void lra_detail(const char *fmt, ...) LRA_PRINTF(1, 2);
void lra_warn(const char *fmt, ...) LRA_PRINTF(1, 2);

/* Progress of long work: a bar with ETA on a terminal, shown after one second, at most 10 updates a
 * second; nothing elsewhere (callers print one plain line per epoch with lra_note()).
 * lra_note() and the others clear and redraw it. */
typedef struct lra_progress lra_progress;
lra_progress *lra_progress_new(const char *title, double total);
/* `detail`: short text after the bar; Nullable: detail */
void lra_progress_at(lra_progress *p, double done, const char *detail);
void lra_progress_title(lra_progress *p, const char *title);
/* The time left, from who knows it better than the share that is done says. */
void lra_progress_left(lra_progress *p, double seconds);
void lra_progress_free(lra_progress *p); /* clears the bar.  Nullable: p */

/* "4 min 12 s", "3.1 h": for people; returns buf. */
char *lra_time_text(char buf[32], double seconds);
double lra_now(void); /* seconds, monotonic */

#endif
