/* Attention with averaged weights that are masked again after the query:
 *   a = softmax of the scores;  b_ij = mean of a_ik over |k - j| <= (P-1)/2, k in the chunk of j,
 *     or 0 where j > i
 *   y_i = sum_j b_ij v_j / sum_j b_ij
 * The masked columns differ from query to query, so that this is no average of v. This
 * interpretation of LaS therefore stores full maps, (B,H,T,T), and is composed of existing ops.
 * Padding needs no mask, because it comes after every query that counts and attention is causal. */
#include <math.h>
#include <stdio.h>

#include "kernels/graph/mixing.h"
#include "kernels/ops/attention/attention.h"

#if LRA_RECORD
typedef struct {
    int64_t chunk;
    double scale, decay[LRA_MAX_HEADS], slope[LRA_MAX_HEADS];
} map_data;

static bool is_seen(int64_t chunk, int64_t i, int64_t j)
{
    return j <= i && (chunk == 0 || i / chunk == j / chunk);
}

/* (H,T,T): factor of the products q k, scale times decay; 0 for masked pairs. */
static void fill_factor(const lra_fill *f, double *v)
{
    const map_data *m = f->data;
    int64_t T = f->shape.d[1];
    for (int64_t at = 0; at < lra_shape_elements(f->shape); at++) {
        int64_t h = at / (T * T), i = at / T % T, j = at % T;
        v[at] = is_seen(m->chunk, i, j) ? m->scale * exp(-m->decay[h] * (double)(i - j)) : 0;
    }
}

/* (H,T,T): bias added to the scores: slope times distance; -1e30 for masked pairs. */
static void fill_bias(const lra_fill *f, double *v)
{
    const map_data *m = f->data;
    int64_t T = f->shape.d[1];
    for (int64_t at = 0; at < lra_shape_elements(f->shape); at++) {
        int64_t h = at / (T * T), i = at / T % T, j = at % T;
        v[at] = is_seen(m->chunk, i, j) ? -m->slope[h] * (double)(i - j) : -1e30;
    }
}

/* (T,T), rows are keys and columns are queries: 1 where the key is visible, else 0. */
static void fill_seen(const lra_fill *f, double *v)
{
    const map_data *m = f->data;
    int64_t T = f->shape.d[1];
    for (int64_t at = 0; at < T * T; at++) v[at] = is_seen(m->chunk, at % T, at / T);
}

/* Creates a constant with the sequence length in its name, because length buckets need different
 * constants. */
static lra_tensor *map(lra_graph *g, const char *kind, lra_shape s, const map_data *m,
                       void (*fill)(const lra_fill *f, double *v))
{
    char name[40];
    snprintf(name, sizeof name, "%s%d", kind, (int)s.d[s.n - 1]);
    lra_param_spec spec = {LRA_FILL(fill), .data = m, .data_size = sizeof *m};
    return lra_cast(lra_constant(g, name, s, &spec), lra_elem(g));
}

static lra_tensor *swap(lra_tensor *x, int a, int b)
{
    int axes[] = {0, 1, 2, 3};
    axes[a] = b, axes[b] = a;
    return lra_permute(x, 4, axes);
}

lra_tensor *attention_remasked(lra_tensor *q, lra_tensor *k, lra_tensor *v,
                               const lra_attention_spec *s)
{
    lra_graph *g = q->graph;
    const int64_t *d = q->shape.d, B = d[0], T = d[1], H = d[2];
    map_data m = {.chunk = s->chunk, .scale = s->scale > 0 ? s->scale : 1 / sqrt((double)d[3])};
    for (int64_t h = 0; h < H && h < LRA_MAX_HEADS; h++) {
        m.decay[h] = s->decay ? s->decay[h] : 0;
        m.slope[h] = s->slope ? s->slope[h] : 0;
    }
    lra_shape all = LRA_SHAPE(H, T, T), columns = LRA_SHAPE(B * H, T, T);
    lra_tensor *a = lra_matmul_t(swap(q, 1, 2), false, swap(k, 1, 2), true);
    a = lra_add(lra_mul(a, map(g, "factor", all, &m, fill_factor)),
                map(g, "bias", all, &m, fill_bias));
    a = lra_reshape(swap(lra_softmax(a), 2, 3), columns); /* rows are keys, columns are queries */
    a = lra_moving_average(a, NULL, s->smooth, false, s->chunk);
    lra_tensor *seen = map(g, "seen", LRA_SHAPE(T, T), &m, fill_seen);
    a = lra_mul(a, seen);
    lra_tensor *sum = lra_reduce_sum(a, LRA_SHAPE(B * H, 1, T));
    a = lra_reshape(lra_div(a, sum), LRA_SHAPE(B, H, T, T));
    lra_tensor *y = lra_matmul_t(a, true, swap(v, 1, 2), false);
    lra_declare_mixing(y, &(lra_mixing){.kind = LRA_MIX_MAP, .map = a, .mask = seen, .value = v});
    return swap(y, 1, 2);
}
#endif
