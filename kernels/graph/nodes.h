/* Cost of the nodes of a plan, without running it. */
#ifndef LRA_GRAPH_NODES_H
#define LRA_GRAPH_NODES_H

#include "kernels/graph/graph.h"

/* Costs in execution order, lra_plan_cost(p).n_nodes entries; seconds are 0.  Memory traffic of a
 * fused group counts with its first node. */
void lra_plan_nodes(const lra_plan *p, lra_node_time *out);
/* The node of call `at`. */
const lra_tensor *lra_plan_tensor(const lra_plan *p, int at);
/* Does the device run call `at` with one before it? */
bool lra_plan_fused(const lra_plan *p, int at);

#endif
