/* Layer norm: y = (x - mean)/sqrt(var + eps) gain + bias over the last dimension, with the biased
 * variance.
 * With xhat = (x - mean) r, r = 1/sqrt(var + eps), u = dy gain:
 *   dx = r (u - mean(u) - xhat mean(u xhat));  dgain = sum over rows of dy xhat;
 *     dbias = sum of dy.
 * Source: Ba, Kiros, Hinton 2016. The gradient recomputes the statistics, because it reads x
 * anyway. */
#include "kernels/ops/args.h"
#include "kernels/ops/lanes_template.h"
#include "kernels/ops/norm/norm_shape.h"

/* Number of rows that are processed together. Sum, square root and division of one row are a chain
 * of dependent instructions that takes as long as the rest of its work. The other rows hide this
 * latency. */
enum { TOGETHER = 4 };

typedef struct {
    const void *x[TOGETHER], *dy[TOGETHER];       /* dy: used by the gradients only */
    real m[TOGETHER], off[TOGETHER], r[TOGETHER]; /* mean = m + off; r = 1/sqrt(var + eps) */
    const real *gain, *bias;
} norm_rows;

LRA_ROW_FN norm_rows rows_at(lra_type t, const void *dy, const void *x, int64_t first, const int n,
                             int64_t D)
{
    norm_rows s = {.gain = NULL};
    for (int k = 0; k < n; k++) {
        s.x[k] = t_at(x, t, (first + k) * D);
        s.dy[k] = dy ? t_at(dy, t, (first + k) * D) : NULL;
    }
    return s;
}

LRA_ROW_FN void add(int64_t i, int64_t w, lra_type t, const void *x, lanes *sum)
{
    *sum += lanes_load(x, t, i, w);
}
LRA_ROW_FN void add_both(int64_t i, int64_t w, lra_type t, const void *x, real m, lanes *sum,
                         lanes *square)
{
    lanes v = lanes_keep(lanes_load(x, t, i, w) - m, w, 0);
    *sum += v;
    *square += v * v;
}

/* lanes_sum() of n vectors; four of them are processed together. */
LRA_ROW_FN void sums(const int n, const lanes *v, real *to)
{
#if !LRA_TYPE_f64 && (defined(LRA_LEVEL_avx512) || defined(LRA_LEVEL_avx2))
    if (n == TOGETHER) {
        __m128 x[TOGETHER];
        for (int k = 0; k < TOGETHER; k++) {
#if defined(LRA_LEVEL_avx512)
            __m256d upper = _mm512_extractf64x4_pd(_mm512_castps_pd((__m512)v[k]), 1);
            __m256 half = _mm256_add_ps(_mm512_castps512_ps256((__m512)v[k]),
                                        _mm256_castpd_ps(upper));
#else
            __m256 half = (__m256)v[k];
#endif
            x[k] = _mm_add_ps(_mm256_castps256_ps128(half), _mm256_extractf128_ps(half, 1));
        }
        __m128 a = _mm_add_ps(_mm_unpacklo_ps(x[0], x[1]), _mm_unpackhi_ps(x[0], x[1]));
        __m128 b = _mm_add_ps(_mm_unpacklo_ps(x[2], x[3]), _mm_unpackhi_ps(x[2], x[3]));
        _mm_storeu_ps(to, _mm_add_ps(_mm_movelh_ps(a, b), _mm_movehl_ps(b, a)));
        return;
    }
#endif
    for (int k = 0; k < n; k++) to[k] = lanes_sum(v[k]);
}

/* Computes m, off and r of each row. The second pass reads the differences x - m from the L1 cache.
 * There is no cancellation, and a row may have any magnitude whose square is finite. The mean of
 * the differences, off, is the rounding error of m and is added to it. An error of m would be
 * common to all channels and would accumulate in a product over the channels. */
LRA_ROW_FN void statistics(lra_type t, const int n, int64_t D, double eps, norm_rows *s)
{
    lanes sum[TOGETHER] = {0}, rest[TOGETHER] = {0}, square[TOGETHER] = {0};
    real all[TOGETHER];
    for (int k = 0; k < n; k++) LANES_EACH(D, add, t, s->x[k], &sum[k]);
    sums(n, sum, s->m);
    for (int k = 0; k < n; k++) s->m[k] /= (real)D;
    for (int k = 0; k < n; k++) LANES_EACH(D, add_both, t, s->x[k], s->m[k], &rest[k], &square[k]);
    sums(n, rest, s->off);
    sums(n, square, all);
    for (int k = 0; k < n; k++) {
        s->off[k] /= (real)D;
        s->r[k] = 1 / r_sqrt(r_max(all[k] / (real)D - s->off[k] * s->off[k], R(0.0)) + (real)eps);
    }
}

