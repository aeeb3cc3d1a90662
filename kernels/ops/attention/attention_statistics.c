/* Statistics of attention weights, without storing a map: mass by signed distance (and by distance
 * in pixels), mass by distance among the other keys (each row's own key excluded), mass of every
 * key, entropy, effective number of keys. They describe one head, or all heads of a layer together,
 * with weights that include the values.
 * The entropy of a softmax row with scores s and maximum m is  ln sum exp(s - m) - sum a (s - m),
 * so that no pair needs a logarithm. Averaged weights, laplace weights and norms do need one per
 * pair. A block of 64 queries holds the scores of all its keys at once: memory is linear in the
 * number of keys.
 * Norms of weighted sums of values need no values:  || sum_h a_h u_h ||^2 = sum_hg a_h a_g u_h.u_g,
 * where u_h.u_g is the Gram matrix of a key. Kobayashi et al. 2020 use the norm of each head; this
 * is the norm of the sum of all heads.
 * Known values: n equal weights have entropy ln n and support n. */
#include "kernels/ops/attention/attention_statistics_rows_template.h"

/* Sums over rows, in double: entropy, relative entropy, support; numbers of rows that see a key, of
 * rows that see several keys, and of all rows. */
typedef struct {
    double entropy, rel, support;
    int64_t rows, several, all;
} row_sums;

/* Number of elements of the grid of pixel offsets (dy, dx). */
static int64_t grid_size(const statistics_sizes *z)
{
    return z->columns ? (2 * z->lines - 1) * (2 * z->columns - 1) : 0;
}

/* ---- sums over rows -------------------------------------------------------------------------- */

/* Adds the weights x of n queries from position i on, for the key at position j, to the grid of
 * pixel offsets (dy, dx). Queries of one image row are added together. */
static void add_square(const statistics_sizes *z, int64_t i, int64_t j, int64_t n, const real *x,
                       real *grid)
{
    int64_t wide = 2 * z->columns - 1, y0 = z->lines - 1 - j / z->columns;
    for (int64_t l = 0, run; l < n; l += run, i += run) {
        run = z->columns - i % z->columns;
        run = run < n - l ? run : n - l;
        real *to = grid + (i / z->columns + y0) * wide + i % z->columns - j % z->columns +
                   z->columns - 1;
        for (int64_t k = 0; k < run; k++) to[k] += x[l + k];
    }
}

/* Adds the weights of n columns from j0 on, times the share 1/sum of each row, to the sums over
 * rows: mass by offset i - j, by column, and by (dy, dx). Nullable: grid */
static void add_weights(const group *g, const attention_place *p, int64_t j0, int64_t n,
                        const real *weight, const real *share, real *out, real *grid)
{
    int64_t S = g->z.stride, D = g->z.D;
    real *column = out + 2 * D - 1;
    for (int64_t c = 0; c < n; c++, weight += ATTENTION_QUERIES) {
        real *to = out + D - 1 + (p->i0 - (j0 + c)) * S, sum = 0, x[ATTENTION_QUERIES];
#pragma omp simd reduction(+ : sum)
        for (int64_t l = 0; l < p->queries; l++) sum += x[l] = weight[l] * share[l];
        column[(j0 + c) * S + g->residue] += sum;
        if (S == 1)
            for (int64_t l = 0; l < p->queries; l++) to[l] += x[l];
        else
            for (int64_t l = 0; l < p->queries; l++) to[l * S] += x[l];
        if (grid && S == 1) add_square(&g->z, p->i0, j0 + c, p->queries, x, grid);
        for (int64_t l = 0; l < p->queries && grid && S > 1; l++)
            add_square(&g->z, (p->i0 + l) * S + g->residue, (j0 + c) * S + g->residue, 1, x + l,
                       grid);
    }
}

/* Statistics without each row's own key. Writes the share of the own key, p_ii, to `own`.
 * Normalises the shares of the other keys to sum 1 and adds them by distance to `other`. Nullable:
 * grid */
