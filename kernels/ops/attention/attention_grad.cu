/* Gradients of attention on a GPU, in two passes, so that no two blocks add to the same sum:
 *   - The pass over queries has a loop over keys, as in the forward kernel. With e_ij = exp(s_ij -
 *     max) for the maximum so far, it computes dq_i = sum_j f e_ij (dy_i v_j - dy_i y_i) k_j /
 *     sum_j e_ij. It stores the maximum, 1/sum and dy_i y_i of each row for the other pass.
 *   - The pass over keys has a loop over queries, with p_ij = e_ij / sum.
 * The means of keys and values are computed before both passes, and are subtracted from keys and
 * values as these are read. After both passes, in float32, the sums of dk are corrected
 * (attention_settle_cuda.h).
 * The passes need 3 and 4 products of 2 K FLOP per pair; one pass with atomic sums would need 5.
 * Memory traffic: q, k, v, dy twice, y and the gradients once. */
#include "kernels/ops/attention/attention_settle_cuda.h"
#if LRA_TYPE_bf16
#include "kernels/ops/attention/attention_back_mma.h"
#endif

/* dot[i] = dy_i (y_i - mean of the values) for the rows of this thread; of_v: the values' rows,
 * with their mean. */
LRA_DEV void at_dot(const attention_job *j, const attention_place *p, const attention_rows *of_v,
                    real dot[AT_SUMS])
{
    const attention_rows of_dy = attention_side(j, p, false, true);
    attention_rows of_y = of_dy;
    of_y.less = of_v->less;
    LRA_UNROLL for (int i = 0; i < AT_SUMS; i++)
    {
        int t = p->t0 + at_row() + i;
        dot[i] = 0;
        for (int c = at_lane(); c < of_y.width; c += AT_LANES)
            dot[i] += at_load(j->dy, &of_dy, t, c) * at_load(j->y, &of_y, t, c);
        dot[i] = at_sum(dot[i]);
    }
}

/* Stores the row statistics of a thread's rows that the pass over keys needs. */
LRA_DEV void at_store(const attention_job *j, const attention_place *p, const at_softmax *r,
                      const real one[AT_SUMS], const real dot[AT_SUMS], const real apart[AT_SUMS])
{
    LRA_UNROLL for (int i = 0; i < AT_SUMS; i++)
    {
        int t = p->t0 + at_row() + i;
        real *row = j->rows + (p->head * j->s.Tq + t) * ATTENTION_LEFT;
        real sum = 0;
        if (!LRA_TYPE_bf16 && p->decay > 0) sum = at_sum(apart[i]) * one[i];
        if (t < p->n && at_lane() == 0)
            row[0] = r->max[i], row[1] = one[i], row[2] = dot[i], row[3] = sum;
    }
}

/* apart[i] = apart[i] shrink[i] + sum over the keys from j0 on of (f_ij - f) g_ij; g: not yet
 * divided by the row's sum. */
LRA_DEV void at_part(const attention_place *p, int j0, const real g[AT_SUMS][AT_SUMS],
                     const real shrink[AT_SUMS], real apart[AT_SUMS])
{
#if LRA_TYPE_bf16 /* in bf16 the sums of dk are not corrected */
    (void)p, (void)j0, (void)g, (void)shrink, (void)apart;
#else
    if (p->decay == 0) return;
    LRA_UNROLL for (int i = 0; i < AT_SUMS; i++)
    {
        apart[i] *= shrink[i];
        LRA_UNROLL for (int k = 0; k < AT_SUMS; k++)
        {
            int t = p->t0 + at_row() + i, key = j0 + at_lane() + AT_LANES * k;
            real less = p->scale * expm1f(-p->decay * (real)attention_distance(t, key));
            apart[i] += g[i][k] * less;
        }
    }
#endif
}

