/* Progress of long work: a bar with the time left on a terminal, shown after one second, at most 10
 * updates a second; nothing elsewhere (callers print one plain line per epoch with lra_note()). */
#ifndef LRA_BASE_CLI_PROGRESS_H
#define LRA_BASE_CLI_PROGRESS_H

typedef struct lra_progress lra_progress;
lra_progress *lra_progress_new(const char *title, double total);
/* Updates the bar. done: completed share, 0 to 1; detail: short text after the bar. Nullable:
 * detail */
void lra_progress_at(lra_progress *p, double done, const char *detail);
void lra_progress_title(lra_progress *p, const char *title);
/* Sets the remaining time, for callers whose estimate is better than one from the completed
 * share. */
void lra_progress_left(lra_progress *p, double seconds);
void lra_progress_free(lra_progress *p); /* clears the bar.  Nullable: p */

/* Hides the bar before a log line is printed (hide), and shows it again (show). */
void lra_progress_hide(void);
void lra_progress_show(void);

#endif
