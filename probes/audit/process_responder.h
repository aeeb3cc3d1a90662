/* An external model as a responder (probes/shared/responder.h). Requests are sent as LRAX/1
 * messages to N copies of a program or to a connected process, or are answered from a recording.
 * 
 * `hello` describes the task; the model describes itself in its answer `ready`
 * (lra_responder_facts). In addition to the keys of the protocol, `ready` may contain `reach`,
 * `place` (1: requests may contain position ids) and `width` (D of the features). Without `width`,
 * D is determined by a small request if the model answers `features`; otherwise `vjp` is not
 * possible. An answer to `attn` may contain `attn_allowed`, a BOOL array of its shape: 0 where the
 * mask of the model excludes a pair of positions; `attn_window` of `ready` declares windows instead
 * (ready.h). Arrays of `kernels`: kernel_arrays.h. A request
 * of B rows is divided into messages of at most `batch` rows, which are distributed over the
 * copies. Messages, ids and answers do not depend on the number of copies. If a model answers
 * out_of_memory, the complete request is sent again with half as many rows per message, down to
 * one; later requests use that number, too. Each draw of vjp() is a row of a message; sequences
 * without a position are not sent. The shapes of answers are checked; their values may be infinite
 * or NaN. An op that the model does not support returns LRA_ABSENT. */
#ifndef LRA_PROBES_AUDIT_PROCESS_RESPONDER_H
#define LRA_PROBES_AUDIT_PROCESS_RESPONDER_H

#include "probes/audit/model_process.h"
#include "probes/audit/offline.h"
#include "probes/audit/ready.h"

typedef struct {
    lra_model_command command;
    lra_model_task task;
    int processes; /* number of copies; 1 for a connected process */
    int64_t batch; /* maximum number of rows of a message; also limited by the model's max_batch */
    const char *record, *replay; /* paths of recordings to write and to read. Nullable */
    /* If not NULL, no program is started: requests are written to files and answers are read from
     * files. Missing answers are replaced by placeholders (offline.h). Not owned. */
    lra_offline *offline;
} lra_process_options;

/* Starts the model and performs the handshake. Returns NULL and a message if the program cannot be
 * started, violates the protocol, or does not fit the task. */
lra_responder *lra_process_responder_open(const lra_process_options *o, lra_err *e);
/* Returns the current maximum number of rows of a message, which out_of_memory reduces. */
int64_t lra_process_responder_batch(const lra_responder *r);
/* Ends the model by bye, with warnings if it does not end normally, completes the recording, and
 * frees r. After a failure, lra_responder_close() suffices: it sends SIGTERM without bye. */
int lra_process_responder_end(lra_responder *r, lra_err *e);

#endif
