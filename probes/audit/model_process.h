/* The external model as a child process: a program that answers frames (probes/audit/frame.h) on
 * its stdin and stdout.
 *
 * The child has its own process group and inherits no descriptor but 0, 1 and 2.  Descriptors are
 * non-blocking; one poll loop writes requests, reads answers and reads stderr, so that neither side
 * can wait for the other forever.  Each line of stderr is printed as "model: ...", and the last 64
 * KiB are kept.  Every wait has a time limit and ends when this process receives a stop signal:
 * from start to end lra_signals_hold() is in effect.  The group is killed when this process exits
 * or is ended by a signal (lra_group_add()). */
#ifndef LRA_PROBES_AUDIT_MODEL_PROCESS_H
#define LRA_PROBES_AUDIT_MODEL_PROCESS_H

#include "probes/audit/frame.h"

enum { LRA_MODEL_MOST_PROCESSES = 64, LRA_MODEL_KEPT_STDERR = 64 << 10 };

typedef struct {
    char *const *argv; /* program (looked up in PATH) and arguments; ends with NULL */
    int fd;            /* without argv: a connected socket, both directions */
    const char *gpus;  /* "0,1": CUDA_VISIBLE_DEVICES by slot. Nullable: inherited */
    /* Time limits, in seconds: of hello, of other requests, until SIGTERM after bye, until SIGKILL
     * after SIGTERM. */
    double start_limit, limit, bye_limit, term_limit;
    double exit_limit; /* for the exit of a model that has closed a pipe: its status is reported */
    lra_frame_limits frame;
} lra_model_command;

/* 600 s, 300 s, 10 s, 5 s, 5 s; default limits of frames. */
lra_model_command lra_model_command_default(void);

typedef struct lra_model_process lra_model_process;

/* Starts copy number `slot` of `slots`, which finds the number in LRAX_SLOT. */
lra_model_process *lra_model_process_start(const lra_model_command *c, int slot, int slots,
                                           lra_err *e);

/* A request and its answer. */
typedef struct {
    const char *frame; /* n bytes, the caller's */
    size_t n;
    const char *op; /* of the request, for messages */
    int64_t id;
    int slot;           /* the process that answers it; -1: any */
    lra_message answer; /* lra_message_free() */
} lra_model_exchange;

/* Sends n requests to `slots` idle processes, one at a time to each, in order, and waits for all
 * answers: `ready` to hello, `result` or `error` to others, with the id of the request.  A model
 * that breaks the protocol, ends or exceeds its time limit fails with a message of its own; its
 * process must then be freed. */
int lra_model_exchange_all(lra_model_process *const *p, int slots, lra_model_exchange *x, int n,
                           lra_err *e);

/* The last bytes of its stderr. */
const char *lra_model_process_stderr(const lra_model_process *p);

/* Says bye, waits for the end, then sends SIGTERM and SIGKILL to the group.  A model that needs a
 * signal, answers bye or exits with another status than 0 causes a warning.  Frees p. */
void lra_model_process_bye(lra_model_process *p, int64_t id);
/* Same without bye, after a failure: SIGTERM at once.  Nullable: p */
void lra_model_process_free(lra_model_process *p);

#endif
