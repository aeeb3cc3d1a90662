/* Convolution kernels of diagonal state-space layers: sums of damped complex exponentials, for lags
 * l = 0 .. L-1,
 *   k[r,l] = scale Re sum_n c_rn gain exp(x l)             r < R; S divides H, H divides R
 * x and gain follow from a[r mod S] and dt[r mod H] by the rules of ssm_kernel_body.h; scale is 2
 * with dt, else 1. With l = 64 b + j, exp(x l) = exp(64 x b) exp(x j): two short tables in double,
 * and one dense product of them in real. A lag thus costs multiplications and no exponential.
 * Gradients, with w = c gain and z = dt a:
 *   dw = conj G0,  dz = conj(w G1 dx/dz) + conj(dw/dz) dw,  G_i = sum_l l^i dk_l exp(x l);
 *     c, a, dt by the chain rule.
 * Source: Gu et al. 2022, arXiv:2206.11893, section 3.2 (S4D); Gupta et al. 2022, arXiv:2212.00768
 * (DLR: rule SUM) and arXiv:2203.14343 (DSS-softmax: rule SHARES). */
#include <math.h>
#include <omp.h>

#include "kernels/graph/op.h"
#include "kernels/ops/dense/gemm_template.h"
#include "kernels/ops/ssm/ssm_kernel_body.h"

enum { BLOCK = 64 };

static inline int64_t blocks_of(int64_t L)
{
    return (L + BLOCK - 1) / BLOCK;
}

/* Scratch of a thread. packed: exp(x j) as right operand; k: lags by blocks of 64, and for the
 * gradient a second copy multiplied by j; rows: left operands, or sums over the lags of a block;
 * step: exp(64 x); at: the power of `step` at the current block; sum: G0 and G1. Complex numbers
 * are stored as all real parts, then all imaginary parts. Results that depend only on the exponents
 * are reused for all rows with these exponents. */
typedef struct {
    real *packed, *table, *k, *rows[2];
    double *step, *at, *sum[2];
    ssm_mode *mode;
} ssm_room;

static inline int64_t packed_size(int64_t N)
{
    return BLOCK * tile_padded(2 * N);
}
static inline int64_t numbers_at(int64_t N, int64_t L)
{
    return tile_padded(packed_size(N) + 2 * N * BLOCK + blocks_of(L) * (2 * BLOCK + 4 * N));
}
static inline int64_t thread_scratch(int64_t N, int64_t L)
{
    int64_t bytes = N * (8 * (int64_t)sizeof(double) + (int64_t)sizeof(ssm_mode));
    return numbers_at(N, L) + tile_padded(bytes / (int64_t)sizeof(real));
}
static inline ssm_room room_of(real *scratch, int64_t N, int64_t L)
{
    ssm_room w = {.packed = scratch, .table = scratch + packed_size(N)};
    w.k = w.table + 2 * N * BLOCK;
    w.rows[0] = w.k + 2 * blocks_of(L) * BLOCK;
    w.rows[1] = w.rows[0] + 2 * N * blocks_of(L);
    w.step = (double *)(scratch + numbers_at(N, L));
    w.at = w.step + 2 * N, w.sum[0] = w.at + 2 * N, w.sum[1] = w.sum[0] + 2 * N;
    w.mode = (ssm_mode *)(w.sum[1] + 2 * N);
    return w;
}

/* Powers below this number are set to 0, because further multiplications would make them
 * subnormal. */
#define SSM_LEAST 1e-30

static inline bool counts(double re, double im)
{
    return fabs(re) + fabs(im) > SSM_LEAST;
}

/* Multiplies `at` by `step`, for all modes. */
static inline void advance(const ssm_room *w, int64_t N)
{
    const double *step = w->step;
    double *at = w->at;
#pragma omp simd
    for (int64_t n = 0; n < N; n++) {
        double re = at[n] * step[n] - at[N + n] * step[N + n];
        double im = at[n] * step[N + n] + at[N + n] * step[n];
        at[n] = counts(re, im) ? re : 0, at[N + n] = counts(re, im) ? im : 0;
    }
}

/* Computes everything that depends on the exponents of row r. Row j of the table holds Re and Im of
 * exp(x j) for all modes. All modes are computed together, because a single mode would wait for the
 * latency of the multiplications. */
