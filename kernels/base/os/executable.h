/* Program files: looks up a program in PATH, and restarts the running program. */
#ifndef LRA_BASE_OS_EXECUTABLE_H
#define LRA_BASE_OS_EXECUTABLE_H

#include <stdbool.h>

/* The absolute path of a program, looked up in PATH; the caller frees it. NULL: not found. Relative
 * elements of PATH are relative to the working directory. Empty elements are skipped, so that no
 * file of the working directory is started by accident. */
char *lra_process_find(const char *program);

/* Makes waiting OpenMP threads sleep early instead of spinning for milliseconds, which on a busy
 * machine takes the processor from the thread that they wait for (steps took ten times as long).
 * libgomp reads GOMP_SPINCOUNT before main(), so the program restarts itself once with it; if the
 * user has set GOMP_SPINCOUNT or OMP_WAIT_POLICY they are not changed.  Must be the first call in
 * main(). */
void lra_threads_sleep_soon(char **argv);
/* The environment variable that lra_threads_sleep_soon() sets, as "NAME=VALUE". It is removed from
 * the environment of other programs. */
extern const char lra_threads_variable[];
/* Replaces the process by a new start of the same program, even if its file was replaced or
 * removed; returns on failure. */
void lra_self_exec(char *const *argv);
/* Sets *words to the command line of this process. Returns the number of words; 0: unknown.
 * The caller frees them with lra_names_free(). */
int lra_self_command(char ***words);

#endif
