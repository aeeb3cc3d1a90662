/* Planning: selects the nodes to run, their order and all addresses.  Nothing is computed here. */
#include "kernels/graph/graph_impl.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

const lra_tensor *lra_root(const lra_tensor *x, size_t *offset)
{
    *offset = 0;
    while (x->op->flags & LRA_ALIAS) {
        *offset += lra_alias_offset(x);
        x = x->src[0];
    }
    return x;
}

static bool is_leaf(const lra_tensor *x)
{
    return x->op->flags & LRA_LEAF;
}

/* ---- which nodes, in which order ------------------------------------------------------------- */

/* Marks outputs, state assignments, and all nodes that they depend on. */
static bool *find_needed(const lra_graph *g, int n, lra_tensor *const *out)
{
    bool *needed = lra_alloc((size_t)g->n_nodes + 1);
    for (int i = 0; i < n; i++) needed[out[i]->id] = true;
    for (int id = g->n_nodes - 1; id >= 0; id--) {
        const lra_tensor *t = g->node[id];
        if (t->op == &lra_op_assign) needed[id] = true;
        for (int i = 0; i < t->n_src && needed[id]; i++) needed[t->src[i]->id] = true;
    }
    return needed;
}

int lra_rank(const lra_tensor *t)
{
    if (t->op == &lra_op_assign) return 2;
    return t->op->flags & LRA_WRITES ? 1 : 0;
}

static int order_nodes(const lra_graph *g, const bool *needed, lra_tensor **order)
{
    int n = 0;
    for (int rank = 0; rank < 3; rank++)
        for (int id = 0; id < g->n_nodes; id++) {
            lra_tensor *t = g->node[id];
            bool runs = needed[id] && !is_leaf(t) && !(t->op->flags & LRA_ALIAS);
            if (runs && lra_rank(t) == rank) order[n++] = t;
        }
    return n;
}

/* ---- liveness -------------------------------------------------------------------------------- */

/* Lifetime of a node's buffer. */
typedef struct {
    /* positions in the launch order, inclusive; first -1: the node has no buffer in the
     * workspace */
    int first, last;
    int shares; /* id of the node whose buffer it reuses; -1: it has its own buffer */
} life;

static void find_lives(const lra_plan *p, int n_out, lra_tensor *const *out, lra_tensor **order,
                       const bool *needed, life *l)
{
    const lra_graph *g = p->graph;
    size_t offset;
    for (int id = 0; id < g->n_nodes; id++) {
        l[id] = (life){-1, -1, -1};
        if (needed[id] && g->node[id]->op == &lra_op_input) l[id] = (life){0, INT_MAX, -1};
    }
    for (int at = 0, head = 0; at < p->n_calls;
         /* head: position of the first node of the current fused group; all nodes of a group read
          * and write from this position on */
         at++) {
        const lra_tensor *t = order[at];
        if (p->fused[at]) head = at;
        int until = p->until[at];
        if (!p->hidden[t->id]) l[t->id] = (life){head, until, -1};
        for (int i = 0; i < t->n_src; i++) {
            const lra_tensor *root = lra_root(t->src[i], &offset);
            bool is_stored = !is_leaf(root) && !p->hidden[root->id];
            if (is_stored && l[root->id].last < until) l[root->id].last = until;
        }
    }
    for (int i = 0; i < n_out; i++) l[lra_root(out[i], &offset)->id].last = INT_MAX;
    if (p->gate_node >= 0) l[p->gate_node].last = INT_MAX;
}

/* Lets y reuse the buffer of source 0, if that buffer is not needed later and y reads it through no
 * other source. */
