/* Value-weighted attention (mixing_matrix.h): the contribution of each key to the output of a
 * layer,
 *   w_ij = || sum_p a_pij u_pj ||,  u_pj = v_pj W_p,
 * where p are the paths of values: heads, or pairs of heads. It is computed from the Gram matrix of
 * each key,
 *   G_pqj = u_pj . u_qj.
 * The sum over j of the vectors sum_p a_pij u_pj is the output of the linear layer after the heads,
 * without biases. */
#include <math.h>

#include "kernels/base/core/mem.h"
#include "kernels/graph/op.h"
#include "kernels/ops/attention/attention_statistics.h"
#include "probes/shared/mixing_matrix.h"

/* ---- in a graph ------------------------------------------------------------------------------ */

/* The only source of x if x is its alias, copy, permutation, or division by row sums; else NULL. */
static const lra_tensor *source(const lra_tensor *x)
{
    bool same = x->op->flags & LRA_ALIAS || x->op == &lra_op_cast || x->op == &lra_op_slice_copy;
    bool moved = x->op == &lra_op_permute || x->op == &lra_op_gather;
    return same || moved || x->op == &lra_op_div ? x->src[0] : NULL;
}

/* The weight matrix (heads V,D) of the linear layer that reads the node's output, or NULL. */
static lra_tensor *layer_behind(const lra_tensor *node)
{
    int n = lra_graph_nodes(node->graph, &lra_op_linear, 0, NULL);
    lra_tensor **list = lra_alloc_array((size_t)n + 1, sizeof *list), *w = NULL;
    lra_graph_nodes(node->graph, &lra_op_linear, n, list);
    for (int i = 0; i < n && !w; i++) {
        const lra_tensor *x = list[i]->src[0];
        while (x && x != node) x = source(x);
        if (x) w = list[i]->src[1];
    }
    lra_free(list);
    return w;
}

void lra_matrix_add_value_outputs(lra_length_graph *v, lra_matrix *w)
{
    lra_tensor *out = layer_behind(w->node), *values = w->of->value, *by = out;
    w->paths = w->heads;
    if (!out || (w->family->values && !w->family->values(w, out, &values, &by))) return;
    w->gram = lra_values_gram(values, by);
    lra_length_graph_output(v, w->gram);
    if (w->by_path) lra_length_graph_output(v, w->by_path);
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* Computes row i of all paths: a (paths,T); seen (T): 1 where the key is not masked. */
static void row_of_paths(const lra_matrix_values *v, int64_t s, int64_t i, int64_t T, double *a,
                         uint8_t *seen)
{
    const lra_matrix *of = v->of;
    for (int64_t j = 0; j < T; j++) seen[j] = of->family->paths != NULL;
    if (of->family->paths) {
        of->family->paths(v, s, i, T, a);
        return;
    }
    for (int64_t h = 0; h < of->heads; h++) {
        double *own = a + h * T;
        of->family->row(v, s, h, i, T, own);
        for (int64_t j = 0; j < T; j++) {
            if (isnan(own[j]))
                own[j] = 0;
            else
                seen[j] = 1;
        }
    }
}

/* w_j = || sum_p a_pj u_pj ||: w (T), a (P,T), gram (pairs q <= p,T) with the diagonal halved. */
static void lengths(int64_t P, int64_t T, const double *a, const float *gram, double *w)
{
    for (int64_t j = 0; j < T; j++) w[j] = 0;
    for (int64_t p = 0; p < P; p++)
        for (int64_t q = 0; q <= p; q++, gram += T)
#pragma omp simd
            for (int64_t j = 0; j < T; j++)
                w[j] += 2 * a[p * T + j] * a[q * T + j] * (double)gram[j];
    for (int64_t j = 0; j < T; j++) w[j] = w[j] > 0 ? sqrt(w[j]) : 0;
}

/* Reorders the Gram matrices (T,P,P) for lengths(): (P (P + 1) / 2, T), pairs q <= p, with the
 * diagonal halved. */
static float *turned(int64_t P, int64_t T, const float *gram)
{
    float *to = lra_alloc_array((size_t)(P * (P + 1) / 2 * T) + 1, sizeof *to), *at = to;
    for (int64_t p = 0; p < P; p++)
        for (int64_t q = 0; q <= p; q++)
            for (int64_t j = 0; j < T; j++) *at++ = gram[(j * P + p) * P + q] * (p == q ? 0.5F : 1);
    return to;
}

void lra_matrix_value_profile(const lra_matrix_values *v, int64_t s, int64_t T,
                              const lra_matrix_rows *rows, lra_profile *to)
{
    int64_t P = v->of->paths, positions = v->of->gram->shape.d[1];
    float *gram = turned(P, T, v->gram + s * positions * P * P);
    double *a = lra_alloc_array((size_t)((P + 1) * T) + 1, sizeof *a), *w = a + P * T;
    uint8_t *seen = lra_alloc_array((size_t)T + 1, 1);
    lra_matrix_rows subset = *rows;
    if (P > v->of->heads && lra_matrix_n_rows(rows, T) < T) subset.most = (rows->most + 1) / 2;
    lra_profile_begin(to, T);
    for (int64_t p = 0; p < lra_matrix_n_rows(&subset, T); p++) {
        int64_t i = lra_matrix_row_at(&subset, p, T);
        row_of_paths(v, s, i, T, a, seen);
        lengths(P, T, a, gram, w);
        for (int64_t j = 0; j < T; j++)
            if (!seen[j]) w[j] = -1;
        lra_profile_row(to, i, 0, T, w);
    }
    lra_profile_end(to);
    lra_free(seen);
    lra_free(a);
    lra_free(gram);
}