static void add_others(const group *g, const attention_place *p, int64_t j0, int64_t n,
                       const real *weight, const real *sum, real *out, real *grid)
{
    /* first: lane of the row whose own key is column j0 */
    int64_t S = g->z.stride, first = j0 - p->i0;
    real *other = out + g->z.other, *own = other + g->z.D;
    real all[ATTENTION_QUERIES] = {0}, one[ATTENTION_QUERIES], x[ATTENTION_QUERIES];
    for (int64_t c = 0; c < n; c++)
#pragma omp simd
        for (int64_t l = 0; l < p->queries; l++)
            all[l] += l == first + c ? 0 : weight[c * ATTENTION_QUERIES + l];
    for (int64_t l = 0; l < p->queries; l++) {
        int64_t c = l - first;
        bool is = c >= 0 && c < n && sum[l] > 0, lone = !(all[l] >= STATISTICS_LONE * sum[l]);
        real share = is ? weight[c * ATTENTION_QUERIES + l] / sum[l] : 0;
        real most = 1 - STATISTICS_LONE;
        own[(p->i0 + l) * S + g->residue] = !(sum[l] > 0) ? -1 : lone ? 1 : r_min(share, most);
        one[l] = sum[l] > 0 && !lone ? 1 / all[l] : 0;
    }
    for (int64_t c = 0; c < n; c++, weight += ATTENTION_QUERIES) {
        int64_t at = first + c, split = at < 0 ? 0 : at > p->queries ? p->queries : at;
        for (int64_t l = 0; l < p->queries; l++) x[l] = l == at ? 0 : weight[l] * one[l];
        for (int64_t l = 0; l < split; l++) other[(at - l) * S] += x[l];
        for (int64_t l = split; l < p->queries; l++) other[(l - at) * S] += x[l];
        for (int64_t l = 0; l < p->queries && grid; l++)
            if (x[l] > 0)
                add_square(&g->z, (p->i0 + l) * S + g->residue, (j0 + c) * S + g->residue, 1, x + l,
                           grid);
    }
}

static bool listed_at(const group *g, int64_t i, int64_t j)
{
    for (int k = 0; k < g->n; k++)
        if (attention_listed(&g->f[k].h.listed, i, j)) return true;
    return false;
}

/* Number of keys that may have weight in row i. All keys of a listed block count. */
static int64_t keys_of(const group *g, int64_t i)
{
    const attention_head *h = &g->f[0].h;
    attention_range own = attention_keys_of(&h->mask, i);
    own = statistics_spread(g->args, &h->mask, i, own);
    bool hole = g->hole >= own.from && g->hole < own.to;
    if (!h->listed.list) return own.to - own.from - hole;
    int64_t n = 0, block = h->listed.block;
    for (int64_t j = own.from, next; j < own.to; j = next) {
        next = (j / block + 1) * block;
        if (next > own.to) next = own.to;
        if (listed_at(g, i, j)) n += next - j;
    }
    return n - (hole && listed_at(g, i, g->hole));
}

static void add_rows(group *g, int64_t i0, int64_t n, real *out, real *grid, row_sums *total)
{
    attention_range span = attention_span(&g->f[0].h, i0, i0 + n);
    attention_place p = {i0, n, attention_lanes(n), span.from, span.to - span.from};
    lane_sums sums;
    real share[ATTENTION_QUERIES];
    int64_t j0, columns;
    total->all += n;
    if (p.keys <= 0) return;
    const real *weight = weights(g, &p, &j0, &columns, &sums);
    for (int64_t l = 0; l < n; l++) {
        share[l] = sums.sum[l] > 0 ? 1 / sums.sum[l] : 0;
        if (!(sums.sum[l] > 0)) continue;
        total->rows++;
        total->entropy += (double)sums.entropy[l];
        total->support += (double)sums.support[l];
        int64_t keys = keys_of(g, i0 + l);
        if (keys < 2) continue;
        total->several++;
        total->rel += (double)sums.entropy[l] / log((double)keys);
    }
    add_weights(g, &p, j0, columns, weight, share, out, grid);
    add_others(g, &p, j0, columns, weight, sums.sum, out, grid ? grid + grid_size(&g->z) : NULL);
}

