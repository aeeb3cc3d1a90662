/* Kernels of diagonal-plus-low-rank layers on a GPU: one thread for each frequency of a channel,
 * then inverse transforms of rows. In the backward pass the same threads compute the gradients of
 * the sums; then one block per mode adds over all frequencies. */
#include "kernels/cuda/fft.h"
#include "kernels/ops/cuda_common.h"
#include "kernels/ops/ssm/dplr_kernel_body.h"

#define EACH(i, n)                                                                                 \
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;                                    \
    i < (n);                                                                                       \
    i += (int64_t)gridDim.x * blockDim.x

/* Floats of a row: an even number, with space for L/2 + 1 complex numbers. */
LRA_FN int64_t row_size(int64_t L)
{
    return L + 2;
}

/* Computes the sums r over all modes of channel h, at the point i Y of the imaginary axis. Not used
 * for frequency L/2. */
LRA_DEV void sum_modes(const dplr_args *s, const dplr_sources *in, int64_t h, double Y, c_number *r)
{
    for (int i = 0; i < DPLR_SUMS; i++) r[i] = c_of(0, 0);
    for (int64_t n = 0; n < s->N; n++) {
        dplr_mode m;
        dplr_mode_at(s, in, h, n, &m);
        c_number e = dplr_inverse(m.a, Y);
        for (int i = 0; i < dplr_sums(s); i++)
            r[i] = c_add(r[i], c_mul(c_of(m.A[i], Y * m.B[i]), e));
    }
}

static __global__ void spectrum_kernel(dplr_args s, dplr_sources in, float *rows)
{
    int64_t points = s.L / 2 + 1;
    for (EACH(i, s.H * points)) {
        int64_t h = i / points, j = i % points;
        double t = dplr_tan(&s, j < s.L / 2 ? j : 0);
        c_number r[DPLR_SUMS];
        sum_modes(&s, &in, h, 2 * t / (double)in.dt[h], r);
        for (int k = 0; k < dplr_sides(&s); k++) {
            float *to = rows + (k * s.H + h) * row_size(s.L) + 2 * j;
            c_number K = dplr_spectrum(r, k, t);
            if (j == s.L / 2) {
                K = c_of(0, 0);
                for (int64_t n = 0; n < s.N; n++) {
                    dplr_mode m;
                    dplr_mode_at(&s, &in, h, n, &m);
                    K.re += (double)in.dt[h] * m.v[2 * k + DPLR_BC].re;
                }
            }
            to[0] = (float)K.re, to[1] = j == 0 ? 0.0f : (float)K.im;
        }
    }
}

/* Copies `rows` of L numbers, times scale, between rows of stride from_row and rows of stride
 * to_row. */
static __global__ void copy_kernel(int64_t R, int64_t L, float scale, const float *from,
                                   int64_t from_row, float *to, int64_t to_row)
{
    for (EACH(i, R * L)) to[i / L * to_row + i % L] = scale * from[i / L * from_row + i % L];
}

/* Sources: a, b, p, q, c, dt. */
LRA_CUDA_BODY(dplr_kernel)
{
    const dplr_args *s = (const dplr_args *)c->y->args;
    float *rows = (float *)c->scratch;
    int64_t row = row_size(s->L);
    LRA_LAUNCH(spectrum_kernel, lra_grid(s->H * (s->L / 2 + 1), LRA_BLOCK), LRA_BLOCK, 0, stream,
               *s, dplr_sources_of(c->in), rows);
    lra_cuda_fft(s->L, row, s->R, rows, true, stream);
    LRA_LAUNCH(copy_kernel, lra_grid(s->R * s->L, LRA_BLOCK), LRA_BLOCK, 0, stream, s->R, s->L,
               1 / (float)s->L, (const float *)rows, row, (float *)c->out, s->L);
}

