/* Gradients of attention in bf16 on tensor cores, in the two passes of attention_grad.cu. The pass
 * over queries resembles the forward kernel. In the pass over keys a block holds its keys and
 * values in shared memory, and loads tiles of queries and their gradients.
 *
 * A softmax has sum_j g_ij = 0, where g is the gradient of the scores. But g is rounded to bf16 for
 * the product with k, and dy y uses the rounded y. If keys are similar to each other, both errors
 * exceed dq. The pass over queries therefore sums the rounded g of a row; this sum is called the
 * drift. Then it
 *   - subtracts drift times the mean key from dq, which makes dq the sum of g_ij (k_j - mean), as
 *     if the keys had been centred;
 *   - adds the drift to dy y for the pass over keys, whose g then sum to 0 over j up to rounding.
 * With distance decay the sum is not 0, and both corrections are omitted.
 * Cost per pair: 6 K FLOP in the pass over queries and 8 K FLOP in the pass over keys on tensor
 * cores, and one exponential in each pass. */
#ifndef LRA_OPS_ATTENTION_ATTENTION_BACK_MMA_H
#define LRA_OPS_ATTENTION_ATTENTION_BACK_MMA_H

#include "kernels/ops/attention/attention_mma.h"

enum { AM_LEFT = 2 }; /* two numbers stored per query: log2 of the sum of exponentials, dy y */
/* Columns of scores that are computed at a time, as many as fit in registers. */
#define AM_STEP(DISTANT) ((DISTANT) ? 16 : 32)

/* ---- of queries ------------------------------------------------------------------------------ */

/* dot = dy y for the rows of this thread. The four threads of a row all receive the sum. */
template <int W>
LRA_DEV void am_dot(const attention_job *j, const attention_place *p, float dot[AM_M(W)][2])
{
    attention_rows r = attention_side(j, p, false, true);
    LRA_UNROLL for (int m = 0; m < AM_M(W); m++) LRA_UNROLL for (int half = 0; half < 2; half++)
    {
        int t = p->t0 + am_row<W>(m, half);
        int64_t at = r.first + t * r.step;
        float sum = 0;
        for (int c = am_lane() % 4 * LRA_LANES; c < r.width && t < p->n; c += 4 * LRA_LANES) {
            real dy[LRA_LANES], y[LRA_LANES];
            load8(j->dy, ELEM_TYPE, at + c, LRA_LANES, true, dy);
            load8(j->y, ELEM_TYPE, at + c, LRA_LANES, true, y);
            for (int k = 0; k < LRA_LANES; k++) sum += dy[k] * y[k];
        }
        dot[m][half] = am_quad(sum);
    }
}

/* s *= (dp - dot) f for one step of columns, with dp = dy v. s holds exponentials on entry; on
 * return it holds f g up to the factor 1/sum of the row. */
template <int W, bool DISTANT>
LRA_DEV void am_times_ds(const attention_place *p, int j0, const float dot[AM_M(W)][2],
                         const float dp[AM_M(W)][AM_STEP(DISTANT) / 8][4],
                         float s[AM_M(W)][AM_STEP(DISTANT) / 8][4])
{
    LRA_UNROLL for (int m = 0; m < AM_M(W); m++)
        LRA_UNROLL for (int n = 0; n < AM_STEP(DISTANT) / 8; n++)
            LRA_UNROLL for (int i = 0; i < 4; i++)
    {
        s[m][n][i] *= dp[m][n][i] - dot[m][i / 2];
        if (DISTANT) {
            int t = p->t0 + am_row<W>(m, i / 2);
            s[m][n][i] *= am_factor(p, attention_distance(t, j0 + am_column(n) + i % 2));
        }
    }
}

/* drift += row sums of s, rounded to bf16 as in am_apply(). drift holds 2 M numbers per thread in
 * shared memory, AM_THREADS apart, because the accumulators occupy the registers. */
