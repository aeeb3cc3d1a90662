/* What the nodes of a plan cost, before any of them runs. */
#ifndef LRA_GRAPH_NODES_H
#define LRA_GRAPH_NODES_H

#include "kernels/graph/graph.h"

/* In the order of running, lra_plan_cost(p).n_nodes of them; seconds are 0.  What several nodes
 * that run as one read counts with the first of them. */
void lra_plan_nodes(const lra_plan *p, lra_node_time *out);
/* The node of call `at`. */
const lra_tensor *lra_plan_tensor(const lra_plan *p, int at);
/* Does the device run call `at` with one before it? */
bool lra_plan_fused(const lra_plan *p, int at);

#endif
