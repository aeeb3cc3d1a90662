/* What attention does, without storing a map: mass by signed distance, mass of every key, entropy, effective number of
 * keys.  a: the weights that multiply v, after decay and smoothing.
 *   entropy of a row of a softmax of scores s:   ln sum exp(s - m) - sum a (s - m),   m: the largest
 * so that no pair needs a logarithm; averages over columns (smooth) do.  A block of 64 queries has the scores of all its
 * keys at once: memory is linear in the number of keys.
 * Known: equal weights of n keys: entropy ln n, support n. */
#include "kernels/ops/attention_statistics.h"

#include "kernels/ops/attention_forward_fn.h"

#define LN_2 R(0.69314718055994530942)

/* Columns that a row has weights in, once they are averaged: those of its keys and their neighbours, in its chunk. */
static inline attention_range spread(const attention_args *a, const attention_mask *m, int64_t i,
                                     attention_range keys)
{
    if (keys.to <= keys.from || a->smooth <= 1) return keys;
    int64_t before = a->smooth_past ? a->smooth - 1 : (a->smooth - 1) / 2;
    int64_t behind = a->smooth_past ? 0 : (a->smooth - 1) / 2;
    attention_range r = {keys.from - before, keys.to + behind};
    int64_t low = m->chunk > 0 ? i / m->chunk * m->chunk : 0;
    int64_t high = m->chunk > 0 && low + m->chunk < m->n_k ? low + m->chunk : m->n_k;
    if (r.from < low) r.from = low;
    if (r.to > high) r.to = high;
    return r;
}

/* k, a block of queries, their maxima and sums, the tables, a tile as high as there are keys, and of averages another;
 * sums of the lanes */
static inline int64_t thread_scratch(const attention_sizes *s, const attention_args *a)
{
    int64_t tiles = a->smooth > 1 ? 2 : 1;
    return s->Tk * s->K + ATTENTION_QUERIES * (s->K + tiles * s->Tk + 2) + ATTENTION_TILE +
           2 * attention_offsets(s);
}

/* Of each lane: sums over its keys of e (t - base), in units of 2, and of e^2; entropy and effective number of keys. */
typedef struct {
    real dot[ATTENTION_QUERIES], square[ATTENTION_QUERIES];
    real entropy[ATTENTION_QUERIES], support[ATTENTION_QUERIES];
} lane_sums;

/* Scores become exponentials, as attention_weights() makes them. */
static void weigh(attention_forward *f, const attention_place *p, lane_sums *sums)
{
    const real unit = f->h.unit;
    real *s = f->h.tile, base[ATTENTION_QUERIES];
    ATTENTION_EACH_LANE(l, p)
    {
        base[l] = f->max[l] > -INFINITY ? f->max[l] : 0;
        sums->dot[l] = sums->square[l] = 0;
    }
    for (int64_t r = 0; r < p->keys; r++, s += ATTENTION_QUERIES)
#pragma omp simd
        ATTENTION_EACH_LANE(l, p)
        {
            real x = s[l] * unit - base[l], e = attention_exp2(x);
            s[l] = e;
            f->sum[l] += e;
            sums->dot[l] += e > 0 ? e * x : 0;
            sums->square[l] += e * e;
        }
    ATTENTION_EACH_LANE(l, p)
    {
        real sum = f->sum[l];
        sums->entropy[l] = sum > 0 ? LN_2 * (r_log2(sum) - sums->dot[l] / sum) : 0;
        sums->support[l] = sum > 0 ? sum * sum / sums->square[l] : 0;
    }
}

/* The tile averaged over columns, into `to`, whose first row is column j0; its entropies and numbers of keys. */
static void average(attention_forward *f, const attention_place *p, int64_t j0, int64_t n, real *to,
                    lane_sums *sums)
{
    const attention_args *a = f->h.args;
    for (int64_t i = 0; i < n * ATTENTION_QUERIES; i++) to[i] = 0;
    for (int64_t r = 0; r < p->keys; r++) {
        int64_t j = p->j0 + r, first = a->smooth_past ? j - a->smooth + 1 : j - (a->smooth - 1) / 2;
        int64_t low = a->chunk > 0 ? j / a->chunk * a->chunk : 0, high = f->h.mask.n_k;
        if (a->chunk > 0 && low + a->chunk < high) high = low + a->chunk;
        for (int64_t c = first; c < first + a->smooth; c++) {
            if (c < low || c >= high) continue;
            const real *from = f->h.tile + r * ATTENTION_QUERIES;
            real *out = to + (c - j0) * ATTENTION_QUERIES;
            ATTENTION_EACH_LANE(l, p) out[l] += from[l] / (real)a->smooth;
        }
    }
    ATTENTION_EACH_LANE(l, p)
    {
        real entropy = 0, square = 0, all = 0;
        for (int64_t c = 0; c < n; c++) all += to[c * ATTENTION_QUERIES + l];
        for (int64_t c = 0; c < n; c++) {
            real x = to[c * ATTENTION_QUERIES + l];
            square += x * x;
            if (x > 0) entropy -= x / all * LN_2 * r_log2(x / all);
        }
        sums->entropy[l] = entropy, sums->support[l] = all > 0 ? all * all / square : 0;
        if (a->renorm) f->sum[l] = all;
    }
}