/* Grid: x = tiles of queries times heads, y = groups of channels of dq. */
template <int CHUNKS>
static __global__ void __launch_bounds__(LRA_BLOCK, 1) attention_dq_tile_kernel(attention_job j)
{
    LRA_SHARED(real, shared);
    real *tile = shared + AT_TILE * AT_PITCH;
    const attention_block b = attention_begin(&j, AT_TILE, false);
    const attention_place &p = b.p;
    int c0 = (int)blockIdx.y * CHUNKS * AT_TILE;
    real sum[CHUNKS][AT_SUMS][AT_SUMS] = {{{0}}}, shrink[AT_SUMS], dot[AT_SUMS],
         apart[AT_SUMS] = {0};
    at_softmax r;
    at_begin(&p, &r);
    at_dot(&j, &p, &b.of.v, dot);
    LRA_UNROLL for (int i = 0; i < AT_SUMS && p.laplace; i++) dot[i] = 0;
    for (int j0 = (int)b.met.from; j0 < b.met.to; j0 += AT_TILE) {
        if (!at_meet(&p, p.t0, j0)) continue;
        real s[AT_SUMS][AT_SUMS] = {{0}}, ds[AT_SUMS][AT_SUMS] = {{0}};
        at_products(j.q, &b.of.q, p.t0, j.k, &b.of.k, j0, shared, s);
        at_products(j.dy, &b.of.y, p.t0, j.v, &b.of.v, j0, shared, ds);
        at_exp(&p, j0, &r, s, shrink, true);
        at_shrink<CHUNKS>(shrink, sum);
        at_drop(&j, &p, j0, ds);
        LRA_UNROLL for (int i = 0; i < AT_SUMS; i++) LRA_UNROLL for (int k = 0; k < AT_SUMS; k++)
            s[i][k] *= ds[i][k] - dot[i];
        at_part(&p, j0, s, shrink, apart);
        LRA_UNROLL for (int i = 0; i < AT_SUMS; i++) LRA_UNROLL for (int k = 0; k < AT_SUMS; k++)
            s[i][k] *= attention_factor(&p, p.t0 + at_row() + i, j0 + at_lane() + AT_LANES * k);
        at_put(s, tile);
        at_add<CHUNKS>(tile, j.k, &b.of.k, j0, c0, shared, sum);
    }
    LRA_UNROLL for (int i = 0; i < AT_SUMS; i++) shrink[i] = at_one_of(&p, at_sum(r.sum[i]));
    if (blockIdx.y == 0) at_store(&j, &p, &r, shrink, dot, apart);
    at_finish<CHUNKS>(&p, c0, shrink, sum, j.out, &b.of.q);
}

/* Turns the products k q (keys, queries from i0 on) into p times the dropout factor, and the
 * products v dy into g. */
LRA_DEV void at_differentiate(const attention_job *j, const attention_place *p, int i0,
                              real s[AT_SUMS][AT_SUMS], real ds[AT_SUMS][AT_SUMS])
{
    LRA_UNROLL for (int i = 0; i < AT_SUMS; i++)
    {
        int key = p->t0 + at_row() + i;
        attention_range queries = {0, 0};
        if (key < p->n) queries = attention_queries_of(&p->m, key);
        LRA_UNROLL for (int k = 0; k < AT_SUMS; k++)
        {
            int t = i0 + at_lane() + AT_LANES * k;
            const real *row = j->rows + (p->head * j->s.Tq + t) * ATTENTION_LEFT;
            bool met = t >= queries.from && t < queries.to && attention_listed(&p->listed, t, key);
            real kept = met ? attention_kept(j, p, t, key) : R(0.0);
            if (met && p->laplace) {
                real slope;
                s[i][k] = attention_laplace(attention_score(p, s[i][k], t, key), &slope) * kept;
                ds[i][k] *= slope * kept;
            } else if (met) {
                s[i][k] = r_exp(attention_score(p, s[i][k], t, key) - row[0]) * row[1];
                ds[i][k] = s[i][k] * (ds[i][k] * kept - row[2]);
                s[i][k] *= kept;
            } else {
                s[i][k] = ds[i][k] = 0;
            }
        }
    }
}

