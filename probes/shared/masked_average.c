/* Averaged weights, masked again after the query (las with smoothing=centred-remask): the map is an
 * array of the graph,
 *   y_i = sum_j b_ij v_j,  b = c m / (sums of its rows)
 * where c are the averaged weights, and m is 1 where the mask allows the key for the query. The
 * model itself holds maps, so memory grows with the square of the length. */
#include <math.h>

#include "kernels/graph/op.h"
#include "kernels/ops/args.h"
#include "probes/shared/mixing_matrix.h"

static lra_tensor *unshaped(lra_tensor *x)
{
    while (x->op->flags & LRA_ALIAS || x->op == &lra_op_cast || x->op == &lra_op_broadcast)
        x = x->src[0];
    return x;
}

static bool find(lra_tensor *y, int64_t n, int64_t T, lra_matrix *w)
{
    const matmul_args *args = y->args;
    if (y->op != &lra_op_matmul || !args->a_t || args->b_t) return false;
    lra_tensor *b = y->src[0], *over = unshaped(b);
    if (over->op != &lra_op_div || over->src[0]->op != &lra_op_mul) return false;
    lra_tensor *seen = unshaped(over->src[0]->src[1]);
    if (seen->op != &lra_op_constant || seen->shape.n != 2 || b->shape.n != 4) return false;
    w->heads = b->shape.d[1], w->T = b->shape.d[2];
    if (b->shape.d[0] != n || w->T < T || seen->shape.d[0] != w->T || seen->shape.d[1] != w->T)
        return false;
    w->array[0] = lra_cast(b, lra_real(y->graph)); /* (B,H,T,T) */
    w->array[1] = lra_cast(seen, lra_real(y->graph));
    return true;
}

static void row(const lra_matrix_values *v, int64_t s, int64_t head, int64_t i, int64_t T,
                double *w)
{
    int64_t n = v->of->T;
    const float *b = v->number[0] + (s * v->of->heads + head) * n * n, *seen = v->number[1];
    for (int64_t j = 0; j < T; j++) w[j] = seen[j * n + i] > 0 ? (double)b[j * n + i] : (double)NAN;
}

static bool values(lra_matrix *w, lra_tensor *out, lra_tensor **v, lra_tensor **by)
{
    *v = lra_permute(w->node->src[1], 4, (int[]){0, 2, 1, 3}), *by = out;
    return true;
}

const lra_matrix_family lra_matrix_masked_average = {
    .name = "remasked",
    .what = "averages without what is behind the query",
    .find = find,
    .row = row,
    .values = values};
