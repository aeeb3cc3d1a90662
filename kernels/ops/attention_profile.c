/* How far attention looks: mass at each distance, without storing a map.
 *   m[b,h,d] = mean over the queries i < length[b] of  sum over keys j with |i-j| = d of a_ij
 * a: the weights that multiply v, so after decay and smoothing; every row sums to 1 (less where smoothing loses mass
 * at the left border).  analysis/ turns m into the profile M(d) of a set of examples. */
#include <omp.h>

#include "kernels/ops/attention_fn.h"
#include "kernels/ops/attention_profile.h"

/* q, k, a row of scores, its smoothed copy, the tables, a tile */
static inline int64_t thread_scratch(const lra_tensor *q)
{
    int64_t T = q->shape.d[1], K = q->shape.d[3];
    return 2 * T * K + 2 * T + ATTENTION_ROWS * T + ATTENTION_ROWS * ATTENTION_KEYS;
}

/* Adds the mass of a key to the distances of the columns that it is averaged into: those that lra_smooth() adds for
 * it. */
static inline void add_mass(const attention_head *h, int64_t i, int64_t j, real mass, real *out)
{
    const attention_args *a = h->args;
    int64_t low = a->chunk > 0 ? j / a->chunk * a->chunk : 0, high = h->n;
    if (a->chunk > 0 && low + a->chunk < high) high = low + a->chunk;
    int64_t first = a->causal ? j - a->smooth + 1 : j - (a->smooth - 1) / 2;
    for (int64_t at = first; at < first + a->smooth; at++)
        if (at >= low && at < high) out[at > i ? at - i : i - at] += mass / (real)a->smooth;
}

/* Rows [i0, i1): all scores, then softmax and sums.  row: (ATTENTION_ROWS, T) */
static void add_rows(const attention_head *h, int64_t i0, int64_t i1, real *row, real *out)
{
    attention_keys span = attention_span(h, i0, i1);
    for (int64_t j0 = span.from; j0 < span.to; j0 += ATTENTION_KEYS) {
        int64_t j1 = j0 + ATTENTION_KEYS < span.to ? j0 + ATTENTION_KEYS : span.to;
        attention_products(h, i0, i1, j0, j1);
        for (int64_t i = i0; i < i1; i++) {
            const real *s = h->tile + (i - i0) * ATTENTION_KEYS;
            for (int64_t j = j0; j < j1; j++) row[(i - i0) * h->T + j] = s[j - j0];
        }
    }
    for (int64_t i = i0; i < i1; i++) {
        real *s = row + (i - i0) * h->T;
        attention_keys keys = attention_keys_of(h->args, i, h->n);
        attention_sum sum = {-INFINITY, 0};
        attention_scores(h, i, 0, keys, s);
        attention_exp(keys, s, &sum);
        real share = 1 / (sum.sum * (real)h->n);
        for (int64_t j = keys.from; j < keys.to; j++) add_mass(h, i, j, s[j] * share, out);
    }
}

/* sources: q, k, [length]; scratch: of every thread */
LRA_BODY(attention_profile)
{
    const attention_args *a = c->y->args;
    const lra_shape *s = &c->y->src[0]->shape;
    int64_t B = s->d[0], T = s->d[1], H = s->d[2], K = s->d[3];
    const int32_t *length = a->has_length ? c->in[2] : NULL;
#pragma omp parallel for num_threads(c->n_threads) schedule(static)
    for (int64_t at = 0; at < B * H; at++) {
        int64_t n = length ? length[at / H] : T, from = at / H * T * H * K + at % H * K;
        real *own = (real *)c->scratch + omp_get_thread_num() * thread_scratch(c->y->src[0]);
        real *q = own, *k = q + T * K, *factor = k + T * K, *row = factor + 2 * T;
        attention_head h = {a, T, K, n, q, k, factor, factor + T, row + ATTENTION_ROWS * T};
        real *out = (real *)c->out + at * T;
        attention_gather((const elem *)c->in[0] + from, n, H, K, q);
        attention_gather((const elem *)c->in[1] + from, n, H, K, k);
        attention_tables(&h, (int)(at % H));
        for (int64_t d = 0; d < T; d++) out[d] = 0;
        for (int64_t i = 0; i < n; i += ATTENTION_ROWS)
            add_rows(&h, i, i + ATTENTION_ROWS < n ? i + ATTENTION_ROWS : n, row, out);
    }
}

#if LRA_RECORD
LRA_DECLARE(attention_profile)

static int shape(lra_tensor *y, lra_err *e)
{
    if (attention_check(y, 2, e) != 0) return LRA_FAILED;
    const lra_shape *s = &y->src[0]->shape;
    y->shape = LRA_SHAPE(s->d[0], s->d[2], s->d[1]);
    y->type = lra_real(y->graph);
    return 0;
}

static double flops(const lra_tensor *y)
{
    const lra_shape *s = &y->src[0]->shape;
    return 2.0 * (double)(s->d[0] * s->d[2] * s->d[3]) * attention_pairs(y->args, s->d[1]);
}

static int64_t scratch(const lra_tensor *y, int n_threads)
{
    return n_threads * thread_scratch(y->src[0]) * (int64_t)lra_type_size(lra_real(y->graph));
}

static int64_t cuda_scratch(const lra_tensor *y)
{
    const lra_shape *s = &y->src[0]->shape;
    int64_t T = s->d[1], row = profile_diagonals(T) * profile_offsets(y->args);
    return s->d[0] * s->d[2] * (T * PROFILE_ROW + row) * (int64_t)sizeof(float);
}

static lra_tensor *sample(lra_graph *g, int i)
{
    static const double decay[] = {0, 0.3};
    const lra_attention_spec s[] = {{.causal = true},
                                    {.decay = decay, .smooth = 3, .chunk = 4},
                                    {.causal = true, .smooth = 5, .window = 6}};
    if (i > 2) return NULL;
    lra_tensor *q = lra_sample_input(g, "q", "normal", LRA_SHAPE(2, 9, 2, 4));
    lra_tensor *k = lra_sample_input(g, "k", "normal", LRA_SHAPE(2, 9, 2, 4));
    lra_tensor *length = i ? lra_sample_input(g, "length", "length:9", LRA_SHAPE(2)) : NULL;
    return lra_attention_profile(q, k, length, &s[i]);
}

const lra_op lra_op_attention_profile = {.name = "attention_profile",
                                         .flags = LRA_NOGRAD,
                                         .shape = shape,
                                         .flops = flops,
                                         .scratch = scratch,
                                         .cuda_scratch = cuda_scratch,
                                         .cpu = LRA_BODIES(attention_profile),
                                         .sample = sample};
#endif
