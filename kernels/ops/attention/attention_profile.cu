/* Distance profile of attention on a GPU, in three kernels. No two blocks add to the same sum.
 *   - rows: maximum and 1/(n sum) of every query, as in the forward kernel.
 *   - diagonals: a block processes the tiles (i0, i0 + 64 delta) of a head. It computes the weights
 *     of each tile once and sums them by offset j - i. The mass of a key is added to the offsets of
 *     all columns over which the moving average spreads it.
 *   - distances: distance d is the sum over all diagonals at the offsets d and -d.
 * Two products of 2 K FLOP per pair; memory traffic as in the forward kernel. */
#include "kernels/ops/attention/attention_cuda.h"
#include "kernels/ops/attention/attention_profile.h"

typedef struct {
    attention_job j;
    /* number of offsets per tile, of diagonals of tiles, of distances in the result */
    int64_t offsets, diagonals, distances;
    real *part, *out; /* sums by offset (B H, diagonals, offsets); result (B H, distances) */
} profile_job;

static __global__ void __launch_bounds__(LRA_BLOCK, 1) profile_rows_kernel(attention_job j)
{
    LRA_SHARED(real, shared);
    const attention_block b = attention_begin(&j, AT_TILE, false);
    const attention_place &p = b.p;
    real shrink[AT_SUMS], counts[AT_SUMS] = {0};
    at_softmax r;
    at_begin(&p, &r);
    for (int j0 = (int)b.met.from; j0 < b.met.to; j0 += AT_TILE) {
        if (!at_meet(&p, p.t0, j0)) continue;
        real s[AT_SUMS][AT_SUMS] = {{0}};
        at_products(j.q, &b.of.q, p.t0, j.k, &b.of.k, j0, shared, s);
        at_exp(&p, j0, &r, s, shrink);
        LRA_UNROLL for (int i = 0; i < AT_SUMS; i++)
        {
            counts[i] *= shrink[i];
            LRA_UNROLL for (int k = 0; k < AT_SUMS; k++)
                counts[i] += s[i][k] * profile_counts(&j.a, p.m.n_k, j0 + at_lane() + AT_LANES * k);
        }
    }
    LRA_UNROLL for (int i = 0; i < AT_SUMS; i++)
    {
        int t = p.t0 + at_row() + i;
        real *row = j.rows + (p.head * j.s.Tq + t) * PROFILE_ROW, sum = at_sum(counts[i]);
        if (t < p.n && at_lane() == 0) row[0] = r.max[i], row[1] = at_one(sum * (real)p.m.all);
    }
}

/* Turns products of the rows from t0 on with the keys from j0 on into weights divided by n, the
 * number of queries. */
LRA_DEV void profile_weights(const attention_job *j, const attention_place *p, int j0,
                             real s[AT_SUMS][AT_SUMS])
{
    LRA_UNROLL for (int i = 0; i < AT_SUMS; i++)
    {
        int t = p->t0 + at_row() + i;
        const real *row = j->rows + (p->head * j->s.Tq + t) * PROFILE_ROW;
        attention_range keys = {0, 0};
        real top = 0, share = 0; /* rows of padding (t >= n) have share 0 */
        if (t < p->n) keys = attention_keys_of(&p->m, t), top = row[0], share = row[1];
        LRA_UNROLL for (int k = 0; k < AT_SUMS; k++)
        {
            int key = j0 + at_lane() + AT_LANES * k;
            bool seen = key >= keys.from && key < keys.to && attention_listed(&p->listed, t, key);
            real slope, score = attention_score(p, s[i][k], t, key);
            real weight = p->laplace ? attention_laplace(score, &slope) : r_exp(score - top);
            s[i][k] = seen ? weight * share : R(0.0);
        }
    }
}

/* Mass that row i adds at column `at` from one tile of weights (columns, rows): the average over
 * the keys that lra_moving_average() averages into this column. */
LRA_DEV real profile_mass(const attention_args *a, const attention_place *p, int i, int at, int j0,
                          const real *tile)
{
    int chunk = (int)a->chunk, reach = a->smooth_past ? a->smooth - 1 : (a->smooth - 1) / 2;
    int first = at - (a->smooth_past ? 0 : reach), end = at + reach + 1;
    int low = chunk > 0 ? at / chunk * chunk : 0;
    int n = (int)p->m.n_k, high = chunk > 0 && low + chunk < n ? low + chunk : n;
    real mass = 0;
    if (at < 0 || at >= n) return 0;
    if (first < low) first = low;
    if (end > high) end = high;
    if (first < j0) first = j0;
    if (end > j0 + AT_TILE) end = j0 + AT_TILE;
    for (int key = first; key < end; key++) mass += tile[(key - j0) * AT_PITCH + i];
    return mass / (real)a->smooth;
}

