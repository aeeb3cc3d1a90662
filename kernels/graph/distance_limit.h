/* Limits of distance (lra_graph_limit) for ops with heads, each of which obeys one of its own, and
 * for those who ask which op obeys which. */
#ifndef LRA_GRAPH_DISTANCE_LIMIT_H
#define LRA_GRAPH_DISTANCE_LIMIT_H

#include "kernels/graph/graph.h"

/* The limits of the op that is built, (n) int32, one for each head; NULL: the graph has none. */
lra_tensor *lra_next_limits(lra_graph *g, int64_t n);
/* What number i of these ops reads, (n), in the order of their making; NULL after the last. */
const lra_tensor *lra_limits_at(const lra_graph *g, int i);
/* Number of ops with a limit on the longest path from x on: ops that mix positions one after
 * another, so that a limit of r in each lets information travel that many times r.  An op whose
 * kernel is limited counts once, and so do the nodes of a long convolution, which share theirs;
 * parallel ops (heads, directions) count as one.  Known: s4d of L layers L, mega 2 L, h3 2 L. */
int lra_limit_depth(const lra_graph *g, const lra_tensor *x);

#endif
