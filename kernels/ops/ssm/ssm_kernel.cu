/* Kernels of diagonal state-space layers on a GPU: one thread for each lag; every exponential is
 * computed directly in double. Bottleneck: R N L sines, a few milliseconds at 256 x 32 x 4096; the
 * long convolution after it takes longer. */
#include "kernels/ops/cuda_common.h"
#include "kernels/ops/ssm/ssm_kernel_body.h"

static const int64_t MODES = 512; /* modes in shared memory at a time */

/* Grid: x = blocks of lags, y = rows of k. shared: x and w of some modes of the row, (MODES,4). */
static __global__ void kernel_kernel(ssm_kernel_args s, const real *a, const real *c,
                                     const real *dt, real *k)
{
    LRA_SHARED(double, mode);
    int64_t r = blockIdx.y, l = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    double sum = 0;
    for (int64_t n0 = 0; n0 < s.N; n0 += MODES) {
        int64_t modes = s.N - n0 < MODES ? s.N - n0 : MODES;
        __syncthreads();
        for (int64_t n = threadIdx.x; n < modes; n += blockDim.x) {
            ssm_mode m = ssm_mode_at(&s, a, dt, r, n0 + n);
            c_number w = c_scale(c_mul(ssm_weight_at(&s, c, r, n0 + n), m.gain), m.scale);
            mode[4 * n] = m.x.re, mode[4 * n + 1] = m.x.im;
            mode[4 * n + 2] = w.re, mode[4 * n + 3] = w.im;
        }
        __syncthreads();
        for (int64_t n = 0; n < modes; n++) {
            c_number e = c_exp(c_of(mode[4 * n] * (double)l, mode[4 * n + 1] * (double)l));
            sum += mode[4 * n + 2] * e.re - mode[4 * n + 3] * e.im;
        }
    }
    if (l < s.L) k[r * s.L + l] = (real)sum;
}

/* Sources: a, c, [dt]. */
LRA_CUDA_BODY(ssm_kernel)
{
    const ssm_kernel_args *s = (const ssm_kernel_args *)c->y->args;
    dim3 grid((unsigned)((s->L + LRA_BLOCK - 1) / LRA_BLOCK), (unsigned)s->R);
    int64_t modes = s->N < MODES ? s->N : MODES;
    LRA_LAUNCH(kernel_kernel, grid, LRA_BLOCK, (size_t)modes * 4 * sizeof(double), stream, *s,
               (const real *)c->in[0], (const real *)c->in[1],
               ssm_has_dt(s) ? (const real *)c->in[2] : NULL, (real *)c->out);
}

/* One block for each mode of a row. Each thread sums every LRA_BLOCK-th lag; then the partial sums
 * are added in pairs, in a fixed order. */
static __global__ void grad_kernel(ssm_kernel_args s, const real *dk, const real *a, const real *c,
                                   const real *dt, real *out)
{
    LRA_SHARED(double, part); /* partial sums, (4, LRA_BLOCK) */
    int64_t at = blockIdx.x, r = at / s.N;
    ssm_mode m = ssm_mode_at(&s, a, dt, r, at % s.N);
    c_number g0 = c_of(0, 0), g1 = c_of(0, 0);
    for (int64_t l = threadIdx.x; l < s.L; l += LRA_BLOCK) {
        c_number e = c_scale(c_exp(c_scale(m.x, (double)l)), (double)dk[r * s.L + l]);
        g0 = c_add(g0, e);
        g1 = c_add(g1, c_scale(e, (double)l));
    }
    int own = (int)threadIdx.x;
    part[own] = g0.re, part[LRA_BLOCK + own] = g0.im;
    part[2 * LRA_BLOCK + own] = g1.re, part[3 * LRA_BLOCK + own] = g1.im;
    for (int half = LRA_BLOCK / 2; half > 0; half /= 2) {
        __syncthreads();
        if (own < half)
            for (int i = 0; i < 4; i++)
                part[i * LRA_BLOCK + own] += part[i * LRA_BLOCK + own + half];
    }
    if (own > 0) return;
    ssm_mode_gradient(&s, &m, ssm_weight_at(&s, c, r, at % s.N),
                      c_of(m.scale * part[0], m.scale * part[LRA_BLOCK]),
                      c_of(m.scale * part[2 * LRA_BLOCK], m.scale * part[3 * LRA_BLOCK]), at, out);
}

/* Sources: dk, a, c, [dt]. */
LRA_CUDA_BODY(ssm_kernel_grad)
{
    const ssm_kernel_args *s = (const ssm_kernel_args *)c->y->args;
    LRA_LAUNCH(grad_kernel, (unsigned)(s->R * s->N), LRA_BLOCK, 4 * LRA_BLOCK * sizeof(double),
               stream, *s, (const real *)c->in[0], (const real *)c->in[1], (const real *)c->in[2],
               ssm_has_dt(s) ? (const real *)c->in[3] : NULL, (real *)c->out);
}
