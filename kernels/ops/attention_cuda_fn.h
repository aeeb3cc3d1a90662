/* Attention in plain CUDA, any widths, float32 and bf16: what the kernels of the ops share.  A block of 256 threads
 * has 64 rows (queries, or keys where gradients of keys are summed) of one head and meets the other side 64 rows at
 * a time; a thread has 4 x 4 scores.  What the tensor-core kernels are compared with, and what float32 runs.
 * Rows are read through the caches: 16 FLOP a byte and more, so that arithmetic is the limit. */
#ifndef LRA_OPS_ATTENTION_CUDA_FN_H
#define LRA_OPS_ATTENTION_CUDA_FN_H

#include "kernels/ops/attention.h"
#include "kernels/ops/cuda_fn.h"

enum {
    AT_TILE = 64,
    AT_DEPTH = 32,
    AT_PITCH = AT_TILE + 4,
    AT_SUMS = 4,
    AT_LANES = AT_TILE / AT_SUMS /* threads that share a row */
};

typedef struct {
    attention_args a;
    int64_t T, H, K;
    const int32_t *length;
    const elem *q, *k, *v, *dy, *y; /* (B,T,H,K) */
    elem *out, *dk, *dv;            /* y, or dq; the same */
    real *rows;                     /* (B H, T, ATTENTION_LEFT) */
} attention_job;

/* What a block works on. */
typedef struct {
    int64_t head, first; /* of all B H; its first element */
    int n, t0;           /* tokens of the example; first row of the tile */
    real scale, decay, slope;
} attention_place;

/* Blocks for tiles of `tile` rows: tiles of a head, then heads. */
static inline unsigned attention_blocks(const lra_shape *s, int64_t tile)
{
    return (unsigned)((s->d[1] + tile - 1) / tile * s->d[0] * s->d[2]);
}

/* A head of all B H, its first tile. */
LRA_DEV attention_place attention_of(const attention_job *j, int64_t head)
{
    int64_t b = head / j->H, h = head % j->H;
    attention_place p;
    p.head = head, p.first = (b * j->T * j->H + h) * j->K;
    p.n = (int)(j->length ? j->length[b] : j->T), p.t0 = 0;
    p.scale = (real)j->a.scale;
    p.decay = (real)j->a.decay[h], p.slope = (real)j->a.slope[h];
    return p;
}

/* The last tiles of causal attention have the most keys and are begun first. */
LRA_DEV attention_place attention_find(const attention_job *j, int tile)
{
    int64_t tiles = (j->T + tile - 1) / tile;
    attention_place p = attention_of(j, blockIdx.x / tiles);
    p.t0 = (int)(tiles - 1 - blockIdx.x % tiles) * tile;
    return p;
}

LRA_DEV real attention_factor(const attention_place *p, int distance)
{
    return p->decay > 0 ? p->scale * r_exp(-p->decay * (real)distance) : p->scale;
}
LRA_DEV real attention_score(const attention_place *p, real product, int distance)
{
    return product * attention_factor(p, distance) - p->slope * (real)distance;
}
LRA_DEV int attention_distance(int i, int j)
{
    return i > j ? i - j : j - i;
}

/* What any of the rows [t0, end) meets: keys, or queries if the rows are keys. */
LRA_DEV attention_keys attention_reach(const attention_job *j, const attention_place *p, int end,
                                       bool by_key)
{
    int last = (end < p->n ? end : p->n) - 1;
    attention_keys k = {0, 0};
    if (last < p->t0) return k;
    k.from = attention_met(by_key, &j->a, p->t0, p->n).from;
    k.to = attention_met(by_key, &j->a, last, p->n).to;
    return k;
}

/* ---- a block of 256 threads ------------------------------------------------------------------------- */

/* A thread's first row, and which of the threads of these rows it is. */
LRA_DEV int at_row(void)
{
    return (int)threadIdx.x / AT_LANES * AT_SUMS;
}
LRA_DEV int at_lane(void)
{
    return (int)threadIdx.x % AT_LANES;
}

LRA_DEV real at_load(const attention_job *j, const attention_place *p, const elem *x, int t, int c)
{
    return t < p->n && c < j->K ? e_load(x[p->first + t * j->H * j->K + c]) : R(0.0);
}

