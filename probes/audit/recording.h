/* A recording is a file with all frames of an audit: each request followed by its answer, in the
 * order of their ids. It does not depend on the number of processes. With a recording, the same
 * requests can be answered again without the model. */
#ifndef LRA_PROBES_AUDIT_RECORDING_H
#define LRA_PROBES_AUDIT_RECORDING_H

#include "probes/audit/model_process.h"

typedef struct lra_recorder lra_recorder;
lra_recorder *lra_recorder_create(const char *path, lra_err *e);
/* Appends n exchanges; of an exchange without answer (op NULL) only the request. */
int lra_recorder_add(lra_recorder *r, const lra_model_exchange *x, int n, lra_err *e);
/* Completes the file, also after a failed audit; its last request is then the one that failed.
 * Nullable: r */
int lra_recorder_close(lra_recorder *r, lra_err *e);

typedef struct lra_replay lra_replay;
lra_replay *lra_replay_open(const char *path, lra_err *e);
/* Fills in the answers of n requests from the recording; fails if a request differs from the
 * recorded one, or if it has no recorded answer. */
int lra_replay_answer(lra_replay *r, lra_model_exchange *x, int n, lra_err *e);
void lra_replay_close(lra_replay *r); /* Nullable: r */

#endif
