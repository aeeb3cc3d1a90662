/* Limits of distance (lra_graph_limit) for ops with heads, each of which obeys one of its own, and
 * for those who ask which op obeys which. */
#ifndef LRA_GRAPH_LIMIT_H
#define LRA_GRAPH_LIMIT_H

#include "kernels/graph/graph.h"

/* The limits of the op that is built, (n) int32, one for each head; NULL: the graph has none. */
lra_tensor *lra_next_limits(lra_graph *g, int64_t n);
/* What number i of these ops reads, (n), in the order of their making; NULL after the last. */
const lra_tensor *lra_limits_at(const lra_graph *g, int i);

#endif