/* Grid: x = heads times diagonals. */
static __global__ void __launch_bounds__(LRA_BLOCK, 1) profile_diagonal_kernel(profile_job e)
{
    LRA_SHARED(real, shared);
    real *tile = shared + AT_TILE * AT_PITCH, *sum = tile + AT_TILE * AT_PITCH;
    const attention_job *j = &e.j;
    int delta = (int)(blockIdx.x % e.diagonals - e.diagonals / 2) * AT_TILE;
    attention_place p = attention_of(j, blockIdx.x / e.diagonals, false);
    const attention_arrays of = attention_arrays_of(j, &p);
    for (int o = threadIdx.x; o < e.offsets; o += LRA_BLOCK) sum[o] = 0;
    for (p.t0 = delta < 0 ? -delta : 0; p.t0 < p.n && p.t0 + delta < p.m.n_k; p.t0 += AT_TILE) {
        int j0 = p.t0 + delta;
        attention_range keys = attention_reach(&p, p.t0 + AT_TILE, false);
        if (j0 >= keys.to || j0 + AT_TILE <= keys.from || !at_meet(&p, p.t0, j0)) continue;
        real s[AT_SUMS][AT_SUMS] = {{0}};
        at_products(j->q, &of.q, p.t0, j->k, &of.k, j0, shared, s);
        profile_weights(j, &p, j0, s);
        at_put(s, tile);
        __syncthreads();
        for (int o = threadIdx.x; o < e.offsets; o += LRA_BLOCK) {
            int offset = delta + o - profile_before(&j->a);
            for (int i = 0; i < AT_TILE; i++)
                sum[o] += profile_mass(&j->a, &p, i, p.t0 + i + offset, j0, tile);
        }
    }
    for (int o = threadIdx.x; o < e.offsets; o += LRA_BLOCK)
        e.part[blockIdx.x * e.offsets + o] = sum[o];
}

/* Sum over all diagonals of one head's mass at this offset. */
LRA_DEV real profile_offset(const profile_job *e, int64_t head, int64_t offset)
{
    int64_t at = offset + profile_before(&e->j.a) + e->diagonals / 2 * AT_TILE;
    real sum = 0;
    for (int64_t n = at / AT_TILE; n >= 0 && at - n * AT_TILE < e->offsets; n--)
        if (n < e->diagonals)
            sum += e->part[(head * e->diagonals + n) * e->offsets + at - n * AT_TILE];
    return sum;
}

static __global__ void profile_distance_kernel(profile_job e, int64_t n)
{
    int64_t at = (int64_t)blockIdx.x * blockDim.x + threadIdx.x, T = e.distances;
    for (; at < n; at += (int64_t)gridDim.x * blockDim.x) {
        int64_t d = at % T;
        real sum = profile_offset(&e, at / T, d);
        e.out[at] = d ? sum + profile_offset(&e, at / T, -d) : sum;
    }
}

/* Sources: q, k, optional sources. Scratch: row statistics, then the sums by offset. */
LRA_CUDA_BODY(attention_profile)
{
    attention_job j = attention_job_of(c, 0, 2);
    int64_t heads = j.s.B * j.s.H, T = lra_width(c->y);
    j.rows = (real *)c->scratch;
    profile_job e = {j, profile_offsets(&j.a), attention_diagonals(&j.s), T};
    e.part = j.rows + heads * j.s.Tq * PROFILE_ROW, e.out = (real *)c->out;
    size_t shared = AT_SHARED + (size_t)e.offsets * sizeof(real);
    LRA_LAUNCH(profile_rows_kernel, attention_blocks(&j.s, AT_TILE, false), LRA_BLOCK, AT_SHARED,
               stream, j);
    LRA_ALLOW_SHARED(profile_diagonal_kernel, shared);
    LRA_LAUNCH(profile_diagonal_kernel, (unsigned)(heads * e.diagonals), LRA_BLOCK, shared, stream,
               e);
    LRA_LAUNCH(profile_distance_kernel, lra_grid(heads * T, LRA_BLOCK), LRA_BLOCK, 0, stream, e,
               heads * T);
}