/* Calls f(t, n, first, ...) for rows [first, last): TOGETHER rows per call, then the remaining rows
 * one by one. */
#define ROWS_EACH(f, t, first, last, ...)                                                          \
    do {                                                                                           \
        int64_t row_ = (first), end_ = (last);                                                     \
        for (; row_ + TOGETHER <= end_; row_ += TOGETHER) f(t, TOGETHER, row_, __VA_ARGS__);       \
        for (; row_ < end_; row_++) f(t, 1, row_, __VA_ARGS__);                                    \
    } while (0)
enum { NORM_ROWS = 64 }; /* rows per work item */

LRA_ROW_FN void norm(int64_t i, int64_t w, lra_type t, const int k, const norm_rows *s, void *y)
{
    lanes g = lanes_load(s->gain, LRA_F32, i, w), b = lanes_load(s->bias, LRA_F32, i, w);
    lanes_store(y, t, i, w, (lanes_load(s->x[k], t, i, w) - s->m[k] - s->off[k]) * s->r[k] * g + b);
}
LRA_ROW_FN void norm_some(lra_type t, const int n, int64_t first, const lra_call *c, int64_t D,
                          double eps)
{
    norm_rows s = rows_at(t, NULL, c->in[0], first, n, D);
    s.gain = c->in[1], s.bias = c->in[2];
    statistics(t, n, D, eps, &s);
    for (int k = 0; k < n; k++) LANES_EACH(D, norm, t, k, &s, t_to(c->out, t, (first + k) * D));
}
LRA_ROW_FN void norm_piece(lra_type t, const lra_call *c, int64_t first, int64_t last, int64_t D,
                           double eps)
{
    ROWS_EACH(norm_some, t, first, last, c, D, eps);
}

LRA_BODY(layer_norm)
{
    const layer_norm_args *a = c->y->args;
    int64_t D = lra_width(c->y), rows = lra_rows(c->y);
#pragma omp parallel for num_threads(c->n_threads) if (rows * D >= LRA_PARALLEL_MIN)
    for (int64_t i = 0; i < rows; i += NORM_ROWS)
        LRA_BY_TYPE(norm_piece, c->y->type, c, i, i + NORM_ROWS < rows ? i + NORM_ROWS : rows, D,
                    a->eps);
}

LRA_ROW_FN void add_gradient(int64_t i, int64_t w, lra_type t, const int k, const norm_rows *s,
                             lanes *su, lanes *sux)
{
    lanes u = lanes_load(s->dy[k], t, i, w) * lanes_load(s->gain, LRA_F32, i, w);
    *su += u;
    *sux += u * (lanes_load(s->x[k], t, i, w) - s->m[k] - s->off[k]);
}
LRA_ROW_FN void dx(int64_t i, int64_t w, lra_type t, const int k, const norm_rows *s, real mean_u,
                   real mean_ux, void *to)
{
    lanes u = lanes_load(s->dy[k], t, i, w) * lanes_load(s->gain, LRA_F32, i, w);
    lanes xhat = (lanes_load(s->x[k], t, i, w) - s->m[k] - s->off[k]) * s->r[k];
    lanes_store(to, t, i, w, s->r[k] * (u - mean_u - xhat * mean_ux));
}
LRA_ROW_FN void dx_some(lra_type t, const int n, int64_t first, const lra_call *c, int64_t D,
                        double eps)
{
    norm_rows s = rows_at(t, c->in[0], c->in[1], first, n, D);
    lanes su[TOGETHER] = {0}, sux[TOGETHER] = {0};
    real mean_u[TOGETHER], mean_ux[TOGETHER];
    s.gain = c->in[2];
    statistics(t, n, D, eps, &s);
    for (int k = 0; k < n; k++) LANES_EACH(D, add_gradient, t, k, &s, &su[k], &sux[k]);
    sums(n, su, mean_u);
    sums(n, sux, mean_ux);
    for (int k = 0; k < n; k++) {
        mean_u[k] /= (real)D;
        mean_ux[k] *= s.r[k] / (real)D;
    }
    for (int k = 0; k < n; k++)
        LANES_EACH(D, dx, t, k, &s, mean_u[k], mean_ux[k], t_to(c->out, t, (first + k) * D));
}
LRA_ROW_FN void dx_piece(lra_type t, const lra_call *c, int64_t first, int64_t last, int64_t D,
                         double eps)
{
    ROWS_EACH(dx_some, t, first, last, c, D, eps);
}

