/* Progress of long work: a bar with the time left on a terminal, shown after one second, at most 10
 * updates a second; nothing elsewhere (callers print one plain line per epoch with lra_note()). */
#ifndef LRA_BASE_CLI_PROGRESS_H
#define LRA_BASE_CLI_PROGRESS_H

typedef struct lra_progress lra_progress;
lra_progress *lra_progress_new(const char *title, double total);
/* `detail`: short text after the bar; Nullable: detail */
void lra_progress_at(lra_progress *p, double done, const char *detail);
void lra_progress_title(lra_progress *p, const char *title);
/* Sets the remaining time, for callers with a better estimate than the share that is done gives. */
void lra_progress_left(lra_progress *p, double seconds);
void lra_progress_free(lra_progress *p); /* clears the bar.  Nullable: p */

/* Hide the bar before a log line is printed, and show it again. */
void lra_progress_hide(void);
void lra_progress_show(void);

#endif
