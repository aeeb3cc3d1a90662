/* The limit of distance of a graph: an input that grows by a number with every op that reads
 * one. */
#include "kernels/graph/graph_impl.h"

void lra_graph_limit(lra_graph *g)
{
    g->limited = true;
}

lra_tensor *lra_limit_input(const lra_graph *g)
{
    return g->limit;
}

/* The shape of an input counts from the plan on, and all ops stand before it. */
lra_tensor *lra_next_limit(lra_graph *g)
{
    if (!g->limited) return NULL;
    if (g->limit) {
        g->limit->shape.d[0]++;
    } else {
        const char *scope = g->scope;
        g->scope = "";
        g->limit = lra_input(g, "limit", LRA_I32, LRA_SHAPE(1));
        g->scope = scope;
    }
    return lra_slice(g->limit, 0, g->limit->shape.d[0] - 1, 1);
}
