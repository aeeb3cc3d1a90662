/* An external model as a child process: a program that reads requests from stdin and writes answers
 * to stdout, as frames (probes/audit/frame.h).
 * 
 * The child has its own process group and inherits only the descriptors 0, 1 and 2. Descriptors are
 * non-blocking; one poll loop writes requests, reads answers and reads stderr, so that the two
 * processes cannot deadlock. Each line of stderr is printed as "model: ...", and the last 64 KiB
 * are kept. Every wait has a time limit and ends when this process receives a stop signal, because
 * lra_signals_hold() is in effect from the start to the end of the child. The process group is
 * killed when this process exits or is ended by a signal (lra_group_add()). */
#ifndef LRA_PROBES_AUDIT_MODEL_PROCESS_H
#define LRA_PROBES_AUDIT_MODEL_PROCESS_H

#include "probes/audit/frame.h"

enum { LRA_MODEL_MOST_PROCESSES = 64, LRA_MODEL_KEPT_STDERR = 64 << 10 };

typedef struct {
    char *const *argv; /* program (looked up in PATH) and its arguments; ends with NULL */
    int fd;            /* if argv is NULL: a connected socket for both directions */
    const char *gpus;  /* CUDA_VISIBLE_DEVICES of each copy, "0,1". Nullable: inherited */
    /* Time limits in seconds: for the answer to hello; for other answers; between bye and SIGTERM;
     * between SIGTERM and SIGKILL. */
    double start_limit, limit, bye_limit, term_limit;
    double exit_limit; /* between the closing of a pipe by the model and its exit, in seconds */
    lra_frame_limits frame;
} lra_model_command;

/* Returns the default limits: 600 s to start, 300 s per answer, 10 s after bye, 5 s after SIGTERM,
 * 5 s after a pipe was closed; default frame limits. */
lra_model_command lra_model_command_default(void);

typedef struct lra_model_process lra_model_process;

/* Starts copy number `slot` of `slots` copies; the environment variable LRAX_SLOT contains its
 * number. */
lra_model_process *lra_model_process_start(const lra_model_command *c, int slot, int slots,
                                           lra_err *e);

/* A request and its answer. */
typedef struct {
    const char *frame; /* request of n bytes; not owned */
    size_t n;
    const char *op; /* op of the request, for messages */
    int64_t id;
    int slot;           /* index of the process that must answer; -1: any */
    lra_message answer; /* to be freed with lra_message_free() */
} lra_model_exchange;

/* Sends n requests in order to `slots` idle processes and waits for all answers. A process has at
 * most one open request. The answer must have the id of the request, and the op ready (to hello),
 * result or error. Fails, with a message for each cause, if a model violates the protocol, ends, or
 * exceeds its time limit; its process must then be freed. */
int lra_model_exchange_all(lra_model_process *const *p, int slots, lra_model_exchange *x, int n,
                           lra_err *e);

/* Returns the last bytes that the process wrote to stderr. */
const char *lra_model_process_stderr(const lra_model_process *p);

/* Sends bye and waits for the exit of the process; after the time limits sends SIGTERM, then
 * SIGKILL to its group. Warns if a signal was needed, if the model answered bye, or if its exit
 * status is not 0. Frees p. */
void lra_model_process_bye(lra_model_process *p, int64_t id);
/* Same after a failure: sends no bye, and SIGTERM at once. Nullable: p */
void lra_model_process_free(lra_model_process *p);

#endif
