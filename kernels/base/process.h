/* Processes, signals, and what the machine has. */
#ifndef LRA_BASE_PROCESS_H
#define LRA_BASE_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/base/mem.h"

/* SIGINT, SIGTERM and SIGHUP (unless it is ignored: nohup) end the program with exit code 130, and remove the files
 * that it is writing.  While somebody holds them they are noted instead: the work goes on to the next safe point,
 * saves and returns.  SIGUSR1 is always noted.  A second SIGINT ends the program at once.  SIGPIPE and SIGXFSZ are
 * ignored: they are write errors. */
void lra_signals_init(void);
/* Who calls it asks lra_stop_signal() again and again until it releases them. */
void lra_signals_hold(void);
void lra_signals_release(void);
/* The signal that asked, or 0; SIGTERM when the parent that lra_signals_adopt() told has gone. */
int lra_stop_signal(void);
/* Tells children to come who their parent is, for systems that do not tell them when it ends. */
void lra_signals_adopt(void);
/* Files that are removed when a signal ends the program; -1: there are too many.  The name is copied. */
int lra_unfinished_add(const char *path);
void lra_unfinished_remove(int i);

/* A child process without a shell; argv ends with NULL and argv[0] is looked up in PATH.  It gets SIGTERM when this
 * process ends, however it ends. */
typedef struct {
    int64_t pid; /* 0: none */
    int out;     /* read end of its stdout, or -1 */
    int err;     /* read end of its stderr, or -1 */
} lra_process;

enum {
    LRA_PIPE_OUT = 1,
    LRA_PIPE_ERR = 2,
    LRA_QUIET_OUT = 4, /* stdout to /dev/null */
    LRA_SELF = 8       /* this program once more, whatever argv[0] says */
};
int lra_process_start(lra_process *p, char *const *argv, unsigned flags, lra_err *e);
/* Waits; returns the exit status (128 + signal number when killed), or -1. */
int lra_process_wait(lra_process *p, lra_err *e);
/* Waits for any of n children (pid 0: skipped); returns its index and sets *status, n when none has ended
 * in so many seconds (negative: any time), or -1.  A signal that asks this process to stop is passed on to
 * the children as SIGTERM, and their end awaited. */
int lra_process_wait_any(lra_process *p, int n, double seconds, int *status, lra_err *e);
void lra_process_signal(const lra_process *p, int signal);

/* Runs to the end with `input` on stdin (Nullable) and collects stdout and stderr (each at most 1 MiB
 * kept, caller frees, Nullable pointers: discarded).  Returns the exit status or -1; a program that is
 * not installed is a failure that names it. */
int lra_process_run(char *const *argv, const char *input, char **out, char **err, lra_err *e);
/* The same in a folder, with all bytes of its stdout up to `most`: more is a failure. */
int lra_process_run_in(const char *folder, char *const *argv, size_t most, lra_text *out,
                       char **err, lra_err *e);
char *
lra_process_find(const char *program); /* its file, looked up in PATH; caller frees; NULL: none */
bool lra_process_found(const char *program);

/* Threads that wait for others sleep soon instead of spinning for milliseconds, which on a machine with other work
 * takes the processor from the very thread that is waited for (steps took ten times as long).  libgomp reads
 * GOMP_SPINCOUNT before main(), so the program starts itself again with it, once; GOMP_SPINCOUNT or OMP_WAIT_POLICY
 * of the user's are left alone.  First thing in main(). */
void lra_threads_sleep_soon(char **argv);
/* Becomes this very program once more, even when its file was replaced or removed; returns when it cannot. */
void lra_self_exec(char *const *argv);
/* The words this process was started with; returns their number, 0: not known.  The caller frees them with
 * lra_names_free(). */
int lra_self_command(char ***words);
int lra_cpu_count(void); /* processors this process may use */
/* Bytes that this process can still get: what the machine has free, within the limits of its control groups
 * and of its address space; 0: unknown. */
double lra_memory_free(void);
bool lra_memory_limited(void); /* the address space, by ulimit -v */
/* What the control groups named in `groups` (the text of /proc/self/cgroup) and all above them leave of
 * `free`: limit - (used - file cache), versions 1 and 2; root is where they are mounted. */
double lra_memory_within(double free, const char *root, const char *groups);
double lra_memory_peak(void); /* bytes, peak resident size of this process */

#endif