static void share_buffers(const lra_plan *p, lra_tensor **order, life *l)
{
    size_t offset;
    for (int at = 0; at < p->n_calls; at++) {
        const lra_tensor *t = order[at];
        if (!(t->op->flags & LRA_INPLACE) || p->space->no_inplace || p->fused[at] != 1) continue;
        const lra_tensor *x = lra_root(t->src[0], &offset);
        bool free_to_take = !is_leaf(x) && l[x->id].last == at && lra_bytes(x) == lra_bytes(t) &&
                            offset == 0 && x->type == t->type;
        for (int i = 1; i < t->n_src; i++) free_to_take &= lra_root(t->src[i], &offset) != x;
        if (free_to_take) l[t->id].shares = x->id;
    }
    /* extends the lifetime of a buffer to that of the last node that reuses it */
    for (int at = p->n_calls - 1; at >= 0; at--) {
        const life *y = &l[order[at]->id];
        if (y->shares >= 0 && l[y->shares].last < y->last) l[y->shares].last = y->last;
    }
}

/* Sorts ranges by first use. Inputs, which live from the first call to the end, thus come first, in
 * order of creation, so that one copy transfers all of them. */
static int by_first(const void *a, const void *b)
{
    const lra_range *x = a, *y = b;
    if (x->first != y->first) return x->first < y->first ? -1 : 1;
    if (x->last != y->last) return x->last > y->last ? -1 : 1;
    /* until the ranges are laid out, `offset` is the id of the owner */
    return (x->offset > y->offset) - (x->offset < y->offset);
}

/* Scratch bytes of the call at `at` and its fused group. */
static int64_t scratch_of(const lra_plan *p, lra_tensor **order, int at, int max_threads)
{
    const lra_backend *b = p->space->device->backend;
    const lra_tensor *y = order[at];
    if (p->fused[at] == 0) return 0;
    if (p->fused[at] > 1)
        return b->fused_scratch((const lra_tensor *const *)(order + at), p->fused[at]);
    if (b->scratch) return b->scratch(y);
    return y->op->scratch ? y->op->scratch(y, max_threads) : 0;
}

/* Adds the scratch buffer of the side stream. Side-stream nodes run one after another and share
 * this buffer, which no other node uses from the first of them to the optimiser update. */
static int add_scratch_beside(const lra_plan *p, lra_tensor **order, int max_threads,
                              lra_range *out)
{
    int first = -1, last = -1;
    size_t most = 0;
    for (int at = 0; at < p->n_calls; at++) {
        if (!p->lane[at].side) continue;
        size_t bytes = (size_t)scratch_of(p, order, at, max_threads);
        if (first < 0) first = at;
        if (bytes > most) most = bytes;
        if (p->until[at] > last) last = p->until[at];
    }
    *out = (lra_range){(size_t)(p->graph->n_nodes + first), most, first, last};
    return most > 0 ? 1 : 0;
}

/* Creates the ranges of all buffers and of all scratch, and lays them out. Until the layout sets
 * it, `offset` holds the owner of a range. Returns the size of the workspace. */
static size_t lay_out(lra_plan *p, lra_tensor **order, const life *l, int max_threads)
{
    const lra_graph *g = p->graph;
    int capacity = g->n_nodes + p->n_calls + 1, side_node = -1;
    p->range = lra_alloc_array((size_t)capacity, sizeof *p->range);
    p->range_of = lra_alloc_array((size_t)g->n_nodes + 1, sizeof(int));
    p->scratch_of = lra_alloc_array((size_t)p->n_calls + 1, sizeof(int));
    int n = 0;
    for (int id = 0; id < g->n_nodes; id++) {
        p->range_of[id] = -1;
        if (l[id].first < 0 || l[id].shares >= 0) continue;
        size_t bytes = (size_t)lra_bytes(g->node[id]);
        p->range[n++] = (lra_range){(size_t)id, bytes, l[id].first, l[id].last};
    }
    for (int at = 0; at < p->n_calls; at++) {
        int64_t bytes = scratch_of(p, order, at, max_threads);
        p->scratch_of[at] = -1;
        if (bytes > 0 && !p->lane[at].side)
            p->range[n++] = (lra_range){(size_t)(g->n_nodes + at), (size_t)bytes, at, p->until[at]};
    }
    n += add_scratch_beside(p, order, max_threads, &p->range[n]);
    p->n_ranges = n;
    qsort(p->range, (size_t)n, sizeof *p->range, by_first);
    for (int i = 0; i < n; i++) {
        size_t owner = p->range[i].offset;
        if (owner < (size_t)g->n_nodes)
            p->range_of[owner] = i;
        else
            p->scratch_of[owner - (size_t)g->n_nodes] = i;
    }
    /* in launch order, so that a node whose buffer is reused already has its range */
    for (int at = 0; at < p->n_calls; at++) {
        const life *y = &l[order[at]->id];
        if (y->shares >= 0) p->range_of[order[at]->id] = p->range_of[y->shares];
        if (!p->lane[at].side) continue;
        /* the first side-stream call owns the shared scratch */
        if (p->scratch_of[at] >= 0) side_node = p->scratch_of[at];
        p->scratch_of[at] = side_node;
    }
    return lra_layout(p->range, n);
}

