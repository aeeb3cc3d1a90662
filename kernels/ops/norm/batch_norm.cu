/* Batch normalisation on a GPU; formulas and sources: batch_norm.c. Sums and partial sums are in
 * double, because columns of dx sum to 0, and the gradient of a bias before the norm is this
 * sum. */
#include "kernels/ops/columns_cuda.h"

/* x viewed as B samples of T rows of D. */
typedef struct {
    int64_t B, T, D;
    const int32_t *length;
} rows_view;

static rows_view view_of(const lra_call *c, const lra_tensor *x)
{
    const batch_norm_args *a = (const batch_norm_args *)c->y->args;
    const lra_shape *s = &x->shape;
    const void *length = a->has_length ? c->in[c->y->n_src - 1] : NULL;
    rows_view v = {s->d[0], s->n == 3 ? s->d[1] : 1, s->d[s->n - 1], (const int32_t *)length};
    return v;
}

LRA_DEV bool is_padding(const rows_view *v, int64_t row)
{
    return v->length && row % v->T >= v->length[row / v->T];
}

LRA_DEV int64_t count_rows(const rows_view *v)
{
    int64_t n = v->length ? 0 : v->B * v->T;
    for (int64_t b = 0; v->length && b < v->B; b++) n += v->length[b] < v->T ? v->length[b] : v->T;
    return n;
}

/* ---- statistics ------------------------------------------------------------------------------ */

typedef struct {
    rows_view v;
    lra_type t;
    const void *x;
    const real *mean; /* NULL: sum x; otherwise sum (x - mean)^2 */
} power_from;

LRA_DEV void add_power(const power_from *a, int64_t row, int64_t d, double *s)
{
    if (is_padding(&a->v, row)) return;
    real x = t_load(a->x, a->t, row * a->v.D + d);
    double off = (double)(a->mean ? x - a->mean[d] : x);
    s[0] += a->mean ? off * off : off;
}
COLUMN_KERNEL(power_kernel, power_from, 1, add_power)

static __global__ void scale_kernel(rows_view v, real *y)
{
    int64_t d = (int64_t)blockIdx.x * blockDim.x + threadIdx.x, n = count_rows(&v);
    if (d < v.D) y[d] = n ? (real)((double)y[d] / (double)n) : 0;
}

/* sources: x, [length]; y: (2,D) */
LRA_CUDA_BODY(batch_norm_stats)
{
    rows_view v = view_of(c, c->y->src[0]);
    real *y = (real *)c->out;
    double *part = (double *)c->scratch;
    int64_t rows = v.B * v.T;
    for (int which = 0; which < 2; which++) {
        power_from from = {v, c->y->src[0]->type, c->in[0], which ? y : NULL};
        COLUMN_LAUNCH(power_kernel, from, 1, 1, rows, v.D, part, stream);
        add_blocks_any(part, 1, row_blocks(rows), v.D, y + which * v.D, stream);
        LRA_LAUNCH(scale_kernel, lra_grid(v.D, LRA_BLOCK), LRA_BLOCK, 0, stream, v,
                   y + which * v.D);
    }
}

static __global__ void move_kernel(rows_view v, int which, real momentum, const real *state,
                                   const real *batch, real *y)
{
    int64_t d = (int64_t)blockIdx.x * blockDim.x + threadIdx.x, n = count_rows(&v);
    real unbias = which == 1 && n > 1 ? (real)n / (real)(n - 1) : R(1.0);
    if (d >= v.D) return;
    y[d] = n ? (1 - momentum) * state[d] + momentum * batch[d] * unbias : state[d];
}

/* sources: state (D), stats (2,D), x (its shape only), [length] */
LRA_CUDA_BODY(batch_norm_move)
{
    const batch_norm_args *a = (const batch_norm_args *)c->y->args;
    rows_view v = view_of(c, c->y->src[2]);
    LRA_LAUNCH(move_kernel, lra_grid(v.D, LRA_BLOCK), LRA_BLOCK, 0, stream, v, a->which,
               (real)a->momentum, (const real *)c->in[0], (const real *)c->in[1] + a->which * v.D,
               (real *)c->out);
}

/* ---- normalising ----------------------------------------------------------------------------- */

typedef struct {
    const real *mean, *var, *gain, *bias, *sums; /* sums: dgain and dbias, which dx needs */
    real eps;
    bool training;
} norm_by;

static __global__ void norm_kernel(rows_view v, lra_type t, norm_by by, const void *x, void *y)
{
    for (EACH_ROW(row, v.B * v.T)) {
        bool padding = is_padding(&v, row);
        for (int64_t d = threadIdx.x; d < v.D; d += LRA_WARP) {
            real scale = by.gain[d] / r_sqrt(by.var[d] + by.eps);
            real value = (t_load(x, t, row * v.D + d) - by.mean[d]) * scale + by.bias[d];
            t_store(y, t, row * v.D + d, padding ? R(0.0) : value);
        }
    }
}