static inline void fill_modes(const ssm_room *w, const ssm_kernel_args *s, const real *a,
                              const real *dt, int64_t r)
{
    int64_t N = s->N;
    for (int64_t n = 0; n < N; n++) {
        w->mode[n] = ssm_mode_at(s, a, dt, r, n);
        c_number z = c_exp(w->mode[n].x);
        w->step[n] = z.re, w->step[N + n] = z.im;
        w->at[n] = 1, w->at[N + n] = 0;
    }
    for (int64_t j = 0; j < BLOCK; j++) {
        real *row = w->table + j * 2 * N;
        for (int64_t i = 0; i < 2 * N; i++) row[i] = (real)w->at[i];
        advance(w, N);
    }
    memcpy(w->step, w->at, (size_t)(2 * N) * sizeof *w->at);
}

/* Period of the exponents: rows r, r + period, .. have the same ones. A thread processes such rows
 * one after the other. */
static inline int64_t ssm_period(const ssm_kernel_args *s)
{
    return ssm_has_dt(s) ? s->H : s->S;
}
static inline int64_t ssm_row(const ssm_kernel_args *s, int64_t i, bool *other)
{
    int64_t same = s->R / ssm_period(s);
    *other = i % same == 0;
    return i / same + i % same * ssm_period(s);
}

/* Sources: a, c, [dt]. */
LRA_BODY(ssm_kernel)
{
    const ssm_kernel_args *s = c->y->args;
    const real *dt = ssm_has_dt(s) ? c->in[2] : NULL;
    int64_t N = s->N, L = s->L, nb = blocks_of(L);
#pragma omp parallel num_threads(c->n_threads)
    {
        real *scratch = (real *)c->scratch + omp_get_thread_num() * thread_scratch(N, L);
        ssm_room w = room_of(scratch, N, L);
        bool filled = false, other;
#pragma omp for schedule(static)
        for (int64_t i = 0; i < s->R; i++) {
            int64_t r = ssm_row(s, i, &other);
            if (other || !filled) {
                fill_modes(&w, s, c->in[0], dt, r);
                gemm_pack_real(2 * N, BLOCK, w.table, 1, 2 * N, 0, BLOCK, w.packed);
            }
            filled = true;
            for (int64_t n = 0; n < N; n++) {
                c_number v = c_mul(ssm_weight_at(s, c->in[1], r, n), w.mode[n].gain);
                w.at[n] = ssm_scale(s) * v.re, w.at[N + n] = ssm_scale(s) * v.im;
            }
            for (int64_t b = 0; b < nb; b++) {
                real *left = w.rows[0] + b * 2 * N;
                for (int64_t n = 0; n < N; n++)
                    left[n] = (real)w.at[n], left[N + n] = (real)-w.at[N + n];
                advance(&w, N);
            }
            tile_rows rows = {w.rows[0], 2 * N, 1};
            gemm_rows(nb, BLOCK, 2 * N, 0, 2 * N, rows, w.packed, false, w.k, BLOCK);
            memcpy((real *)c->out + r * L, w.k, (size_t)L * sizeof *w.k);
        }
    }
}

/* Adds block number b to G0 and G1 of all modes; w->rows holds the sums over its lags. */
static inline void add_block(const ssm_room *w, int64_t N, int64_t b)
{
    const real *x = w->rows[0] + b * 2 * N, *y = w->rows[1] + b * 2 * N;
    const double *at = w->at, first = (double)(BLOCK * b);
    double *g = w->sum[0], *h = w->sum[1];
#pragma omp simd
    for (int64_t n = 0; n < N; n++) {
        double re = (double)x[n], im = (double)x[N + n];
        g[n] += at[n] * re - at[N + n] * im, g[N + n] += at[n] * im + at[N + n] * re;
        re = first * re + (double)y[n], im = first * im + (double)y[N + n];
        h[n] += at[n] * re - at[N + n] * im, h[N + n] += at[n] * im + at[N + n] * re;
    }
}

