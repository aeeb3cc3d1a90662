/* Kernels of diagonal state-space layers: sums of damped turning exponentials, by lag l = 0 .. L-1,
 *   k[r,l] = scale Re sum_n c_rn gain exp(x l)                             r < R; S divides H, H divides R
 * where x and gain follow from a[r mod S] and dt[r mod H] by the rules of ssm_kernel_fn.h; scale is 2 with dt, else 1.
 * exp(x l) = exp(64 x b) exp(x j) with l = 64 b + j: two short tables in double and one dense product in real between
 * them, so that a lag costs multiplications and no exponential.  Gradients, with w = c gain and z = dt a:
 *   dw = conj G0,  dz = conj(w G1 dx/dz) + conj(dw/dz) dw,  G_i = sum_l l^i dk_l exp(x l);  c, a, dt by the chain rule.
 * Source: Gu et al. 2022, arXiv:2206.11893, section 3.2 (S4D); Gupta et al. 2022, arXiv:2212.00768 (DLR: the plain sum)
 * and arXiv:2203.14343 (DSS-softmax: shares). */
#include <omp.h>

#include "kernels/graph/op.h"
#include "kernels/ops/gemm_fn.h"
#include "kernels/ops/ssm_kernel_fn.h"

enum { BLOCK = 64 };

static inline int64_t blocks_of(int64_t L)
{
    return (L + BLOCK - 1) / BLOCK;
}
/* Numbers of a thread: the table, the same times j, left factors (or sums) twice, the kernel; one of the tables, packed. */
static inline int64_t packed_at(int64_t N, int64_t L)
{
    return tile_padded(4 * N * BLOCK + 4 * N * blocks_of(L) + blocks_of(L) * BLOCK);
}
static inline int64_t thread_scratch(int64_t N, int64_t L)
{
    return packed_at(N, L) + BLOCK * tile_padded(2 * N);
}

/* Rows n and N + n of the table: Re and Im of exp(x j). */
static inline void fill_table(c_number x, int64_t n, int64_t N, real *table)
{
    c_number z = c_exp(x), at = c_of(1, 0);
    for (int64_t j = 0; j < BLOCK; j++, at = c_mul(at, z)) {
        table[n * BLOCK + j] = (real)at.re;
        table[(N + n) * BLOCK + j] = (real)at.im;
    }
}

/* sources: a, c, [dt] */
LRA_BODY(ssm_kernel)
{
    const ssm_kernel_args *s = c->y->args;
    const real *dt = ssm_has_dt(s) ? c->in[2] : NULL;
    int64_t N = s->N, L = s->L, nb = blocks_of(L);
#pragma omp parallel for num_threads(c->n_threads) schedule(static)
    for (int64_t r = 0; r < s->R; r++) {
        real *table = (real *)c->scratch + omp_get_thread_num() * thread_scratch(N, L);
        real *packed = table + packed_at(N, L);
        real *left = table + 4 * N * BLOCK, *k = left + 4 * N * nb;
        for (int64_t n = 0; n < N; n++) {
            ssm_mode m = ssm_mode_at(s, c->in[0], c->in[1], dt, r, n);
            c_number step = c_exp(c_scale(m.x, BLOCK)), at = c_scale(m.w, m.scale);
            fill_table(m.x, n, N, table);
            for (int64_t b = 0; b < nb; b++, at = c_mul(at, step)) {
                left[b * 2 * N + n] = (real)at.re;
                left[b * 2 * N + N + n] = (real)-at.im;
            }
        }
        gemm_pack_real(2 * N, BLOCK, table, BLOCK, 1, 0, BLOCK, packed);
        gemm_rows(nb, BLOCK, 2 * N, 0, 2 * N, (tile_rows){left, 2 * N, 1}, packed, false, k, BLOCK);
        memcpy((real *)c->out + r * L, k, (size_t)L * sizeof *k);
    }
}

/* G0 and G1 of mode n from the sums over the lags of each block. */
static inline void add_blocks(const ssm_mode *m, int64_t n, int64_t N, int64_t nb, const real *sum0,
                              const real *sum1, c_number *g0, c_number *g1)
{
    c_number step = c_exp(c_scale(m->x, BLOCK)), at = c_of(m->scale, 0);
    *g0 = *g1 = c_of(0, 0);
    for (int64_t b = 0; b < nb; b++, at = c_mul(at, step)) {
        c_number s0 = c_of((double)sum0[b * 2 * N + n], (double)sum0[b * 2 * N + N + n]);
        c_number s1 = c_of((double)sum1[b * 2 * N + n], (double)sum1[b * 2 * N + N + n]);
        *g0 = c_add(*g0, c_mul(at, s0));
        *g1 = c_add(*g1, c_mul(at, c_add(c_scale(s0, (double)(BLOCK * b)), s1)));
    }
}

