/* Asynchronous readback of results, while the next run is already queued: the host prepares a step
 * while the device computes another. */
#ifndef LRA_GRAPH_READBACK_H
#define LRA_GRAPH_READBACK_H

#include "kernels/graph/graph.h"

typedef struct lra_readback lra_readback;

/* Room on the host for results of n_bytes, each begun at a multiple of 64. */
lra_readback *lra_readback_new(lra_device *d, size_t n_bytes, lra_err *e);
void lra_readback_free(lra_readback *l); /* Nullable: l */
/* True if the device works asynchronously to the host.  Otherwise results are available without
 * waiting. */
bool lra_readback_helps(const lra_device *d);
/* Starts a readback of outputs of p, as they are once all work queued so far is done; replaces an
 * earlier request. */
int lra_readback_start(lra_readback *l, lra_plan *p, int n, lra_tensor *const *out, lra_err *e);
/* Waits for the readback; host[i]: out[i] in the format of lra_get(). */
int lra_readback_wait(lra_readback *l, void *const *host, lra_err *e);

#endif