/* ---- cost ------------------------------------------------------------------------------------ */

double lra_node_flops(const lra_tensor *t)
{
    return t->op->flops ? t->op->flops(t) : (double)lra_elements(t);
}

double lra_node_bytes(const lra_tensor *t)
{
    double bytes = (double)lra_bytes(t);
    for (int i = 0; i < t->n_src; i++) {
        const lra_tensor *x = t->src[i];
        bool half = lra_graph_type(t->graph) == LRA_BF16 && x->op == &lra_op_param &&
                    lra_reads_shadow(t->op, i);
        bytes += (double)lra_bytes(x) / (half ? 2 : 1);
    }
    return bytes;
}

double lra_call_bytes(const lra_plan *p, int at)
{
    const lra_tensor *y = p->call[at].y;
    double bytes = lra_node_bytes(y) - (p->hidden[y->id] ? (double)lra_bytes(y) : 0);
    int head = at;
    while (p->fused[head] == 0) head--;
    for (int i = 0; i < y->n_src; i++) {
        bool known = false;
        for (int k = head; k < at; k++) {
            const lra_tensor *before = p->call[k].y;
            known |= before == y->src[i];
            for (int j = 0; j < before->n_src; j++) known |= before->src[j] == y->src[i];
        }
        if (known) bytes -= (double)lra_bytes(y->src[i]);
    }
    return bytes;
}

static void add_cost(lra_plan *p, int at)
{
    p->cost.flops += lra_node_flops(p->call[at].y);
    p->cost.bytes += lra_call_bytes(p, at);
    p->cost.n_nodes++;
}

/* Chooses the number of threads: one per 20 MFLOP of a node, on average. Small models are faster on
 * one thread; their ladders use the other processors by training several models at once. */
static int threads_for(const lra_plan *p, int most)
{
    double per_node = p->cost.n_nodes ? p->cost.flops / p->cost.n_nodes : 0;
    int n = 1 + (int)(per_node / 2e7);
    return n < most ? n : most;
}

/* ---- the plan -------------------------------------------------------------------------------- */

/* Creates the parameters and states that the plan reads, and the shadows of those that a bf16 op
 * reads. */
static int bind_leaves(lra_plan *p, lra_tensor **order, const bool *needed, lra_err *e)
{
    const lra_graph *g = p->graph;
    lra_tensor **leaf = lra_alloc_array((size_t)g->n_nodes + 1, sizeof *leaf);
    bool *shadow = lra_alloc((size_t)g->n_nodes + 1);
    bool *by_id = lra_alloc((size_t)g->n_nodes + 1);
    int n = 0;
    for (int at = 0; at < p->n_calls && g->type == LRA_BF16; at++)
        for (int i = 0; i < order[at]->n_src; i++)
            if (lra_reads_shadow(order[at]->op, i)) by_id[order[at]->src[i]->id] = true;
    for (int id = 0; id < g->n_nodes; id++) {
        lra_tensor *t = g->node[id];
        if (!needed[id] || !lra_is_stored(t)) continue;
        shadow[n] = by_id[id];
        leaf[n++] = t;
    }
    int rc = lra_params_bind(p->params, g, n, leaf, shadow, e);
    lra_free(leaf);
    lra_free(shadow);
    lra_free(by_id);
    return rc;
}