/* Weights of columns from j0 on to the sums over rows: mass by i - j, columns. */
static void add_weights(const attention_place *p, int64_t j0, int64_t n, int64_t D,
                        const real *weight, const real *share, real *out)
{
    real *mass = out + D - 1, *column = out + 2 * D - 1;
    for (int64_t c = 0; c < n; c++, weight += ATTENTION_QUERIES) {
        real *to = mass + p->i0 - (j0 + c), sum = 0;
#pragma omp simd reduction(+ : sum)
        for (int64_t l = 0; l < p->queries; l++) {
            real x = weight[l] * share[l];
            to[l] += x;
            sum += x;
        }
        column[j0 + c] += sum;
    }
}

/* Sums of numbers over rows, in double. */
typedef struct {
    double entropy, rel, support;
    int64_t rows, several;
} row_sums;

static void add_rows(attention_forward *f, int64_t i0, int64_t n, int64_t D, real *other, real *out,
                     row_sums *total)
{
    attention_head *h = &f->h;
    const attention_sizes *s = &h->s;
    attention_range span = attention_span(h, i0, i0 + n);
    attention_place p = {i0, n, attention_lanes(n), span.from, span.to - span.from};
    lane_sums sums;
    real share[ATTENTION_QUERIES];
    if (p.keys <= 0) return;
    attention_columns(f->q + i0 * s->H * s->K, n, s->H, s->K, f->queries);
    for (int l = 0; l < ATTENTION_QUERIES; l++) f->max[l] = -INFINITY, f->sum[l] = 0;
    ap_product(p.keys, p.lanes, s->K, (ap_left){f->k + p.j0 * s->K, s->K, 1}, f->queries,
               ATTENTION_QUERIES, false, h->tile, ATTENTION_QUERIES);
    attention_distances(h, &p, h->tile);
    attention_hide(h, &p, -INFINITY, h->tile);
    attention_unlisted(h, &p, h->tile);
    attention_grow(f, &p);
    weigh(f, &p, &sums);
    const real *weight = h->tile;
    int64_t j0 = p.j0, columns = p.keys;
    if (h->args->smooth > 1) {
        attention_range first = spread(h->args, &h->mask, i0, span);
        attention_range last = spread(h->args, &h->mask, i0 + n - 1, span);
        j0 = first.from, columns = last.to - first.from;
        average(f, &p, j0, columns, other, &sums);
        weight = other;
    }
    for (int64_t l = 0; l < n; l++) {
        attention_range own = attention_keys_of(&h->mask, i0 + l);
        own = spread(h->args, &h->mask, i0 + l, own);
        real sum = f->sum[l];
        share[l] = sum > 0 ? 1 / sum : 0;
        if (!(sum > 0)) continue;
        total->rows++;
        total->entropy += (double)sums.entropy[l];
        total->support += (double)sums.support[l];
        int64_t seen = 0;
        for (int64_t j = own.from; j < own.to; j++) seen += attention_listed(&h->listed, i0 + l, j);
        if (seen < 2) continue;
        total->several++;
        total->rel += (double)sums.entropy[l] / log((double)seen);
    }
    add_weights(&p, j0, columns, D, weight, share, out);
}

