/* Kernel fusion: finds nodes that a device runs as one kernel, so that an intermediate result stays
 * in registers or shared memory. Fused nodes move to the position of the first of them. Other nodes
 * that they depend on move before that position. */
#include "kernels/graph/graph_impl.h"

const char lra_fused;

enum { MOST = 4 };

typedef struct {
    const lra_plan *plan;
    int *at; /* position in the order of the node with this id; -1: the node does not run */
    /* readers[id] of a node that owns its memory: number of nodes that read this memory, plus 1 if
     * it is an output */
    int *readers;
} view;

static void count_readers(view *v, lra_tensor **order, int n_out, lra_tensor *const *out)
{
    size_t offset;
    for (int at = 0; at < v->plan->n_calls; at++)
        for (int i = 0; i < order[at]->n_src; i++)
            v->readers[lra_root(order[at]->src[i], &offset)->id]++;
    for (int i = 0; i < n_out; i++) v->readers[lra_root(out[i], &offset)->id]++;
}

/* True if all sources of x are computed before the node at `first`, or by a node of the group. */
static bool is_ready(const view *v, const lra_tensor *x, int first, int n)
{
    size_t offset;
    for (int i = 0; i < x->n_src; i++)
        if (v->at[lra_root(x->src[i], &offset)->id] >= first + n) return false;
    return true;
}

/* The node of the group whose result is read by x and by no other node; NULL: there is none. */
static const lra_tensor *taken_over(const view *v, lra_tensor **group, int n, const lra_tensor *x)
{
    size_t offset;
    for (int i = 0; i < x->n_src; i++)
        for (int k = 0; k < n; k++)
            if (lra_root(x->src[i], &offset) == group[k])
                return v->readers[group[k]->id] == 1 ? group[k] : NULL;
    return NULL;
}

/* Moves the node at position `from` to the earlier position `to`. */
static void move(const view *v, lra_tensor **order, int from, int to)
{
    lra_tensor *x = order[from];
    for (int at = from; at > to; at--) {
        order[at] = order[at - 1];
        v->at[order[at]->id] = at;
    }
    order[to] = x;
    v->at[x->id] = to;
}

/* Moves the sources of x that come after the group before it, and advances *first accordingly.
 * Returns false if one of them cannot move, because its own sources come later. */
static bool lift(const view *v, lra_tensor **order, int *first, int n, const lra_tensor *x)
{
    size_t offset;
    for (int i = 0; i < x->n_src; i++) {
        const lra_tensor *source = lra_root(x->src[i], &offset);
        int at = v->at[source->id];
        if (at < *first + n) continue;
        if (!is_ready(v, source, *first, 0)) return false;
        move(v, order, at, (*first)++);
    }
    return true;
}

/* Appends one more node to the group of n nodes at *first. Returns false if no node can be
 * fused. */
static bool grow(const view *v, lra_tensor **order, int *first, int n)
{
    const lra_backend *b = v->plan->space->device->backend;
    for (int at = *first + n; at < v->plan->n_calls; at++) {
        lra_tensor *x = order[at];
        /* do not fuse beyond the first node that changes a parameter or a state: it must run after
         * all its readers */
        if (lra_rank(x) > 0) break;
        lra_fuse how = b->fuses((const lra_tensor *const *)(order + *first), n, x);
        if (how == LRA_FUSE_NOT) continue;
        const lra_tensor *source = taken_over(v, order + *first, n, x);
        if (how == LRA_FUSE_ELIDED && !source) continue;
        if (!lift(v, order, first, n, x)) continue;
        if (how == LRA_FUSE_ELIDED) v->plan->hidden[source->id] = true;
        move(v, order, at, *first + n);
        return true;
    }
    return false;
}

void lra_fuse_nodes(lra_plan *p, lra_tensor **order, int n_out, lra_tensor *const *out)
{
    size_t n = (size_t)p->graph->n_nodes + 1;
    view v = {p, lra_alloc_array(n, sizeof(int)), lra_alloc_array(n, sizeof(int))};
    bool fuses = p->space->device->backend->fuses != NULL;
    p->fused = lra_alloc_array((size_t)p->n_calls + 1, sizeof(int));
    p->hidden = lra_alloc_array(n, sizeof(bool));
    for (size_t id = 0; id < n; id++) v.at[id] = -1;
    for (int at = 0; at < p->n_calls; at++) v.at[order[at]->id] = at;
    if (fuses) count_readers(&v, order, n_out, out);
    for (int at = 0, from = 0, size; at < p->n_calls; from = at += size) {
        for (size = 1; fuses && size < MOST && grow(&v, order, &at, size);) size++;
        /* nodes that were moved before the group run alone */
        while (from < at) p->fused[from++] = 1;
        p->fused[at] = size;
    }
    lra_free(v.at);
    lra_free(v.readers);
}
