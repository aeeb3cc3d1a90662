/* Attention by products of features (linear-transformer, performer):
 *   y_i = q_i (sum_j k_j v_j^T) / n_i,  so that  a_ij = q_i . k_j / n_i
 * a pair of products, of which the inner one sums over positions.  Features are not negative; n_i
 * is the sum of the row, without the constant of about 1e-6 that models add to it. Padding has
 * features of 0, or, if the model sees it (masked=0), contributes to n_i only, and is ignored
 * otherwise, as everywhere. */
#include "kernels/graph/op.h"
#include "kernels/ops/args.h"
#include "probes/shared/mixing_matrix.h"

static bool transposes(const lra_tensor *x, bool a, bool b)
{
    const matmul_args *args = x->args;
    return args->a_t == a && args->b_t == b;
}

static bool find(lra_tensor *y, int64_t n, int64_t T, lra_matrix *w)
{
    if (y->op != &lra_op_matmul || !transposes(y, false, false)) return false;
    lra_tensor *q = y->src[0], *sums = y->src[1];
    if (sums->op != &lra_op_matmul || !transposes(sums, true, false)) return false;
    lra_tensor *k = sums->src[0];
    if (q->shape.n != 4 || k->shape.n != 4 || q->shape.d[0] != n || q->shape.d[2] < T) return false;
    for (int i = 0; i < 4; i++)
        if (q->shape.d[i] != k->shape.d[i]) return false;
    w->heads = q->shape.d[1], w->T = q->shape.d[2];
    w->array[0] = lra_cast(q, lra_real(y->graph)); /* (B,H,T,M) */
    w->array[1] = lra_cast(k, lra_real(y->graph));
    lra_tensor *all = lra_reduce_sum(w->array[1], LRA_SHAPE(n, w->heads, 1, k->shape.d[3]));
    w->array[2] = lra_matmul_t(w->array[0], false, all, true); /* n_i, (B,H,T,1) */
    return true;
}

static void row(const lra_matrix_values *v, int64_t s, int64_t head, int64_t i, int64_t T,
                double *w)
{
    int64_t M = v->of->array[0]->shape.d[3], first = (s * v->of->heads + head) * v->of->T;
    const float *q = v->number[0] + (first + i) * M, *k = v->number[1] + first * M;
    double all = (double)v->number[2][first + i];
    for (int64_t j = 0; j < T; j++) w[j] = lra_matrix_dot(q, k + j * M, M) / all;
}

static bool values(lra_matrix *w, lra_tensor *out, lra_tensor **v, lra_tensor **by)
{
    lra_tensor *own =
        w->node->src[1]->src[1]; /* (B,H,T,V), possibly followed by ones, which sum to n_i */
    int64_t V = out->shape.d[0] / w->heads;
    if (own->shape.d[3] < V) return false;
    *v = lra_permute(lra_slice(own, 3, 0, V), 4, (int[]){0, 2, 1, 3}), *by = out;
    return true;
}

const lra_matrix_family lra_matrix_linear_attention = {
    .name = "products", .what = "products of features", .find = find, .row = row, .values = values};
