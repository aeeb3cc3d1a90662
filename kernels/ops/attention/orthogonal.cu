/* Random orthogonal rows on a GPU: one thread block for each block of K rows. The rows are computed
 * one after another. */
#include "kernels/ops/cuda_common.h"

#include "kernels/base/core/orthogonal.h"

/* rows: (m,K), intermediate results in double. */
static __global__ void orthogonal_kernel(int64_t m, int64_t K, uint32_t key, const lra_step *step,
                                         double *rows, real *y)
{
    LRA_SHARED(double, shared);
    int64_t first = (int64_t)blockIdx.x * K, end = first + K < m ? first + K : m;
    for (int64_t i = first; i < end; i++) {
        double *v = rows + i * K, square = 0;
        for (int64_t k = threadIdx.x; k < K; k += LRA_BLOCK)
            v[k] = lra_normal_at(step->seed, key, step->step, i * K + k);
        for (int64_t j = first; j < i; j++) {
            double along = 0;
            for (int64_t k = threadIdx.x; k < K; k += LRA_BLOCK) along += v[k] * rows[j * K + k];
            along = block_sum(along, shared);
            for (int64_t k = threadIdx.x; k < K; k += LRA_BLOCK) v[k] -= along * rows[j * K + k];
        }
        for (int64_t k = threadIdx.x; k < K; k += LRA_BLOCK) square += v[k] * v[k];
        square = block_sum(square, shared);
        for (int64_t k = threadIdx.x; k < K; k += LRA_BLOCK) v[k] /= sqrt(square);
    }
    for (int64_t i = first; i < end; i++) {
        double square = 0;
        for (int64_t k = threadIdx.x; k < K; k += LRA_BLOCK)
            square += pow(lra_normal_at(step->seed, key, step->step, (m + i) * K + k), 2);
        square = block_sum(square, shared);
        for (int64_t k = threadIdx.x; k < K; k += LRA_BLOCK)
            y[i * K + k] = (real)(rows[i * K + k] * sqrt(square));
    }
}

LRA_CUDA_BODY(orthogonal)
{
    const orthogonal_args *a = (const orthogonal_args *)c->y->args;
    LRA_LAUNCH(orthogonal_kernel, dim3((unsigned)((a->m + a->K - 1) / a->K)), LRA_BLOCK,
               LRA_BLOCK_WARPS * sizeof(double), stream, a->m, a->K, a->key,
               (const lra_step *)c->in[0], (double *)c->scratch, (real *)c->out);
}
