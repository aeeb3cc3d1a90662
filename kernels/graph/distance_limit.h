/* Access to the distance limits of a graph (lra_graph_limit()): which limits an op reads, and how
 * many limited ops lie on a path. An op with heads has one limit per head. */
#ifndef LRA_GRAPH_DISTANCE_LIMIT_H
#define LRA_GRAPH_DISTANCE_LIMIT_H

#include "kernels/graph/graph.h"

/* Limits of the op that is being built, (n) int32, one for each head. NULL: the graph has no
 * limits. */
lra_tensor *lra_next_limits(lra_graph *g, int64_t n);
/* Limits that the i-th limited op reads, one for each of its n heads; ops are in order of creation.
 * NULL: there are no more limited ops. */
const lra_tensor *lra_limits_at(const lra_graph *g, int i);
/* Number of limited ops on the longest path that starts at x. These ops mix positions one after
 * another, so that a limit of r in each restricts information to depth times r positions. An op
 * with a limited kernel counts once, and so do the two nodes of a long convolution, which share one
 * limit. Parallel ops (heads, directions) count as one. Known values: L for s4d with L layers, 2 L
 * for mega and h3. */
int lra_limit_depth(const lra_graph *g, const lra_tensor *x);

#endif