/* ---- the body -------------------------------------------------------------------------------- */

/* Scratch of a head: that of attention_open(), k, a block of queries with maxima and sums, a tile
 * of all keys, and a second such tile if weights are averaged. */
static int64_t head_scratch(const attention_sizes *s, const attention_args *a)
{
    return attention_score_scratch(s, a->smooth > 1 ? 2 : 1);
}
static int64_t thread_scratch(const attention_sizes *s, const attention_args *a)
{
    statistics_sizes z = statistics_sizes_of(a, s);
    return z.H / z.heads * head_scratch(s, a) + attention_padded(2 * grid_size(&z));
}

/* Prepares the heads whose weights form head `at` of the result, for residue r. */
static void open_group(group *g, const lra_call *c, int64_t at, int64_t r, real *own)
{
    const attention_args *a = g->args;
    attention_sizes s = attention_sizes_of(c->y, 0, 2);
    int64_t b = at / g->z.heads, first = r * g->z.H + (g->z.heads > 1 ? at % g->z.heads : 0);
    int without = attention_source(a, ATTENTION_WITHOUT, 2);
    int gram = attention_source(a, ATTENTION_GRAM, 2);
    g->residue = r;
    g->n = gram < 0 ? 1 : (int)g->z.H;
    g->gram = gram < 0 ? NULL : (const real *)c->in[gram] + b * g->z.D * g->z.H * g->z.H;
    g->hole = statistics_hole(&g->z, without < 0 ? NULL : (const int32_t *)c->in[without] + at, r);
    for (int k = 0; k < g->n; k++, own += head_scratch(&s, a)) {
        attention_forward *f = &g->f[k];
        *f = (attention_forward){.rows = 0};
        real *rest = attention_open(&f->h, c, 0, 2, b * s.H + first + k, own);
        f->h.s.V = 0; /* no values: only the weights are needed */
        attention_take(f, rest);
        f->q = (const elem *)c->in[0] + (b * s.Tq * s.H + first + k) * s.K;
        attention_gather((const elem *)c->in[1] + (b * s.Tk * s.H + first + k) * s.K, f->h.mask.n_k,
                         s.H, s.K, s.K, f->k);
    }
}

/* Adds the mass at each pixel offset (dy, dx) of the grid to entry max(|dy|,|dx|) of `near`. */
static void add_grid(const statistics_sizes *z, const real *grid, real *near)
{
    for (int64_t k = 0; k < grid_size(z); k++) {
        int64_t wide = 2 * z->columns - 1, dy = k / wide - (z->lines - 1);
        int64_t dx = k % wide - (z->columns - 1);
        dy = dy < 0 ? -dy : dy, dx = dx < 0 ? -dx : dx;
        near[dy > dx ? dy : dx] += grid[k];
    }
}

static void finish(const statistics_sizes *z, const row_sums *t, const real *grid, real *out)
{
    double rows = (double)t->rows, one = rows > 0 ? 1 / rows : 0;
    real *number = out + 3 * z->D - 1, *near = number + LRA_ATTENTION_NUMBERS;
    if (grid) add_grid(z, grid, near);
    if (grid) add_grid(z, grid + grid_size(z), out + z->other + 2 * z->D);
    for (int64_t i = 0; i < 3 * z->D - 1; i++) out[i] *= (real)one;
    for (int64_t i = 0; i < z->near; i++) near[i] *= (real)one;
    number[LRA_ATTENTION_ENTROPY] = (real)(t->entropy * one);
    number[LRA_ATTENTION_ENTROPY_REL] = (real)(t->several ? t->rel / (double)t->several : 0);
    number[LRA_ATTENTION_SUPPORT] = (real)(t->support * one);
    number[LRA_ATTENTION_UNDEFINED] = (real)(t->all - t->rows);
    number[LRA_ATTENTION_SEVERAL] = (real)t->several;
}

