/* Gradients as nodes: a reverse walk over the graph, in which each op's rule adds nodes.
 *   d(y . seed)/d(x) = sum over uses u of x of rule_u(d(y . seed)/d(u))
 * Contributions to a gradient are summed in float32 and rounded once (n-ary lra_add_n()). If a
 * contribution is a product, the previous contribution becomes its residual: the product adds it
 * before it is written, and both are rounded together. Values that are not stored for the rules
 * (recompute.c) are recomputed: the rules read copies of nodes, which are created when they are
 * first needed. */
#include "kernels/graph/graph_impl.h"

#include <string.h>

/* Contributions to the gradient of one node. */
typedef struct {
    lra_tensor **part;
    int n, capacity;
} parts;

/* Adds contribution dx. own: no other node reads dx, so that a residual may be fused into it. */
static void add_part(parts *p, lra_tensor *dx, bool own)
{
    lra_tensor *sum = own && p->n > 0 ? lra_with_residual(dx, p->part[p->n - 1]) : NULL;
    if (sum) dx = sum, p->n--;
    if (p->n == p->capacity) {
        p->capacity = p->capacity ? 2 * p->capacity : 2;
        p->part = lra_resize(p->part, (size_t)p->capacity * sizeof(lra_tensor *));
    }
    p->part[p->n++] = dx;
}

static lra_tensor *total(const parts *p)
{
    if (p->n == 0) return NULL;
    return p->n == 1 ? p->part[0] : lra_add_n(p->n, p->part);
}

/* Nodes that depend on one of the variables x, indexed by id. */
typedef struct {
    /* the node depends on an x through ops with gradient rules only, so that it propagates
     * gradients */
    bool *on;
    int *lost; /* id of the first node without a gradient rule on the path to an x; -1: none */
} dependence;

/* True if gradients end at t: a leaf or lra_detach(). */
static bool ends(const lra_tensor *t)
{
    return t->op->flags & LRA_LEAF || t->op == &lra_op_detach;
}

static dependence find_dependence(const lra_graph *g, int last, int n, lra_tensor *const *x)
{
    dependence d = {lra_alloc((size_t)last + 1), lra_alloc_array((size_t)last + 1, sizeof(int))};
    for (int i = 0; i < n; i++)
        if (x[i]->id <= last) d.on[x[i]->id] = true;
    for (int id = 0; id <= last; id++) {
        const lra_tensor *t = g->node[id];
        bool rule = !(t->op->flags & LRA_NOGRAD);
        d.lost[id] = -1;
        for (int i = 0; i < t->n_src && !ends(t); i++) {
            int from = t->src[i]->id;
            if (d.on[from] && rule) d.on[id] = true;
            if (d.lost[id] < 0) d.lost[id] = d.on[from] && !rule ? id : d.lost[from];
        }
        if (d.on[id]) d.lost[id] = -1;
    }
    return d;
}

static void free_dependence(dependence *d)
{
    lra_free(d->on);
    lra_free(d->lost);
}

/* Records an error: the gradient reaches an op without a gradient rule on the path to an x, and
 * would silently be zero. */
static void fail_lost(const dependence *d, lra_tensor *t)
{
    lra_graph *g = t->graph;
    const lra_tensor *end = g->node[d->lost[t->id]];
    lra_graph_fail(g,
                   "the gradient of '%s' ends at '%s': op '%s' has no rule (lra_detach() stops "
                   "it on purpose)",
                   lra_tensor_path(t), lra_tensor_path(end), end->op->name);
}

/* ---- values that are computed again ---------------------------------------------------------- */

typedef struct {
    bool *keep;        /* keep[id]: the result of this forward node is stored */
    lra_tensor **copy; /* copy[id]: node that recomputes this result; NULL: not created so far */
} again;

static lra_tensor *recomputed(again *a, lra_tensor *t);

/* The sources of t that the backward pass reads (stored or recomputed), allocated in the arena.
 * Sets *same to true if they are t's own sources. */
static lra_tensor **sources(again *a, lra_tensor *t, bool *same)
{
    lra_tensor **src = lra_arena_alloc(t->graph->arena, (size_t)(t->n_src + 1) * sizeof *src);
    *same = true;
    for (int i = 0; i < t->n_src; i++) {
        src[i] = recomputed(a, t->src[i]);
        *same = *same && src[i] == t->src[i];
    }
    return src;
}

