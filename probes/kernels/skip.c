/* Adds the direct path D to kernels (skip.h). */
#include "probes/kernels/skip.h"

#include <math.h>

#include "kernels/base/core/mem.h"
#include "kernels/graph/op.h"

enum { MOST_NODES = 4096 };

/* The tensor of which x is a copy, in another type or repeated along axes. */
static lra_tensor *bare(lra_tensor *x)
{
    while (x->op == &lra_op_cast || x->op == &lra_op_broadcast) x = x->src[0];
    return x;
}

/* True if b is added to the output of the convolution, or to the dense layer that reads the
 * scan. */
static bool added(const lra_graph *g, const lra_tensor *node, const lra_tensor *b)
{
    const lra_op *op = node->op == &lra_op_scan ? &lra_op_linear : &lra_op_add;
    lra_tensor *all[MOST_NODES];
    int n = lra_graph_nodes(g, op, MOST_NODES, all);
    for (int i = 0; i < n && i < MOST_NODES; i++) {
        bool one = false, other = false;
        for (int s = 0; s < all[i]->n_src; s++) {
            one = one || bare(all[i]->src[s]) == node;
            other = other || bare(all[i]->src[s]) == b;
        }
        if (one && other) return true;
    }
    return false;
}

/* The input u of the convolution or of the scan's first dense layer; NULL: unknown. */
static const lra_tensor *input_of(const lra_tensor *node)
{
    lra_tensor *x = bare(node->src[0]);
    if (node->op == &lra_op_long_conv) return x;
    return node->op == &lra_op_scan && x->op == &lra_op_linear ? bare(x->src[0]) : NULL;
}

lra_tensor *lra_skip_find(const lra_graph *g, const lra_tensor *node)
{
    lra_tensor *all[MOST_NODES];
    const lra_tensor *u = input_of(node);
    int n = u ? lra_graph_nodes(g, &lra_op_mul, MOST_NODES, all) : 0;
    for (int i = 0; i < n && i < MOST_NODES; i++)
        for (int s = 0; s < 2; s++) {
            lra_tensor *D = bare(all[i]->src[1 - s]);
            if (bare(all[i]->src[s]) == u && lra_elements(D) == lra_width(u) &&
                added(g, node, all[i]))
                return D;
        }
    return NULL;
}

/* Adds D at lag 0 of channel c. |K + D|^2 = |K|^2 + 2 D Re K + D^2 changes the energy, the modulus,
 * and the share of the energy beyond the lags. */
static void add_one(lra_extracted_kernels *k, int state, int64_t c, double D)
{
    int64_t lags = k->behind + k->ahead, i = k->components > 1 ? c * k->step : 0;
    double *own = k->k[state] + c * k->components * lags, near = 0;
    double *at = own + i * lags + k->behind, more = 2 * D * *at + D * D;
    for (int64_t j = 0; j < k->components * lags; j++) near += own[j] * own[j];
    *at += D;
    if (k->mod[state]) {
        double *mod = k->mod[state] + c * lags + k->behind;
        *mod = sqrt(fmax(*mod * *mod + more, 0));
    }
    if (!k->cut[state] || !(k->cut[state][c] < 1)) return;
    double far = near * k->cut[state][c] / (1 - k->cut[state][c]);
    k->cut[state][c] = far / fmax(far + near + more, far);
}

int lra_skip_add(const lra_length_graph *v, lra_tensor *skip, lra_extracted_kernels *k, int state,
                 lra_err *e)
{
    double *D = lra_view_numbers(v, skip, e);
    if (!D) return LRA_FAILED;
    k->skip[state] = lra_alloc_array((size_t)k->channels, sizeof *D);
    for (int64_t c = 0; c < k->channels; c++) {
        k->skip[state][c] = D[c * k->step];
        add_one(k, state, c, D[c * k->step]);
    }
    lra_free(D);
    return 0;
}
