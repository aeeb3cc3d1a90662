/* An LSTM on a GPU. A block processes one example token by token, with the state in shared memory.
 * w is read by all blocks from the L2 cache. Tokens are sequential; each costs a block 4 H^2
 * multiplications, a few microseconds. */
#include "kernels/ops/cuda_common.h"
#include "kernels/ops/ssm/lstm_body.h"

typedef struct {
    lstm_sizes s;
    const int32_t *length;
    const elem *x;
    const real *w, *dh;
    real *y;
    elem *dx;
} lstm_job;

LRA_DEV int64_t lstm_length(const lstm_job *j, int64_t b)
{
    return j->length ? j->length[b] : j->s.T;
}

/* shared: h (H), z (4,H) */
static __global__ void lstm_kernel(lstm_job j)
{
    LRA_SHARED(real, h);
    int64_t H = j.s.H, plane = lstm_plane(&j.s), b = blockIdx.x, length = lstm_length(&j, b);
    real *z = h + H, *y = j.y;
    for (int64_t k = threadIdx.x; k < H; k += blockDim.x) h[k] = 0;
    for (int64_t step = 0; step < j.s.T; step++) {
        int64_t t = lstm_step(&j.s, step), row = b * j.s.T + t, old = lstm_before(&j.s, t);
        __syncthreads();
        for (int64_t n = threadIdx.x; n < 4 * H; n += blockDim.x) {
            real sum = 0;
            for (int64_t k = 0; k < H && t < length; k++) sum += h[k] * j.w[k * 4 * H + n];
            z[n] = sum + e_load(j.x[row * 4 * H + n]);
        }
        __syncthreads();
        for (int64_t k = threadIdx.x; k < H; k += blockDim.x) {
            real *gate = y + 2 * plane + row * 4 * H + k, *c = y + plane + row * H + k;
            real before = old < 0 ? 0 : y[plane + (b * j.s.T + old) * H + k];
            if (t < length)
                h[k] = lstm_forward(z + k, H, before, gate, c);
            else
                *c = gate[0] = gate[H] = gate[2 * H] = gate[3 * H] = 0;
            y[row * H + k] = t < length ? h[k] : 0;
        }
    }
}

/* shared: dh (H), dc (H), da (4,H) */
static __global__ void lstm_grad_kernel(lstm_job j)
{
    LRA_SHARED(real, dh);
    int64_t H = j.s.H, plane = lstm_plane(&j.s), b = blockIdx.x, length = lstm_length(&j, b);
    real *dc = dh + H, *da = dc + H;
    const real *y = j.y;
    for (int64_t k = threadIdx.x; k < 2 * H; k += blockDim.x) dh[k] = 0;
    for (int64_t step = j.s.T - 1; step >= 0; step--) {
        int64_t t = lstm_step(&j.s, step), row = b * j.s.T + t, old = lstm_before(&j.s, t);
        __syncthreads();
        for (int64_t k = threadIdx.x; k < H; k += blockDim.x) {
            const real *gate = y + 2 * plane + row * 4 * H + k;
            real before = old < 0 ? 0 : y[plane + (b * j.s.T + old) * H + k];
            if (t < length)
                dc[k] = lstm_backward(gate, H, y[plane + row * H + k], before,
                                      dh[k] + j.dh[row * H + k], dc[k], da + k);
            else
                dc[k] = da[k] = da[H + k] = da[2 * H + k] = da[3 * H + k] = 0;
            for (int g = 0; g < 4; g++) j.dx[row * 4 * H + g * H + k] = e_store(da[g * H + k]);
        }
        __syncthreads();
        for (int64_t k = threadIdx.x / LRA_WARP; k < H; k += LRA_BLOCK_WARPS) {
            real sum = 0;
            for (int64_t n = threadIdx.x % LRA_WARP; n < 4 * H; n += LRA_WARP)
                sum += da[n] * j.w[k * 4 * H + n];
            sum = warp_sum(sum);
            if (threadIdx.x % LRA_WARP == 0) dh[k] = sum;
        }
    }
}

/* Arguments of the kernels; x is source number `at`. */
static inline lstm_job job_of(const lra_call *c, int at)
{
    const lstm_args *a = (const lstm_args *)c->y->args;
    const int64_t *d = c->y->src[at]->shape.d;
    lstm_job j = {{d[0], d[1], d[2] / 4, a->back}};
    j.x = (const elem *)c->in[at], j.w = (const real *)c->in[at + 1];
    j.length = a->has_length ? (const int32_t *)c->in[at + 2] : NULL;
    return j;
}

/* Sources: x, w, [length]. */
LRA_CUDA_BODY(lstm)
{
    lstm_job j = job_of(c, 0);
    size_t shared = (size_t)(5 * j.s.H) * sizeof(real);
    j.y = (real *)c->out;
    LRA_ALLOW_SHARED(lstm_kernel, shared);
    LRA_LAUNCH(lstm_kernel, (unsigned)j.s.B, LRA_BLOCK, shared, stream, j);
}

/* Sources: dh, the result of the forward op, x, w, [length]. */
LRA_CUDA_BODY(lstm_grad)
{
    lstm_job j = job_of(c, 2);
    size_t shared = (size_t)(6 * j.s.H) * sizeof(real);
    j.dh = (const real *)c->in[0], j.y = (real *)c->in[1], j.dx = (elem *)c->out;
    LRA_ALLOW_SHARED(lstm_grad_kernel, shared);
    LRA_LAUNCH(lstm_grad_kernel, (unsigned)j.s.B, LRA_BLOCK, shared, stream, j);
}
