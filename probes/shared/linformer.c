/* Attention to learned mixtures of all positions (linformer):
 *   y_i = sum_m p_im sum_j e_jm v_j,  p = softmax over mixtures,  so that  a_ij = sum_m p_im e_jm
 * an attention op whose keys come from a product over positions with a matrix e (T,M).  Mixtures
 * have both signs, and so have these weights, whose rows have no fixed sum: |a_ij| is reported,
 * divided by the row's sum (as for every signed weight); values are weighted with a_ij itself. */
#include "kernels/graph/op.h"
#include "kernels/ops/args.h"
#include "kernels/ops/attention/attention_statistics.h"
#include "probes/shared/mixing_matrix.h"

static bool find(lra_tensor *y, int64_t n, int64_t T, lra_matrix *w)
{
    if (y->op != &lra_op_attention || !lra_attention_crosses(y)) return false;
    lra_tensor *few = lra_matrix_behind(y->src[1]);
    if (few->op != &lra_op_matmul || !((const matmul_args *)few->args)->a_t) return false;
    lra_tensor *e = few->src[0];
    w->T = y->src[0]->shape.d[1];
    if (e->shape.n != 2 || e->shape.d[0] != w->T || w->T < T) return false;
    lra_graph *g = y->graph;
    w->heads = lra_attention_heads(y);
    lra_tensor *unit = lra_matrix_unit(g, n, e->shape.d[1], w->heads);
    w->array[0] = lra_cast(lra_attention_apply(y, unit), lra_real(g)); /* (B,T,H,M) */
    w->array[1] = lra_cast(e, lra_real(g));                            /* (T,M) */
    return true;
}

static void row(const lra_matrix_values *v, int64_t s, int64_t head, int64_t i, int64_t T,
                double *w)
{
    int64_t M = v->of->array[1]->shape.d[1];
    const float *p = v->number[0] + ((s * v->of->T + i) * v->of->heads + head) * M;
    const float *e = v->number[1];
    for (int64_t j = 0; j < T; j++) w[j] = lra_matrix_dot(p, e + j * M, M);
}

/* The layer of values takes mixtures, as it would take each position, but for a bias. */
static bool values(lra_matrix *w, lra_tensor *out, lra_tensor **v, lra_tensor **by)
{
    const lra_tensor *y = w->node, *x = y->src[2];
    const lra_tensor *few = lra_matrix_behind(y->src[1]);
    while (x->op->flags & LRA_ALIAS) x = x->src[0];
    if (x->op != &lra_op_linear || lra_matrix_behind(x->src[0]) != few) return false;
    lra_tensor *own = lra_linear(few->src[1], x->src[1], NULL, LRA_ACT_NONE, NULL);
    *v = lra_reshape(own, LRA_SHAPE(own->shape.d[0], w->T, w->heads, lra_width(own) / w->heads));
    *by = out;
    return true;
}

const lra_matrix_family lra_matrix_linformer = {.name = "mixtures",
                                                .what = "absolute values of signed weights",
                                                .find = find,
                                                .row = row,
                                                .values = values};
