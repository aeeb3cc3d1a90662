/* Attention in plain CUDA for any width, in float32 and bf16: functions that the kernels of the
 * attention ops share. A block of 256 threads holds 64 rows of one head (queries, or keys where
 * gradients of keys are summed) and processes 64 rows of the other sequence at a time. A thread
 * computes 4 x 4 scores. This code is the reference for the tensor-core kernels and the
 * implementation for float32.
 * Rows are read through the caches. There are at least 16 FLOP per byte, so that the kernels are
 * compute bound. */
#ifndef LRA_OPS_ATTENTION_ATTENTION_CUDA_H
#define LRA_OPS_ATTENTION_ATTENTION_CUDA_H

#include "kernels/ops/attention/attention.h"
#include "kernels/ops/cuda_common.h"

#include "kernels/base/core/philox.h"

enum {
    AT_TILE = 64,
    AT_DEPTH = 32,
    AT_PITCH = AT_TILE + 4,
    AT_SUMS = 4,
    AT_LANES = AT_TILE / AT_SUMS /* threads that share a row of scores */
};
#define AT_LOG2E R(1.44269504)

typedef struct {
    attention_args a;
    attention_sizes s;
    const int32_t *length, *key_length, *limit, *blocks;
    const real *bias;               /* learned bias, (H,R) */
    const elem *q, *k, *v, *dy, *y; /* (B,T,H,channels) */
    /* row statistics that the forward kernels store after y, in parts */
    elem *left;
    /* out: y, or dq in the backward pass; dk, dv: shapes of k and v */
    elem *out, *dk, *dv;
    real *rows;  /* row statistics, (B H, Tq, ATTENTION_LEFT) */
    real *means; /* (B H, K+V): mean key and mean value of each head; NULL: not computed */
    /* step input with dropout, else NULL; least and kept are valid with dropout only */
    const lra_step *step;
    uint32_t least; /* a weight is kept if its 24 random bits, w >> 8, are at least this */
    real kept;
} attention_job;

/* Sizes, arguments and source arrays of a call. The queries are source number q, the keys source q
 * + 1 and, if q + 2 < n, the values source q + 2. The optional sources follow n required
 * sources. */
static inline attention_job attention_job_of(const lra_call *c, int q, int n)
{
    attention_job j = {*(const attention_args *)c->y->args, attention_sizes_of(c->y, q, n)};
    const void *option[ATTENTION_OPTIONS];
    for (int i = 0; i < ATTENTION_OPTIONS; i++) {
        int at = attention_source(&j.a, i, n);
        option[i] = at < 0 ? NULL : c->in[at];
    }
    j.length = (const int32_t *)option[ATTENTION_LENGTH];
    j.key_length = j.a.cross ? (const int32_t *)option[ATTENTION_KEY_LENGTH] : j.length;
    j.limit = (const int32_t *)option[ATTENTION_LIMIT];
    j.blocks = (const int32_t *)option[ATTENTION_BLOCKS];
    j.bias = (const real *)option[ATTENTION_BIAS];
    j.step = j.s.dropped ? (const lra_step *)option[ATTENTION_STEP] : NULL;
    j.least = (uint32_t)ceil(j.a.dropout * 0x1p24), j.kept = (real)(1 / (1 - j.a.dropout));
    j.q = (const elem *)c->in[q], j.k = (const elem *)c->in[q + 1];
    j.v = q + 2 < n ? (const elem *)c->in[q + 2] : NULL;
    return j;
}

/* The head and the tile that a thread block processes. */
typedef struct {
    attention_mask m;
    attention_list listed;
    int64_t head, b, h; /* head: 0 .. B H - 1; b: example; h: head within the example */
    /* n: number of rows without padding, of keys with by_key, else of queries; t0: first row of the
     * tile */
    int n, t0;
    bool laplace;
    real scale, decay, slope;
    const real *bias; /* learned bias of this head; NULL: none */
    int64_t R;
} attention_place;

/* Number of thread blocks: tiles of `tile` rows of each head; tiles are the fast index. */
static inline unsigned attention_blocks(const attention_sizes *s, int64_t tile, bool by_key)
{
    return (unsigned)(((by_key ? s->Tk : s->Tq) + tile - 1) / tile * s->B * s->H);
}

