/* Declarations of mixing matrices (mixing.h). */
#include "kernels/graph/mixing.h"

#include "kernels/base/core/mem.h"
#include "kernels/graph/graph_impl.h"
#include "kernels/graph/op.h"

/* A node and the declaration of its mixing matrix. */
struct lra_declared {
    lra_tensor *node;
    const lra_mixing *is;
};

/* The node that owns the memory of x: skips reshapes and other aliases. */
static lra_tensor *computed(lra_tensor *x)
{
    while (x->op->flags & LRA_ALIAS) x = x->src[0];
    return x;
}

void lra_declare_mixing(lra_tensor *y, const lra_mixing *m)
{
    lra_graph *g = y->graph;
    lra_mixing *own = lra_arena_alloc(g->arena, sizeof *own);
    *own = *m, y = computed(y);
    if (own->inner) own->inner = computed(own->inner);
    if (lra_mixing_of(y)) lra_graph_fail(g, "%s: a second mixing matrix", y->op->name);
    struct lra_declared *list = lra_arena_alloc(g->arena, (size_t)(g->n_mixing + 1) * sizeof *list);
    int at = g->n_mixing++;
    for (int i = 0; i < at; i++) list[i] = g->mixing[i];
    for (; at > 0 && list[at - 1].node->id > y->id; at--) list[at] = list[at - 1];
    list[at] = (struct lra_declared){y, own};
    g->mixing = list;
}

const lra_mixing *lra_mixing_of(const lra_tensor *node)
{
    const lra_graph *g = node->graph;
    for (int i = 0; i < g->n_mixing; i++)
        if (g->mixing[i].node == node) return g->mixing[i].is;
    return NULL;
}

int lra_graph_mixing(const lra_graph *g, int most, lra_tensor **node)
{
    for (int i = 0; i < g->n_mixing && i < most; i++) node[i] = g->mixing[i].node;
    return g->n_mixing;
}

const char *lra_mixing_name(lra_mixing_kind kind)
{
    static const char *const name[LRA_MIXING_KINDS] = {"softmax", "features", "mixtures", "memory",
                                                       "buckets", "map",      "state"};
    return name[kind];
}