/* The node that the backward pass reads instead of t: t itself if it is stored, otherwise its
 * copy. */
static lra_tensor *recomputed(again *a, lra_tensor *t)
{
    bool same;
    if (a->keep[t->id]) return t;
    if (a->copy[t->id]) return a->copy[t->id];
    lra_tensor **src = sources(a, t, &same);
    a->copy[t->id] = same && t->op->flags & LRA_ALIAS ? t : lra_copy_node(t, src);
    return a->copy[t->id];
}

/* Applies the gradient rule of y's op. z is y or its copy. During the call z has the sources that
 * the rule may read; afterwards its own sources are restored. */
static void apply_rule(again *a, lra_tensor *y, lra_tensor *dy, lra_tensor **dx)
{
    bool same;
    lra_tensor *z = recomputed(a, y), **own = z->src;
    if (z == y) z->src = sources(a, y, &same); /* y is stored, but its sources are not */
    z->op->grad(z, dy, dx);
    z->src = own;
}

/* ---- the walk -------------------------------------------------------------------------------- */

/* True if dx[i] was created by this rule (its id is at least `first`) and none of the other n - 1
 * gradients of the rule is the same node. */
static bool is_own(lra_tensor *const *dx, int n, int i, int first)
{
    bool own = dx[i]->id >= first;
    for (int k = 0; k < n; k++) own = own && (k == i || dx[k] != dx[i]);
    return own;
}

/* Adds the gradients that y's rule computes from dy to its sources. */
static void pass_on(again *a, lra_tensor *y, lra_tensor *dy, const dependence *d, parts *all)
{
    lra_tensor **dx = lra_alloc((size_t)(y->n_src + 1) * sizeof *dx);
    int first = y->graph->n_nodes;
    apply_rule(a, y, dy, dx);
    for (int i = 0; i < y->n_src; i++) {
        lra_tensor *x = y->src[i];
        if (dx[i] && d->lost[x->id] >= 0) fail_lost(d, x);
        if (!dx[i] || !d->on[x->id]) continue;
        if (!y->graph->failed && !lra_shape_equal(dx[i]->shape, x->shape))
            LRA_BUG("gradient of '%s': source %d has another shape", y->op->name, i);
        bool own = is_own(dx, y->n_src, i, first);
        add_part(&all[x->id], dx[i]->type == x->type ? dx[i] : lra_cast(dx[i], x->type), own);
    }
    lra_free(dx);
}

void lra_grad(lra_tensor *y, lra_tensor *seed, int n, lra_tensor *const *x, lra_tensor **dx)
{
    lra_graph *g = y->graph;
    const char *scope = g->scope;
    int last = y->id;
    dependence d = find_dependence(g, last, n, x);
    parts *all = lra_alloc((size_t)(last + 1) * sizeof *all);
    again a = {lra_find_kept(g, last, d.on),
               lra_alloc_array((size_t)last + 1, sizeof(lra_tensor *))};
    add_part(&all[last], seed ? seed : lra_ones(g, y->type, y->shape), false);
    if (d.lost[last] >= 0) fail_lost(&d, y);
    for (int id = last; id >= 0 && !g->failed; id--) {
        lra_tensor *t = g->node[id];
        if (!d.on[id] || all[id].n == 0 || (t->op->flags & LRA_NOGRAD)) continue;
        g->scope = t->scope;
        lra_tensor *dy = total(&all[id]);
        all[id].n = 1; /* the sum replaces its terms: if t is one of the x, this is its gradient */
        all[id].part[0] = dy;
        pass_on(&a, t, dy, &d, all);
    }
    g->scope = scope;
    for (int i = 0; i < n; i++) {
        lra_tensor *own = x[i]->id <= last && !g->failed ? total(&all[x[i]->id]) : NULL;
        dx[i] = own ? own : lra_zeros(g, x[i]->type, x[i]->shape);
    }
    for (int id = 0; id <= last; id++) lra_free(all[id].part);
    lra_free(all);
    free_dependence(&d);
    lra_free(a.keep);
    lra_free(a.copy);
}
