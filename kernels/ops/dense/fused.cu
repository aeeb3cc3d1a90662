/* Kernels that compute several nodes at once: kernels/cuda/fused.h. */
#include "kernels/cuda/fused.h"

#include "kernels/cuda/gemm.h"
#include "kernels/ops/elementwise/activation_backward_cuda.h"
#include "kernels/ops/columns_cuda.h"
#include "kernels/ops/conv/conv_cuda.h"

/* ---- layer norm, backward -------------------------------------------------------------------- */

typedef struct {
    int64_t rows, D;
    bool wide;
    lra_type t;
    const void *dy, *x, *more; /* more: residual gradient that is added to dx. Nullable: more */
    const real *gain;
    real eps;
    void *out;
    real *part; /* partial sums, (blocks of rows, 2, D).  Nullable */
} norm_back;

/* Sum over the LANES threads that share a row. */
template <int LANES> LRA_DEV real row_sum(real v)
{
    LRA_UNROLL for (int other = LANES / 2; other; other /= 2) v += __shfl_xor_sync(~0u, v, other);
    return v;
}

/* Gradient of a norm. LANES threads process a row, eight adjacent columns each, CHUNKS times. x and
 * dy are read once. Each thread keeps its part of the column sums over the block's rows in
 * registers. */
template <int LANES, int CHUNKS, int THREADS>
static __global__ void __launch_bounds__(THREADS) norm_back_kernel(norm_back j)
{
    enum { SLOTS = THREADS / LANES, APART = LANES * LRA_LANES };
    LRA_SHARED(real, shared); /* partial sums, (SLOTS, 2, D) */
    int lane = threadIdx.x % LANES, slot = threadIdx.x / LANES, d0 = lane * LRA_LANES;
    int64_t first = (int64_t)blockIdx.x * LRA_ROW_BLOCK, D = j.D;
    int64_t end = first + LRA_ROW_BLOCK < j.rows ? first + LRA_ROW_BLOCK : j.rows;
    real sum[CHUNKS][2][LRA_LANES] = {{{0}}};
    /* uniform loop: all threads take part in the sums over rows */
    for (int64_t base = first; base < end; base += SLOTS) {
        int64_t row = base + slot;
        bool valid = row < end;
        real v[CHUNKS][LRA_LANES] = {{0}}, u[CHUNKS][LRA_LANES] = {{0}}, a[LRA_LANES];
        real m = 0, q = 0, su = 0, sux = 0;
        LRA_UNROLL for (int c = 0; c < CHUNKS; c++)
        {
            int64_t d = d0 + c * APART;
            if (valid && d < D) {
                load8(j.x, j.t, row * D + d, D - d, j.wide, v[c]);
                load8(j.dy, j.t, row * D + d, D - d, j.wide, u[c]);
            }
            LRA_UNROLL for (int k = 0; k < LRA_LANES; k++) m += v[c][k];
        }
        m = row_sum<LANES>(m) / (real)D;
        LRA_UNROLL for (int c = 0; c < CHUNKS; c++) LRA_UNROLL for (int k = 0; k < LRA_LANES; k++)
        {
            v[c][k] = d0 + c * APART + k < D ? v[c][k] - m : R(0.0);
            q += v[c][k] * v[c][k];
        }
        real r = 1 / r_sqrt(row_sum<LANES>(q) / (real)D + j.eps);
        LRA_UNROLL for (int c = 0; c < CHUNKS; c++)
        {
            int64_t d = d0 + c * APART;
            if (d < D) load8(j.gain, LRA_F32, d, D - d, j.wide, a);
            LRA_UNROLL for (int k = 0; k < LRA_LANES && d < D; k++)
            {
                v[c][k] *= r;
                sum[c][0][k] += u[c][k] * v[c][k];
                sum[c][1][k] += u[c][k];
                u[c][k] *= a[k];
                su += u[c][k];
                sux += u[c][k] * v[c][k];
            }
        }
        su = row_sum<LANES>(su) / (real)D, sux = row_sum<LANES>(sux) / (real)D;
        LRA_UNROLL for (int c = 0; c < CHUNKS; c++)
        {
            int64_t d = d0 + c * APART;
            if (!valid || d >= D) continue;
            LRA_UNROLL for (int k = 0; k < LRA_LANES; k++) a[k] = 0;
            if (j.more) load8(j.more, j.t, row * D + d, D - d, j.wide, a);
            LRA_UNROLL for (int k = 0; k < LRA_LANES; k++)
                a[k] += r * (u[c][k] - su - v[c][k] * sux);
            store8(j.out, j.t, row * D + d, D - d, j.wide, a);
        }
    }
    if (!j.part) return;
    LRA_UNROLL for (int c = 0; c < CHUNKS; c++) LRA_UNROLL for (int i = 0; i < 2; i++)
        LRA_UNROLL for (int k = 0; k < LRA_LANES; k++)
    {
        int64_t d = d0 + c * APART + k;
        if (d < D) shared[(slot * 2 + i) * D + d] = sum[c][i][k];
    }
    __syncthreads();
    for (int64_t i = threadIdx.x; i < 2 * D; i += THREADS) {
        real total = 0;
        for (int s = 0; s < SLOTS; s++) total += shared[s * 2 * D + i];
        j.part[blockIdx.x * 2 * D + i] = total;
    }
}

