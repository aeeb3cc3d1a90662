/* Linear attention: weights are products of features (linear-transformer, performer;
 * LRA_MIX_FEATURES).
 *   y_i = q_i (sum_j k_j v_j^T) / n_i,  so that  a_ij = q_i . k_j / n_i
 * Features are not negative. n_i is the sum of row i, without the constant of about 1e-6 that the
 * models add. Padding usually has features 0. If the model does not mask padding (masked=0),
 * padding contributes to n_i, but its own weights are not reported. */
#include "kernels/graph/op.h"
#include "probes/shared/mixing_matrix.h"

static void open(int64_t n, lra_matrix *w)
{
    lra_tensor *q = w->of->query, *k = w->of->key;
    w->heads = q->shape.d[1], w->T = q->shape.d[2];
    w->array[0] = lra_cast(q, lra_real(q->graph)); /* features of the queries, (B,H,T,M) */
    w->array[1] = lra_cast(k, lra_real(q->graph));
    lra_tensor *all = lra_reduce_sum(w->array[1], LRA_SHAPE(n, w->heads, 1, k->shape.d[3]));
    w->array[2] = lra_matmul_t(w->array[0], false, all, true); /* row sums n_i, (B,H,T,1) */
}

static void row(const lra_matrix_values *v, int64_t s, int64_t head, int64_t i, int64_t T,
                double *w)
{
    int64_t M = v->of->array[0]->shape.d[3], first = (s * v->of->heads + head) * v->of->T;
    const float *q = v->number[0] + (first + i) * M, *k = v->number[1] + first * M;
    double all = (double)v->number[2][first + i];
    for (int64_t j = 0; j < T; j++) w[j] = lra_matrix_dot(q, k + j * M, M) / all;
}

const lra_matrix_family lra_matrix_linear_attention = {
    .name = "products", .what = "products of features", .open = open, .row = row};
