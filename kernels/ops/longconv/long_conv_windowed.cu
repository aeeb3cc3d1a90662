/* long_conv_windowed on a GPU: one thread for each element of y; lags are added from the past to
 * the future. */
#include "kernels/ops/cuda_common.h"
#include "kernels/ops/longconv/long_conv.h"

/* Computes one element of y. k, behind: kernels of its channel; x: inputs of its channel, with
 * stride D. Nullable: behind */
LRA_DEV real sum_lags(const real *k, const real *behind, int64_t L, const elem *x, int64_t D,
                      int64_t t, int64_t tokens, int64_t limit)
{
    real sum = 0;
    int64_t back = limit < L - 1 ? limit : L - 1, ahead = limit < L ? limit : L;
    for (int64_t j = back < t ? back : t; j >= 0; j--) sum += k[j] * e_load(x[(t - j) * D]);
    for (int64_t j = 0; behind && j < ahead && t + 1 + j < tokens; j++)
        sum += behind[j] * e_load(x[(t + 1 + j) * D]);
    return sum;
}

static __global__ void long_conv_windowed_kernel(int64_t n, int64_t T, int64_t D, int64_t L,
                                                 bool two_sided, const elem *whole, const elem *x,
                                                 const real *kernel, const int32_t *limit,
                                                 const int32_t *length, elem *y)
{
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += (int64_t)gridDim.x * blockDim.x) {
        if (limit[0] >= T - 1) {
            y[i] = whole[i];
            continue;
        }
        int64_t b = i / (T * D), t = i / D % T, d = i % D;
        int64_t tokens = length ? length[b] : T, near = limit[0] < 0 ? 0 : limit[0];
        const real *k = kernel + d * L;
        real sum = t < tokens ? sum_lags(k, two_sided ? k + D * L : NULL, L, x + b * T * D + d, D,
                                         t, tokens, near)
                              : R(0.0);
        y[i] = e_store(sum);
    }
}

/* Sources: y without a limit, x, kernel, limit, [length]. */
LRA_CUDA_BODY(long_conv_windowed)
{
    const long_conv_args *a = (const long_conv_args *)c->y->args;
    int64_t n = lra_elements(c->y), T = c->y->shape.d[1], D = c->y->shape.d[2];
    LRA_LAUNCH(long_conv_windowed_kernel, lra_grid(n, LRA_BLOCK), LRA_BLOCK, 0, stream, n, T, D,
               lra_width(c->y->src[2]), a->two_sided, (const elem *)c->in[0],
               (const elem *)c->in[1], (const real *)c->in[2], (const int32_t *)c->in[3],
               (const int32_t *)(a->has_length ? c->in[4] : NULL), (elem *)c->out);
}
