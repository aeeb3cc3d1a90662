/* Distance limits (lra_graph_limit) of ops with heads, with one limit for each head, and the
 * mapping from ops to limits. */
#ifndef LRA_GRAPH_DISTANCE_LIMIT_H
#define LRA_GRAPH_DISTANCE_LIMIT_H

#include "kernels/graph/graph.h"

/* The limits of the op being built, (n) int32, one for each head; NULL: the graph has no limits. */
lra_tensor *lra_next_limits(lra_graph *g, int64_t n);
/* The limits that the i-th such op reads, (n), in the order of creation; NULL after the last. */
const lra_tensor *lra_limits_at(const lra_graph *g, int i);
/* Number of limited ops on the longest path from x on: ops that mix positions one after another, so
 * that a limit of r in each restricts information to that many times r.  An op with a limited
 * kernel counts once, as do the nodes of a long convolution, which share one limit; parallel ops
 * (heads, directions) count as one.  Known: s4d of L layers L, mega 2 L, h3 2 L. */
int lra_limit_depth(const lra_graph *g, const lra_tensor *x);

#endif
