/* y = (x - mean)/sqrt(var + eps) gain + bias over the last dimension, biased variance.
 * With xhat = (x - mean) r, r = 1/sqrt(var + eps), u = dy gain:
 *   dx = r (u - mean(u) - xhat mean(u xhat));  dgain = sum over rows of dy xhat;  dbias = sum of dy.
 * Ba, Kiros, Hinton 2016.  The gradient recomputes the statistics: x is read anyway. */
#include "kernels/ops/args.h"
#include "kernels/ops/norm_shape.h"
#include "kernels/ops/typed.h"

/* mean and r of one row */
LRA_ROW_FN void statistics(lra_type t, const void *x, int64_t D, double eps, real *mean, real *r)
{
    real s = 0, q = 0;
#pragma omp simd reduction(+ : s)
    for (int64_t d = 0; d < D; d++) s += t_load(x, t, d);
    real m = s / (real)D;
#pragma omp simd reduction(+ : q)
    for (int64_t d = 0; d < D; d++) q += (t_load(x, t, d) - m) * (t_load(x, t, d) - m);
    *mean = m;
    *r = 1 / r_sqrt(q / (real)D + (real)eps);
}

LRA_ROW_FN void norm_row(lra_type t, const void *x, int64_t D, double eps, const real *gain,
                         const real *bias, void *y)
{
    real m, r;
    statistics(t, x, D, eps, &m, &r);
#pragma omp simd
    for (int64_t d = 0; d < D; d++) t_store(y, t, d, (t_load(x, t, d) - m) * r * gain[d] + bias[d]);
}

LRA_BODY(layer_norm)
{
    const layer_norm_args *a = c->y->args;
    int64_t D = lra_width(c->y), rows = lra_rows(c->y);
    lra_type t = c->y->type;
    const real *gain = c->in[1], *bias = c->in[2];
#pragma omp parallel for num_threads(c->n_threads) if (rows * D >= LRA_PARALLEL_MIN)
    for (int64_t i = 0; i < rows; i++)
        LRA_BY_TYPE(norm_row, t, t_at(c->in[0], t, i * D), D, a->eps, gain, bias,
                    t_to(c->out, t, i * D));
}

LRA_ROW_FN void dx_row(lra_type t, const void *dy, const void *x, int64_t D, double eps,
                       const real *gain, void *dx)
{
    real m, r, su = 0, sux = 0;
    statistics(t, x, D, eps, &m, &r);
#pragma omp simd reduction(+ : su, sux)
    for (int64_t d = 0; d < D; d++) {
        real u = t_load(dy, t, d) * gain[d];
        su += u;
        sux += u * (t_load(x, t, d) - m) * r;
    }
    su /= (real)D, sux /= (real)D;
#pragma omp simd
    for (int64_t d = 0; d < D; d++) {
        real u = t_load(dy, t, d) * gain[d];
        t_store(dx, t, d, r * (u - su - (t_load(x, t, d) - m) * r * sux));
    }
}

/* sources: dy, x, gain */
LRA_BODY(layer_norm_dx)
{
    const layer_norm_args *a = c->y->args;
    int64_t D = lra_width(c->y), rows = lra_rows(c->y);
    lra_type t = c->y->type;
    const real *gain = c->in[2];
#pragma omp parallel for num_threads(c->n_threads) if (rows * D >= LRA_PARALLEL_MIN)
    for (int64_t i = 0; i < rows; i++)
        LRA_BY_TYPE(dx_row, t, t_at(c->in[0], t, i * D), t_at(c->in[1], t, i * D), D, a->eps, gain,
                    t_to(c->out, t, i * D));
}

/* Adds one row to the sums. */
LRA_ROW_FN void dgain_row(lra_type t, const void *dy, const void *x, int64_t D, double eps,
                          real *dgain, real *dbias)
{
    real m, r;
    statistics(t, x, D, eps, &m, &r);
#pragma omp simd
    for (int64_t d = 0; d < D; d++) {
        dgain[d] += t_load(dy, t, d) * ((t_load(x, t, d) - m) * r);
        dbias[d] += t_load(dy, t, d);
    }
}

/* sources: dy, x; y: (2,D) = dgain, dbias; scratch: (blocks of rows, 2, D) */
LRA_BODY(layer_norm_dgain)
{
    const layer_norm_args *a = c->y->args;
    const lra_tensor *x = c->y->src[1];
    int64_t D = lra_width(x), rows = lra_rows(x);
    int64_t n_blocks = (rows + LRA_ROW_BLOCK - 1) / LRA_ROW_BLOCK;
    lra_type t = x->type;
    real *part = c->scratch, *y = c->out;
#pragma omp parallel for num_threads(c->n_threads) if (rows * D >= LRA_PARALLEL_MIN)
    for (int64_t b = 0; b < n_blocks; b++) {
        real *dgain = part + b * 2 * D, *dbias = dgain + D;
        int64_t last = (b + 1) * LRA_ROW_BLOCK < rows ? (b + 1) * LRA_ROW_BLOCK : rows;
        for (int64_t d = 0; d < 2 * D; d++) dgain[d] = 0;
        for (int64_t i = b * LRA_ROW_BLOCK; i < last; i++)
            LRA_BY_TYPE(dgain_row, t, t_at(c->in[0], t, i * D), t_at(c->in[1], t, i * D), D, a->eps,
                        dgain, dbias);
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

/* The same, then mean and r of each row. */
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