/* sources: dk, a, c, [dt]; y: (5,R,N), see ssm_mode_gradient() */
LRA_BODY(ssm_kernel_grad)
{
    const ssm_kernel_args *s = c->y->args;
    const real *dk = c->in[0], *dt = ssm_has_dt(s) ? c->in[3] : NULL;
    int64_t N = s->N, L = s->L, nb = blocks_of(L);
#pragma omp parallel for num_threads(c->n_threads) schedule(static)
    for (int64_t r = 0; r < s->R; r++) {
        real *table = (real *)c->scratch + omp_get_thread_num() * thread_scratch(N, L);
        real *packed = table + packed_at(N, L);
        real *lag = table + 2 * N * BLOCK, *sum0 = lag + 2 * N * BLOCK, *sum1 = sum0 + 2 * N * nb;
        real *k = sum1 + 2 * N * nb;
        memset(k, 0, (size_t)(nb * BLOCK) * sizeof *k);
        memcpy(k, dk + r * L, (size_t)L * sizeof *k);
        for (int64_t n = 0; n < N; n++)
            fill_table(ssm_mode_at(s, c->in[1], c->in[2], dt, r, n).x, n, N, table);
        for (int64_t i = 0; i < 2 * N; i++)
            for (int64_t j = 0; j < BLOCK; j++) lag[i * BLOCK + j] = (real)j * table[i * BLOCK + j];
        tile_rows rows = {k, BLOCK, 1};
        gemm_pack_real(BLOCK, 2 * N, table, 1, BLOCK, 0, 2 * N, packed);
        gemm_rows(nb, 2 * N, BLOCK, 0, BLOCK, rows, packed, false, sum0, 2 * N);
        gemm_pack_real(BLOCK, 2 * N, lag, 1, BLOCK, 0, 2 * N, packed);
        gemm_rows(nb, 2 * N, BLOCK, 0, BLOCK, rows, packed, false, sum1, 2 * N);
        for (int64_t n = 0; n < N; n++) {
            ssm_mode m = ssm_mode_at(s, c->in[1], c->in[2], dt, r, n);
            c_number g0, g1;
            add_blocks(&m, n, N, nb, sum0, sum1, &g0, &g1);
            ssm_mode_gradient(s, &m, g0, g1, r * N + n, c->out);
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
        return lra_fail(e, "%lld copies, %lld steps and %lld rows do not divide each other",
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
    dx[0] = lra_reshape(lra_reduce(a, LRA_SHAPE(2, 1, s->S, s->N)), LRA_SHAPE(2, s->S, s->N));
    dx[1] = lra_slice(all, 0, 0, 2);
    if (!ssm_has_dt(s)) return;
    lra_tensor *dt = lra_reshape(lra_slice(all, 0, 4, 1), LRA_SHAPE(s->R / s->H, s->H, s->N));
    dx[2] = lra_reshape(lra_reduce(dt, LRA_SHAPE(1, s->H, 1)), LRA_SHAPE(s->H));
}

static double flops(const lra_tensor *y)
{
    const ssm_kernel_args *s = y->args;
    return 4.0 * (double)(s->R * s->N * (s->L + 8 * BLOCK));
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

/* One block and several; shared rates, two directions; a step so small that the series are used; every rule. */
static lra_tensor *sample(lra_graph *g, int i)
{
    if (i > 7) return NULL;
    int64_t S = i % 2 ? 2 : 4, L = i / 2 == 1 ? 150 : 7;
    const double size[] = {0.3, 0.3, 0.01, 0.01, 0.002, 0.3, 0.3, 0.0005};
    lra_tensor *a = real_input(g, "a", "normal", LRA_SHAPE(2, S, 3));
    lra_tensor *c = real_input(g, "c", "normal", LRA_SHAPE(2, 8, 3));
    lra_tensor *dt = real_input(g, "dt", "positive", LRA_SHAPE(4));
    a = lra_affine(a, size[i], 0);
    if (i > 4)
        return i == 5 ? lra_ssm_kernel_bilinear(a, c, dt, L) : lra_ssm_kernel_shares(a, c, L, 9);
    return lra_ssm_kernel(a, c, i == 1 ? NULL : dt, L);
}
static lra_tensor *grad_sample(lra_graph *g, int i)
{
    if (i > 0) return NULL;
    const ssm_kernel_args s = {.rule = SSM_HELD, .L = 9, .S = 2, .H = 4, .R = 8, .N = 3};
    lra_tensor *a = real_input(g, "a", "normal", LRA_SHAPE(2, 2, 3));
    lra_tensor *src[] = {real_input(g, "dk", "normal", LRA_SHAPE(8, 9)), lra_affine(a, 0.3, 0),
                         real_input(g, "c", "normal", LRA_SHAPE(2, 8, 3)),
                         real_input(g, "dt", "positive", LRA_SHAPE(4))};
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
                                       .flops = flops,
                                       .scratch = scratch,
                                       .cuda_scratch = lra_no_scratch,
                                       .cpu = LRA_BODIES(ssm_kernel_grad),
                                       .sample = grad_sample};
#endif
