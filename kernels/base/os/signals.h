/* Signals that ask the program to end, and files that must not be left half-written. */
#ifndef LRA_BASE_OS_SIGNALS_H
#define LRA_BASE_OS_SIGNALS_H

/* Exit codes beside 0 (done), 1 (failed) and 2 (wrong usage): a checkpoint is saved. */
enum { LRA_EXIT_INTERRUPTED = 130, LRA_EXIT_REQUEUE = 75 };

/* SIGINT, SIGTERM and SIGHUP (unless it is ignored: nohup) end the program with exit code 130, and
 * remove the files that it is writing.  While somebody holds them they are noted instead: the work
 * goes on to the next safe point, saves and returns.  SIGUSR1 is always noted.  A second SIGINT
 * ends the program at once.  SIGPIPE and SIGXFSZ are
 * ignored: they are write errors. */
void lra_signals_init(void);
/* Who calls it asks lra_stop_signal() again and again until it releases them. */
void lra_signals_hold(void);
void lra_signals_release(void);
/* The signal that asked, or 0; SIGTERM when the parent that lra_signals_adopt() told has gone. */
int lra_stop_signal(void);
/* Tells children to come who their parent is, for systems that do not tell them when it ends. */
void lra_signals_adopt(void);
/* Ends the program with exit code 1 after so many seconds: it writes the text, which must stay, to
 * stderr and removes the files that it is writing.  0: never. */
void lra_time_limit(int seconds, const char *text);
/* Files that are removed when a signal ends the program; -1: there are too many.  The name is
 * copied. */
int lra_unfinished_add(const char *path);
void lra_unfinished_remove(int i);

#endif
