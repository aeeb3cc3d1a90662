/* Files of programs: any, looked up in PATH; and this one, started once more. */
#ifndef LRA_BASE_OS_EXECUTABLE_H
#define LRA_BASE_OS_EXECUTABLE_H

#include <stdbool.h>

/* The absolute path of a program, looked up in PATH; caller frees; NULL: none.  Relative elements
 * of PATH count from the working directory; empty ones are skipped, so that no file of the working
 * directory is started by accident. */
char *lra_process_find(const char *program);
bool lra_process_found(const char *program);

/* Threads that wait for others sleep soon instead of spinning for milliseconds, which on a machine
 * with other work takes the processor from the very thread that is waited for (steps took ten times
 * as long).  libgomp reads GOMP_SPINCOUNT before main(), so the program starts itself again with
 * it, once; GOMP_SPINCOUNT or OMP_WAIT_POLICY of the user's are left alone.  First thing in
 * main(). */
void lra_threads_sleep_soon(char **argv);
/* Becomes this very program once more, even when its file was replaced or removed; returns when it
 * cannot. */
void lra_self_exec(char *const *argv);
/* The words this process was started with; returns their number, 0: not known.  The caller frees
 * them with lra_names_free(). */
int lra_self_command(char ***words);

#endif
