/* The limits of distance of a graph: an input that grows with every op that reads some of it. */
#include "kernels/graph/distance_limit.h"

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

static bool reads_limit(const lra_graph *g, const lra_tensor *x)
{
    for (int s = 0; s < x->n_src; s++)
        if (x->src[s]->n_src == 1 && x->src[s]->src[0] == g->limit) return true;
    return false;
}

int lra_limit_depth(const lra_graph *g, const lra_tensor *from)
{
    /* By node: ops with a limit up to it, -1: it does not depend on `from`; whether it is a kernel
     * with a limit. */
    int *depth = lra_alloc_array((size_t)g->n_nodes + 1, sizeof *depth), most = 0;
    bool *kernel = lra_alloc_array((size_t)g->n_nodes + 1, sizeof *kernel);
    for (int k = 0; k < g->n_nodes; k++) {
        const lra_tensor *x = g->node[k];
        bool limited = g->limit && reads_limit(g, x);
        depth[k] = x == from ? 0 : -1;
        for (int s = 0; s < x->n_src; s++) {
            int id = x->src[s]->id;
            if (depth[id] > depth[k]) depth[k] = depth[id];
            limited = limited || kernel[id];
        }
        kernel[k] = limited && depth[k] < 0;
        if (limited && depth[k] >= 0) depth[k]++;
        if (depth[k] > most) most = depth[k];
    }
    lra_free(depth);
    lra_free(kernel);
    return most;
}

const lra_tensor *lra_limits_at(const lra_graph *g, int i)
{
    for (int k = 0; g->limit && k < g->n_nodes; k++) {
        const lra_tensor *x = g->node[k];
        if (x->n_src == 1 && x->src[0] == g->limit && i-- == 0) return x;
    }
    return NULL;
}