template <int LANES, int CHUNKS, int THREADS>
static inline void norm_back_run(const norm_back *j, void *stream)
{
    size_t shared = (size_t)(THREADS / LANES * 2 * j->D) * sizeof(real);
    LRA_LAUNCH((norm_back_kernel<LANES, CHUNKS, THREADS>), (unsigned)row_blocks(j->rows), THREADS,
               shared, stream, *j);
}

/* Computes dx and the sums of a fused group whose first node is layer_norm_dx (sources dy, x,
 * gain). */
static void run_norm(const lra_call *c, int n, void *stream)
{
    const lra_tensor *dx = c->y;
    const lra_call *sum = lra_fused_of(c, n, &lra_op_add_n);
    const lra_call *sums = lra_fused_of(c, n, &lra_op_layer_norm_dgain);
    const void *more = sum ? sum->in[sum->y->src[0] == dx] : NULL;
    void *out = sum ? sum->out : c->out;
    int64_t D = lra_width(dx);
    bool wide = D % LRA_LANES == 0 && is_aligned(c->in[0], c->in[1], out) &&
                is_aligned(c->in[2], more, NULL);
    norm_back j = {lra_rows(dx),
                   D,
                   wide,
                   dx->type,
                   c->in[0],
                   c->in[1],
                   more,
                   (const real *)c->in[2],
                   (real)((const layer_norm_args *)dx->args)->eps,
                   out,
                   sums ? (real *)c->scratch : NULL};
    if (D <= 128)
        norm_back_run<16, 1, 512>(&j, stream);
    else if (D <= 256)
        norm_back_run<32, 1, 512>(&j, stream);
    else
        norm_back_run<32, 2, 256>(&j, stream);
    if (sums) add_blocks(j.part, 1, row_blocks(j.rows), 2 * D, (real *)sums->out, stream);
}

/* ---- a dense layer after an activation, backward -------------------------------------------- */

typedef struct {
    const elem *y;
    int64_t D;
} column_from;
LRA_DEV void add_column(const column_from *a, int64_t row, int64_t d, double *s)
{
    s[0] += (double)e_load(a->y[row * a->D + d]);
}
COLUMN_KERNEL(column_kernel, column_from, 1, add_column)

/* Runs matmul (dy, w) and activation_backward (v, length), and optionally the sum of its columns,
 * as one kernel. */
static void run_dense(const lra_call *c, int n, void *stream)
{
    const lra_call *slope = c + 1, *sums = n > 2 ? c + 2 : NULL;
    const lra_tensor *y = c->y;
    const activation_backward_args *a = (const activation_backward_args *)slope->y->args;
    bool has_v = a->act != LRA_ACT_NONE;
    int64_t N = lra_width(y), K = lra_width(y->src[0]), rows = lra_rows(y);
    int64_t B = y->shape.n == 3 ? y->shape.d[0] : 1, T = rows / B, parts;
    real *part = sums ? (real *)c->scratch : NULL;
    conv_job j = {B,
                  T,
                  1,
                  1,
                  1,
                  K,
                  N,
                  0,
                  K * N,
                  1,
                  K,
                  N,
                  (const elem *)c->in[0],
                  (const elem *)c->in[1],
                  NULL,
                  a->has_length ? (const int32_t *)slope->in[1 + has_v] : NULL,
                  LRA_ACT_NONE,
                  (elem *)slope->out,
                  NULL,
                  has_v ? (const elem *)slope->in[1] : NULL,
                  a->act,
                  part};
    if (conv_cuda_dense(&j, stream)) {
        parts = B * ((T + LRA_DENSE_ROWS - 1) / LRA_DENSE_ROWS);
    } else { /* without tensor cores, or with unaligned operands */
        lra_cuda_product p = {false, true, rows, N, K, 1, 0, 0, ELEM_TYPE, ELEM_TYPE};
        bool wide = N % LRA_LANES == 0 && is_aligned(j.gate, j.y, NULL);
        lra_cuda_gemm(&p, c->in[0], c->in[1], slope->out, stream);
        LRA_LAUNCH(activation_backward_kernel, lra_grid(rows, LRA_BLOCK_WARPS), ROW_BLOCK, 0,
                   stream, rows, N, wide, a->act, j.y, j.gate, j.length, T, j.y);
        column_from from = {j.y, N};
        if (sums) COLUMN_LAUNCH(column_kernel, from, 1, 1, rows, N, part, stream);
        parts = row_blocks(rows);
    }
    if (sums) add_blocks(part, 1, parts, N, (real *)sums->out, stream);
}

#define cuda_fused LRA_CAT3(lra_cuda_, fused, LRA_TYPE)
extern "C" void cuda_fused(const lra_call *calls, int n, void *stream)
{
    if (calls->y->op == &lra_op_layer_norm_dx)
        run_norm(calls, n, stream);
    else
        run_dense(calls, n, stream);
}