/* s (rows, lane + 16 k) += x y^T: 64 rows of x from x0 on and of y from y0 on.  shared: AT_TILE AT_PITCH */
LRA_DEV void at_products(const attention_job *j, const attention_place *p, const elem *x, int x0,
                         const elem *y, int y0, real *shared, real s[AT_SUMS][AT_SUMS])
{
    real *xs = shared, *ys = shared + AT_DEPTH * AT_PITCH;
    for (int c0 = 0; c0 < j->K; c0 += AT_DEPTH) {
        __syncthreads();
        LRA_UNROLL_4 for (int e = threadIdx.x; e < AT_TILE * AT_DEPTH; e += LRA_BLOCK)
        {
            int t = e / 8 % AT_TILE, c = e % 8 + e / 8 / AT_TILE * 8; /* no bank twice */
            xs[c * AT_PITCH + t] = at_load(j, p, x, x0 + t, c0 + c);
            ys[c * AT_PITCH + t] = at_load(j, p, y, y0 + t, c0 + c);
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

/* Puts a tile where at_add() reads it: (columns, rows). */
LRA_DEV void at_put(const real s[AT_SUMS][AT_SUMS], real *tile)
{
    __syncthreads();
    LRA_UNROLL for (int k = 0; k < AT_SUMS; k++) LRA_UNROLL for (int i = 0; i < AT_SUMS; i++)
        tile[(at_lane() + AT_LANES * k) * AT_PITCH + at_row() + i] = s[i][k];
}

/* sum (rows, 4 lane + k of 64 channels from c0 on) += tile x, for CHUNKS times 64 channels; x: 64 rows from x0 on */
template <int CHUNKS>
LRA_DEV void at_add(const attention_job *j, const attention_place *p, const real *tile,
                    const elem *x, int x0, int c0, real *shared, real sum[CHUNKS][AT_SUMS][AT_SUMS])
{
    LRA_UNROLL for (int n = 0; n < CHUNKS; n++)
    {
        __syncthreads();
        LRA_UNROLL_4 for (int e = threadIdx.x; e < AT_TILE * AT_TILE; e += LRA_BLOCK)
            shared[e / AT_TILE * AT_PITCH + e % AT_TILE] = at_load(j, p, x, x0 + e / AT_TILE,
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

/* Rows from t0 on of y = sum factor, zero behind the tokens. */
template <int CHUNKS>
LRA_DEV void at_finish(const attention_job *j, const attention_place *p, int c0,
                       const real factor[AT_SUMS], real sum[CHUNKS][AT_SUMS][AT_SUMS], elem *y)
{
    LRA_UNROLL for (int n = 0; n < CHUNKS; n++) LRA_UNROLL for (int i = 0; i < AT_SUMS; i++)
        LRA_UNROLL for (int k = 0; k < AT_SUMS; k++)
    {
        int t = p->t0 + at_row() + i, c = c0 + n * AT_TILE + at_lane() * AT_SUMS + k;
        if (t < j->T && c < j->K)
            y[p->first + t * j->H * j->K + c] = t < p->n ? e_store(sum[n][i][k] * factor[i]) : 0;
    }
}

/* Sum or maximum over the threads of a row. */
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

/* The rows of a thread while keys pass by: maximum of the scores, its part of the sum of exp(score - max). */
typedef struct {
    int from[AT_SUMS], to[AT_SUMS];
    real max[AT_SUMS], sum[AT_SUMS];
} at_softmax;

LRA_DEV void at_begin(const attention_job *j, const attention_place *p, at_softmax *r)
{
    LRA_UNROLL for (int i = 0; i < AT_SUMS; i++)
    {
        int t = p->t0 + at_row() + i;
        attention_keys keys = {0, 0};
        if (t < p->n) keys = attention_keys_of(&j->a, t, p->n);
        r->from[i] = (int)keys.from, r->to[i] = (int)keys.to;
        r->max[i] = -INFINITY, r->sum[i] = 0;
    }
}

/* Products with the keys from j0 on become exp(score - max); shrink: what earlier terms are multiplied with. */
LRA_DEV void at_exp(const attention_place *p, int j0, at_softmax *r, real s[AT_SUMS][AT_SUMS],
                    real shrink[AT_SUMS])
{
    LRA_UNROLL for (int i = 0; i < AT_SUMS; i++)
    {
        real max = r->max[i];
        LRA_UNROLL for (int k = 0; k < AT_SUMS; k++)
        {
            int key = j0 + at_lane() + AT_LANES * k, t = p->t0 + at_row() + i;
            bool seen = key >= r->from[i] && key < r->to[i];
            s[i][k] = seen ? attention_score(p, s[i][k], attention_distance(t, key)) : -INFINITY;
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

template <int CHUNKS>
LRA_DEV void at_shrink(const real shrink[AT_SUMS], real sum[CHUNKS][AT_SUMS][AT_SUMS])
{
    LRA_UNROLL for (int n = 0; n < CHUNKS; n++) LRA_UNROLL for (int i = 0; i < AT_SUMS; i++)
        LRA_UNROLL for (int k = 0; k < AT_SUMS; k++) sum[n][i][k] *= shrink[i];
}

/* ---- launches ---------------------------------------------------------------------------------------- */

enum { AT_SHARED = 2 * AT_TILE * AT_PITCH * (int)sizeof(real) };

/* Blocks of 64 rows, and of the channels that a block adds up. */
static inline dim3 at_grid(const lra_shape *s, int chunks)
{
    int64_t columns = (s->d[3] + chunks * AT_TILE - 1) / (chunks * AT_TILE);
    return dim3(attention_blocks(s, AT_TILE), (unsigned)columns);
}

#endif
