/* Termination signals, and the removal of incomplete files. */
#ifndef LRA_BASE_OS_SIGNALS_H
#define LRA_BASE_OS_SIGNALS_H

#include <stdint.h>

/* Exit codes besides 0 (done), 1 (failed) and 2 (wrong usage). HELD: another process trains the
 * run. REQUEUE, INTERRUPTED: the training run stopped after saving a checkpoint. */
enum { LRA_EXIT_HELD = 3, LRA_EXIT_REQUEUE = 75, LRA_EXIT_INTERRUPTED = 130 };

/* Installs signal handlers. SIGINT, SIGTERM and SIGHUP (unless it is ignored, as by nohup) end the
 * program with exit code 130, and remove the files that it is writing. Between lra_signals_hold()
 * and lra_signals_release() they are recorded instead: the work continues to the next safe point,
 * saves and returns. SIGUSR1 is always recorded. A second SIGINT ends the program at once. SIGPIPE
 * and SIGXFSZ are ignored: they appear as write errors. */
void lra_signals_init(void);
/* After this call the caller must poll lra_stop_signal() until it releases the signals. */
void lra_signals_hold(void);
void lra_signals_release(void);
/* The recorded stop signal, or 0; SIGTERM if the parent given by lra_signals_adopt() has ended. */
int lra_stop_signal(void);
/* Sleeps; ends early if a signal arrives. */
void lra_sleep(double seconds);
/* Stores the id of this process for child processes that are started later, on systems that do not
 * notify a child when its parent ends. */
void lra_signals_adopt(void);
/* Ends the program with exit code 1 after `seconds`; 0: never. It then writes the text, which must
 * stay valid, to stderr, and removes the files that it is writing. */
void lra_time_limit(int seconds, const char *text);
/* Registers a file that is removed if a signal ends the program. The name is copied. Returns an
 * index for lra_unfinished_remove(); -1: there are too many files. */
int lra_unfinished_add(const char *path);
void lra_unfinished_remove(int i);
/* Registers the process group of a child, which is killed when this process exits or when a signal
 * ends it (SIGKILL cannot be caught); -1: there are too many. */
int lra_group_add(int64_t pid);
void lra_group_remove(int i);

#endif
