/* Attention in bf16 on tensor cores, for widths up to 128: code that the kernels share, and the
 * forward kernel.
 * A block of 128 threads holds 128 rows of one head (64 if the head is wider than 64). A warp holds
 * 32 (16) of them as rows of mma.m16n8k16. Rows of the other sequence are loaded in tiles of 64;
 * the next tile is copied while the current one is multiplied. Scores stay in registers, where they
 * become the left operand of the next product. Exponentials are computed as powers of two.
 *
 * A pair of query and key costs 4 K FLOP on tensor cores and one exponential. A multiprocessor
 * computes 16 exponentials per clock. They limit the speed of heads of width 32; the products limit
 * that of width 64 and more. */
#ifndef LRA_OPS_ATTENTION_ATTENTION_MMA_H
#define LRA_OPS_ATTENTION_ATTENTION_MMA_H

#include "kernels/cuda/tensor.h"
#include "kernels/ops/attention/attention_cuda.h"

enum { AM_THREADS = 128, AM_TILE = 64, AM_WIDEST = 128 };
#define AM_LOG2E 1.44269504f

/* W: width of the kernel, at least that of the heads. */
#define AM_M(W)     ((W) <= 64 ? 2 : 1)         /* tiles of 16 rows per warp */
#define AM_ROWS(W)  (64 * AM_M(W))              /* rows per block */
#define AM_PITCH(W) ((W) + 8)                   /* row stride; the padding avoids bank conflicts */
#define AM_STAGE(W) (2 * AM_TILE * AM_PITCH(W)) /* elements of two tiles */

/* Starts copying ROWS rows from x0 on to shared memory. Rows after the last token and channels
 * after the last one are zero. A thread copies the same 8 channels of every (AM_THREADS / (W /
 * 8))-th row. */
template <int W, int ROWS>
LRA_DEV void am_load(const elem *x, const attention_rows *r, int x0, elem *to)
{
    enum { APART = AM_THREADS / (W / 8) };
    int row = threadIdx.x / (W / 8), c = threadIdx.x % (W / 8) * 8, left = r->n - x0 - row;
    int step = (int)r->step;
    const elem *from = x + r->first + (int64_t)(x0 + row) * step + c;
    if (c >= r->width) left = 0;
    to += row * AM_PITCH(W) + c;
    LRA_UNROLL for (int i = 0; i < ROWS / APART; i++)
    {
        bool valid = i * APART < left;
        tc_copy16(to + i * APART * AM_PITCH(W), valid ? from + i * APART * step : x, valid);
    }
}

LRA_DEV int am_lane(void)
{
    return (int)threadIdx.x % LRA_WARP;
}
/* First row, within the block, of this warp. */
template <int W> LRA_DEV int am_row0(void)
{
    return (int)threadIdx.x / LRA_WARP * 16 * AM_M(W);
}
/* Row, within the block, of the accumulators [m][..][2 half + ..] of this thread. am_column() is
 * the first of their columns. */
template <int W> LRA_DEV int am_row(int m, int half)
{
    return am_row0<W>() + 16 * m + 8 * half + am_lane() / 4;
}
LRA_DEV int am_column(int n)
{
    return 8 * n + am_lane() % 4 * 2;
}

/* Loads channels 16 k .. 16 k + 15 of a warp's rows as left operands. */
template <int W> LRA_DEV void am_left(const elem *x, int k, uint32_t a[AM_M(W)][4])
{
    LRA_UNROLL for (int m = 0; m < AM_M(W); m++)
        tc_load4(a[m], x + (am_row0<W>() + 16 * m + am_lane() % 16) * AM_PITCH(W) + 16 * k +
                           am_lane() / 16 * 8);
}

/* s (rows, N columns) += left y^T over channels 16 k .. 16 k + 15; y: N rows in shared memory. */
template <int W, int N>
LRA_DEV void am_score(const uint32_t a[AM_M(W)][4], const elem *y, int k,
                      float s[AM_M(W)][N / 8][4])
{
    LRA_UNROLL for (int n = 0; n < N / 16; n++)
    {
        uint32_t b[4];
        tc_load4(b, y + (16 * n + am_lane() % 8 + am_lane() / 16 * 8) * AM_PITCH(W) + 16 * k +
                        am_lane() / 8 % 2 * 8);
        LRA_UNROLL for (int m = 0; m < AM_M(W); m++)
        {
            tc_mma(s[m][2 * n], a[m], b[0], b[1]);
            tc_mma(s[m][2 * n + 1], a[m], b[2], b[3]);
        }
    }
}

