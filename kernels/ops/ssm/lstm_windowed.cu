/* lstm_windowed on a GPU: one block for each token, which processes the tokens of its window with
 * its own state. */
#include "kernels/ops/cuda_common.h"
#include "kernels/ops/ssm/lstm_body.h"

typedef struct {
    lstm_sizes s;
    const elem *whole, *x;
    const real *w;
    const int32_t *limit, *length;
    elem *y;
} windowed_job;

/* shared: h (H), c (H), z (4,H), gates (4,H) */
static __global__ void lstm_windowed_kernel(windowed_job j)
{
    LRA_SHARED(real, h);
    int64_t H = j.s.H, b = blockIdx.x / j.s.T, t = blockIdx.x % j.s.T;
    int64_t length = j.length ? j.length[b] : j.s.T, limit = j.limit[0] < 0 ? 0 : j.limit[0];
    real *c = h + H, *z = c + H, *gate = z + 4 * H;
    bool whole = limit >= j.s.T - 1;
    elem *y = j.y + (b * j.s.T + t) * H;
    for (int64_t k = threadIdx.x; k < H; k += blockDim.x) h[k] = c[k] = 0;
    for (int64_t step = 0; step <= limit && !whole && t < length; step++) {
        int64_t at = j.s.back ? t + limit - step : t - limit + step;
        if (at < 0 || at >= length) continue; /* all threads of the block take the same branch */
        __syncthreads();
        for (int64_t n = threadIdx.x; n < 4 * H; n += blockDim.x) {
            real sum = 0;
            for (int64_t k = 0; k < H; k++) sum += h[k] * j.w[k * 4 * H + n];
            z[n] = sum + e_load(j.x[(b * j.s.T + at) * 4 * H + n]);
        }
        __syncthreads();
        for (int64_t k = threadIdx.x; k < H; k += blockDim.x)
            h[k] = lstm_forward(z + k, H, c[k], gate + k, c + k);
    }
    for (int64_t k = threadIdx.x; k < H; k += blockDim.x)
        y[k] = whole ? j.whole[(b * j.s.T + t) * H + k] : e_store(t < length ? h[k] : R(0.0));
}

/* Sources: states without a limit, x, w, limit, [length]. */
LRA_CUDA_BODY(lstm_windowed)
{
    const lstm_args *a = (const lstm_args *)c->y->args;
    const int64_t *d = c->y->shape.d;
    windowed_job j = {{d[0], d[1], d[2], a->back}};
    size_t shared = (size_t)(10 * j.s.H) * sizeof(real);
    j.whole = (const elem *)c->in[0], j.x = (const elem *)c->in[1], j.w = (const real *)c->in[2];
    j.limit = (const int32_t *)c->in[3];
    j.length = (const int32_t *)(a->has_length ? c->in[4] : NULL), j.y = (elem *)c->out;
    LRA_ALLOW_SHARED(lstm_windowed_kernel, shared);
    LRA_LAUNCH(lstm_windowed_kernel, (unsigned)(j.s.B * j.s.T), LRA_BLOCK, shared, stream, j);
}