static void make_calls(lra_plan *p, lra_tensor **order)
{
    p->call = lra_alloc_array((size_t)p->n_calls + 1, sizeof *p->call);
    size_t n = 0;
    for (int at = 0; at < p->n_calls; at++) {
        p->call[at].y = order[at];
        add_cost(p, at);
        n += (size_t)order[at]->n_src;
    }
    p->addresses = lra_alloc_array(2 * n + 1, sizeof(void *));
}

lra_plan *lra_plan_new(lra_graph *g, lra_params *params, lra_space *s, int n,
                       lra_tensor *const *out, lra_err *e)
{
    if (lra_graph_check(g, e) != 0) return NULL;
    if (s->sealed) {
        lra_fail(
            e,
            "a plan is made in a workspace that already runs; make all plans before the first step");
        return NULL;
    }
    lra_plan *p = lra_alloc(sizeof *p);
    p->graph = g, p->params = params, p->space = s;
    p->gate_node = -1;
    const char *poison = getenv("LRA_POISON");
    p->poison = poison && *poison && strcmp(poison, "0") != 0;
    bool *needed = find_needed(g, n, out);
    lra_tensor **order = lra_alloc_array((size_t)g->n_nodes + 1, sizeof *order);
    p->n_calls = order_nodes(g, needed, order);
    lra_fuse_nodes(p, order, n, out);
    lra_find_lanes(p, order);
    for (int at = 0; at < p->n_calls; at++)
        if (lra_rank(order[at]) == 1) p->gate_node = order[at]->id;
    make_calls(p, order);
    int rc = bind_leaves(p, order, needed, e);
    if (rc == 0) {
        life *l = lra_alloc_array((size_t)g->n_nodes + 1, sizeof *l);
        int most = s->device->backend->threads(s->device);
        find_lives(p, n, out, order, needed, l);
        share_buffers(p, order, l);
        size_t bytes = lay_out(p, order, l, most);
        p->cost.workspace_bytes = (double)bytes;
        if (bytes > s->size) s->size = bytes;
        lra_plan_threads(p, 0);
        lra_free(l);
    }
    lra_free(needed);
    lra_free(order);
    if (rc == 0) return p;
    lra_plan_free(p);
    return NULL;
}

void lra_plan_free(lra_plan *p)
{
    if (!p) return;
    const lra_backend *b = p->space->device->backend;
    if (p->captured) b->forget(p->space->device, p->captured);
    lra_free(p->call);
    lra_free(p->range);
    lra_free(p->range_of);
    lra_free(p->scratch_of);
    lra_free(p->fused);
    lra_free(p->hidden);
    lra_free(p->lane);
    lra_free(p->until);
    lra_free(p->addresses);
    lra_free(p);
}

lra_cost lra_plan_cost(const lra_plan *p)
{
    return p->cost;
}
void lra_plan_poison(lra_plan *p, bool on)
{
    p->poison = on;
}

double lra_plan_peak(const lra_plan *p)
{
    const lra_device *d = p->space->device;
    return d->backend->peak(d, p->graph->type, p->n_threads);
}

void lra_plan_threads(lra_plan *p, int n_threads)
{
    int most = p->space->device->backend->threads(p->space->device);
    p->n_threads = n_threads ? (n_threads < most ? n_threads : most) : threads_for(p, most);
    for (int at = 0; at < p->n_calls; at++) p->call[at].n_threads = p->n_threads;
}