/* sum (rows, W channels) += s y. s (rows, N) is rounded to bf16; y: N rows in shared memory. */
template <int W, int N>
LRA_DEV void am_apply(const float s[AM_M(W)][N / 8][4], const elem *y, float sum[AM_M(W)][W / 8][4])
{
    LRA_UNROLL for (int k = 0; k < N / 16; k++)
    {
        uint32_t a[AM_M(W)][4], b[4];
        LRA_UNROLL for (int m = 0; m < AM_M(W); m++) LRA_UNROLL for (int i = 0; i < 4; i++)
            a[m][i] = tc_pair(s[m][2 * k + i / 2][i % 2 * 2], s[m][2 * k + i / 2][i % 2 * 2 + 1]);
        LRA_UNROLL for (int n = 0; n < W / 16; n++)
        {
            tc_load4_t(b,
                       y + (16 * k + am_lane() % 16) * AM_PITCH(W) + 16 * n + am_lane() / 16 * 8);
            LRA_UNROLL for (int m = 0; m < AM_M(W); m++)
            {
                tc_mma(sum[m][2 * n], a[m], b[0], b[1]);
                tc_mma(sum[m][2 * n + 1], a[m], b[2], b[3]);
            }
        }
    }
}

/* ---- softmax, in powers of two --------------------------------------------------------------- */

/* am_factor(): factor of a score as a function of the distance. am_distant(): the score, times log2
 * e. Without decay and slope the products are kept unscaled, and a score times log2 e is am_unit()
 * times its product. */
LRA_DEV float am_factor(const attention_place *p, int distance)
{
    return p->scale * tc_exp2(-p->decay * AM_LOG2E * (float)distance);
}
LRA_DEV float am_distant(const attention_place *p, float product, int distance)
{
    return AM_LOG2E * (product * am_factor(p, distance) - p->slope * (float)distance);
}
template <bool DISTANT> LRA_DEV float am_unit(const attention_place *p)
{
    return DISTANT ? 1.0f : p->scale * AM_LOG2E;
}

/* Visible range [from, to) of each row of the block, followed by the intersection of all these
 * ranges. They are computed once and kept in shared memory, so that 64-bit numbers and divisions by
 * the chunk length do not occupy registers that the accumulators need. */
typedef struct {
    int from, to;
} am_range;
#define AM_MET(W) ((AM_ROWS(W) + 1) * sizeof(am_range)) /* bytes of shared memory */

LRA_DEV am_range am_range_of(const attention_place *p, int t, bool by_key)
{
    attention_range k = attention_met(by_key, &p->m, t);
    am_range r = {(int)k.from, (int)k.to};
    return r;
}
template <int W> LRA_DEV void am_meet(const attention_place *p, bool by_key, am_range *met)
{
    int end = p->t0 + AM_ROWS(W), last = (end < p->n ? end : p->n) - 1;
    for (int row = threadIdx.x; row < AM_ROWS(W); row += AM_THREADS)
        met[row] = am_range_of(p, p->t0 + row, by_key);
    if (threadIdx.x > 0) return;
    /* intersection over the rows without padding; both ends are non-decreasing in the row */
    am_range all = {0, 0};
    if (last >= p->t0) {
        all.from = am_range_of(p, last, by_key).from;
        all.to = am_range_of(p, p->t0, by_key).to;
    }
    met[AM_ROWS(W)] = all;
}

/* Turns products with the columns from j0 on into scores; masked pairs get -infinity. */
template <int W, bool DISTANT, int N>
LRA_DEV void am_mask(const attention_place *p, const am_range *met, int j0,
                     float s[AM_M(W)][N / 8][4])
{
    am_range all = met[AM_ROWS(W)];
    bool whole = j0 >= all.from && j0 + N <= all.to;
    LRA_UNROLL for (int m = 0; m < AM_M(W); m++) LRA_UNROLL for (int half = 0; half < 2; half++)
    {
        int t = p->t0 + am_row<W>(m, half);
        if (DISTANT)
            LRA_UNROLL for (int n = 0; n < N / 8; n++) LRA_UNROLL for (int k = 0; k < 2; k++)
            {
                float *v = &s[m][n][2 * half + k];
                *v = am_distant(p, *v, attention_distance(t, j0 + am_column(n) + k));
            }
        if (whole) continue;
        am_range r = met[am_row<W>(m, half)];
        int from = r.from - j0, to = r.to - j0;
        LRA_UNROLL for (int n = 0; n < N / 8; n++)
            LRA_UNROLL for (int k = 0; k < 2;
                            k++) if (am_column(n) + k < from || am_column(n) + k >= to)
                s[m][n][2 * half + k] = -INFINITY;
    }
}