/* sources: q, k, options; scratch: of every thread */
LRA_BODY(attention_statistics)
{
    attention_sizes s = attention_sizes_of(c->y, 0, 2);
    int64_t width = lra_width(c->y), D = s.Tq > s.Tk ? s.Tq : s.Tk;
#pragma omp parallel for num_threads(c->n_threads) schedule(static)
    for (int64_t at = 0; at < s.B * s.H; at++) {
        int64_t b = at / s.H, head = at % s.H;
        real *own = (real *)c->scratch + omp_get_thread_num() * thread_scratch(&s, c->y->args);
        real *out = (real *)c->out + at * width, *number = out + 3 * D - 1;
        attention_forward f = {.rows = 0};
        row_sums total = {0};
        own = attention_open(&f.h, c, 0, 2, at, own);
        f.h.s.V = 0; /* nothing is added up but the sums */
        attention_take(&f, own);
        f.h.tile = f.sum + ATTENTION_QUERIES;
        f.q = (const elem *)c->in[0] + (b * s.Tq * s.H + head) * s.K;
        attention_gather((const elem *)c->in[1] + (b * s.Tk * s.H + head) * s.K, f.h.mask.n_k, s.H,
                         s.K, s.K, f.k);
        for (int64_t i = 0; i < width; i++) out[i] = 0;
        int64_t n = f.h.mask.n_q;
        for (int64_t i = 0, some; i < n; i += some)
            add_rows(&f, i, some = attention_queries_at(&f.h, i), D,
                     f.h.tile + ATTENTION_QUERIES * s.Tk, out, &total);
        double rows = (double)total.rows;
        for (int64_t i = 0; i < 3 * D - 1 && rows > 0; i++) out[i] /= (real)rows;
        number[LRA_ATTENTION_ENTROPY] = (real)(total.entropy / rows);
        number[LRA_ATTENTION_ENTROPY_REL] = (real)(total.rel / (double)total.several);
        number[LRA_ATTENTION_SUPPORT] = (real)(total.support / rows);
        number[LRA_ATTENTION_UNDEFINED] = (real)(n - total.rows);
    }
}

#if LRA_RECORD
LRA_DECLARE(attention_statistics)

static int shape(lra_tensor *y, lra_err *e)
{
    if (attention_check(y, 0, 2, e) != 0) return LRA_FAILED;
    if (((const attention_args *)y->args)->stride > 1)
        return lra_fail(e, "statistics are undefined for attention with a stride");
    attention_sizes s = attention_sizes_of(y, 0, 2);
    int64_t D = s.Tq > s.Tk ? s.Tq : s.Tk;
    y->shape = LRA_SHAPE(s.B, s.H, 3 * D - 1 + LRA_ATTENTION_NUMBERS);
    y->type = lra_real(y->graph);
    return 0;
}

static double flops(const lra_tensor *y)
{
    attention_sizes s = attention_sizes_of(y, 0, 2);
    return 2.0 * (double)(s.B * s.H * s.K) * attention_pairs(y, &s);
}

static int64_t scratch(const lra_tensor *y, int n_threads)
{
    attention_sizes s = attention_sizes_of(y, 0, 2);
    return n_threads * thread_scratch(&s, y->args) * (int64_t)lra_type_size(lra_real(y->graph));
}

static const lra_tensor *node_of(const lra_tensor *y)
{
    while (y->op->flags & LRA_ALIAS) y = y->src[0];
    if (y->op != &lra_op_attention) LRA_BUG("statistics of a node that is no attention");
    return y;
}

static const lra_op statistics;

lra_tensor *lra_attention_statistics_of(const lra_tensor *attention)
{
    const lra_tensor *y = node_of(attention);
    lra_tensor *src[2 + ATTENTION_OPTIONS] = {y->src[0], y->src[1]};
    for (int i = 3; i < y->n_src; i++) src[i - 1] = y->src[i];
    return lra_node(&statistics, y->graph, y->n_src - 1, src, y->args, sizeof(attention_args));
}

int64_t lra_attention_statistics_length(const lra_tensor *y)
{
    return (lra_width(y) - LRA_ATTENTION_NUMBERS + 1) / 3;
}

bool lra_attention_crosses(const lra_tensor *attention)
{
    return ((const attention_args *)node_of(attention)->args)->cross;
}

void lra_attention_columns(const lra_tensor *attention, int64_t T, int64_t i, int64_t *from,
                           int64_t *to)
{
    const attention_args *a = node_of(attention)->args;
    attention_mask m = attention_mask_of(a, 0, a->stride, T, T, NULL);
    attention_range r = spread(a, &m, i, attention_keys_of(&m, i));
    *from = r.from, *to = r.to;
}

static const lra_op statistics = {.name = "attention_statistics",
                                  .flags = LRA_NOGRAD,
                                  .shape = shape,
                                  .flops = flops,
                                  .scratch = scratch,
                                  .cpu = LRA_BODIES(attention_statistics)};
#endif
