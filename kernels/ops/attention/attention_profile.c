/* Distance profile of attention: mass at each distance, without storing a map.
 *   m[b,h,d] = mean over the queries i < length[b] of  sum over keys j with |i-j| = d of a_ij
 * a: the weights that multiply v, after decay and moving average. Every row sums to 1 (less where
 * the moving average loses mass at the left border). Weights of laplace attention are divided by
 * their sum.
 * analysis/ turns m into the profile M(d) of a set of examples. */
#include "kernels/ops/attention/attention_forward_template.h"
#include "kernels/ops/attention/attention_profile.h"

/* Adds the mass of key j in row i to the distances of the columns over which the moving average
 * spreads it, as in lra_moving_average(). */
static inline void add_mass(const attention_head *h, int64_t i, int64_t j, real mass, real *out)
{
    const attention_args *a = h->args;
    attention_range to = profile_columns(a, h->mask.n_k, j);
    for (int64_t at = to.from; at < to.to; at++)
        out[at > i ? at - i : i - at] += mass / (real)a->smooth;
}

/* Adds the distance profiles of queries i0 .. i0 + n - 1 to out (distances). All their scores are
 * in one tile; they become weights as in the forward op. */
static void add_rows(attention_forward *f, int64_t i0, int64_t n, real *out)
{
    attention_head *h = &f->h;
    const attention_sizes *s = &h->s;
    attention_range span = attention_span(h, i0, i0 + n);
    attention_place p = {i0, n, attention_lanes(n), span.from, span.to - span.from};
    if (p.keys <= 0) return;
    attention_columns(f->q + i0 * s->H * s->K, n, s->H, s->K, f->queries);
    for (int l = 0; l < ATTENTION_QUERIES; l++) f->max[l] = -INFINITY, f->sum[l] = 0;
    ap_product(p.keys, p.lanes, s->K, (ap_left){f->k + p.j0 * s->K, s->K, 1}, f->queries,
               ATTENTION_QUERIES, false, h->tile, ATTENTION_QUERIES);
    attention_distances(h, &p, h->tile);
    attention_hide(h, &p, -INFINITY, h->tile);
    attention_unlisted(h, &p, h->tile);
    attention_weigh(f, &p);
    for (int64_t l = 0; l < n; l++) {
        attention_range keys = attention_keys_of(&h->mask, i0 + l);
        real sum = 0;
        for (int64_t j = keys.from; j < keys.to; j++)
            sum += h->tile[(j - p.j0) * ATTENTION_QUERIES + l] *
                   profile_counts(h->args, h->mask.n_k, j);
        real share = sum > 0 ? 1 / (sum * (real)h->mask.all) : 0;
        for (int64_t j = keys.from; j < keys.to; j++)
            add_mass(h, i0 + l, j, h->tile[(j - p.j0) * ATTENTION_QUERIES + l] * share, out);
    }
}

/* Sources: q, k, optional sources. Scratch: one segment per thread. */
LRA_BODY(attention_profile)
{
    attention_sizes s = attention_sizes_of(c->y, 0, 2);
    int64_t distances = lra_width(c->y);
#pragma omp parallel for num_threads(c->n_threads) schedule(static)
    for (int64_t at = 0; at < s.B * s.H; at++) {
        int64_t b = at / s.H, head = at % s.H;
        real *own = (real *)c->scratch + omp_get_thread_num() * attention_score_scratch(&s, 1);
        real *out = (real *)c->out + at * distances;
        attention_forward f = {.rows = 0};
        own = attention_open(&f.h, c, 0, 2, at, own);
        f.h.s.V = 0; /* no values: only the weights are needed */
        attention_take(&f, own);
        f.h.tile = f.sum + ATTENTION_QUERIES;
        f.q = (const elem *)c->in[0] + (b * s.Tq * s.H + head) * s.K;
        attention_gather((const elem *)c->in[1] + (b * s.Tk * s.H + head) * s.K, f.h.mask.n_k, s.H,
                         s.K, s.K, f.k);
        for (int64_t d = 0; d < distances; d++) out[d] = 0;
        for (int64_t i = 0, n; i < f.h.mask.n_q; i += n)
            add_rows(&f, i, n = attention_queries_at(&f.h, i), out);
    }
}

#if LRA_RECORD
LRA_DECLARE(attention_profile)

static int shape(lra_tensor *y, lra_err *e)
{
    if (attention_check(y, 0, 2, e) != 0) return LRA_FAILED;
    attention_sizes s = attention_sizes_of(y, 0, 2);
    y->shape = LRA_SHAPE(s.B, s.H, s.Tq > s.Tk ? s.Tq : s.Tk);
    y->type = lra_real(y->graph);
    return 0;
}

static int64_t scratch(const lra_tensor *y, int n_threads)
{
    attention_sizes s = attention_sizes_of(y, 0, 2);
    return n_threads * attention_score_scratch(&s, 1) * (int64_t)lra_type_size(lra_real(y->graph));
}

static int64_t cuda_scratch(const lra_tensor *y)
{
    attention_sizes s = attention_sizes_of(y, 0, 2);
    int64_t row = attention_diagonals(&s) * profile_offsets(y->args);
    return s.B * s.H * (s.Tq * PROFILE_ROW + row) * (int64_t)sizeof(float);
}

static lra_tensor *sample(lra_graph *g, int i)
{
    static const double decay[] = {0, 0.3};
    static const struct {
        int64_t keys, R;
        lra_attention_spec spec;
    } cases[] = {{9, 0, {.causal = true}},
                 {9, 0, {.decay = decay, .smooth = 3, .chunk = 4}},
                 {9, 0, {.causal = true, .smooth = 5, .window = 6}},
                 {14, 11, {.cross = true}},
                 {9, 17, {.laplace = true, .chunk = 5, .scale = 0.1}},
                 {9, 0, {.causal = true, .centred = true, .renorm = true, .smooth = 3}},
                 {9, 0, {.stride = 4}},
                 {9, 0, {.block = 2}}};
    if (i > 7) return NULL;
    lra_attention_spec s = cases[i].spec;
    lra_tensor *q = lra_sample_input(g, "q", "normal", LRA_SHAPE(2, 9, 2, 4));
    lra_tensor *k = lra_sample_input(g, "k", "normal", LRA_SHAPE(2, cases[i].keys, 2, 4));
    lra_tensor *length = i ? lra_sample_input(g, "length", "length:9", LRA_SHAPE(2)) : NULL;
    if (s.block) s.blocks = lra_bigbird_blocks(length, 9, 2, s.block, 0, 0);
    if (cases[i].R > 0) {
        lra_shape of_bias = LRA_SHAPE(2, cases[i].R);
        s.bias = lra_cast(lra_sample_input(g, "bias", "normal", of_bias), lra_real(g));
        s.limit = lra_sample_input(g, "limit", "index:9", LRA_SHAPE(2));
    }
    return lra_attention_profile(q, k, length, &s);
}

const lra_op lra_op_attention_profile = {.name = "attention_profile",
                                         .flags = LRA_NOGRAD,
                                         .shape = shape,
                                         .flops = attention_score_flops,
                                         .scratch = scratch,
                                         .cuda_scratch = cuda_scratch,
                                         .cpu = LRA_BODIES(attention_profile),
                                         .sample = sample};
#endif