/* Sources: dk, a, c, [dt]. Result: (5,R,N), see ssm_mode_gradient(). */
LRA_BODY(ssm_kernel_grad)
{
    const ssm_kernel_args *s = c->y->args;
    const real *dk = c->in[0], *dt = ssm_has_dt(s) ? c->in[3] : NULL;
    int64_t N = s->N, L = s->L, nb = blocks_of(L);
#pragma omp parallel num_threads(c->n_threads)
    {
        real *scratch = (real *)c->scratch + omp_get_thread_num() * thread_scratch(N, L);
        ssm_room w = room_of(scratch, N, L);
        bool filled = false, other;
        memset(w.k, 0, (size_t)(2 * nb * BLOCK) * sizeof *w.k);
#pragma omp for schedule(static)
        for (int64_t i = 0; i < s->R; i++) {
            int64_t r = ssm_row(s, i, &other);
            if (other || !filled) {
                fill_modes(&w, s, c->in[1], dt, r);
                gemm_pack_real(BLOCK, 2 * N, w.table, 2 * N, 1, 0, 2 * N, w.packed);
            }
            filled = true;
            memcpy(w.k, dk + r * L, (size_t)L * sizeof *w.k);
            for (int64_t l = 0; l < L; l++) w.k[nb * BLOCK + l] = (real)(l % BLOCK) * w.k[l];
            tile_rows rows = {w.k, BLOCK, 1};
            gemm_rows(2 * nb, 2 * N, BLOCK, 0, BLOCK, rows, w.packed, false, w.rows[0], 2 * N);
            for (int64_t n = 0; n < N; n++) w.at[n] = ssm_scale(s), w.at[N + n] = 0;
            memset(w.sum[0], 0, (size_t)(4 * N) * sizeof(double));
            for (int64_t b = 0; b < nb; b++) {
                add_block(&w, N, b);
                advance(&w, N);
            }
            for (int64_t n = 0; n < N; n++) {
                c_number weight = ssm_weight_at(s, c->in[2], r, n);
                c_number g0 = c_of(w.sum[0][n], w.sum[0][N + n]);
                c_number g1 = c_of(w.sum[1][n], w.sum[1][N + n]);
                ssm_mode_gradient(s, &w.mode[n], weight, g0, g1, r * N + n, c->out);
            }
        }
    }
}

#if LRA_RECORD
LRA_DECLARE(ssm_kernel)
LRA_DECLARE(ssm_kernel_grad)

static int check(const lra_tensor *y, int first, lra_err *e)
{
    const ssm_kernel_args *s = y->args;
    if (s->S < 1 || s->H < 1 || s->H % s->S || s->R % s->H || s->L < 1)
        return lra_fail(e, "%lld copies, %lld positions and %lld rows do not divide each other",
                        (long long)s->S, (long long)s->H, (long long)s->R);
    for (int i = 0; i < y->n_src; i++)
        if (y->src[i]->type != lra_real(y->graph)) return lra_fail(e, "a source is not real");
    if (lra_expect_shape(y->src[first], LRA_SHAPE(2, s->S, s->N), "a", e) != 0 ||
        lra_expect_shape(y->src[first + 1], LRA_SHAPE(2, s->R, s->N), "c", e) != 0)
        return LRA_FAILED;
    return ssm_has_dt(s) ? lra_expect_shape(y->src[first + 2], LRA_SHAPE(s->H), "dt", e) : 0;
}

static int shape(lra_tensor *y, lra_err *e)
{
    const ssm_kernel_args *s = y->args;
    if (check(y, 0, e) != 0) return LRA_FAILED;
    y->shape = LRA_SHAPE(s->R, s->L);
    y->type = lra_real(y->graph);
    return 0;
}

static int grad_shape(lra_tensor *y, lra_err *e)
{
    const ssm_kernel_args *s = y->args;
    if (check(y, 1, e) != 0) return LRA_FAILED;
    if (lra_expect_shape(y->src[0], LRA_SHAPE(s->R, s->L), "dk", e) != 0) return LRA_FAILED;
    y->shape = LRA_SHAPE(5, s->R, s->N);
    y->type = lra_real(y->graph);
    return 0;
}

static void grad(lra_tensor *y, lra_tensor *dy, lra_tensor **dx)
{
    const ssm_kernel_args *s = y->args;
    lra_tensor *src[] = {dy, y->src[0], y->src[1], ssm_has_dt(s) ? y->src[2] : NULL};
    lra_tensor *all = lra_node(&lra_op_ssm_kernel_grad, y->graph, ssm_has_dt(s) ? 4 : 3, src, s,
                               sizeof *s);
    lra_tensor *a = lra_reshape(lra_slice(all, 0, 2, 2), LRA_SHAPE(2, s->R / s->S, s->S, s->N));
    dx[0] = lra_reshape(lra_reduce_sum(a, LRA_SHAPE(2, 1, s->S, s->N)), LRA_SHAPE(2, s->S, s->N));
    dx[1] = lra_slice(all, 0, 0, 2);
    if (!ssm_has_dt(s)) return;
    lra_tensor *dt = lra_reshape(lra_slice(all, 0, 4, 1), LRA_SHAPE(s->R / s->H, s->H, s->N));
    dx[2] = lra_reshape(lra_reduce_sum(dt, LRA_SHAPE(1, s->H, 1)), LRA_SHAPE(s->H));
}

/* FLOP: powers and products; for the gradient two sums over the lags. */
static double flops(const lra_tensor *y)
{
    const ssm_kernel_args *s = y->args;
    return 4.0 * (double)(s->R * s->N * (s->L + 8 * BLOCK));
}
static double grad_flops(const lra_tensor *y)
{
    const ssm_kernel_args *s = y->args;
    return 4.0 * (double)(s->R * s->N * (2 * s->L + 8 * BLOCK));
}