template <int W, int N> LRA_DEV void am_add_drift(const float s[AM_M(W)][N / 8][4], float *drift)
{
    LRA_UNROLL for (int m = 0; m < AM_M(W); m++) LRA_UNROLL for (int half = 0; half < 2; half++)
    {
        float sum = 0;
        LRA_UNROLL for (int n = 0; n < N / 8; n++)
        {
            uint32_t pair = tc_pair(s[m][n][2 * half], s[m][n][2 * half + 1]);
            sum += bits_real(pair << 16) + bits_real(pair & 0xFFFF0000u);
        }
        drift[(2 * m + half) * AM_THREADS] += sum;
    }
}

/* Subtracts drift times the mean key from the accumulators (sums) of each row. */
template <int W>
LRA_DEV void am_center(const attention_job *j, const attention_place *p, const float *drift,
                       float sums[AM_M(W)][W / 8][4])
{
    const real *mean = j->means + p->head * (j->s.K + j->s.V);
    LRA_UNROLL for (int m = 0; m < AM_M(W); m++) LRA_UNROLL for (int half = 0; half < 2; half++)
    {
        float total = am_quad(drift[(2 * m + half) * AM_THREADS]);
        LRA_UNROLL for (int n = 0; n < W / 8; n++)
            LRA_UNROLL for (int k = 0; k < 2; k++) if (am_column(n) + k < j->s.K)
                sums[m][n][2 * half + k] -= total * mean[am_column(n) + k];
    }
}

/* Stores the row statistics that the pass over keys needs, for the rows of this thread. On return
 * `sum` holds the factor by which the accumulators of a row are multiplied. */
template <int W, bool DISTANT>
LRA_DEV void am_store(const attention_job *j, const attention_place *p, const float max[AM_M(W)][2],
                      const float dot[AM_M(W)][2], const float *drift, float sum[AM_M(W)][2])
{
    /* with DISTANT the accumulators already contain the scale */
    float unit = DISTANT ? (p->scale != 0 ? 1 / p->scale : 0.0f) : 1.0f;
    LRA_UNROLL for (int m = 0; m < AM_M(W); m++) LRA_UNROLL for (int half = 0; half < 2; half++)
    {
        int t = p->t0 + am_row<W>(m, half);
        float *left = j->rows + (p->head * j->s.Tq + t) * AM_LEFT, total = am_quad(sum[m][half]);
        float off = am_quad(drift[(2 * m + half) * AM_THREADS]) * at_one(total) * unit;
        sum[m][half] = (DISTANT ? 1.0f : p->scale) * at_one(total);
        if (t >= p->n || am_lane() % 4 != 0) continue;
        left[0] = total == 0 ? 0 : max[m][half] * am_unit<DISTANT>(p) + log2f(total);
        left[1] = dot[m][half] + (p->decay == 0 ? off : 0.0f);
    }
}

#define AM_DRIFT(W) (2 * AM_M(W) * AM_THREADS * sizeof(float)) /* bytes of shared memory */
/* Width at which dy and q do not both fit in registers; dy then stays in shared memory. */
#define AM_AGAIN(W) ((W) == 64)

