/* Attention through a memory of M rows (luna, LRA_MIX_MEMORY). A first attention packs all
 * positions into the memory, and a second one unpacks it:
 *   a_hij = sum_m u_him mean_g p_gmj
 * u: weights of head h of the second attention; p: weights of head g of the first one. A linear
 * layer between the two connects every head g to every head h. Rows of a sum to 1. The state that
 * the memory carries from one layer to the next is ignored.
 * A path of a value is a pair of heads (h, g), with the weight  a_hgij = sum_m u_him p_gmj. On this
 * path, value v_gj is multiplied by the rows g and columns h of the linear layer between the two
 * attentions, and by the rows h of the linear layer after the second one. */
#include <math.h>

#include "kernels/base/core/mem.h"
#include "kernels/graph/op.h"
#include "kernels/ops/attention/attention_statistics.h"
#include "probes/shared/mixing_matrix.h"

enum { QUERY, KEY, PACK }; /* QUERY, KEY: of the second attention; PACK: weights of the first one */

static void open(int64_t n, lra_matrix *w)
{
    const lra_mixing *of = w->of;
    lra_graph *g = of->key->graph;
    int64_t G = lra_attention_heads(of->inner), M = of->key->shape.d[1];
    if (!lra_attention_is_softmax(w->node) || !lra_attention_is_softmax(of->inner) ||
        /* not NULL if the number of memory rows depends on the example */
        lra_attention_key_length(w->node))
        LRA_BUG("a memory with other weights than softmax(q k^T)");
    w->heads = lra_attention_heads(w->node);
    w->by_path = lra_attention_map_of(of->inner); /* weights p of the first attention, (B,G,M,T) */
    /* queries of the second attention, (B,T,H,K) */
    w->array[QUERY] = lra_cast(of->query, lra_real(g));
    w->array[KEY] = lra_cast(of->key, lra_real(g)); /* keys of the second attention, (B,M,H,K) */
    w->array[PACK] = lra_affine(lra_reduce_sum(w->by_path, LRA_SHAPE(n, 1, M, w->T)), 1 / (double)G,
                                0);
}

/* Computes the weights u (M) of query i in one head of the second attention. */
static void unpacking(const lra_matrix_values *v, int64_t s, int64_t head, int64_t i, float *u)
{
    const int64_t *d = v->of->array[KEY]->shape.d, M = d[1], H = d[2], K = d[3];
    const float *q = v->number[QUERY] + ((s * v->of->T + i) * H + head) * K;
    const float *k = v->number[KEY] + (s * M * H + head) * K;
    float scale = (float)lra_attention_scale(v->of->node), most = -INFINITY, sum = 0;
    for (int64_t m = 0; m < M; m++) {
        u[m] = scale * (float)lra_matrix_dot(q, k + m * H * K, K);
        most = u[m] > most ? u[m] : most;
    }
    for (int64_t m = 0; m < M; m++) sum += u[m] = expf(u[m] - most);
    for (int64_t m = 0; m < M; m++) u[m] /= sum;
}

enum { TOGETHER = 4 };

/* y (H,T) = u (H,M) p (M,T), where rows of p are `width` elements apart. TOGETHER rows of p are
 * added in one pass, so that they stay in the L1 cache for all rows of y. */
static void multiply(int64_t H, int64_t M, const float *u, int64_t T, const float *p, int64_t width,
                     float *y)
{
    for (int64_t k = 0; k < H * T; k++) y[k] = 0;
    for (int64_t m = 0; m < M; m += TOGETHER) {
        const float *row[TOGETHER];
        for (int k = 0; k < TOGETHER; k++) row[k] = p + (m + k < M ? m + k : m) * width;
        for (int64_t h = 0; h < H; h++) {
            float by[TOGETHER], *to = y + h * T;
            for (int k = 0; k < TOGETHER; k++) by[k] = m + k < M ? u[h * M + m + k] : 0;
#pragma omp simd
            for (int64_t j = 0; j < T; j++)
                to[j] += (by[0] * row[0][j] + by[1] * row[1][j]) +
                         (by[2] * row[2][j] + by[3] * row[3][j]);
        }
    }
}

/* Weights of query i in heads [from, from + H) through each of the G packing maps p (B,G,M,T): w
 * (H,G,T). */
static void unpacked(const lra_matrix_values *v, int64_t s, int64_t i, int64_t from, int64_t H,
                     int64_t G, const float *p, int64_t T, double *w)
{
    int64_t width = v->of->T, M = v->of->array[KEY]->shape.d[1];
    float *u = lra_alloc_array((size_t)(H * (M + T)) + 1, sizeof *u), *y = u + H * M;
    for (int64_t h = 0; h < H; h++) unpacking(v, s, from + h, i, u + h * M);
    for (int64_t g = 0; g < G; g++) {
        multiply(H, M, u, T, p + (s * G + g) * M * width, width, y);
        for (int64_t h = 0; h < H; h++)
            for (int64_t j = 0; j < T; j++) w[(h * G + g) * T + j] = (double)y[h * T + j];
    }
    lra_free(u);
}

static void row(const lra_matrix_values *v, int64_t s, int64_t head, int64_t i, int64_t T,
                double *w)
{
    unpacked(v, s, i, head, 1, 1, v->number[PACK], T, w);
}

static void paths(const lra_matrix_values *v, int64_t s, int64_t i, int64_t T, double *w)
{
    int64_t H = v->of->heads;
    unpacked(v, s, i, 0, H, v->of->paths / H, v->by_path, T, w);
}

/* v (B,T,H G,V): the values of all g, repeated for each h; by (H G V,D): product of both linear
 * layers for each h. */
static bool values(lra_matrix *w, lra_tensor *out, lra_tensor **v, lra_tensor **by)
{
    lra_tensor *own = w->of->value, *first = w->of->weight, *all[LRA_MATRIX_PATHS];
    const lra_type elem = lra_elem(own->graph);
    int64_t H = w->heads, GV = first->shape.d[0], V = lra_width(first) / H, D = lra_width(out);
    w->paths = H * own->shape.d[2];
    if (w->paths > LRA_MATRIX_PATHS) return false;
    for (int64_t h = 0; h < H; h++) all[h] = own;
    *v = lra_concat((int)H, all, 2);
    first = lra_permute(lra_reshape(lra_cast(first, elem), LRA_SHAPE(GV, H, V)), 3,
                        (int[]){1, 0, 2});
    *by = lra_matmul(first, lra_reshape(lra_cast(out, elem), LRA_SHAPE(H, V, D)));
    *by = lra_reshape(*by, LRA_SHAPE(H * GV, D));
    return true;
}

const lra_matrix_family lra_matrix_luna = {.name = "memory",
                                           .what = "products of packing and unpacking",
                                           .open = open,
                                           .row = row,
                                           .values = values,
                                           .paths = paths};
