/* Child processes. */
#ifndef LRA_BASE_OS_PROCESS_H
#define LRA_BASE_OS_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/base/core/mem.h"

/* A child process without a shell; argv ends with NULL and argv[0] is looked up in PATH.  It gets
 * SIGTERM when this process ends, however it ends. */
typedef struct {
    int64_t pid; /* 0: none */
    int out;     /* read end of its stdout, or -1 */
    int err;     /* read end of its stderr, or -1 */
} lra_process;

enum {
    LRA_PIPE_OUT = 1,
    LRA_PIPE_ERR = 2,
    LRA_QUIET_OUT = 4, /* stdout to /dev/null */
    LRA_SELF = 8       /* runs this program's own executable, independently of argv[0] */
};
int lra_process_start(lra_process *p, char *const *argv, unsigned flags, lra_err *e);
/* Waits; returns the exit status (128 + signal number when killed), or -1. */
int lra_process_wait(lra_process *p, lra_err *e);
/* Waits for any of n children (pid 0: skipped); returns its index and sets *status, n if none has
 * ended within the given seconds (negative: no limit), or -1.  A signal that asks this process to
 * stop is passed on to the children as SIGTERM, and their end awaited. */
int lra_process_wait_any(lra_process *p, int n, double seconds, int *status, lra_err *e);
void lra_process_signal(const lra_process *p, int signal);

/* Runs to the end with `input` on stdin (Nullable) and collects stdout and stderr (each at most 1
 * MiB kept, caller frees, Nullable pointers: discarded).  Returns the exit status or -1; a program
 * that is not installed gives an error with its name. */
int lra_process_run(char *const *argv, const char *input, char **out, char **err, lra_err *e);
/* Same, in a folder, and with all of its stdout, at most `most` bytes: more is an error. */
int lra_process_run_in(const char *folder, char *const *argv, size_t most, lra_text *out,
                       char **err, lra_err *e);

#endif