/* Turns scores into exp(score - max). max: maximum of each row so far, in units of `unit`; sum:
 * this thread's part of the row's sum. Where the maximum grows, the accumulators `sums` of earlier
 * tiles are rescaled, and so are the 2 M numbers per thread in `also`, AM_THREADS apart. Nullable:
 * also */
template <int W, int N>
LRA_DEV void am_exp(float unit, float s[AM_M(W)][N / 8][4], float max[AM_M(W)][2],
                    float sum[AM_M(W)][2], float sums[AM_M(W)][W / 8][4], float *also)
{
    LRA_UNROLL for (int m = 0; m < AM_M(W); m++) LRA_UNROLL for (int half = 0; half < 2; half++)
    {
        float top = max[m][half];
        LRA_UNROLL for (int n = 0; n < N / 8; n++) LRA_UNROLL for (int k = 0; k < 2; k++)
            top = fmaxf(top, s[m][n][2 * half + k]);
        top = fmaxf(top, __shfl_xor_sync(~0u, top, 1));
        top = fmaxf(top, __shfl_xor_sync(~0u, top, 2));
        /* 0 for a row without visible keys so far */
        float base = top > -INFINITY ? top * unit : 0.0f;
        if (top > max[m][half]) {
            float shrink = tc_exp2(max[m][half] * unit - base);
            max[m][half] = top, sum[m][half] *= shrink;
            if (also) also[(2 * m + half) * AM_THREADS] *= shrink;
            LRA_UNROLL for (int n = 0; n < W / 8; n++) LRA_UNROLL for (int k = 0; k < 2; k++)
                sums[m][n][2 * half + k] *= shrink;
        }
        LRA_UNROLL for (int n = 0; n < N / 8; n++) LRA_UNROLL for (int k = 0; k < 2; k++)
        {
            float *v = &s[m][n][2 * half + k];
            *v = tc_exp2(*v * unit - base);
            sum[m][half] += *v;
        }
    }
}

/* Sum over the four threads that share a row. */
LRA_DEV float am_quad(float v)
{
    v += __shfl_xor_sync(~0u, v, 1);
    return v + __shfl_xor_sync(~0u, v, 2);
}

/* Writes y = sums factor for the block's rows; rows of padding become zero. */
template <int W>
LRA_DEV void am_finish(const attention_place *p, const float factor[AM_M(W)][2],
                       float sums[AM_M(W)][W / 8][4], elem *y, const attention_rows *r)
{
    LRA_UNROLL for (int m = 0; m < AM_M(W); m++) LRA_UNROLL for (int half = 0; half < 2; half++)
    {
        int t = p->t0 + am_row<W>(m, half);
        elem *row = y + r->first + t * r->step;
        float f = factor[m][half];
        LRA_UNROLL for (int n = 0; n < W / 8; n++)
        {
            const float *v = &sums[m][n][2 * half];
            if (t < r->T && am_column(n) < r->width)
                *(uint32_t *)(row + am_column(n)) = t < r->n ? tc_pair(v[0] * f, v[1] * f) : 0;
        }
    }
}

/* ---- forward --------------------------------------------------------------------------------- */