/* Describes head `head` (0 .. B H - 1) and its first tile; by_key: tiles are of keys. */
LRA_DEV attention_place attention_of(const attention_job *j, int64_t head, bool by_key)
{
    attention_place p;
    p.head = head, p.b = head / j->s.H, p.h = head % j->s.H;
    p.m = attention_mask_of(
        &j->a, p.h, j->s.H, j->length ? j->length[p.b] : attention_steps(&j->a, j->s.Tq),
        j->key_length ? j->key_length[p.b] : attention_steps(&j->a, j->s.Tk), j->limit);
    p.listed = attention_list_at(&j->a, &j->s, head, j->blocks);
    p.n = (int)(by_key ? p.m.n_k : p.m.n_q), p.t0 = 0;
    p.laplace = j->a.laplace, p.scale = (real)j->a.scale;
    int64_t h = p.h % (j->s.H / j->a.stride);
    p.decay = (real)j->a.decay[h], p.slope = (real)j->a.slope[h];
    p.R = j->s.R, p.bias = j->bias ? j->bias + p.h * p.R : NULL;
    return p;
}

/* Head and tile of this thread block. The last tiles are started first, because with causal
 * attention they have the most keys. */
LRA_DEV attention_place attention_find(const attention_job *j, int tile, bool by_key)
{
    int64_t tiles = ((by_key ? j->s.Tk : j->s.Tq) + tile - 1) / tile;
    attention_place p = attention_of(j, blockIdx.x / tiles, by_key);
    p.t0 = (int)(tiles - 1 - blockIdx.x % tiles) * tile;
    return p;
}

LRA_DEV int attention_distance(int i, int j)
{
    return i > j ? i - j : j - i;
}
LRA_DEV real attention_factor(const attention_place *p, int query, int key)
{
    real f = p->scale;
    if (p->decay > 0) f *= r_exp(-p->decay * (real)attention_distance(query, key));
    return p->laplace ? f * attention_share(&p->m, query) : f;
}
LRA_DEV real attention_score(const attention_place *p, real product, int query, int key)
{
    int distance = attention_distance(query, key);
    real s = product * attention_factor(p, query, key) - p->slope * (real)distance;
    return p->bias ? s + p->bias[attention_entry(query, key, p->R)] : s;
}

/* Four random words that decide whether the weights of a key are dropped for four consecutive
 * queries, one of which is `query`. */
LRA_DEV lra_philox attention_words(const attention_job *j, const attention_place *p, int query,
                                   int key)
{
    lra_rng r = lra_rng_new(j->step->seed, j->a.key, 0);
    uint64_t at = (uint64_t)attention_draw_at(j->s.Tq, j->s.Tk, p->head, query, key);
    return lra_philox_at(r.key[0], r.key[1], (uint32_t)j->step->step,
                         (uint32_t)(j->step->step >> 32), (uint32_t)at, (uint32_t)(at >> 32));
}
LRA_DEV real attention_factor_of(const attention_job *j, uint32_t word)
{
    return word >> 8 < j->least ? R(0.0) : j->kept;
}
/* Dropout factor of one weight: 0 or 1/(1 - p); 1 without dropout. */
LRA_DEV real attention_kept(const attention_job *j, const attention_place *p, int query, int key)
{
    if (!j->step) return 1;
    lra_philox words = attention_words(j, p, query, key);
    uint32_t word = query % 2 ? words.v[1] : words.v[0];
    if (query % 4 >= 2) word = query % 2 ? words.v[3] : words.v[2];
    return attention_factor_of(j, word);
}

/* Union of the visible ranges of rows [t0, end): a range of keys, or of queries if by_key. */
LRA_DEV attention_range attention_reach(const attention_place *p, int end, bool by_key)
{
    int last = (end < p->n ? end : p->n) - 1;
    attention_range k = {0, 0};
    if (last < p->t0) return k;
    k.from = attention_met(by_key, &p->m, p->t0).from;
    k.to = attention_met(by_key, &p->m, last).to;
    return k;
}

/* Rows of one head in an array (B,T,H,width): n rows without padding of T. less: (width),
 * subtracted from each row as it is read; NULL: nothing is subtracted. */
typedef struct {
    int64_t first, step;
    int n, T, width;
    const real *less;
} attention_rows;

LRA_DEV attention_rows attention_side(const attention_job *j, const attention_place *p, bool by_key,
                                      bool values)
{
    int64_t T = by_key ? j->s.Tk : j->s.Tq, width = values ? j->s.V : j->s.K;
    attention_rows r = {(p->b * T * j->s.H + p->h) * width,
                        j->s.H * width,
                        (int)(by_key ? p->m.n_k : p->m.n_q),
                        (int)T,
                        (int)width,
                        NULL};
    return r;
}

/* The arrays of a head. In gradients of a softmax the mean key is subtracted from the keys (without
 * distance decay) and the mean value from the values (without dropout), as on the CPU
 * (attention_backward_template.h). */
typedef struct {
    attention_rows q, k, v, y;
} attention_arrays;

