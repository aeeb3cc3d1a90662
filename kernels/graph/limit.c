/* The limits of distance of a graph: an input that grows with every op that reads some of it. */
#include "kernels/graph/limit.h"

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
lra_tensor *lra_next_limits(lra_graph *g, int64_t n)
{
    if (!g->limited) return NULL;
    if (g->limit) {
        g->limit->shape.d[0] += n;
    } else {
        const char *scope = g->scope;
        g->scope = "";
        g->limit = lra_input(g, "limit", LRA_I32, LRA_SHAPE(n));
        g->scope = scope;
    }
    return lra_slice(g->limit, 0, g->limit->shape.d[0] - n, n);
}

lra_tensor *lra_next_limit(lra_graph *g)
{
    return lra_next_limits(g, 1);
}

const lra_tensor *lra_limits_at(const lra_graph *g, int i)
{
    for (int k = 0; g->limit && k < g->n_nodes; k++) {
        const lra_tensor *x = g->node[k];
        if (x->n_src == 1 && x->src[0] == g->limit && i-- == 0) return x;
    }
    return NULL;
}
