/* An external model as a responder (probes/shared/responder.h): requests become LRAX/1 messages,
 * answered by N copies of a program, by a connected process, or from a recording.
 *
 * Start: `hello` tells the task; `ready` declares the model (lra_responder_facts).  Beside the keys
 * of the protocol, `ready` may have `width` (D of the features; asked by one small request if
 * `features` is answered, else needed for `vjp`), `reach` and `place` (1: requests may have place).
 * A request of B rows is sent in pieces of at most `batch` rows, dealt out to the copies.  Pieces,
 * ids and answers do not depend on the number of copies.  If a model answers out_of_memory, the
 * complete request is sent again in pieces of half the size, down to one row; the size that worked
 * is kept.  Draws of vjp() are sent as rows; sequences without a position are left out.
 * Answers are checked for shape, not for finite values.  An op that the model does not answer
 * returns LRA_ABSENT. */
#ifndef LRA_PROBES_AUDIT_PROCESS_RESPONDER_H
#define LRA_PROBES_AUDIT_PROCESS_RESPONDER_H

#include "probes/audit/model_process.h"
#include "probes/audit/ready.h"

typedef struct {
    lra_model_command command;
    lra_model_task task;
    int processes;               /* copies; a connected process is one */
    int64_t batch;               /* rows of a message; the model's max_batch may be smaller */
    const char *record, *replay; /* files. Nullable */
} lra_process_options;

/* Starts the model and negotiates.  NULL with a message if the program cannot be started, breaks
 * the protocol or does not fit the task. */
lra_responder *lra_process_responder_open(const lra_process_options *o, lra_err *e);
/* Rows of a message now: after out_of_memory fewer than `batch`. */
int64_t lra_process_responder_batch(const lra_responder *r);
/* Ends the conversation: bye, warnings about the end of the model, the recording on the disk.
 * After a failure lra_responder_close() is enough: no bye, SIGTERM.  Frees r. */
int lra_process_responder_end(lra_responder *r, lra_err *e);

#endif