LRA_DEV attention_arrays attention_arrays_of(const attention_job *j, const attention_place *p)
{
    attention_arrays a = {attention_side(j, p, false, false), attention_side(j, p, true, false),
                          attention_side(j, p, true, true), attention_side(j, p, false, true)};
    const real *mean = j->means && !p->laplace ? j->means + p->head * (j->s.K + j->s.V) : NULL;
    if (mean && p->decay == 0) a.k.less = mean;
    if (mean && !j->step) a.v.less = mean + j->s.K;
    return a;
}

/* State of a thread block at the start of a kernel: its tile, the range of the other sequence that
 * its rows see, its arrays. */
typedef struct {
    attention_place p;
    attention_range met;
    attention_arrays of;
} attention_block;

LRA_DEV attention_block attention_begin(const attention_job *j, int tile, bool by_key)
{
    attention_block b;
    b.p = attention_find(j, tile, by_key);
    b.met = attention_reach(&b.p, b.p.t0 + tile, by_key);
    b.of = attention_arrays_of(j, &b.p);
    return b;
}

/* True if any of the 64 queries from i0 on sees, by the block list, any of the 64 keys from j0 on.
 * All threads of a block get the same result. */
LRA_DEV bool at_meet(const attention_place *p, int i0, int j0)
{
    const attention_list *l = &p->listed;
    int i1 = i0 + AT_TILE < p->m.n_q ? i0 + AT_TILE : (int)p->m.n_q;
    int j1 = j0 + AT_TILE < p->m.n_k ? j0 + AT_TILE : (int)p->m.n_k;
    if (!l->list) return true;
    for (int64_t i = i0 / l->block; i * l->block < i1; i++)
        for (int64_t j = j0 / l->block; j * l->block < j1; j++)
            if (attention_listed(l, i * l->block, j * l->block)) return true;
    return false;
}

/* ---- a block of 256 threads ------------------------------------------------------------------ */

/* First of the AT_SUMS rows of a thread; at_lane() is its index among the AT_LANES threads of these
 * rows. */
LRA_DEV int at_row(void)
{
    return (int)threadIdx.x / AT_LANES * AT_SUMS;
}
LRA_DEV int at_lane(void)
{
    return (int)threadIdx.x % AT_LANES;
}

LRA_DEV real at_load(const elem *x, const attention_rows *r, int t, int c)
{
    if (t >= r->n || c >= r->width) return 0;
    real v = e_load(x[r->first + t * r->step + c]);
    return r->less ? v - r->less[c] : v;
}

/* s += x y^T for 64 rows of x from x0 on and 64 rows of y from y0 on. Element s[i][k] of a thread
 * is row at_row() + i, column at_lane() + 16 k. shared: AT_TILE AT_PITCH numbers. */
LRA_DEV void at_products(const elem *x, const attention_rows *of_x, int x0, const elem *y,
                         const attention_rows *of_y, int y0, real *shared, real s[AT_SUMS][AT_SUMS])
{
    real *xs = shared, *ys = shared + AT_DEPTH * AT_PITCH;
    for (int c0 = 0; c0 < of_x->width; c0 += AT_DEPTH) {
        __syncthreads();
        LRA_UNROLL_4 for (int e = threadIdx.x; e < AT_TILE * AT_DEPTH; e += LRA_BLOCK)
        {
            /* avoids shared-memory bank conflicts */
            int t = e / 8 % AT_TILE, c = e % 8 + e / 8 / AT_TILE * 8;
            xs[c * AT_PITCH + t] = at_load(x, of_x, x0 + t, c0 + c);
            ys[c * AT_PITCH + t] = at_load(y, of_y, y0 + t, c0 + c);
        }
        __syncthreads();
        LRA_UNROLL_4 for (int c = 0; c < AT_DEPTH; c++) LRA_UNROLL for (int k = 0; k < AT_SUMS; k++)
        {
            real b = ys[c * AT_PITCH + at_lane() + AT_LANES * k];
            LRA_UNROLL for (int i = 0; i < AT_SUMS; i++)
                s[i][k] += xs[c * AT_PITCH + at_row() + i] * b;
        }
    }
}

/* Writes a tile of scores to shared memory for at_add(), transposed: (columns, rows). */
LRA_DEV void at_put(const real s[AT_SUMS][AT_SUMS], real *tile)
{
    __syncthreads();
    LRA_UNROLL for (int k = 0; k < AT_SUMS; k++) LRA_UNROLL for (int i = 0; i < AT_SUMS; i++)
        tile[(at_lane() + AT_LANES * k) * AT_PITCH + at_row() + i] = s[i][k];
}