/* sources: x, mean (D), var (D), gain, bias, [length] */
LRA_CUDA_BODY(batch_norm)
{
    const batch_norm_args *a = (const batch_norm_args *)c->y->args;
    rows_view v = view_of(c, c->y->src[0]);
    norm_by by = {(const real *)c->in[1],
                  (const real *)c->in[2],
                  (const real *)c->in[3],
                  (const real *)c->in[4],
                  NULL,
                  (real)a->eps,
                  a->training};
    LRA_LAUNCH(norm_kernel, lra_grid(v.B * v.T, LRA_BLOCK_WARPS), ROW_BLOCK, 0, stream, v,
               c->y->type, by, c->in[0], c->out);
}

/* ---- gradients ------------------------------------------------------------------------------- */

typedef struct {
    rows_view v;
    lra_type t;
    const void *dy, *x;
    const real *mean;
} dgain_from;

LRA_DEV void add_dgain(const dgain_from *a, int64_t row, int64_t d, double *s)
{
    if (is_padding(&a->v, row)) return;
    double dy = (double)t_load(a->dy, a->t, row * a->v.D + d);
    s[0] += dy * (double)(t_load(a->x, a->t, row * a->v.D + d) - a->mean[d]);
    s[1] += dy;
}
COLUMN_KERNEL(dgain_kernel, dgain_from, 2, add_dgain)

static __global__ void whiten_kernel(int64_t D, const real *var, real eps, real *y)
{
    int64_t d = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (d < D) y[d] /= r_sqrt(var[d] + eps);
}

/* sources: dy, x, mean, var, [length]; y: (2,D) = sums of dy xhat (dgain) and of dy (dbias) */
LRA_CUDA_BODY(batch_norm_dgain)
{
    const batch_norm_args *a = (const batch_norm_args *)c->y->args;
    const lra_tensor *x = c->y->src[1];
    rows_view v = view_of(c, x);
    int64_t rows = v.B * v.T;
    real *y = (real *)c->out;
    double *part = (double *)c->scratch;
    dgain_from from = {v, x->type, c->in[0], c->in[1], (const real *)c->in[2]};
    COLUMN_LAUNCH(dgain_kernel, from, 2, 1, rows, v.D, part, stream);
    add_blocks_any(part, 1, row_blocks(rows), 2 * v.D, y, stream);
    LRA_LAUNCH(whiten_kernel, lra_grid(v.D, LRA_BLOCK), LRA_BLOCK, 0, stream, v.D,
               (const real *)c->in[3], (real)a->eps, y);
}

/* Computes the factors f (3,D) of dx = f_0 dy - f_1 - f_2 (x - mean). */
static __global__ void factors_kernel(rows_view v, norm_by by, real *factors)
{
    int64_t d = (int64_t)blockIdx.x * blockDim.x + threadIdx.x, n = count_rows(&v);
    double per_row = by.training && n ? 1 / (double)n : 0;
    if (d >= v.D) return;
    double r = 1 / sqrt((double)by.var[d] + (double)by.eps);
    factors[d] = (real)(r * (double)by.gain[d]);
    factors[v.D + d] = (real)((double)factors[d] * (double)by.sums[v.D + d] * per_row);
    factors[2 * v.D + d] = (real)((double)factors[d] * (double)by.sums[d] * per_row * r);
}

static __global__ void dx_kernel(rows_view v, lra_type t, const real *factors, const real *mean,
                                 const void *dy, const void *x, void *dx)
{
    for (EACH_ROW(row, v.B * v.T)) {
        bool padding = is_padding(&v, row);
        for (int64_t d = threadIdx.x; d < v.D; d += LRA_WARP) {
            real value = factors[d] * t_load(dy, t, row * v.D + d) - factors[v.D + d] -
                         (t_load(x, t, row * v.D + d) - mean[d]) * factors[2 * v.D + d];
            t_store(dx, t, row * v.D + d, padding ? R(0.0) : value);
        }
    }
}

/* sources: dy, x, mean, var, gain, dgain (2,D), [length]; scratch: (3,D) */
LRA_CUDA_BODY(batch_norm_dx)
{
    const batch_norm_args *a = (const batch_norm_args *)c->y->args;
    rows_view v = view_of(c, c->y);
    real *factors = (real *)c->scratch;
    norm_by by = {(const real *)c->in[2],
                  (const real *)c->in[3],
                  (const real *)c->in[4],
                  NULL,
                  (const real *)c->in[5],
                  (real)a->eps,
                  a->training};
    LRA_LAUNCH(factors_kernel, lra_grid(v.D, LRA_BLOCK), LRA_BLOCK, 0, stream, v, by, factors);
    LRA_LAUNCH(dx_kernel, lra_grid(v.B * v.T, LRA_BLOCK_WARPS), ROW_BLOCK, 0, stream, v, c->y->type,
               factors, (const real *)c->in[2], c->in[0], c->in[1], c->out);
}