/* sources: dy, x, gain */
LRA_BODY(layer_norm_dx)
{
    const layer_norm_args *a = c->y->args;
    int64_t D = lra_width(c->y), rows = lra_rows(c->y);
#pragma omp parallel for num_threads(c->n_threads) if (rows * D >= LRA_PARALLEL_MIN)
    for (int64_t i = 0; i < rows; i += NORM_ROWS)
        LRA_BY_TYPE(dx_piece, c->y->type, c, i, i + NORM_ROWS < rows ? i + NORM_ROWS : rows, D,
                    a->eps);
}

LRA_ROW_FN void add_row(int64_t i, int64_t w, lra_type t, const int k, const norm_rows *s,
                        real *dgain, real *dbias)
{
    lanes dy = lanes_load(s->dy[k], t, i, w);
    lanes xhat = (lanes_load(s->x[k], t, i, w) - s->m[k] - s->off[k]) * s->r[k];
    lanes_store(dgain, LRA_F32, i, w, lanes_load(dgain, LRA_F32, i, w) + dy * xhat);
    lanes_store(dbias, LRA_F32, i, w, lanes_load(dbias, LRA_F32, i, w) + dy);
}
/* Adds the terms of some rows to dgain and dbias. */
LRA_ROW_FN void dgain_some(lra_type t, const int n, int64_t first, const lra_call *c, int64_t D,
                           double eps, real *dgain, real *dbias)
{
    norm_rows s = rows_at(t, c->in[0], c->in[1], first, n, D);
    statistics(t, n, D, eps, &s);
    for (int k = 0; k < n; k++) LANES_EACH(D, add_row, t, k, &s, dgain, dbias);
}
LRA_ROW_FN void dgain_piece(lra_type t, const lra_call *c, int64_t first, int64_t last, int64_t D,
                            double eps, real *dgain, real *dbias)
{
    ROWS_EACH(dgain_some, t, first, last, c, D, eps, dgain, dbias);
}

/* sources: dy, x; y: (2,D) = dgain, dbias; scratch: (blocks of rows, 2, D) */
LRA_BODY(layer_norm_dgain)
{
    const layer_norm_args *a = c->y->args;
    const lra_tensor *x = c->y->src[1];
    int64_t D = lra_width(x), rows = lra_rows(x);
    int64_t n_blocks = (rows + LRA_ROW_BLOCK - 1) / LRA_ROW_BLOCK;
    real *part = c->scratch, *y = c->out;
#pragma omp parallel for num_threads(c->n_threads) if (rows * D >= LRA_PARALLEL_MIN)
    for (int64_t b = 0; b < n_blocks; b++) {
        real *dgain = part + b * 2 * D, *dbias = dgain + D;
        int64_t last = (b + 1) * LRA_ROW_BLOCK < rows ? (b + 1) * LRA_ROW_BLOCK : rows;
        for (int64_t d = 0; d < 2 * D; d++) dgain[d] = 0;
        LRA_BY_TYPE(dgain_piece, x->type, c, b * LRA_ROW_BLOCK, last, D, a->eps, dgain, dbias);
    }
    for (int64_t d = 0; d < 2 * D; d++) y[d] = 0;
    for (int64_t b = 0; b < n_blocks; b++)
        for (int64_t d = 0; d < 2 * D; d++) y[d] += part[b * 2 * D + d];
}

#if LRA_RECORD
LRA_DECLARE(layer_norm)
LRA_DECLARE(layer_norm_dx)
LRA_DECLARE(layer_norm_dgain)

static int shape(lra_tensor *y, lra_err *e)
{
    const lra_tensor *x = y->src[0];
    if (lra_expect_float(x, "the source", e) != 0) return LRA_FAILED;
    lra_shape s = LRA_SHAPE(lra_width(x));
    if (x->shape.n == 0) return lra_fail(e, "the source is a scalar");
    if (lra_expect_shape(y->src[1], s, "gain", e) != 0) return LRA_FAILED;
    if (lra_expect_shape(y->src[2], s, "bias", e) != 0) return LRA_FAILED;
    y->shape = x->shape;
    y->type = x->type;
    return 0;
}