/* Grid: x = tiles of queries times heads. */
template <int W, bool DISTANT>
static __global__ void __launch_bounds__(AM_THREADS, 2) attention_dq_mma_kernel(attention_job j)
{
    LRA_SHARED(elem, stages); /* two stages, each with a tile of keys and one of values */
    enum { M = AM_M(W), ROWS = AM_ROWS(W), N = AM_STEP(DISTANT), AGAIN = AM_AGAIN(W) };
    /* rows of dy in shared memory, which are read again for each tile */
    elem *own = stages + 2 * AM_STAGE(W);
    am_range *met = (am_range *)(own + AM_AGAIN(W) * ROWS * AM_PITCH(W));
    float *drift = (float *)(met + ROWS + 1) + threadIdx.x; /* first of this thread's numbers */
    attention_place p = attention_find(&j, ROWS, false);
    attention_range reach = attention_reach(&p, p.t0 + ROWS, false);
    attention_rows of_q = attention_side(&j, &p, false, false);
    attention_rows of_k = attention_side(&j, &p, true, false);
    int j0 = (int)reach.from, end = (int)reach.to;
    uint32_t q[W / 16][M][4], dy[AGAIN ? 1 : W / 16][M][4];
    float sums[M][W / 8][4] = {{{0}}}, max[M][2], sum[M][2] = {{0}}, dot[M][2];
    LRA_UNROLL for (int m = 0; m < M; m++) max[m][0] = max[m][1] = -INFINITY;
    LRA_UNROLL for (int i = 0; i < 2 * M; i++) drift[i * AM_THREADS] = 0;
    am_meet<W>(&p, false, met);
    am_load<W, ROWS>(j.dy, &of_q, p.t0, AGAIN ? own : stages);
    am_load<W, ROWS>(j.q, &of_q, p.t0, stages + AM_STAGE(W));
    tc_commit();
    am_dot<W>(&j, &p, dot);
    tc_wait<0>();
    __syncthreads();
    LRA_UNROLL for (int k = 0; k < W / 16 && !AGAIN; k++) am_left<W>(stages, k, dy[k]);
    LRA_UNROLL for (int k = 0; k < W / 16; k++) am_left<W>(stages + AM_STAGE(W), k, q[k]);
    __syncthreads();
    am_load<W, AM_TILE>(j.k, &of_k, j0, stages);
    am_load<W, AM_TILE>(j.v, &of_k, j0, stages + AM_STAGE(W) / 2);
    tc_commit();
    for (int now = 0; j0 < end; j0 += AM_TILE, now = 1 - now) {
        const elem *keys = stages + now * AM_STAGE(W), *values = keys + AM_STAGE(W) / 2;
        elem *next = stages + (1 - now) * AM_STAGE(W);
        tc_wait<0>();
        /* after this barrier the tile is loaded, and no warp still reads the previous one */
        __syncthreads();
        if (j0 + AM_TILE < end) {
            am_load<W, AM_TILE>(j.k, &of_k, j0 + AM_TILE, next);
            am_load<W, AM_TILE>(j.v, &of_k, j0 + AM_TILE, next + AM_STAGE(W) / 2);
        }
        tc_commit();
        LRA_NO_UNROLL for (int at = 0; at < AM_TILE; at += N)
        {
            float s[M][N / 8][4] = {{{0}}}, dp[M][N / 8][4] = {{{0}}};
            LRA_UNROLL for (int k = 0; k < W / 16; k++)
            {
                am_score<W, N>(q[k], keys + at * AM_PITCH(W), k, s);
                if (AGAIN) am_left<W>(own, k, dy[0]);
                am_score<W, N>(dy[AGAIN ? 0 : k], values + at * AM_PITCH(W), k, dp);
            }
            am_mask<W, DISTANT, N>(&p, met, j0 + at, s);
            am_exp<W, N>(am_unit<DISTANT>(&p), s, max, sum, sums, drift);
            am_times_ds<W, DISTANT>(&p, j0 + at, dot, dp, s);
            am_add_drift<W, N>(s, drift);
            am_apply<W, N>(s, keys + at * AM_PITCH(W), sums);
        }
    }
    tc_wait<0>(); /* equivalent without it: the last group is empty */
    if (p.decay == 0) am_center<W>(&j, &p, drift, sums);
    am_store<W, DISTANT>(&j, &p, max, dot, drift, sum);
    am_finish<W>(&p, sum, sums, j.out, &of_q);
}

/* ---- of keys --------------------------------------------------------------------------------- */

/* Values that the epilogue needs. They are kept in shared memory, because the accumulators occupy
 * the registers until then. */
typedef struct {
    attention_place place;
    attention_rows of_k;
} am_kept;

