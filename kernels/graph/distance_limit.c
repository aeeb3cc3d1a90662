/* Distance limits of a graph: an input vector with one limit per op (for attention one per head),
 * which grows with every op that is built. */
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

/* Extends the limit input by n entries and returns them as a slice. The shape of the input may
 * still change, because it is fixed by the plan, and all ops are built before that. */
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

/* The slice of the limit input that an op reads. NULL: the op has no limit. */
static const lra_tensor *limit_of(const lra_graph *g, const lra_tensor *x)
{
    for (int s = 0; g->limit && s < x->n_src; s++)
        if (x->src[s]->n_src == 1 && x->src[s]->src[0] == g->limit) return x->src[s];
    return NULL;
}

/* Depth of a node, and the limits on the path to it. */
typedef struct {
    /* number of limited ops on the longest path from `from` to this node; -1: the node does not
     * depend on `from` */
    int depth;
    const lra_tensor *last; /* limit of the last limited op on this path */
    /* limit of the convolution kernel that the node masks; NULL: the node masks no kernel */
    const lra_tensor *kernel;
} limited;

/* Computes the depth of node x from those of its sources. A long convolution with a limit consists
 * of two nodes that read the same slice of the limits (the second one reuses the result of the
 * first, unlimited one where possible). They count once. */
static limited limited_of(const lra_graph *g, const lra_tensor *x, const lra_tensor *from,
                          const limited *node)
{
    const lra_tensor *by = limit_of(g, x);
    limited to = {.depth = x == from ? 0 : -1};
    for (int s = 0; s < x->n_src && !by; s++) by = node[x->src[s]->id].kernel;
    for (int s = 0; s < x->n_src; s++) {
        const limited *of = &node[x->src[s]->id];
        int depth = of->depth + (of->depth >= 0 && by && by != of->last);
        if (depth > to.depth) to.depth = depth, to.last = by ? by : of->last;
    }
    if (to.depth < 0) to.kernel = by;
    return to;
}

int lra_limit_depth(const lra_graph *g, const lra_tensor *from)
{
    limited *node = lra_alloc_array((size_t)g->n_nodes + 1, sizeof *node);
    int most = 0;
    for (int k = 0; k < g->n_nodes; k++) {
        node[k] = limited_of(g, g->node[k], from, node);
        if (node[k].depth > most) most = node[k].depth;
    }
    lra_free(node);
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
