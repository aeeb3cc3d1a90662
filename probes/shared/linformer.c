/* Attention to M learned mixtures of all positions (linformer, LRA_MIX_MIXTURES).
 *   y_i = sum_m p_im sum_j e_jm v_j,  p = softmax over mixtures,  so that  a_ij = sum_m p_im e_jm
 * The mixture coefficients e have both signs, and so have the weights a, whose rows have no fixed
 * sum. As for all signed weights, |a_ij| divided by its row sum is reported. Value-weighted
 * profiles use a_ij itself. */
#include "kernels/graph/op.h"
#include "kernels/ops/attention/attention_statistics.h"
#include "probes/shared/mixing_matrix.h"

static void open(int64_t n, lra_matrix *w)
{
    lra_tensor *e = w->of->map;
    lra_graph *g = e->graph;
    w->T = e->shape.d[0], w->heads = lra_attention_heads(w->node);
    lra_tensor *unit = lra_matrix_unit(g, n, e->shape.d[1], w->heads);
    /* weights p of the mixtures, (B,T,H,M) */
    w->array[0] = lra_cast(lra_attention_apply(w->node, unit), lra_real(g));
    w->array[1] = lra_cast(e, lra_real(g)); /* mixture coefficients e, (T,M) */
}

static void row(const lra_matrix_values *v, int64_t s, int64_t head, int64_t i, int64_t T,
                double *w)
{
    int64_t M = v->of->array[1]->shape.d[1];
    const float *p = v->number[0] + ((s * v->of->T + i) * v->of->heads + head) * M;
    const float *e = v->number[1];
    for (int64_t j = 0; j < T; j++) w[j] = lra_matrix_dot(p, e + j * M, M);
}

/* Applies the linear layer from mixtures to values to each position, without its bias. */
static bool values(lra_matrix *w, lra_tensor *out, lra_tensor **v, lra_tensor **by)
{
    lra_tensor *own = lra_linear(w->of->value, w->of->weight, NULL, LRA_ACT_NONE, NULL);
    *v = lra_reshape(own, LRA_SHAPE(own->shape.d[0], w->T, w->heads, lra_width(own) / w->heads));
    *by = out;
    return true;
}

const lra_matrix_family lra_matrix_linformer = {.name = "mixtures",
                                                .what = "absolute values of signed weights",
                                                .open = open,
                                                .row = row,
                                                .values = values};