/* Scratch of the CUDA body: that of the CPU body, then mean and r of each row. */
static int64_t dgain_cuda_scratch(const lra_tensor *y)
{
    return norm_dgain_scratch(y, 1) + 2 * lra_rows(y->src[1]) * (int64_t)lra_type_size(y->type);
}

static void grad(lra_tensor *y, lra_tensor *dy, lra_tensor **dx)
{
    const layer_norm_args *a = y->args;
    lra_tensor *x = y->src[0], *src[] = {dy, x, y->src[1]};
    dx[0] = lra_node(&lra_op_layer_norm_dx, y->graph, 3, src, a, sizeof *a);
    lra_tensor *both = lra_node(&lra_op_layer_norm_dgain, y->graph, 2, src, a, sizeof *a);
    dx[1] = norm_sums_row(both, 0);
    dx[2] = norm_sums_row(both, 1);
}

static double flops(const lra_tensor *y)
{
    return 8 * (double)lra_elements(y->src[0]);
}

lra_tensor *lra_layer_norm(lra_tensor *x, lra_tensor *gain, lra_tensor *bias, double eps)
{
    layer_norm_args a = {eps > 0 ? eps : 1e-5};
    lra_type r = lra_real(x->graph);
    lra_tensor *src[] = {x, lra_cast(gain, r), lra_cast(bias, r)};
    return lra_node(&lra_op_layer_norm, x->graph, 3, src, &a, sizeof a);
}

static lra_shape sample_shape(int i)
{
    return i == 0 ? LRA_SHAPE(3, 7) : i == 1 ? LRA_SHAPE(2, 4, 33) : LRA_SHAPE(600, 3);
}

static lra_tensor *sample(lra_graph *g, int i)
{
    if (i > 2) return NULL;
    lra_shape s = sample_shape(i);
    return lra_layer_norm(lra_sample_input(g, "x", "normal", s),
                          lra_sample_input(g, "gain", "normal", LRA_SHAPE(s.d[s.n - 1])),
                          lra_sample_input(g, "bias", "normal", LRA_SHAPE(s.d[s.n - 1])), 1e-3);
}

static lra_tensor *part_sample(const lra_op *op, int n_src, lra_graph *g, int i)
{
    layer_norm_args a = {1e-3};
    if (i > 1) return NULL;
    lra_shape s = sample_shape(i);
    lra_tensor *gain = lra_sample_input(g, "gain", "normal", LRA_SHAPE(s.d[s.n - 1]));
    lra_tensor *src[] = {lra_sample_input(g, "dy", "normal", s),
                         lra_sample_input(g, "x", "normal", s), lra_cast(gain, lra_real(g))};
    return lra_node(op, g, n_src, src, &a, sizeof a);
}
static lra_tensor *dx_sample(lra_graph *g, int i)
{
    return part_sample(&lra_op_layer_norm_dx, 3, g, i);
}
static lra_tensor *dgain_sample(lra_graph *g, int i)
{
    return part_sample(&lra_op_layer_norm_dgain, 2, g, i);
}

const lra_op lra_op_layer_norm = {.name = "layer_norm",
                                  .flags = LRA_INPLACE,
                                  .shape = shape,
                                  .grad = grad,
                                  .flops = flops,
                                  .cpu = LRA_BODIES(layer_norm),
                                  .sample = sample};
const lra_op lra_op_layer_norm_dx = {.name = "layer_norm_dx",
                                     .flags = LRA_INPLACE | LRA_NOGRAD,
                                     .shape = norm_dx_shape,
                                     .flops = flops,
                                     .cpu = LRA_BODIES(layer_norm_dx),
                                     .sample = dx_sample};
const lra_op lra_op_layer_norm_dgain = {.name = "layer_norm_dgain",
                                        .flags = LRA_NOGRAD,
                                        .shape = norm_dgain_shape,
                                        .flops = flops,
                                        .scratch = norm_dgain_scratch,
                                        .cuda_scratch = dgain_cuda_scratch,
                                        .cpu = LRA_BODIES(layer_norm_dgain),
                                        .sample = dgain_sample};
#endif