/* Grid: x = tiles of keys times heads, y = groups of channels of dk and dv. */
template <int CHUNKS>
static __global__ void __launch_bounds__(LRA_BLOCK, 1) attention_dkv_tile_kernel(attention_job j)
{
    LRA_SHARED(real, shared);
    real *tile = shared + AT_TILE * AT_PITCH;
    const attention_block b = attention_begin(&j, AT_TILE, true);
    const attention_place &p = b.p;
    int c0 = (int)blockIdx.y * CHUNKS * AT_TILE;
    real dk[CHUNKS][AT_SUMS][AT_SUMS] = {{{0}}}, dv[CHUNKS][AT_SUMS][AT_SUMS] = {{{0}}};
    for (int i0 = (int)b.met.from; i0 < b.met.to; i0 += AT_TILE) {
        if (!at_meet(&p, i0, p.t0)) continue;
        real s[AT_SUMS][AT_SUMS] = {{0}}, ds[AT_SUMS][AT_SUMS] = {{0}};
        at_products(j.k, &b.of.k, p.t0, j.q, &b.of.q, i0, shared, s);
        at_products(j.v, &b.of.v, p.t0, j.dy, &b.of.y, i0, shared, ds);
        at_differentiate(&j, &p, i0, s, ds);
        LRA_UNROLL for (int i = 0; i < AT_SUMS; i++) LRA_UNROLL for (int k = 0; k < AT_SUMS; k++)
            ds[i][k] *= attention_factor(&p, i0 + at_lane() + AT_LANES * k, p.t0 + at_row() + i);
        at_put(s, tile);
        at_add<CHUNKS>(tile, j.dy, &b.of.y, i0, c0, shared, dv);
        at_put(ds, tile);
        at_add<CHUNKS>(tile, j.q, &b.of.q, i0, c0, shared, dk);
    }
    const real one[AT_SUMS] = {1, 1, 1, 1};
    at_finish<CHUNKS>(&p, c0, one, dk, j.dk, &b.of.k);
    at_finish<CHUNKS>(&p, c0, one, dv, j.dv, &b.of.v);
}

/* ---- of the learned bias: by offset of a diagonal of tiles, then by entry -------------------- */

typedef struct {
    attention_job j;
    int64_t diagonals;
    real *part; /* sums by offset: (B H, diagonals, AT_OFFSETS) */
    elem *out;  /* (H,R), each number split into ATTENTION_PARTS elements */
} bias_job;

/* Sums the gradient of the scores by the offset query - key. Grid: x = heads times diagonals. A
 * block processes the tiles (keys from t0 on, queries from t0 + delta on) of one diagonal. */
static __global__ void __launch_bounds__(LRA_BLOCK, 1) attention_offset_kernel(bias_job e)
{
    LRA_SHARED(real, shared);
    real *tile = shared + AT_TILE * AT_PITCH, *sum = tile + AT_TILE * AT_PITCH;
    const attention_job *j = &e.j;
    int delta = (int)(blockIdx.x % e.diagonals - e.diagonals / 2) * AT_TILE;
    attention_place p = attention_of(j, blockIdx.x / e.diagonals, true);
    const attention_arrays of = attention_arrays_of(j, &p);
    for (int o = threadIdx.x; o < AT_OFFSETS; o += LRA_BLOCK) sum[o] = 0;
    for (p.t0 = delta < 0 ? -delta : 0; p.t0 < p.n && p.t0 + delta < p.m.n_q; p.t0 += AT_TILE) {
        int i0 = p.t0 + delta;
        attention_range queries = attention_reach(&p, p.t0 + AT_TILE, true);
        if (i0 >= queries.to || i0 + AT_TILE <= queries.from || !at_meet(&p, i0, p.t0)) continue;
        real s[AT_SUMS][AT_SUMS] = {{0}}, ds[AT_SUMS][AT_SUMS] = {{0}};
        at_products(j->k, &of.k, p.t0, j->q, &of.q, i0, shared, s);
        at_products(j->v, &of.v, p.t0, j->dy, &of.y, i0, shared, ds);
        at_differentiate(j, &p, i0, s, ds);
        at_put(ds, tile); /* tile of the gradient of the scores, (queries, keys) */
        __syncthreads();
        for (int o = threadIdx.x; o < AT_OFFSETS; o += LRA_BLOCK)
            for (int key = 0; key < AT_TILE; key++) {
                int query = key + o - (AT_TILE - 1);
                if (query >= 0 && query < AT_TILE) sum[o] += tile[query * AT_PITCH + key];
            }
    }
    for (int o = threadIdx.x; o < AT_OFFSETS; o += LRA_BLOCK)
        e.part[blockIdx.x * AT_OFFSETS + o] = sum[o];
}

