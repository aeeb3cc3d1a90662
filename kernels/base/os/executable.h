/* Program files: any program, looked up in PATH; and the running program, to start it again. */
#ifndef LRA_BASE_OS_EXECUTABLE_H
#define LRA_BASE_OS_EXECUTABLE_H

#include <stdbool.h>

/* The absolute path of a program, looked up in PATH; caller frees; NULL: none.  Relative elements
 * of PATH count from the working directory; empty ones are skipped, so that no file of the working
 * directory is started by accident. */
char *lra_process_find(const char *program);

/* Makes waiting OpenMP threads sleep early instead of spinning for milliseconds, which on a busy
 * machine takes the processor from the thread that they wait for (steps took ten times as long).
 * libgomp reads GOMP_SPINCOUNT before main(), so the program restarts itself once with it; if the
 * user has set GOMP_SPINCOUNT or OMP_WAIT_POLICY they are not changed.  Must be the first call in
 * main(). */
void lra_threads_sleep_soon(char **argv);
/* Replaces the process by a new start of the same program, even if its file was replaced or
 * removed; returns on failure. */
void lra_self_exec(char *const *argv);
/* The words this process was started with; returns their number, 0: not known.  The caller frees
 * them with lra_names_free(). */
int lra_self_command(char ***words);

#endif
