/* Corrections of the gradients of attention on a GPU, as on the CPU
 * (attention_backward_template.h): the means of keys and values, and, in float32, the sum of the
 * rows of dk over the keys. This sum must be
 *   sum_j dk_j = sum_i q_i sum_j (f_ij - f) g_ij,
 * which is 0 without distance decay. The rounding errors of the rows are far larger than it. */
#ifndef LRA_OPS_ATTENTION_ATTENTION_SETTLE_CUDA_H
#define LRA_OPS_ATTENTION_ATTENTION_SETTLE_CUDA_H

#include "kernels/ops/attention/attention_cuda.h"

/* True if the sums of dk are corrected. In bf16 they are not: the rounding errors of the rows are
 * far larger than the sums. */
enum { AT_SETTLES = !LRA_TYPE_bf16 };

/* Sum over the eight threads of a column of a block of (32, 8), in a fixed order. All eight threads
 * receive it. shared: LRA_BLOCK numbers. The caller needs a barrier before it calls this function
 * again with the same numbers. */
LRA_DEV double column_sum(double v, double *shared)
{
    double sum = 0;
    shared[threadIdx.y * LRA_WARP + threadIdx.x] = v;
    __syncthreads();
    for (int y = 0; y < LRA_BLOCK_WARPS; y++) sum += shared[y * LRA_WARP + threadIdx.x];
    return sum;
}

/* Computes the means (B H, K+V). Thread (x,y) of a block of (32, 8): x = channel, y = every eighth
 * row. Grid: x = heads, y = groups of channels of keys, then of values. */
static __global__ void __launch_bounds__(LRA_BLOCK) attention_mean_kernel(attention_job j)
{
    LRA_SHARED(double, shared);
    int64_t keys = (j.s.K + LRA_WARP - 1) / LRA_WARP;
    bool values = blockIdx.y >= keys;
    attention_place p = attention_of(&j, blockIdx.x, true);
    attention_rows r = attention_side(&j, &p, true, values);
    int c = (int)(blockIdx.y - (values ? keys : 0)) * LRA_WARP + (int)threadIdx.x;
    const elem *x = values ? j.v : j.k;
    double sum = 0;
    for (int t = threadIdx.y; t < r.n && c < r.width; t += LRA_BLOCK_WARPS)
        sum += (double)e_load(x[r.first + t * r.step + c]);
    sum = column_sum(sum, shared);
    if (threadIdx.y == 0 && c < r.width)
        j.means[p.head * (j.s.K + j.s.V) + (values ? j.s.K : 0) + c] = r.n > 0 ? (real)(sum / r.n)
                                                                               : R(0.0);
}

static inline void attention_means_run(const attention_job *j, void *stream)
{
    int64_t chunks = (j->s.K + LRA_WARP - 1) / LRA_WARP + (j->s.V + LRA_WARP - 1) / LRA_WARP;
    LRA_LAUNCH(attention_mean_kernel, dim3((unsigned)(j->s.B * j->s.H), (unsigned)chunks),
               ROW_BLOCK, LRA_BLOCK * sizeof(double), stream, *j);
}

#if !LRA_TYPE_bf16
/* Subtracts from each element of a channel of dk `share` times its magnitude. Returns the channel's
 * sum afterwards; size: sum of magnitudes before. */
LRA_DEV double settle_pass(real *dk, const attention_rows *r, int c, real share, double *shared,
                           double *size)
{
    double sum = 0, own = 0;
    for (int t = threadIdx.y; t < r->n && c < r->width; t += LRA_BLOCK_WARPS) {
        real *v = dk + r->first + t * r->step + c, a = *v < 0 ? -*v : *v;
        if (share != 0) *v -= share * a;
        sum += (double)*v, own += (double)a;
    }
    __syncthreads();
    *size = column_sum(own, shared);
    __syncthreads();
    return column_sum(sum, shared);
}

/* Subtracts `rest`, the remaining excess of the sum, from one element of channel c: the smallest
 * one that is at least 1024 times as large as rest. */
LRA_DEV void settle_rest(real *dk, const attention_rows *r, int c, double rest, double *shared)
{
    double least = INFINITY;
    int at = -1;
    for (int t = threadIdx.y; t < r->n && c < r->width; t += LRA_BLOCK_WARPS) {
        double a = fabs((double)dk[r->first + t * r->step + c]);
        if (a > 1024 * fabs(rest) && a < least) least = a, at = t;
    }
    __syncthreads();
    shared[threadIdx.y * LRA_WARP + threadIdx.x] = least;
    __syncthreads();
    bool first = at >= 0; /* of the threads that have the smallest element, the first one */
    for (int y = 0; y < LRA_BLOCK_WARPS; y++) {
        double other = shared[y * LRA_WARP + threadIdx.x];
        if (other < least || (other == least && y < (int)threadIdx.y)) first = false;
    }
    if (first) {
        real *v = dk + r->first + at * r->step + c;
        *v = (real)((double)*v - rest);
    }
}

/* Corrects the sum of the rows of dk. The excess of the sum is subtracted from the rows in
 * proportion to their magnitudes, so that small rows stay exact. Then the remaining rounding error
 * is subtracted from one element. Thread (x,y) of a block of (32, 8): x = channel, y = every eighth
 * row. Grid: x = heads, y = groups of channels. */
static __global__ void __launch_bounds__(LRA_BLOCK) attention_settle_kernel(attention_job j)
{
    LRA_SHARED(double, shared);
    attention_place p = attention_of(&j, blockIdx.x, true);
    attention_rows r = attention_side(&j, &p, true, false);
    attention_rows of_q = attention_side(&j, &p, false, false);
    int c = (int)blockIdx.y * LRA_WARP + (int)threadIdx.x;
    double goal = 0, size;
    const real *rows = j.rows + p.head * j.s.Tq * ATTENTION_LEFT;
    for (int t = threadIdx.y; p.decay > 0 && t < of_q.n && c < of_q.width; t += LRA_BLOCK_WARPS)
        goal += (double)rows[t * ATTENTION_LEFT + 3] *
                (double)e_load(j.q[of_q.first + t * of_q.step + c]);
    goal = column_sum(goal, shared);
    double excess = settle_pass(j.dk, &r, c, 0, shared, &size) - goal;
    real share = size > 0 ? (real)(excess / size) : R(0.0);
    excess = settle_pass(j.dk, &r, c, share, shared, &size) - goal;
    settle_rest(j.dk, &r, c, excess, shared);
}

static inline void attention_settle_run(const attention_job *j, void *stream)
{
    int64_t chunks = (j->s.K + LRA_WARP - 1) / LRA_WARP;
    LRA_LAUNCH(attention_settle_kernel, dim3((unsigned)(j->s.B * j->s.H), (unsigned)chunks),
               ROW_BLOCK, LRA_BLOCK * sizeof(double), stream, *j);
}
#else
static inline void attention_settle_run(const attention_job *j, void *stream)
{
    (void)j, (void)stream;
}
#endif

#endif