/* Sum of g of one head over all pairs with this offset query - key. At most two diagonals of tiles
 * contain the offset. */
LRA_DEV real at_offset(const bias_job *e, int64_t head, int64_t offset)
{
    int64_t at = offset + AT_TILE - 1 + e->diagonals / 2 * AT_TILE;
    real sum = 0;
    for (int64_t n = at / AT_TILE; n >= 0 && at - n * AT_TILE < AT_OFFSETS; n--)
        if (n < e->diagonals)
            sum += e->part[(head * e->diagonals + n) * AT_OFFSETS + at - n * AT_TILE];
    return sum;
}

/* One thread per entry of the bias: sums g over the examples in order, and for each example over
 * the offsets of the entry. */
static __global__ void attention_entry_kernel(bias_job e, int64_t n)
{
    int64_t at = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const attention_sizes *s = &e.j.s;
    for (; at < n; at += (int64_t)gridDim.x * blockDim.x) {
        int64_t r = at % s->R, offset = s->R / 2 - r, from = offset,
                to = offset; /* first and last offset query - key of the entry, inclusive */
        real sum = 0;
        if (r == 0) to = s->Tq - 1;
        if (r == s->R - 1) from = 1 - s->Tk;
        for (int64_t b = 0; b < s->B; b++)
            for (int64_t o = from < 1 - s->Tk ? 1 - s->Tk : from; o <= to && o < s->Tq; o++)
                sum += at_offset(&e, b * s->H + at / s->R, o);
        attention_put(e.out, n, at, sum);
    }
}

/* Computes the gradient of the bias. bias: its position in the result, after the other gradients;
 * part: scratch for the sums by offset. */
static inline void bias_run(const attention_job *j, real *part, elem *bias, void *stream)
{
    int64_t n = j->s.H * j->s.R;
    bias_job e = {*j, attention_diagonals(&j->s), part, bias};
    size_t shared = AT_SHARED + AT_OFFSETS * sizeof(real);
    LRA_ALLOW_SHARED(attention_offset_kernel, shared);
    LRA_LAUNCH(attention_offset_kernel, (unsigned)(j->s.B * j->s.H * e.diagonals), LRA_BLOCK,
               shared, stream, e);
    LRA_LAUNCH(attention_entry_kernel, lra_grid(n, LRA_BLOCK), LRA_BLOCK, 0, stream, e, n);
}

/* Sources: dy, q, k, v, result of the forward node, optional sources. Scratch: ATTENTION_LEFT
 * numbers per query, means of keys and values, sums by offset. */
LRA_CUDA_BODY(attention_grad)
{
    attention_job j = attention_job_of(c, 1, 5);
    const attention_sizes *s = &j.s;
    int64_t keys = s->B * s->Tk * s->H;
    j.dy = (const elem *)c->in[0], j.y = (const elem *)c->in[4];
    j.out = (elem *)c->out, j.dk = j.out + s->B * s->Tq * s->H * s->K, j.dv = j.dk + keys * s->K;
    j.rows = (real *)c->scratch, j.means = j.rows + s->B * s->H * s->Tq * ATTENTION_LEFT;
    attention_means_run(&j, stream);
#if LRA_TYPE_bf16
    if (lra_cuda_level() >= LRA_CUDA_MMA && attention_mma_fits(&j)) {
        AM_FOR_WIDTH(attention_back_mma_run, s->K, attention_is_distant(&j), &j, stream);
        return;
    }
#endif
    AT_LAUNCH(attention_dq_tile_kernel, j, false, s->K, stream);
    AT_LAUNCH(attention_dkv_tile_kernel, j, true, s->K > s->V ? s->K : s->V, stream);
    if (AT_SETTLES && !j.a.laplace) attention_settle_run(&j, stream);
    if (j.bias) bias_run(&j, j.means + s->B * s->H * (s->K + s->V), j.dv + keys * s->V, stream);
}
