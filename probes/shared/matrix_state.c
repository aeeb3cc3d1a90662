/* Effective attention of a matrix state (kernels/ops/ssm/matrix_state.c; LRA_MIX_STATE):
 *   a_ij = k_j . z_j,  z_i = q_i,  z_(j-1) = w_j z_j - (b_j . z_j) a_j,  j <= i
 * so that y_i = sum_j a_ij v_j. With `both`, the same from token i to the last one is added; a_ii
 * then counts twice. A row takes 6 K T FLOP and K numbers of memory. Weights have signs. */
#include <math.h>

#include "kernels/base/core/mem.h"
#include "kernels/graph/op.h"
#include "probes/shared/mixing_matrix.h"

/* Arrays of the family; those that the layer does not have are NULL. */
enum { QUERY, KEY, DECAY, CORRECT, READ };

/* The decay, repeated for each channel, so that arrays have one width; ones if the layer has
 * none. */
static lra_tensor *decay_of(const lra_mixing *m)
{
    lra_graph *g = m->query->graph;
    if (!m->decay) return lra_ones(g, lra_real(g), m->query->shape);
    return lra_broadcast(lra_cast(m->decay, lra_real(g)), m->query->shape);
}

static void open(int64_t n, lra_matrix *w)
{
    const lra_mixing *m = w->of;
    lra_type real = lra_real(m->query->graph);
    (void)n;
    w->heads = m->query->shape.d[2], w->T = m->query->shape.d[1];
    w->array[QUERY] = lra_cast(m->query, real);
    w->array[KEY] = lra_cast(m->key, real);
    w->array[DECAY] = decay_of(m);
    if (!m->correct) return;
    w->array[CORRECT] = lra_cast(m->correct, real);
    w->array[READ] = lra_cast(m->read, real);
}

/* Adds the weights of tokens i, i + step, .. within [0,T). z (K): scratch */
static void add_direction(const lra_matrix_values *v, int64_t s, int64_t head, int64_t i,
                          int64_t step, int64_t T, double *z, double *w)
{
    const lra_matrix *m = v->of;
    int64_t K = m->array[QUERY]->shape.d[3];
    for (int64_t c = 0; c < K; c++)
        z[c] = (double)v->number[QUERY][((s * m->T + i) * m->heads + head) * K + c];
    for (int64_t j = i; j >= 0 && j < T; j += step) {
        int64_t at = ((s * m->T + j) * m->heads + head) * K;
        double share = 0;
        for (int64_t c = 0; c < K; c++) w[j] += (double)v->number[KEY][at + c] * z[c];
        for (int64_t c = 0; c < K && m->array[READ]; c++)
            share += (double)v->number[READ][at + c] * z[c];
        for (int64_t c = 0; c < K; c++) {
            z[c] *= (double)v->number[DECAY][at + c];
            if (m->array[CORRECT]) z[c] -= share * (double)v->number[CORRECT][at + c];
        }
    }
}

static void row(const lra_matrix_values *v, int64_t s, int64_t head, int64_t i, int64_t T,
                double *w)
{
    double *z = lra_alloc_array((size_t)v->of->array[QUERY]->shape.d[3], sizeof *z);
    for (int64_t j = 0; j < T; j++) w[j] = v->of->of->both || j <= i ? 0 : NAN;
    add_direction(v, s, head, i, -1, T, z, w);
    if (v->of->of->both) add_direction(v, s, head, i, 1, T, z, w);
    lra_free(z);
}

const lra_matrix_family lra_matrix_of_state = {
    .name = "effective", .what = "effective attention of a recurrence", .open = open, .row = row};
