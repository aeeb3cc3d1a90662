/* Asynchronous readback of results. The next run can already be queued: the host prepares one batch
 * while the device computes another. */
#ifndef LRA_GRAPH_READBACK_H
#define LRA_GRAPH_READBACK_H

#include "kernels/graph/graph.h"

typedef struct lra_readback lra_readback;

/* Allocates host memory for results of n_bytes in total; each result begins at a multiple of 64
 * bytes. */
lra_readback *lra_readback_new(lra_device *d, size_t n_bytes, lra_err *e);
void lra_readback_free(lra_readback *l); /* Nullable: l */
/* True if the device works asynchronously. Otherwise results are available without waiting. */
bool lra_readback_helps(const lra_device *d);
/* Starts a readback of n outputs of p, with their values after all work that is queued so far.
 * Replaces an earlier readback. */
int lra_readback_start(lra_readback *l, lra_plan *p, int n, lra_tensor *const *out, lra_err *e);
/* Waits for the readback. host[i] receives out[i] in the format of lra_get(). */
int lra_readback_wait(lra_readback *l, void *const *host, lra_err *e);

#endif
