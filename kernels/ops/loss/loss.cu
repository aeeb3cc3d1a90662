/* Losses on a GPU: each block computes a partial sum in double, then one block adds them in order.
 * A label beyond the number of classes, which is a bug, gives NaN. */
#include "kernels/ops/cuda_common.h"
#include "kernels/ops/loss/loss_body.h"

/* y = sum of part / n. If counts is set, n is the sum of counts instead. y is 0 if n is 0.
 * Nullable: counts */
static __global__ void mean_kernel(int64_t n_parts, const double *part, const double *counts,
                                   double n, real *y)
{
    LRA_SHARED(double, shared);
    double s = 0, count = 0;
    for (int64_t i = threadIdx.x; i < n_parts; i += LRA_BLOCK) {
        s += part[i];
        if (counts) count += counts[i];
    }
    s = block_sum(s, shared);
    if (counts) n = block_sum(count, shared);
    if (threadIdx.x == 0) *y = (real)(n > 0 ? s / n : 0);
}

static void mean_of(int64_t n_parts, const double *part, const double *counts, double n, void *y,
                    void *stream)
{
    LRA_LAUNCH(mean_kernel, 1, LRA_BLOCK, LRA_BLOCK_WARPS * sizeof(double), stream, n_parts, part,
               counts, n, (real *)y);
}

/* ---- cross-entropy --------------------------------------------------------------------------- */

/* Returns the sum of exp(z - max) over a row; max: maximum of the row. Every thread of the warp
 * receives both. */
LRA_DEV real exp_sum(const real *z, int64_t C, real *max)
{
    real m = z[0], s = 0;
    for (int64_t k = threadIdx.x; k < C; k += LRA_WARP) m = r_max(m, z[k]);
    m = warp_max(m);
    for (int64_t k = threadIdx.x; k < C; k += LRA_WARP) s += r_exp(z[k] - m);
    *max = m;
    return warp_sum(s);
}

/* Returns -log softmax(z)[label] for a row z of C logits, to every thread of the warp. */
LRA_DEV real row_entropy(const real *z, int64_t C, int32_t label)
{
    real m, sum = exp_sum(z, C, &m);
    return label < C ? r_log(sum) - (z[label] - m) : bits_real(0x7FC00000u);
}

/* One block for LRA_ROW_BLOCK rows, one warp per row. */
static __global__ void entropy_kernel(int64_t rows, int64_t C, const real *logits,
                                      const int32_t *label, double *part, double *counts)
{
    LRA_SHARED(double, shared);
    int64_t first = (int64_t)blockIdx.x * LRA_ROW_BLOCK;
    int64_t end = first + LRA_ROW_BLOCK < rows ? first + LRA_ROW_BLOCK : rows;
    double s = 0, count = 0;
    for (int64_t row = first + threadIdx.y; row < end; row += LRA_BLOCK_WARPS) {
        if (label[row] < 0) continue;
        real nats = row_entropy(logits + row * C, C, label[row]);
        if (threadIdx.x != 0) continue;
        s += (double)nats;
        count += 1;
    }
    s = block_sum(s, shared);
    count = block_sum(count, shared);
    if (threadIdx.x == 0 && threadIdx.y == 0) part[blockIdx.x] = s, counts[blockIdx.x] = count;
}

/* sources: logits, label; scratch: sums and counts of blocks of rows */
LRA_CUDA_BODY(cross_entropy)
{
    int64_t C = lra_width(c->y->src[0]), rows = lra_rows(c->y->src[0]);
    int64_t n_blocks = n_blocks_of(rows, LRA_ROW_BLOCK);
    double *part = (double *)c->scratch;
    LRA_LAUNCH(entropy_kernel, (unsigned)n_blocks, ROW_BLOCK, LRA_BLOCK_WARPS * sizeof(double),
               stream, rows, C, (const real *)c->in[0], (const int32_t *)c->in[1], part,
               part + n_blocks);
    mean_of(n_blocks, part, part + n_blocks, 0, c->out, stream);
}

static __global__ void entropy_rows_kernel(int64_t rows, int64_t C, const real *logits,
                                           const int32_t *label, real *y)
{
    for (EACH_ROW(row, rows)) {
        real nats = label[row] < 0 ? 0 : row_entropy(logits + row * C, C, label[row]);
        if (threadIdx.x == 0) y[row] = nats;
    }
}

