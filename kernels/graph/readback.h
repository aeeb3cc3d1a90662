/* Results of a run that are read when the next one is already queued: the host prepares a step
 * while the device does another. */
#ifndef LRA_GRAPH_READBACK_H
#define LRA_GRAPH_READBACK_H

#include "kernels/graph/graph.h"

typedef struct lra_readback lra_readback;

/* Room on the host for results of n_bytes, each begun at a multiple of 64. */
lra_readback *lra_readback_new(lra_device *d, size_t n_bytes, lra_err *e);
void lra_readback_free(lra_readback *l); /* Nullable: l */
/* Does the device go on while the host does?  Where it does not, results are there when they are
 * asked for. */
bool lra_readback_helps(const lra_device *d);
/* Asks for outputs of p as they are once all is done that was queued so far; what was asked before
 * is forgotten. */
int lra_readback_start(lra_readback *l, lra_plan *p, int n, lra_tensor *const *out, lra_err *e);
/* Waits for them; host[i]: out[i] as lra_get() gives it. */
int lra_readback_wait(lra_readback *l, void *const *host, lra_err *e);

#endif
