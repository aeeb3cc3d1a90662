/* Pooling over time and its gradient on a GPU. A block processes 32 columns; eight threads share a
 * column. */
#include "kernels/ops/cuda_common.h"

typedef struct {
    lra_pool_kind kind;
    lra_type t;
    int64_t T, D, chunks; /* chunks: groups of 32 columns per sample */
    const int32_t *length;
} pool_job;

/* Row of the first maximum of column d; all eight threads of the column receive it. shared: 8 x 32
 * rows */
LRA_DEV int64_t first_max(const pool_job *j, const void *x, int64_t start, int64_t n, int64_t d,
                          int32_t *shared)
{
    int64_t best = threadIdx.y < n ? threadIdx.y : 0;
    for (int64_t i = threadIdx.y; d < j->D && i < n; i += LRA_BLOCK_WARPS)
        if (t_load(x, j->t, start + i * j->D + d) > t_load(x, j->t, start + best * j->D + d))
            best = i;
    shared[threadIdx.y * LRA_WARP + threadIdx.x] = (int32_t)best;
    __syncthreads();
    for (int g = 0; g < LRA_BLOCK_WARPS && d < j->D && n > 0; g++) {
        int64_t other = shared[g * LRA_WARP + threadIdx.x];
        real a = t_load(x, j->t, start + best * j->D + d);
        real b = t_load(x, j->t, start + other * j->D + d);
        if (b > a || (b == a && other < best)) best = other;
    }
    return best;
}

static __global__ void pool_kernel(pool_job j, const void *x, void *y)
{
    LRA_SHARED(real, shared); /* one number per thread: 8 rows of threads, 32 columns */
    int64_t b = blockIdx.x / j.chunks, d = blockIdx.x % j.chunks * LRA_WARP + threadIdx.x;
    int64_t n = j.length ? j.length[b] : j.T, start = b * j.T * j.D;
    real v = 0;
    if (j.kind == LRA_POOL_MAX) {
        int64_t best = first_max(&j, x, start, n, d, (int32_t *)shared);
        if (d < j.D && n > 0) v = t_load(x, j.t, start + best * j.D + d);
    } else if (j.kind == LRA_POOL_LAST) {
        if (d < j.D && n > 0) v = t_load(x, j.t, start + (n - 1) * j.D + d);
    } else {
        for (int64_t i = threadIdx.y; d < j.D && i < n; i += LRA_BLOCK_WARPS)
            v += t_load(x, j.t, start + i * j.D + d);
        shared[threadIdx.y * LRA_WARP + threadIdx.x] = v;
        __syncthreads();
        v = 0;
        for (int g = 0; g < LRA_BLOCK_WARPS; g++) v += shared[g * LRA_WARP + threadIdx.x];
        v = n > 0 ? v / (real)n : 0;
    }
    if (threadIdx.y == 0 && d < j.D) t_store(y, j.t, b * j.D + d, v);
}

static void launch_of(const lra_call *c, int64_t B, int64_t T, int64_t D, lra_type t, pool_job *j,
                      unsigned *grid)
{
    const pool_args *a = (const pool_args *)c->y->args;
    const void *length = a->has_length ? c->in[c->y->n_src - 1] : NULL;
    *j = {a->kind, t, T, D, (D + LRA_WARP - 1) / LRA_WARP, (const int32_t *)length};
    *grid = (unsigned)(B * j->chunks);
}

/* sources: x, [length] */
LRA_CUDA_BODY(pool)
{
    const lra_tensor *x = c->y->src[0];
    pool_job j;
    unsigned grid;
    launch_of(c, x->shape.d[0], x->shape.d[1], x->shape.d[2], x->type, &j, &grid);
    LRA_LAUNCH(pool_kernel, grid, ROW_BLOCK, LRA_BLOCK * sizeof(real), stream, j, c->in[0], c->out);
}

static __global__ void pool_grad_kernel(pool_job j, const void *dy, const void *x, void *dx)
{
    LRA_SHARED(int32_t, shared); /* one row index per thread: 8 rows of threads, 32 columns */
    int64_t b = blockIdx.x / j.chunks, d = blockIdx.x % j.chunks * LRA_WARP + threadIdx.x;
    int64_t n = j.length ? j.length[b] : j.T, start = b * j.T * j.D, best = n - 1;
    if (j.kind == LRA_POOL_MAX) best = first_max(&j, x, start, n, d, shared);
    if (d >= j.D) return;
    real v = t_load(dy, j.t, b * j.D + d), mean = n > 0 ? 1 / (real)n * v : 0;
    for (int64_t i = threadIdx.y; i < j.T; i += LRA_BLOCK_WARPS) {
        real here = j.kind == LRA_POOL_MEAN ? mean : i == best ? v : 0;
        t_store(dx, j.t, start + i * j.D + d, i < n ? here : R(0.0));
    }
}

/* sources: dy, [x, for a maximum], [length] */
LRA_CUDA_BODY(pool_grad)
{
    const lra_shape *s = &c->y->shape;
    const pool_args *a = (const pool_args *)c->y->args;
    pool_job j;
    unsigned grid;
    launch_of(c, s->d[0], s->d[1], s->d[2], c->y->type, &j, &grid);
    LRA_LAUNCH(pool_grad_kernel, grid, ROW_BLOCK, LRA_BLOCK * sizeof(int32_t), stream, j, c->in[0],
               a->kind == LRA_POOL_MAX ? c->in[1] : NULL, c->out);
}
