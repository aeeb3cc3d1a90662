/* Averaged attention weights that are masked again for the query (las with
 * smoothing=centred-remask; LRA_MIX_MAP). The map is an array of the graph:
 *   y_i = sum_j b_ij v_j,  b = c m / (sums of its rows)
 * where c are the averaged weights, and m is 1 if the mask allows key j for query i, else 0. The
 * model itself stores the maps, so memory grows with the square of the length. */
#include <math.h>

#include "kernels/graph/op.h"
#include "probes/shared/mixing_matrix.h"

static void open(int64_t n, lra_matrix *w)
{
    (void)n;
    lra_tensor *b = w->of->map;
    w->heads = b->shape.d[1], w->T = b->shape.d[2];
    w->array[0] = lra_cast(b, lra_real(b->graph)); /* weights b, (B,H,T,T) */
    w->array[1] = lra_cast(w->of->mask, lra_real(b->graph));
}

static void row(const lra_matrix_values *v, int64_t s, int64_t head, int64_t i, int64_t T,
                double *w)
{
    int64_t n = v->of->T;
    const float *b = v->number[0] + (s * v->of->heads + head) * n * n, *seen = v->number[1];
    for (int64_t j = 0; j < T; j++) w[j] = seen[j * n + i] > 0 ? (double)b[j * n + i] : (double)NAN;
}

const lra_matrix_family lra_matrix_masked_average = {
    .name = "remasked",
    .what = "averages over the tokens up to the query",
    .open = open,
    .row = row};