/* sum += tile x for CHUNKS times 64 channels from c0 on. Element sum[n][i][k] of a thread is row
 * at_row() + i, channel 64 n + 4 at_lane() + k. x: 64 rows from x0 on. */
template <int CHUNKS>
LRA_DEV void at_add(const real *tile, const elem *x, const attention_rows *of_x, int x0, int c0,
                    real *shared, real sum[CHUNKS][AT_SUMS][AT_SUMS])
{
    LRA_UNROLL for (int n = 0; n < CHUNKS; n++)
    {
        __syncthreads();
        LRA_UNROLL_4 for (int e = threadIdx.x; e < AT_TILE * AT_TILE; e += LRA_BLOCK)
            shared[e / AT_TILE * AT_PITCH + e % AT_TILE] = at_load(x, of_x, x0 + e / AT_TILE,
                                                                   c0 + n * AT_TILE + e % AT_TILE);
        __syncthreads();
        LRA_UNROLL_4 for (int t = 0; t < AT_TILE; t++) LRA_UNROLL for (int i = 0; i < AT_SUMS; i++)
        {
            real a = tile[t * AT_PITCH + at_row() + i];
            LRA_UNROLL for (int k = 0; k < AT_SUMS; k++)
                sum[n][i][k] += a * shared[t * AT_PITCH + at_lane() * AT_SUMS + k];
        }
    }
}

/* Writes y = sum factor for the rows of the tile; rows of padding become zero. */
template <int CHUNKS>
LRA_DEV void at_finish(const attention_place *p, int c0, const real factor[AT_SUMS],
                       real sum[CHUNKS][AT_SUMS][AT_SUMS], elem *y, const attention_rows *of_y)
{
    LRA_UNROLL for (int n = 0; n < CHUNKS; n++) LRA_UNROLL for (int i = 0; i < AT_SUMS; i++)
        LRA_UNROLL for (int k = 0; k < AT_SUMS; k++)
    {
        int t = p->t0 + at_row() + i, c = c0 + n * AT_TILE + at_lane() * AT_SUMS + k;
        if (t < of_y->T && c < of_y->width)
            y[of_y->first + t * of_y->step + c] = t < of_y->n ? e_store(sum[n][i][k] * factor[i])
                                                              : 0;
    }
}

/* Stores log2 of the sum of exponentials of row t. One thread of each row calls it. */
LRA_DEV void at_leave_sum(const attention_job *j, const attention_place *p, int t, real max2,
                          real sum)
{
    bool seen = t < p->n && sum != 0;
    if (t < j->s.Tq)
        attention_put(j->left, j->s.B * j->s.H * j->s.Tq, p->head * j->s.Tq + t,
                      seen ? max2 + r_log2(sum) : 0);
}
/* Factor of a row's sums: 1/sum, or 0 for a row without visible keys. Laplace attention has the
 * factor 1, because its weights are not normalised. */
LRA_DEV real at_one_of(const attention_place *p, real sum)
{
    return p->laplace ? 1 : sum == 0 ? 0 : 1 / sum;
}
/* 1/sum, 0 for a row without visible keys. */
LRA_DEV real at_one(real sum)
{
    return sum == 0 ? 0 : 1 / sum;
}

/* Sum (at_sum) or maximum (at_max) over the threads of a row. */
LRA_DEV real at_sum(real v)
{
    for (int other = AT_LANES / 2; other; other /= 2) v += __shfl_xor_sync(~0u, v, other);
    return v;
}
LRA_DEV real at_max(real v)
{
    for (int other = AT_LANES / 2; other; other /= 2) v = r_max(v, __shfl_xor_sync(~0u, v, other));
    return v;
}

/* State of a thread's rows in the loop over keys: visible keys [from, to), maximum of the scores,
 * this thread's part of the sum of exp(score - max). */
typedef struct {
    int from[AT_SUMS], to[AT_SUMS];
    real max[AT_SUMS], sum[AT_SUMS];
} at_softmax;

LRA_DEV void at_begin(const attention_place *p, at_softmax *r)
{
    LRA_UNROLL for (int i = 0; i < AT_SUMS; i++)
    {
        int t = p->t0 + at_row() + i;
        attention_range keys = {0, 0};
        if (t < p->n) keys = attention_keys_of(&p->m, t);
        r->from[i] = (int)keys.from, r->to[i] = (int)keys.to;
        r->max[i] = -INFINITY, r->sum[i] = 0;
    }
}

/* Laplace attention: turns the products with keys from j0 on into weights, or (slopes) into the
 * derivatives of the weights with respect to the scores. */
