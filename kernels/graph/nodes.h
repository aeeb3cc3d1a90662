/* Costs of the nodes of a plan, computed without running it. */
#ifndef LRA_GRAPH_NODES_H
#define LRA_GRAPH_NODES_H

#include "kernels/graph/graph.h"

/* Writes the costs in execution order, lra_plan_cost(p).n_nodes entries; seconds are 0. The memory
 * traffic of a fused group is counted at its first node. */
void lra_plan_nodes(const lra_plan *p, lra_node_time *out);
/* The node that call `at` executes. */
const lra_tensor *lra_plan_tensor(const lra_plan *p, int at);
/* True if the device runs call `at` fused with an earlier call. */
bool lra_plan_fused(const lra_plan *p, int at);

#endif
