/* Gradient of a scan's lambda (scan.c), (2,N):
 *   dlambda = sum over examples and tokens of g[k] conj(x[k-1]),  g: du of the scan
 * With a limit r, where u[k-r-1] lambda^(r+1) leaves the window at token k, the terms are
 *   g[k] conj(x[k-1] - (r+1) lambda^r u[k-r-1]),  g: du of the scan without the limit.
 * The terms of a chunk are summed in real, then all chunks are added in double, in order. */
#include "kernels/ops/ssm/scan_body.h"
#include "kernels/ops/typed.h"

/* Sums the terms of a chunk of an example, (2,N). */
static inline void sum_chunk(const lra_call *c, int64_t b, int64_t from, int64_t limit, real *sum)
{
    const scan_args *a = c->y->args;
    scan_sizes s = scan_sizes_of(c->y->src[0]);
    int64_t tokens = a->has_length ? ((const int32_t *)c->in[2])[b] : s.T, N = s.N;
    int64_t to = from + SCAN_CHUNK < tokens ? from + SCAN_CHUNK : tokens;
    const real *g = (const real *)c->in[0] + b * s.T * 2 * N;
    const real *x = (const real *)c->in[1] + b * s.T * 2 * N;
    const void *u = a->has_limit ? c->in[2 + a->has_length] : NULL;
    lra_type type = a->has_limit ? c->y->src[2 + a->has_length]->type : LRA_F32;
    const real *lambda = a->has_limit ? c->in[3 + a->has_length] : NULL;
    for (int64_t n = 0; n < 2 * N; n++) sum[n] = 0;
    for (int64_t k = from > 1 ? from : 1; k < to; k++) {
        const real *gk = g + scan_place(a->back, k, tokens) * 2 * N;
        const real *xk = x + scan_place(a->back, k - 1, tokens) * 2 * N;
#pragma omp simd
        for (int64_t n = 0; n < N; n++) {
            real gr = gk[n], gi = gk[N + n];
            real xr = xk[n], xi = xk[N + n];
            sum[n] += gr * xr + gi * xi;
            sum[N + n] += gi * xr - gr * xi;
        }
        if (k - limit - 1 < 0) continue;
        int64_t at = (b * s.T + scan_place(a->back, k - limit - 1, tokens)) * 2 * N;
        for (int64_t n = 0; n < N; n++) {
            c_number gone = c_mul(
                scan_leaving(lambda, n, N, limit),
                c_of((double)t_load(u, type, at + n), (double)t_load(u, type, at + N + n)));
            c_number part = c_mul(c_of((double)gk[n], (double)gk[N + n]), c_conj(gone));
            sum[n] -= (real)part.re, sum[N + n] -= (real)part.im;
        }
    }
}

/* Sources: g, x, [length], [u, lambda, limit]. Result: (2,N). Scratch: (B,chunks,2N). */
LRA_BODY(scan_dlambda)
{
    const scan_args *a = c->y->args;
    scan_sizes s = scan_sizes_of(c->y->src[0]);
    int64_t parts = s.B * scan_chunks(s.T), limit = s.T;
    real *part = c->scratch, *out = c->out;
    if (a->has_limit) limit = *(const int32_t *)c->in[4 + a->has_length];
    if (limit < 0) limit = 0;
#pragma omp parallel num_threads(c->n_threads)
    {
#pragma omp for schedule(static)
        for (int64_t i = 0; i < parts; i++)
            sum_chunk(c, i / scan_chunks(s.T), i % scan_chunks(s.T) * SCAN_CHUNK, limit,
                      part + i * 2 * s.N);
#pragma omp for schedule(static)
        for (int64_t n = 0; n < 2 * s.N; n++) {
            double sum = 0;
            for (int64_t i = 0; i < parts; i++) sum += (double)part[i * 2 * s.N + n];
            out[n] = (real)sum;
        }
    }
}

#if LRA_RECORD
LRA_DECLARE(scan_dlambda)

static int shape(lra_tensor *y, lra_err *e)
{
    const scan_args *a = y->args;
    const lra_tensor *g = y->src[0];
    int64_t N = g->shape.n == 3 ? g->shape.d[2] / 2 : 0;
    if (g->type != lra_real(y->graph) || y->src[1]->type != g->type)
        return lra_fail(e, "g and x must be real");
    if (lra_expect_length(a->has_length ? y->src[2] : NULL, g->shape.d[0], e) != 0)
        return LRA_FAILED;
    if (lra_expect_shape(y->src[1], g->shape, "x", e) != 0) return LRA_FAILED;
    y->shape = LRA_SHAPE(2, N);
    y->type = lra_real(y->graph);
    if (!a->has_limit) return 0;
    lra_tensor *const *rest = y->src + 2 + a->has_length;
    if (lra_expect_shape(rest[0], g->shape, "u", e) != 0) return LRA_FAILED;
    if (lra_expect_shape(rest[1], y->shape, "lambda", e) != 0) return LRA_FAILED;
    return lra_expect_limit(rest[2], e);
}

static double flops(const lra_tensor *y)
{
    return 4.0 * (double)lra_elements(y->src[0]);
}

static int64_t scratch(const lra_tensor *y, int n_threads)
{
    (void)n_threads;
    return scan_ends(y->src[0]);
}

/* Test samples: both directions, with and without lengths and a limit. */
static lra_tensor *sample(lra_graph *g, int i)
{
    static const int64_t size[][3] = {{1, 150, 2}, {2, 7, 3}, {2, 9, 18}, {2, 9, 3}};
    if (i > 3) return NULL;
    const scan_args a = {i % 2 == 1, false, i > 0, i > 1};
    lra_shape s = LRA_SHAPE(size[i][0], size[i][1], 2 * size[i][2]);
    lra_tensor *lambda = lra_cast(
        lra_sample_input(g, "lambda", "positive", LRA_SHAPE(2, size[i][2])), lra_real(g));
    lra_tensor *src[6] = {lra_cast(lra_sample_input(g, "g", "normal", s), lra_real(g)),
                          lra_cast(lra_sample_input(g, "x", "normal", s), lra_real(g))};
    int n = 2;
    if (a.has_length) src[n++] = lra_sample_input(g, "length", "length:7", LRA_SHAPE(s.d[0]));
    if (a.has_limit) {
        src[n++] = lra_sample_input(g, "u", "normal", s);
        src[n++] = lra_affine(lambda, 0.6, 0.1);
        src[n++] = lra_sample_input(g, "limit", "index:6", LRA_SHAPE(1));
    }
    return lra_node(&lra_op_scan_dlambda, g, n, src, &a, sizeof a);
}

const lra_op lra_op_scan_dlambda = {.name = "scan_dlambda",
                                    .flags = LRA_NOGRAD,
                                    .shape = shape,
                                    .flops = flops,
                                    .scratch = scratch,
                                    .cpu = LRA_BODIES(scan_dlambda),
                                    .sample = sample};
#endif