/* AM_QUERIES: queries per tile. AM_BACK_STAGE: elements of a stage, which holds the rows of q and
 * of dy of a tile. The row statistics are stored separately. */
#define AM_QUERIES(W)    ((W) <= 64 ? 64 : 32)
#define AM_BACK_STAGE(W) (2 * AM_QUERIES(W) * AM_PITCH(W))
#define AM_BACK_SHARED(W)                                                                          \
    ((2 * AM_ROWS(W) * AM_PITCH(W) + 2 * AM_BACK_STAGE(W)) * sizeof(elem) +                        \
     2 * AM_QUERIES(W) * AM_LEFT * sizeof(float) + AM_MET(W) + sizeof(am_kept))

/* Starts copying a tile of queries: rows of q, dy and row statistics. rows: the row statistics of
 * all queries of this head. */
template <int W>
LRA_DEV void am_load_queries(const attention_job *j, const attention_rows *r, const float *rows,
                             int i0, elem *to, float *left)
{
    am_load<W, AM_QUERIES(W)>(j->q, r, i0, to);
    am_load<W, AM_QUERIES(W)>(j->dy, r, i0, to + AM_BACK_STAGE(W) / 2);
    int t = i0 + (int)threadIdx.x;
    if (threadIdx.x < AM_QUERIES(W))
        tc_copy8(left + threadIdx.x * AM_LEFT, t < r->n ? rows + t * AM_LEFT : rows, t < r->n);
    tc_commit();
}

/* s (rows, N columns) += x y^T. x: the block's rows in shared memory, which are read again in each
 * step. */
template <int W, int N>
LRA_DEV void am_scores(const elem *x, const elem *y, float s[AM_M(W)][N / 8][4])
{
    LRA_UNROLL for (int k = 0; k < W / 16; k++)
    {
        uint32_t a[AM_M(W)][4];
        am_left<W>(x, k, a);
        am_score<W, N>(a, y, k, s);
    }
}

/* Turns scores s (keys, queries from i0 on) into p, and products dp = v dy into f g. left: row
 * statistics of these queries. */
template <int W, bool DISTANT>
LRA_DEV void am_differentiate(const attention_place *p, int i0, const float *left,
                              float s[AM_M(W)][AM_STEP(DISTANT) / 8][4],
                              float dp[AM_M(W)][AM_STEP(DISTANT) / 8][4])
{
    LRA_UNROLL for (int n = 0; n < AM_STEP(DISTANT) / 8; n++)
    {
        float4 two = *(const float4 *)(left + am_column(n) * AM_LEFT);
        const float log_sum[2] = {two.x, two.z}, dot[2] = {two.y, two.w};
        LRA_UNROLL for (int m = 0; m < AM_M(W); m++) LRA_UNROLL for (int i = 0; i < 4; i++)
        {
            float e = tc_exp2(s[m][n][i] * am_unit<DISTANT>(p) - log_sum[i % 2]);
            s[m][n][i] = e;
            dp[m][n][i] = e * (dp[m][n][i] - dot[i % 2]);
            if (DISTANT) {
                int key = p->t0 + am_row<W>(m, i / 2);
                dp[m][n][i] *= am_factor(p, attention_distance(i0 + am_column(n) + i % 2, key));
            }
        }
    }
}

