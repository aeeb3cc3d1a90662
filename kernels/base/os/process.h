/* Child processes. */
#ifndef LRA_BASE_OS_PROCESS_H
#define LRA_BASE_OS_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/base/core/mem.h"

/* A child process that is started without a shell. argv ends with NULL, and argv[0] is looked up in
 * PATH. The child receives SIGTERM when this process ends for any reason. */
typedef struct {
    int64_t pid; /* process id; 0: no process */
    int out;     /* descriptor of a pipe from the child's stdout; -1: none */
    int err;     /* descriptor of a pipe from the child's stderr; -1: none */
} lra_process;

enum {
    LRA_PIPE_OUT = 1,
    LRA_PIPE_ERR = 2,
    LRA_QUIET_OUT = 4, /* redirects stdout to /dev/null */
    LRA_SELF = 8       /* runs this program's own executable, whatever argv[0] is */
};
int lra_process_start(lra_process *p, char *const *argv, unsigned flags, lra_err *e);
/* Waits for the child. Returns its exit status (128 + signal number if a signal ended it), or
 * -1. */
int lra_process_wait(lra_process *p, lra_err *e);
/* Waits for any of n children (pid 0: skipped). Returns its index and sets *status; returns n if no
 * child has ended within the given seconds (negative: no limit), or -1. If a signal asks this
 * process to stop, the children receive SIGTERM, and their end is awaited. */
int lra_process_wait_any(lra_process *p, int n, double seconds, int *status, lra_err *e);
void lra_process_signal(const lra_process *p, int signal);

/* Runs a program to its end with `input` on stdin, and collects stdout and stderr: at most 1 MiB of
 * each is stored, the caller frees them. Returns the exit status or -1. If the program is not
 * installed, the error contains its name. Nullable: input; out, err (then discarded). */
int lra_process_run(char *const *argv, const char *input, char **out, char **err, lra_err *e);
/* Like lra_process_run(), in a folder, and with all of stdout. More than `most` bytes are an
 * error. */
int lra_process_run_in(const char *folder, char *const *argv, size_t most, lra_text *out,
                       char **err, lra_err *e);

#endif