static int64_t scratch(const lra_tensor *y, int n_threads)
{
    const ssm_kernel_args *s = y->args;
    return n_threads * thread_scratch(s->N, s->L) * (int64_t)lra_type_size(lra_real(y->graph));
}

static lra_tensor *build(ssm_rule rule, lra_tensor *a, lra_tensor *c, lra_tensor *dt, int64_t L,
                         int64_t T)
{
    bool fit = a->shape.n == 3 && c->shape.n == 3;
    ssm_kernel_args s = {.rule = rule, .L = L, .N = lra_width(a), .T = T};
    s.S = fit ? a->shape.d[1] : 0;
    s.R = fit ? c->shape.d[1] : 1;
    s.H = dt ? lra_elements(dt) : s.R;
    lra_tensor *src[] = {a, c, dt};
    return lra_node(&lra_op_ssm_kernel, a->graph, dt ? 3 : 2, src, &s, sizeof s);
}

lra_tensor *lra_ssm_kernel(lra_tensor *a, lra_tensor *c, lra_tensor *dt, int64_t L)
{
    return build(dt ? SSM_HELD : SSM_SUM, a, c, dt, L, 0);
}

lra_tensor *lra_ssm_kernel_bilinear(lra_tensor *a, lra_tensor *c, lra_tensor *dt, int64_t L)
{
    return build(SSM_BILINEAR, a, c, dt, L, 0);
}

lra_tensor *lra_ssm_kernel_shares(lra_tensor *a, lra_tensor *c, int64_t L, int64_t T)
{
    return build(SSM_SHARES, a, c, NULL, L, T);
}

static lra_tensor *real_input(lra_graph *g, const char *name, const char *fill, lra_shape s)
{
    return lra_cast(lra_sample_input(g, name, fill, s), lra_real(g));
}

/* Test samples: one block and several; shared exponents, two directions; a step dt so small that
 * the series are used; every rule. With two threads, the second one starts at a row whose exponents
 * the first one has computed. */
static lra_tensor *sample(lra_graph *g, int i)
{
    if (i > 7) return NULL;
    int64_t S = i % 2 ? 1 : 3, L = i / 2 == 1 ? 150 : 7;
    const double size[] = {0.3, 0.3, 0.01, 0.01, 0.002, 0.3, 0.3, 0.0005};
    lra_tensor *a = real_input(g, "a", "normal", LRA_SHAPE(2, S, 3));
    lra_tensor *c = real_input(g, "c", "normal", LRA_SHAPE(2, 6, 3));
    lra_tensor *dt = real_input(g, "dt", "positive", LRA_SHAPE(3));
    a = lra_affine(a, size[i], 0);
    if (i > 4)
        return i == 5 ? lra_ssm_kernel_bilinear(a, c, dt, L) : lra_ssm_kernel_shares(a, c, L, 9);
    return lra_ssm_kernel(a, c, i == 1 ? NULL : dt, L);
}
static lra_tensor *grad_sample(lra_graph *g, int i)
{
    if (i > 0) return NULL;
    const ssm_kernel_args s = {.rule = SSM_HELD, .L = 9, .S = 1, .H = 3, .R = 6, .N = 3};
    lra_tensor *a = real_input(g, "a", "normal", LRA_SHAPE(2, 1, 3));
    lra_tensor *src[] = {real_input(g, "dk", "normal", LRA_SHAPE(6, 9)), lra_affine(a, 0.3, 0),
                         real_input(g, "c", "normal", LRA_SHAPE(2, 6, 3)),
                         real_input(g, "dt", "positive", LRA_SHAPE(3))};
    return lra_node(&lra_op_ssm_kernel_grad, g, 4, src, &s, sizeof s);
}

const lra_op lra_op_ssm_kernel = {.name = "ssm_kernel",
                                  .shape = shape,
                                  .grad = grad,
                                  .flops = flops,
                                  .scratch = scratch,
                                  .cuda_scratch = lra_no_scratch,
                                  .cpu = LRA_BODIES(ssm_kernel),
                                  .sample = sample};
const lra_op lra_op_ssm_kernel_grad = {.name = "ssm_kernel_grad",
                                       .flags = LRA_NOGRAD,
                                       .shape = grad_shape,
                                       .flops = grad_flops,
                                       .scratch = scratch,
                                       .cuda_scratch = lra_no_scratch,
                                       .cpu = LRA_BODIES(ssm_kernel_grad),
                                       .sample = grad_sample};
#endif