/* Computes the gradients of the sums, (H,L/2,n_sums,2). */
static __global__ void pull_kernel(dplr_args s, dplr_sources in, const float *rows, double *sums)
{
    int64_t points = s.L / 2;
    for (EACH(i, s.H * points)) {
        int64_t h = i / points, j = i % points;
        double t = dplr_tan(&s, j), weight = (j ? 2 : 1) / (double)s.L;
        c_number r[DPLR_SUMS], d[DPLR_SUMS], K[DPLR_SIDES];
        sum_modes(&s, &in, h, 2 * t / (double)in.dt[h], r);
        for (int k = 0; k < dplr_sides(&s); k++) {
            const float *at = rows + (k * s.H + h) * row_size(s.L) + 2 * j;
            K[k] = c_of(weight * (double)at[0], weight * (double)at[1]);
        }
        dplr_pull(&s, r, t, K, d);
        for (int k = 0; k < dplr_sums(&s); k++) {
            double *to = sums + (i * dplr_sums(&s) + k) * 2;
            to[0] = d[k].re, to[1] = d[k].im;
        }
    }
}

/* Adds the contribution of this thread's frequency to the gradient of a mode. */
LRA_DEV void add_point(const dplr_args *s, const dplr_mode *m, double Y, const double *sums,
                       dplr_change *d)
{
    c_number e = dplr_inverse(m->a, Y), w = c_of(0, 0);
    for (int i = 0; i < dplr_sums(s); i++) {
        c_number R = c_of(sums[2 * i], sums[2 * i + 1]), part = c_mul(c_conj(R), e);
        d->A[i] += part.re;
        d->B[i] -= Y * part.im;
        w = c_add(w, c_mul(R, c_of(m->A[i], -Y * m->B[i])));
    }
    c_number f = c_mul(w, c_conj(c_mul(e, e)));
    d->D -= f.re;
    d->Y -= Y * f.im;
}

static __global__ void mode_kernel(dplr_args s, dplr_sources in, const float *rows,
                                   const double *sums, real *out)
{
    LRA_SHARED(double, shared);
    int64_t at = blockIdx.x, h = at / s.N, points = s.L / 2;
    dplr_change d = {};
    dplr_mode m;
    double dt = (double)in.dt[h], last[DPLR_SIDES];
    dplr_mode_at(&s, &in, h, at % s.N, &m);
    for (int64_t j = threadIdx.x; j < points; j += LRA_BLOCK)
        add_point(&s, &m, 2 * dplr_tan(&s, j) / dt, sums + (h * points + j) * dplr_sums(&s) * 2,
                  &d);
    for (int i = 0; i < dplr_sums(&s); i++) {
        d.A[i] = block_sum(d.A[i], shared);
        d.B[i] = block_sum(d.B[i], shared);
    }
    d.D = block_sum(d.D, shared);
    d.Y = block_sum(d.Y, shared);
    if (threadIdx.x > 0) return;
    for (int k = 0; k < dplr_sides(&s); k++)
        last[k] = (double)rows[(k * s.H + h) * row_size(s.L) + s.L] / (double)s.L;
    dplr_mode_gradient(&s, &m, &d, dt, last, at, out);
}

/* Sources: a, b, p, q, c, dt, dk. */
LRA_CUDA_BODY(dplr_kernel_grad)
{
    const dplr_args *s = (const dplr_args *)c->y->args;
    dplr_sources in = dplr_sources_of(c->in);
    int64_t row = row_size(s->L);
    double *sums = (double *)c->scratch;
    float *rows = (float *)(sums + s->H * dplr_sums(s) * s->L);
    LRA_LAUNCH(copy_kernel, lra_grid(s->R * s->L, LRA_BLOCK), LRA_BLOCK, 0, stream, s->R, s->L,
               1.0f, (const float *)c->in[6], s->L, rows, row);
    lra_cuda_fft(s->L, row, s->R, rows, false, stream);
    LRA_LAUNCH(pull_kernel, lra_grid(s->H * (s->L / 2), LRA_BLOCK), LRA_BLOCK, 0, stream, *s, in,
               (const float *)rows, sums);
    LRA_LAUNCH(mode_kernel, (unsigned)(s->H * s->N), LRA_BLOCK, LRA_BLOCK_WARPS * sizeof(double),
               stream, *s, in, (const float *)rows, (const double *)sums, (real *)c->out);
}