/* Sources: q, k, optional sources. Scratch: one segment per thread. */
LRA_BODY(attention_statistics)
{
    attention_sizes s = attention_sizes_of(c->y, 0, 2);
    const statistics_sizes z = statistics_sizes_of(c->y->args, &s);
    int64_t part = thread_scratch(&s, c->y->args);
#pragma omp parallel for num_threads(c->n_threads) schedule(static)
    for (int64_t at = 0; at < s.B * z.heads; at++) {
        real *own = (real *)c->scratch + omp_get_thread_num() * part, *out = (real *)c->out;
        real *grid = z.columns ? own : NULL;
        group g = {.args = c->y->args, .z = z};
        row_sums total = {0};
        out += at * z.all;
        for (int64_t i = 0; i < z.all; i++) out[i] = 0;
        for (int64_t i = 0; i < z.D; i++) out[z.other + z.D + i] = -1;
        for (int64_t i = 0; i < 2 * grid_size(&z); i++) grid[i] = 0;
        own += attention_padded(2 * grid_size(&z));
        for (int64_t r = 0; r < z.stride; r++) {
            open_group(&g, c, at, r, own);
            int64_t n = g.f[0].h.mask.n_q;
            for (int64_t i = 0, some; i < n; i += some)
                add_rows(&g, i, some = attention_queries_at(&g.f[0].h, i), out, grid, &total);
        }
        finish(&z, &total, grid, out);
    }
}

#if LRA_RECORD
LRA_DECLARE(attention_statistics)

static int shape(lra_tensor *y, lra_err *e)
{
    const attention_args *a = y->args;
    if (attention_check(y, 0, 2, e) != 0) return LRA_FAILED;
    attention_sizes s = attention_sizes_of(y, 0, 2);
    statistics_sizes z = statistics_sizes_of(a, &s);
    int without = attention_source(a, ATTENTION_WITHOUT, 2);
    int gram = attention_source(a, ATTENTION_GRAM, 2);
    if (z.columns < 0 || (z.columns && a->cross))
        return lra_fail(e, "distances in pixels need an image and self-attention");
    if (without >= 0 && gram >= 0)
        return lra_fail(e, "a key without weight belongs to one head, not to all together");
    if (without >= 0 && (lra_expect_index(y->src[without], "without", e) != 0 ||
                         lra_expect_shape(y->src[without], LRA_SHAPE(s.B, z.H), "without", e) != 0))
        return LRA_FAILED;
    lra_shape of_gram = LRA_SHAPE(s.B, s.Tk == s.Tq ? z.D : s.Tk, z.H, z.H);
    if (gram >= 0 && (lra_expect_float(y->src[gram], "gram", e) != 0 ||
                      lra_expect_shape(y->src[gram], of_gram, "gram", e) != 0))
        return LRA_FAILED;
    if (gram >= 0 && y->src[gram]->type != lra_real(y->graph))
        return lra_fail(e, "gram must be real");
    y->shape = LRA_SHAPE(s.B, z.heads, z.all);
    y->type = lra_real(y->graph);
    return 0;
}

static int64_t scratch(const lra_tensor *y, int n_threads)
{
    attention_sizes s = attention_sizes_of(y, 0, 2);
    return n_threads * thread_scratch(&s, y->args) * (int64_t)lra_type_size(lra_real(y->graph));
}

static int64_t cuda_scratch(const lra_tensor *y)
{
    attention_sizes s = attention_sizes_of(y, 0, 2);
    return statistics_cuda_scratch(y->args, &s) * (int64_t)sizeof(float);
}

const lra_op lra_op_attention_statistics = {.name = "attention_statistics",
                                            .flags = LRA_NOGRAD,
                                            .shape = shape,
                                            .flops = attention_score_flops,
                                            .scratch = scratch,
                                            .cuda_scratch = cuda_scratch,
                                            .cpu = LRA_BODIES(attention_statistics),
                                            .sample = attention_statistics_sample};
#endif