/* sources: logits, label */
LRA_CUDA_BODY(cross_entropy_rows)
{
    int64_t C = lra_width(c->y->src[0]), rows = lra_rows(c->y->src[0]);
    LRA_LAUNCH(entropy_rows_kernel, lra_grid(rows, LRA_BLOCK_WARPS), ROW_BLOCK, 0, stream, rows, C,
               (const real *)c->in[0], (const int32_t *)c->in[1], (real *)c->out);
}

static __global__ void entropy_grad_kernel(int64_t rows, int64_t C, const real *dy,
                                           const real *logits, const int32_t *label, real *dx)
{
    LRA_SHARED(double, shared);
    double count = 0;
    for (int64_t i = threadIdx.y * LRA_WARP + threadIdx.x; i < rows; i += LRA_BLOCK)
        count += label[i] >= 0;
    count = block_sum(count, shared);
    real scale = count > 0 ? *dy / (real)count : 0;
    for (EACH_ROW(row, rows)) {
        const real *z = logits + row * C;
        real m, r = scale / exp_sum(z, C, &m);
        for (int64_t k = threadIdx.x; k < C; k += LRA_WARP) {
            real d = r_exp(z[k] - m) * r - (k == label[row] ? scale : 0);
            dx[row * C + k] = label[row] < 0 ? 0 : d;
        }
    }
}

/* sources: dy, logits, label */
LRA_CUDA_BODY(cross_entropy_grad)
{
    int64_t C = lra_width(c->y), rows = lra_rows(c->y);
    LRA_LAUNCH(entropy_grad_kernel, lra_grid(rows, LRA_BLOCK_WARPS), ROW_BLOCK,
               LRA_BLOCK_WARPS * sizeof(double), stream, rows, C, (const real *)c->in[0],
               (const real *)c->in[1], (const int32_t *)c->in[2], (real *)c->out);
}

/* ---- distances ------------------------------------------------------------------------------- */

/* Defines the kernels of a loss: name, with sources x and target and one block for LRA_PIECE
 * elements; and name_grad, with sources dy, x and target. */
#define BODIES(name)                                                                               \
    static __global__ void name##_kernel(int64_t n, const real *x, const real *target,             \
                                         double *part)                                             \
    {                                                                                              \
        LRA_SHARED(double, shared);                                                                \
        int64_t first = (int64_t)blockIdx.x * LRA_PIECE;                                           \
        int64_t end = first + LRA_PIECE < n ? first + LRA_PIECE : n;                               \
        double s = 0;                                                                              \
        for (int64_t i = first + threadIdx.x; i < end; i += LRA_BLOCK)                             \
            s += (double)name##_f(x[i] - target[i]);                                               \
        s = block_sum(s, shared);                                                                  \
        if (threadIdx.x == 0) part[blockIdx.x] = s;                                                \
    }                                                                                              \
    LRA_CUDA_BODY(name)                                                                            \
    {                                                                                              \
        int64_t n = lra_elements(c->y->src[0]), n_blocks = n_blocks_of(n, LRA_PIECE);              \
        double *part = (double *)c->scratch;                                                       \
        LRA_LAUNCH(name##_kernel, (unsigned)n_blocks, LRA_BLOCK, LRA_BLOCK_WARPS * sizeof(double), \
                   stream, n, (const real *)c->in[0], (const real *)c->in[1], part);               \
        mean_of(n_blocks, part, NULL, (double)n, c->out, stream);                                  \
    }                                                                                              \
    static __global__ void name##_grad_kernel(int64_t n, const real *dy, const real *x,            \
                                              const real *target, real *dx)                        \
    {                                                                                              \
        real scale = *dy / (real)n;                                                                \
        int64_t step = (int64_t)gridDim.x * blockDim.x;                                            \
        for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)         \
            dx[i] = scale * name##_d(x[i] - target[i]);                                            \
    }                                                                                              \
    LRA_CUDA_BODY(name##_grad)                                                                     \
    {                                                                                              \
        int64_t n = lra_elements(c->y);                                                            \
        LRA_LAUNCH(name##_grad_kernel, lra_grid(n, LRA_BLOCK), LRA_BLOCK, 0, stream, n,            \
                   (const real *)c->in[0], (const real *)c->in[1], (const real *)c->in[2],         \
                   (real *)c->out);                                                                \
    }
BODIES(mse)
BODIES(l1)
