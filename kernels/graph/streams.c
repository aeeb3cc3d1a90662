/* Assigns nodes to a side stream: nodes whose results are not read before the parameters change
 * (mainly weight gradients), and nodes that only these read, if their results are not larger than
 * those of their readers. Side-stream nodes run one after another, each as soon as all preceding
 * main-stream nodes are done. The main stream waits for them before the optimiser update. It waits
 * earlier if the number of unfinished nodes reaches the maximum of the device. Until then no other
 * node may write to memory that they read or write. */
#include "kernels/graph/graph_impl.h"

/* Position of the first call that changes a parameter or a state. */
static int find_end(const lra_plan *p, lra_tensor **order)
{
    for (int at = 0; at < p->n_calls; at++)
        if (lra_rank(order[at]) > 0) return at;
    return p->n_calls;
}

/* held[root]: must stay on the main stream until the optimiser update, because a node of the main
 * stream reads it, or a second side-stream node does, or a side-stream node whose result is
 * smaller. */
static void mark_read_by_side(const lra_tensor *y, bool *known, bool *held)
{
    size_t offset;
    for (int i = 0; i < y->n_src; i++) {
        const lra_tensor *x = lra_root(y->src[i], &offset);
        if (known[x->id] || lra_bytes(x) > lra_bytes(y)) held[x->id] = true;
        known[x->id] = true;
    }
}

/* Assigns streams; all nodes of a fused group get the same stream. Iterates backwards, so that
 * readers are assigned before their sources. */
static void assign_streams(lra_plan *p, lra_tensor **order, int end, bool *known, bool *held)
{
    size_t offset;
    for (int tail = end - 1, head; tail >= 0; tail = head - 1) {
        bool side_node = true;
        for (head = tail; p->fused[head] == 0;) head--;
        for (int at = head; at <= tail; at++) side_node &= !held[order[at]->id];
        for (int at = head; at <= tail; at++) {
            p->lane[at].side = side_node;
            if (side_node) mark_read_by_side(order[at], known, held);
            for (int i = 0; i < order[at]->n_src && !side_node; i++)
                held[lra_root(order[at]->src[i], &offset)->id] = true;
        }
    }
}

static int tail_of(const lra_plan *p, int head)
{
    return head + p->fused[head] - 1;
}

/* Sets the waits of the main stream, and the positions until which memory of side-stream calls is
 * in use. */
static void find_waits(lra_plan *p, int end, int most)
{
    int *head = lra_alloc_array((size_t)p->n_calls + 1, sizeof *head), n = 0;
    for (int at = 0; at < end; at++)
        if (p->lane[at].side && p->fused[at]) head[n++] = at;
    for (int k = 0; k < n; k++) {
        int until = k + most < n ? head[k + most] : end;
        p->lane[until].wait = k + 1;
        for (int at = head[k]; at <= tail_of(p, head[k]); at++) p->until[at] = tail_of(p, until);
    }
    lra_free(head);
}

void lra_find_lanes(lra_plan *p, lra_tensor **order)
{
    const lra_device *d = p->space->device;
    /* A graph with activation checkpointing has no side stream: it keeps buffers in use longer, and
     * checkpointing is meant to save memory. */
    bool spare = p->graph->keep != LRA_KEEP_ALL;
    int most = d->backend->side && !spare ? d->backend->side(d) : 0, end = find_end(p, order);
    p->lane = lra_alloc_array((size_t)p->n_calls + 1, sizeof *p->lane);
    p->until = lra_alloc_array((size_t)p->n_calls + 1, sizeof(int));
    for (int at = 0, head = 0; at < p->n_calls; at++) {
        if (p->fused[at]) head = at;
        p->until[at] = tail_of(p, head);
    }
    if (most == 0 || end == p->n_calls) return;
    size_t n = (size_t)p->graph->n_nodes + 1;
    bool *known = lra_alloc(n), *held = lra_alloc(n);
    assign_streams(p, order, end, known, held);
    find_waits(p, end, most);
    lra_free(known);
    lra_free(held);
}
