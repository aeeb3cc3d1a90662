/* Activation checkpointing: the backward pass recomputes results of the forward pass instead of
 * reading stored ones. This file selects the stored values; grad.c adds copies of the other nodes
 * when a gradient first needs them. A copy has the inputs and arguments of its original, and
 * therefore identical bits.
 *
 *   LRA_KEEP_PRODUCTS  stores results that cost more than FEW operations per element; costs a few
 *                      per cent of time
 *   LRA_KEEP_LAYERS    divides the forward pass into segments by cuts, and stores the values that
 *                      cross a cut; costs at most one more forward pass.  With cuts c and segments
 *                      of s(c) bytes the memory is about
 *                        sum over c of crossing bytes(c) + max over c of s(c)
 *                      and the cuts are those that minimise it.
 * Source: Chen et al. 2016, "Training Deep Nets with Sublinear Memory Cost", sections 3 and 4. They
 * place cuts greedily; we place them by dynamic programming for each bound on the longest
 * segment. */
#include "kernels/graph/graph_impl.h"

#include <math.h>

enum { FEW = 32, MAX_BOUNDS = 64 };

/* ---- values: forward results that depend on a variable of differentiation -------------------- */

typedef struct {
    int n;
    int *id;       /* (n) id of the node at each position of the execution order */
    int *last;     /* (n) position of the last node that reads the result */
    double *bytes; /* bytes[i]: size of all results at positions below i; n + 1 sums */
    /* crossing[i]: bytes that positions >= i read from positions < i; n + 1 values */
    double *crossing;
} values;

static void free_values(values *v)
{
    lra_free(v->id);
    lra_free(v->last);
    lra_free(v->bytes);
    lra_free(v->crossing);
}

static bool has_memory(const lra_tensor *t)
{
    return !(t->op->flags & (LRA_LEAF | LRA_ALIAS));
}

static values find_values(const lra_graph *g, int last, const bool *on)
{
    size_t most = (size_t)last + 2, offset;
    values v = {.id = lra_alloc_array(most, sizeof(int)),
                .last = lra_alloc_array(most, sizeof(int)),
                .bytes = lra_alloc_array(most, sizeof(double)),
                .crossing = lra_alloc_array(most, sizeof(double))};
    int *at = lra_alloc_array(most, sizeof *at);
    for (int id = 0; id <= last; id++) {
        const lra_tensor *t = g->node[id];
        if (!on[id] || !has_memory(t)) continue;
        at[id] = v.n;
        v.id[v.n] = id;
        v.last[v.n] = v.n;
        v.bytes[v.n + 1] = v.bytes[v.n] + (double)lra_bytes(t);
        v.n++;
        for (int i = 0; i < t->n_src; i++) {
            const lra_tensor *x = lra_root(t->src[i], &offset);
            if (on[x->id] && has_memory(x)) v.last[at[x->id]] = at[id];
        }
    }
    for (int i = 0; i < v.n; i++)
        for (int c = i + 1; c <= v.last[i]; c++) v.crossing[c] += v.bytes[i + 1] - v.bytes[i];
    lra_free(at);
    return v;
}

/* ---- cuts ------------------------------------------------------------------------------------ */

/* Finds the cheapest cuts with segments of at most `bound` bytes. before[i]: the cut before a cut
 * at i. Returns the bytes stored at the cuts; INFINITY if a single value is larger than the
 * bound. */
static double place_cuts(const values *v, double bound, double *kept, int *before)
{
    kept[0] = 0;
    for (int i = 1; i <= v->n; i++) {
        kept[i] = INFINITY;
        for (int j = i - 1; j >= 0 && v->bytes[i] - v->bytes[j] <= bound; j--)
            if (kept[j] < kept[i]) kept[i] = kept[j], before[i] = j;
        if (i < v->n) kept[i] += v->crossing[i];
    }
    return kept[v->n];
}

/* Marks the values that cross the cuts of the best plan, and all values of the last segment,
 * because their gradients are computed first. */
static void keep_crossing(const values *v, bool *keep)
{
    double *kept = lra_alloc_array((size_t)v->n + 1, sizeof *kept), least = INFINITY, best = 0;
    int *before = lra_alloc_array((size_t)v->n + 1, sizeof *before);
    for (int k = 1; k <= MAX_BOUNDS; k++) {
        double bound = v->bytes[v->n] / k, total = place_cuts(v, bound, kept, before) + bound;
        if (total < least) least = total, best = bound;
    }
    place_cuts(v, best, kept, before);
    int from = before[v->n];
    for (int i = from; i < v->n; i++) keep[v->id[i]] = true;
    for (int cut = from; cut > 0; cut = before[cut])
        for (int i = 0; i < cut; i++)
            if (v->last[i] >= cut) keep[v->id[i]] = true;
    lra_free(kept);
    lra_free(before);
}

bool *lra_find_kept(const lra_graph *g, int last, const bool *on)
{
    bool *keep = lra_alloc((size_t)last + 1);
    for (int id = 0; id <= last; id++) /* an alias is stored if the node that owns its memory is */
        keep[id] = !on[id] || g->node[id]->op->flags & LRA_LEAF || g->keep == LRA_KEEP_ALL;
    if (g->keep == LRA_KEEP_ALL) return keep;
    values v = find_values(g, last, on);
    if (g->keep == LRA_KEEP_LAYERS) keep_crossing(&v, keep);
    for (int i = 0; i < v.n && g->keep == LRA_KEEP_PRODUCTS; i++) {
        const lra_tensor *t = g->node[v.id[i]];
        keep[t->id] = lra_node_flops(t) > FEW * (double)lra_elements(t);
    }
    keep[last] = true;
    free_values(&v);
    return keep;
}
