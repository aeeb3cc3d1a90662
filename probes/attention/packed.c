/* Attention through a memory (luna): a first attention packs all positions into M rows, a second one unpacks them,
 *   a_hij = sum_m u_him mean_g p_gmj
 * u: weights of head h of the second; p: of the first, whose heads g all reach head h, through a linear layer.  A pair of
 * attention ops, of which the second reads the first.  Rows add up to 1.  What the memory keeps from layer to layer beside
 * what it packs is left aside. */
#include "kernels/graph/op.h"
#include "kernels/ops/attention_statistics.h"
#include "probes/attention/matrix.h"

/* Weights of the first, (B,T,1,M): mean over its heads. */
static lra_tensor *packed(lra_tensor *node, int64_t T, int64_t M)
{
    lra_graph *g = node->graph;
    int64_t B = node->src[0]->shape.d[0], G = lra_attention_heads(node);
    lra_tensor *x = lra_zeros(g, lra_elem(g), LRA_SHAPE(B, T, G, M)), *dx;
    lra_grad(lra_attention_apply(node, x), lra_matrix_unit(g, B, M, G), 1, &x, &dx);
    dx = lra_cast(dx, lra_real(g));
    return lra_affine(lra_reduce(dx, LRA_SHAPE(B, T, 1, M)), 1 / (double)G, 0);
}

static bool find(lra_tensor *y, int64_t n, int64_t T, lra_matrix *w)
{
    if (y->op != &lra_op_attention || !lra_attention_crosses(y)) return false;
    lra_tensor *first = lra_matrix_behind(y->src[1]);
    if (first->op != &lra_op_attention || !lra_attention_crosses(first)) return false;
    int64_t M = y->src[1]->shape.d[1];
    if (first->src[1]->shape.d[1] != T || y->src[0]->shape.d[1] != T) return false;
    w->heads = lra_attention_heads(y), w->part = first;
    lra_tensor *unit = lra_matrix_unit(y->graph, n, M, w->heads);
    w->array[0] = lra_cast(lra_attention_apply(y, unit), lra_real(y->graph)); /* (B,T,H,M) */
    w->array[1] = packed(first, T, M);
    return true;
}

static void row(const lra_matrix_values *v, int64_t s, int64_t head, int64_t i, int64_t T,
                double *w)
{
    int64_t M = v->of->array[1]->shape.d[3];
    const float *u = v->number[0] + ((s * v->of->T + i) * v->of->heads + head) * M;
    const float *p = v->number[1] + s * v->of->T * M;
    for (int64_t j = 0; j < T; j++) w[j] = lra_matrix_dot(u, p + j * M, M);
}

const lra_matrix_family lra_matrix_packed = {"memory", "products of packing and unpacking", find,
                                             row};