LRA_DEV void at_laplace(const attention_place *p, int j0, bool slopes, at_softmax *r,
                        real s[AT_SUMS][AT_SUMS])
{
    LRA_UNROLL for (int i = 0; i < AT_SUMS; i++) LRA_UNROLL for (int k = 0; k < AT_SUMS; k++)
    {
        int key = j0 + at_lane() + AT_LANES * k, t = p->t0 + at_row() + i;
        real slope = 0, weight = 0;
        if (key >= r->from[i] && key < r->to[i])
            weight = attention_laplace(attention_score(p, s[i][k], t, key), &slope);
        s[i][k] = slopes ? slope : weight;
        r->sum[i] += weight;
    }
}

/* Turns the products with keys from j0 on into exp(score - max). shrink: factor by which sums over
 * earlier keys must be multiplied, because the maximum grew. slopes: as in at_laplace(). */
LRA_DEV void at_exp(const attention_place *p, int j0, at_softmax *r, real s[AT_SUMS][AT_SUMS],
                    real shrink[AT_SUMS], bool slopes = false)
{
    if (p->laplace) {
        at_laplace(p, j0, slopes, r, s);
        LRA_UNROLL for (int i = 0; i < AT_SUMS; i++) shrink[i] = 1;
        return;
    }
    LRA_UNROLL for (int i = 0; i < AT_SUMS; i++)
    {
        real max = r->max[i];
        LRA_UNROLL for (int k = 0; k < AT_SUMS; k++)
        {
            int key = j0 + at_lane() + AT_LANES * k, t = p->t0 + at_row() + i;
            bool seen = key >= r->from[i] && key < r->to[i] && attention_listed(&p->listed, t, key);
            s[i][k] = seen ? attention_score(p, s[i][k], t, key) : -INFINITY;
            max = r_max(max, s[i][k]);
        }
        max = at_max(max);
        shrink[i] = r->max[i] > -INFINITY ? r_exp(r->max[i] - max) : R(0.0);
        r->max[i] = max, r->sum[i] *= shrink[i];
        LRA_UNROLL for (int k = 0; k < AT_SUMS; k++)
        {
            s[i][k] = s[i][k] > -INFINITY ? r_exp(s[i][k] - max) : R(0.0);
            r->sum[i] += s[i][k];
        }
    }
}

/* Multiplies s by the dropout factors, for a thread's queries and the keys from j0 on. s: weights,
 * or products dy v. */
LRA_DEV void at_drop(const attention_job *j, const attention_place *p, int j0,
                     real s[AT_SUMS][AT_SUMS])
{
    if (!j->step) return;
    LRA_UNROLL for (int k = 0; k < AT_SUMS; k++)
    {
        lra_philox four = attention_words(j, p, p->t0 + at_row(), j0 + at_lane() + AT_LANES * k);
        LRA_UNROLL for (int i = 0; i < AT_SUMS; i++) s[i][k] *= attention_factor_of(j, four.v[i]);
    }
}

template <int CHUNKS>
LRA_DEV void at_shrink(const real shrink[AT_SUMS], real sum[CHUNKS][AT_SUMS][AT_SUMS])
{
    LRA_UNROLL for (int n = 0; n < CHUNKS; n++) LRA_UNROLL for (int i = 0; i < AT_SUMS; i++)
        LRA_UNROLL for (int k = 0; k < AT_SUMS; k++) sum[n][i][k] *= shrink[i];
}

/* ---- launches -------------------------------------------------------------------------------- */

enum { AT_SHARED = 2 * AT_TILE * AT_PITCH * (int)sizeof(real) };

/* Grid: x = blocks of 64 rows of all heads, y = groups of chunks * 64 channels. */
static inline dim3 at_grid(const attention_sizes *s, bool by_key, int64_t width, int chunks)
{
    int64_t columns = (width + chunks * AT_TILE - 1) / (chunks * AT_TILE);
    return dim3(attention_blocks(s, AT_TILE, by_key), (unsigned)columns);
}
/* Launches kernel<CHUNKS>(j, ..) for results that are `width` channels wide. */
#define AT_LAUNCH(kernel, j, by_key, width, stream)                                                \
    do {                                                                                           \
        if ((width) <= AT_TILE)                                                                    \
            LRA_LAUNCH(kernel<1>, at_grid(&(j).s, by_key, width, 1), LRA_BLOCK, AT_SHARED, stream, \
                       j);                                                                         \
        else                                                                                       \
            LRA_LAUNCH(kernel<2>, at_grid(&(j).s, by_key, width, 2), LRA_BLOCK, AT_SHARED, stream, \
                       j);                                                                         \
    } while (0)

#endif