/* Grid: x = tiles of queries times heads. */
template <int W, bool DISTANT>
static __global__ void __launch_bounds__(AM_THREADS, W <= 32 ? 3 : 2)
    attention_mma_kernel(attention_job j)
{
    LRA_SHARED(elem, stages); /* two stages, each with a tile of keys and one of values */
    enum { M = AM_M(W), ROWS = AM_ROWS(W), N = W <= 32 ? 32 : 64 };
    am_range *met = (am_range *)(stages + 2 * AM_STAGE(W));
    attention_place p = attention_find(&j, ROWS, false);
    attention_range reach = attention_reach(&p, p.t0 + ROWS, false);
    attention_rows of_q = attention_side(&j, &p, false, false);
    attention_rows of_k = attention_side(&j, &p, true, false);
    int j0 = (int)reach.from, end = (int)reach.to;
    uint32_t q[W / 16][M][4];
    float sums[M][W / 8][4] = {{{0}}}, max[M][2], sum[M][2] = {{0}};
    LRA_UNROLL for (int m = 0; m < M; m++) max[m][0] = max[m][1] = -INFINITY;
    am_meet<W>(&p, false, met);
    am_load<W, AM_TILE>(j.k, &of_k, j0, stages);
    am_load<W, AM_TILE>(j.v, &of_k, j0, stages + AM_STAGE(W) / 2);
    am_load<W, ROWS>(j.q, &of_q, p.t0, stages + AM_STAGE(W));
    tc_commit();
    tc_wait<0>();
    __syncthreads();
    LRA_UNROLL for (int k = 0; k < W / 16; k++) am_left<W>(stages + AM_STAGE(W), k, q[k]);
    __syncthreads();
    for (int now = 0; j0 < end; j0 += AM_TILE, now = 1 - now) {
        const elem *keys = stages + now * AM_STAGE(W), *values = keys + AM_STAGE(W) / 2;
        elem *next = stages + (1 - now) * AM_STAGE(W);
        if (j0 + AM_TILE < end) {
            am_load<W, AM_TILE>(j.k, &of_k, j0 + AM_TILE, next);
            am_load<W, AM_TILE>(j.v, &of_k, j0 + AM_TILE, next + AM_STAGE(W) / 2);
        }
        tc_commit();
        LRA_NO_UNROLL for (int at = 0; at < AM_TILE; at += N)
        {
            float s[M][N / 8][4] = {{{0}}};
            LRA_UNROLL for (int k = 0; k < W / 16; k++)
                am_score<W, N>(q[k], keys + at * AM_PITCH(W), k, s);
            am_mask<W, DISTANT, N>(&p, met, j0 + at, s);
            am_exp<W, N>(am_unit<DISTANT>(&p), s, max, sum, sums, NULL);
            am_apply<W, N>(s, values + at * AM_PITCH(W), sums);
        }
        tc_wait<0>();
        __syncthreads();
    }
    LRA_UNROLL for (int m = 0; m < M; m++) LRA_UNROLL for (int half = 0; half < 2; half++)
    {
        float total = am_quad(sum[m][half]);
        sum[m][half] = at_one(total);
        if (am_lane() % 4 == 0)
            at_leave_sum(&j, &p, p.t0 + am_row<W>(m, half), max[m][half] * am_unit<DISTANT>(&p),
                         total);
    }
    am_finish<W>(&p, sum, sums, j.out, &of_q);
}

/* ---- which kernel ---------------------------------------------------------------------------- */

/* True if the tensor-core kernels support this call. They need: widths that are multiples of eight
 * channels, the unit of a copy; values as wide as keys; no learned bias, because its gradient needs
 * row statistics of the plain kernels; no list of blocks, for which the plain kernels skip tiles;
 * no dropout. */
static inline bool attention_mma_fits(const attention_job *j)
{
    bool aligned = is_aligned(j->q, j->k, j->v) && is_aligned(j->out, j->dy, j->y) &&
                   is_aligned(j->dk, j->dv, NULL);
    int64_t K = j->s.K;
    return aligned && !j->bias && !j->a.laplace && !j->blocks && !j->step && K == j->s.V &&
           K % 8 == 0 && K <= AM_WIDEST;
}

static inline bool attention_is_distant(const attention_job *j)
{
    for (int64_t h = 0; h < j->s.H / j->a.stride; h++)
        if (j->a.decay[h] > 0 || j->a.slope[h] != 0) return true;
    return false;
}

/* Calls f<W, DISTANT>(args...) with the smallest W of the kernels that is at least K. */
#define AM_FOR_WIDTH(f, K, distant, ...)                                                           \
    do {                                                                                           \
        if ((K) <= 16)                                                                             \
            (distant) ? f<16, true>(__VA_ARGS__) : f<16, false>(__VA_ARGS__);                      \
        else if ((K) <= 32)                                                                        \
            (distant) ? f<32, true>(__VA_ARGS__) : f<32, false>(__VA_ARGS__);                      \
        else if ((K) <= 64)                                                                        \
            (distant) ? f<64, true>(__VA_ARGS__) : f<64, false>(__VA_ARGS__);                      \
        else                                                                                       \
            (distant) ? f<128, true>(__VA_ARGS__) : f<128, false>(__VA_ARGS__);                    \
    } while (0)

template <int W, bool DISTANT>
static inline void attention_mma_run(const attention_job *j, void *stream)
{
    size_t shared = 2 * AM_STAGE(W) * sizeof(elem) + AM_MET(W);
    unsigned blocks = attention_blocks(&j->s, AM_ROWS(W), false);
    auto kernel = attention_mma_kernel<W, DISTANT>;
    LRA_ALLOW_SHARED(kernel, shared);
    LRA_LAUNCH(kernel, blocks, AM_THREADS, shared, stream, *j);
}

#endif