/* Grid: x = tiles of keys times heads. */
template <int W, bool DISTANT>
static __global__ void __launch_bounds__(AM_THREADS, 2) attention_dkv_mma_kernel(attention_job j)
{
    LRA_SHARED(elem, keys);
    enum { M = AM_M(W), ROWS = AM_ROWS(W), N = AM_STEP(DISTANT), TILE = AM_QUERIES(W) };
    elem *values = keys + ROWS * AM_PITCH(W), *stages = values + ROWS * AM_PITCH(W);
    float *left = (float *)(stages + 2 * AM_BACK_STAGE(W));
    am_range *met = (am_range *)(left + 2 * TILE * AM_LEFT);
    am_kept *kept = (am_kept *)(met + ROWS + 1);
    attention_place p = attention_find(&j, ROWS, true);
    attention_range reach = attention_reach(&p, p.t0 + ROWS, true);
    attention_rows of_k = attention_side(&j, &p, true, false);
    attention_rows of_q = attention_side(&j, &p, false, false);
    const float *rows = j.rows + p.head * j.s.Tq * AM_LEFT;
    int i0 = (int)reach.from, end = (int)reach.to;
    if (threadIdx.x == 0) kept->place = p, kept->of_k = of_k;
    float dk[M][W / 8][4] = {{{0}}}, dv[M][W / 8][4] = {{{0}}};
    am_meet<W>(&p, true, met);
    am_load<W, ROWS>(j.k, &of_k, p.t0, keys);
    am_load<W, ROWS>(j.v, &of_k, p.t0, values);
    am_load_queries<W>(&j, &of_q, rows, i0, stages, left);
    for (int now = 0; i0 < end; i0 += TILE, now = 1 - now) {
        const elem *q = stages + now * AM_BACK_STAGE(W), *dy = q + AM_BACK_STAGE(W) / 2;
        tc_wait<0>();
        /* after this barrier the tile is loaded, and no warp still reads the previous one */
        __syncthreads();
        if (i0 + TILE < end)
            am_load_queries<W>(&j, &of_q, rows, i0 + TILE, stages + (1 - now) * AM_BACK_STAGE(W),
                               left + (1 - now) * TILE * AM_LEFT);
        LRA_NO_UNROLL for (int at = 0; at < TILE; at += N)
        {
            float s[M][N / 8][4] = {{{0}}}, dp[M][N / 8][4] = {{{0}}};
            am_scores<W, N>(keys, q + at * AM_PITCH(W), s);
            am_scores<W, N>(values, dy + at * AM_PITCH(W), dp);
            am_mask<W, DISTANT, N>(&p, met, i0 + at, s);
            am_differentiate<W, DISTANT>(&p, i0 + at, left + (now * TILE + at) * AM_LEFT, s, dp);
            am_apply<W, N>(s, dy + at * AM_PITCH(W), dv);
            am_apply<W, N>(dp, q + at * AM_PITCH(W), dk);
        }
    }
    tc_wait<0>(); /* equivalent without it: the loop has waited for the last tile */
    __syncthreads();
    p = kept->place, of_k = kept->of_k;
    float factor[M][2];
    LRA_UNROLL for (int m = 0; m < M; m++) factor[m][0] = factor[m][1] = 1;
    am_finish<W>(&p, factor, dv, j.dv, &of_k);
    LRA_UNROLL for (int m = 0; m < M; m++) factor[m][0] = factor[m][1] = DISTANT ? 1 : p.scale;
    am_finish<W>(&p, factor, dk, j.dk, &of_k);
}

template <int W, bool DISTANT>
static inline void attention_back_mma_run(const attention_job *j, void *stream)
{
    size_t again = AM_AGAIN(W) ? AM_ROWS(W) * AM_PITCH(W) : 0;
    size_t shared = (2 * AM_STAGE(W) + again) * sizeof(elem) + AM_MET(W) + AM_DRIFT(W),
           by_key = AM_BACK_SHARED(W);
    unsigned of_q = attention_blocks(&j->s, AM_ROWS(W), false);
    unsigned of_k = attention_blocks(&j->s, AM_ROWS(W), true);
    auto queries = attention_dq_mma_kernel<W, DISTANT>;
    auto keys = attention_dkv_mma_kernel<W, DISTANT>;
    LRA_ALLOW_SHARED(queries, shared);
    LRA_LAUNCH(queries, of_q, AM_THREADS, shared, stream, *j);
    LRA_ALLOW_SHARED(keys, by_key);
    LRA_LAUNCH(keys, of_k, AM_THREADS, by_key, stream, *j);
}

#endif
