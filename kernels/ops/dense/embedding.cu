/* y = table[index] and its gradient on a GPU. The gradient of a table row is a sum over the
 * positions that read it, in order: positions are divided into slices, a block sums those of one
 * row of the table in one slice, and slices are added in order. An index out of range, which is a
 * bug, gives NaN.
 *
 * For many positions and a large table, every position is added to its row as an integer, in units
 * of 2^-40 of the largest gradient. Sums of integers do not depend on their order. */
#include "kernels/ops/columns_cuda.h"
#include "kernels/ops/dense/embedding_body.h"

static __global__ void embedding_kernel(int64_t n, int64_t V, int64_t D, bool wide,
                                        const elem *table, const int32_t *index, elem *y)
{
    for (EACH_ROW(row, n)) {
        int64_t from = index[row];
        bool inside = from >= 0 && from < V;
        for (EACH_LANE8(d, D)) {
            real v[LRA_LANES];
            for (int k = 0; k < LRA_LANES; k++) v[k] = bits_real(0x7FC00000u);
            if (inside) load8(table, ELEM_TYPE, from * D + d, D - d, wide, v);
            store8(y, ELEM_TYPE, row * D + d, D - d, wide, v);
        }
    }
}

LRA_CUDA_BODY(embedding)
{
    int64_t D = lra_width(c->y), n = lra_elements(c->y->src[1]);
    bool wide = D % LRA_LANES == 0 && is_aligned(c->in[0], NULL, c->out);
    LRA_LAUNCH(embedding_kernel, lra_grid(n, LRA_BLOCK_WARPS), ROW_BLOCK, 0, stream, n,
               c->y->src[0]->shape.d[0], D, wide, (const elem *)c->in[0], (const int32_t *)c->in[1],
               (elem *)c->out);
}

/* part (slices, V, D): partial sums. Blocks of 128 threads. Grid: x = rows of the table, y = slices
 * of positions. */
static __global__ void embedding_grad_kernel(int64_t n, int64_t per_slice, int64_t V, int64_t D,
                                             lra_type t, const void *dy, const int32_t *index,
                                             real *part)
{
    LRA_SHARED(int32_t, found); /* 128 indices, those of the positions from `at` on */
    int64_t v = blockIdx.x, first = blockIdx.y * per_slice;
    int64_t end = first + per_slice < n ? first + per_slice : n;
    for (int64_t d0 = 0; d0 < D; d0 += blockDim.x) {
        int64_t d = d0 + threadIdx.x;
        real s = 0;
        for (int64_t at = first; at < end; at += blockDim.x) {
            __syncthreads();
            if (at + threadIdx.x < end) found[threadIdx.x] = index[at + threadIdx.x];
            __syncthreads();
            int m = (int)(end - at < blockDim.x ? end - at : blockDim.x);
            for (int k = 0; k < m; k++)
                if (found[k] == v && d < D) s += t_load(dy, t, (at + k) * D + d);
        }
        if (d < D) part[(blockIdx.y * V + v) * D + d] = s;
    }
}

/* ---- many places ----------------------------------------------------------------------------- */

static __global__ void clear_kernel(int64_t n, unsigned long long *sum)
{
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += (int64_t)gridDim.x * blockDim.x)
        sum[i] = 0;
}

/* Finds the largest magnitude in dy. The bits of non-negative floats, as integers, have the order
 * of their values, with NaN last. */
static __global__ void largest_kernel(int64_t n, lra_type t, bool wide, const void *dy,
                                      unsigned *largest)
{
    real most = 0;
    for (EACH8(i, n)) {
        real v[LRA_LANES];
        load8(dy, t, i, n - i, wide, v);
        for (int k = 0; k < LRA_LANES; k++) {
            real size = v[k] < 0 ? -v[k] : v[k];
            most = most >= size || most != most ? most : size; /* a NaN in `most` is kept */
        }
    }
    unsigned bits;
    memcpy(&bits, &most, sizeof bits);
    atomicMax(largest, bits & 0x7FFFFFFFu);
}

static __global__ void scatter_kernel(int64_t n, int64_t V, int64_t D, lra_type t, const void *dy,
                                      const int32_t *index, const unsigned *largest,
                                      unsigned long long *sum)
{
    double unit = (double)bits_real(*largest) / (double)((int64_t)1 << EMBEDDING_BITS);
    if (!(unit > 0) || *largest >= 0x7F800000u) return;
    for (EACH_ROW(row, n)) {
        int64_t v = index[row];
        if (v < 0 || v >= V) continue;
        for (int64_t d = threadIdx.x; d < D; d += LRA_WARP)
            atomicAdd(&sum[v * D + d],
                      (unsigned long long)llrint((double)t_load(dy, t, row * D + d) / unit));
    }
}

static __global__ void finish_kernel(int64_t n, const unsigned long long *sum,
                                     const unsigned *largest, real *y)
{
    double unit = (double)bits_real(*largest) / (double)((int64_t)1 << EMBEDDING_BITS);
    bool finite = *largest < 0x7F800000u;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += (int64_t)gridDim.x * blockDim.x)
        y[i] = finite ? (real)((double)(long long)sum[i] * unit) : bits_real(0x7FC00000u);
}

static void scatter_run(const lra_call *c, int64_t n, int64_t V, int64_t D, void *stream)
{
    unsigned long long *sum = (unsigned long long *)c->scratch;
    unsigned *largest = (unsigned *)(sum + V * D);
    const int32_t *index = (const int32_t *)c->in[1];
    lra_type t = c->y->src[0]->type;
    LRA_LAUNCH(clear_kernel, lra_grid(V * D + 1, LRA_BLOCK), LRA_BLOCK, 0, stream, V * D + 1, sum);
    LRA_LAUNCH(largest_kernel, (unsigned)smaller(lra_grid(n * D, LRA_BLOCK * LRA_LANES), 1024),
               LRA_BLOCK, 0, stream, n * D, t, is_aligned(c->in[0], NULL, NULL), c->in[0], largest);
    LRA_LAUNCH(scatter_kernel, lra_grid(n, LRA_BLOCK_WARPS), ROW_BLOCK, 0, stream, n, V, D, t,
               c->in[0], index, largest, sum);
    LRA_LAUNCH(finish_kernel, lra_grid(V * D, LRA_BLOCK), LRA_BLOCK, 0, stream, V * D, sum, largest,
               (real *)c->out);
}

LRA_CUDA_BODY(embedding_grad)
{
    int64_t V = c->y->shape.d[0], D = c->y->shape.d[1], n = lra_elements(c->y->src[1]);
    if (embedding_scatters(n, V)) {
        scatter_run(c, n, V, D, stream);
        return;
    }
    int64_t slices = embedding_slices(n, V * D), per_slice = (n + slices - 1) / slices;
    real *part = slices > 1 ? (real *)c->scratch : (real *)c->out;
    LRA_LAUNCH(embedding_grad_kernel, dim3((unsigned)V, (unsigned)slices), 128,
               128 * sizeof(int32_t), stream, n, per_slice, V, D, c->y->src[0]->type, c->in[0],
               (const int32_t *)c->in[1], part);
    if (slices > 1) add_blocks(part, 1, slices, V * D, (real *)c->out, stream);
}
