/* All frames of an audit in one file, back to back, each request followed by its answer, in the
 * order of their ids: the file does not depend on the number of processes.  A recording answers the
 * same requests again, without the model. */
#ifndef LRA_PROBES_AUDIT_RECORDING_H
#define LRA_PROBES_AUDIT_RECORDING_H

#include "probes/audit/model_process.h"

typedef struct lra_recorder lra_recorder;
lra_recorder *lra_recorder_create(const char *path, lra_err *e);
/* Appends n exchanges; one without an answer (op NULL) is a request alone. */
int lra_recorder_add(lra_recorder *r, const lra_model_exchange *x, int n, lra_err *e);
/* Completes the file, also after a failed audit: its last request shows where it failed.
 * Nullable: r */
int lra_recorder_close(lra_recorder *r, lra_err *e);

typedef struct lra_replay lra_replay;
lra_replay *lra_replay_open(const char *path, lra_err *e);
/* Answers requests; fails if a request differs from the recorded one, or has no recorded answer. */
int lra_replay_answer(lra_replay *r, lra_model_exchange *x, int n, lra_err *e);
void lra_replay_close(lra_replay *r); /* Nullable: r */

#endif
