/* Layer norm and its gradients on a GPU: one warp per row. */
#include "kernels/ops/columns_cuda.h"

/* Mean and r = 1/sqrt(var + eps) of a row; every thread of the warp receives them. As on the CPU,
 * the rounding error of the mean is added to it. */
LRA_DEV void statistics(lra_type t, const void *x, int64_t row, int64_t D, bool wide, real eps,
                        real *mean, real *r)
{
    real s = 0, rest = 0, q = 0, v[LRA_LANES];
    for (EACH_LANE8(d, D)) {
        load8(x, t, row * D + d, D - d, wide, v);
        for (int k = 0; k < LRA_LANES; k++) s += v[k];
    }
    real m = warp_sum(s) / (real)D;
    for (EACH_LANE8(d, D)) {
        load8(x, t, row * D + d, D - d, wide, v);
        for (int k = 0; k < LRA_LANES; k++) {
            real off = d + k < D ? v[k] - m : 0;
            rest += off, q += off * off;
        }
    }
    real off = warp_sum(rest) / (real)D;
    *mean = m + off;
    *r = 1 / r_sqrt(r_max(warp_sum(q) / (real)D - off * off, R(0.0)) + eps);
}

static __global__ void norm_kernel(int64_t rows, int64_t D, bool wide, lra_type t, const void *x,
                                   const real *gain, const real *bias, real eps, void *y)
{
    for (EACH_ROW(row, rows)) {
        real m, r, v[LRA_LANES], a[LRA_LANES], b[LRA_LANES];
        statistics(t, x, row, D, wide, eps, &m, &r);
        for (EACH_LANE8(d, D)) {
            load8(x, t, row * D + d, D - d, wide, v);
            load8(gain, LRA_F32, d, D - d, wide, a);
            load8(bias, LRA_F32, d, D - d, wide, b);
            for (int k = 0; k < LRA_LANES; k++) v[k] = (v[k] - m) * r * a[k] + b[k];
            store8(y, t, row * D + d, D - d, wide, v);
        }
    }
}

LRA_CUDA_BODY(layer_norm)
{
    const layer_norm_args *a = (const layer_norm_args *)c->y->args;
    int64_t D = lra_width(c->y), rows = lra_rows(c->y);
    bool wide = D % LRA_LANES == 0 && is_aligned(c->in[0], NULL, c->out) &&
                is_aligned(c->in[1], c->in[2], NULL);
    LRA_LAUNCH(norm_kernel, lra_grid(rows, LRA_BLOCK_WARPS), ROW_BLOCK, 0, stream, rows, D, wide,
               c->y->type, c->in[0], (const real *)c->in[1], (const real *)c->in[2], (real)a->eps,
               c->out);
}

static __global__ void dx_kernel(int64_t rows, int64_t D, bool wide, lra_type t, const void *dy,
                                 const void *x, const real *gain, real eps, void *dx)
{
    for (EACH_ROW(row, rows)) {
        real m, r, su = 0, sux = 0, u[LRA_LANES], v[LRA_LANES], a[LRA_LANES];
        statistics(t, x, row, D, wide, eps, &m, &r);
        for (EACH_LANE8(d, D)) {
            load8(dy, t, row * D + d, D - d, wide, u);
            load8(x, t, row * D + d, D - d, wide, v);
            load8(gain, LRA_F32, d, D - d, wide, a);
            for (int k = 0; k < LRA_LANES; k++) {
                su += u[k] * a[k];
                sux += u[k] * a[k] * (v[k] - m) * r;
            }
        }
        su = warp_sum(su) / (real)D, sux = warp_sum(sux) / (real)D;
        for (EACH_LANE8(d, D)) {
            load8(dy, t, row * D + d, D - d, wide, u);
            load8(x, t, row * D + d, D - d, wide, v);
            load8(gain, LRA_F32, d, D - d, wide, a);
            for (int k = 0; k < LRA_LANES; k++)
                u[k] = r * (u[k] * a[k] - su - (v[k] - m) * r * sux);
            store8(dx, t, row * D + d, D - d, wide, u);
        }
    }
}

/* sources: dy, x, gain */
LRA_CUDA_BODY(layer_norm_dx)
{
    const layer_norm_args *a = (const layer_norm_args *)c->y->args;
    int64_t D = lra_width(c->y), rows = lra_rows(c->y);
    bool wide = D % LRA_LANES == 0 && is_aligned(c->in[0], c->in[1], c->out) &&
                is_aligned(c->in[2], NULL, NULL);
    LRA_LAUNCH(dx_kernel, lra_grid(rows, LRA_BLOCK_WARPS), ROW_BLOCK, 0, stream, rows, D, wide,
               c->y->type, c->in[0], c->in[1], (const real *)c->in[2], (real)a->eps, c->out);
}

/* Computes stats (rows,2): mean and r of each row. */
static __global__ void stats_kernel(int64_t rows, int64_t D, bool wide, lra_type t, const void *x,
                                    real eps, real *stats)
{
    for (EACH_ROW(row, rows)) {
        real m, r;
        statistics(t, x, row, D, wide, eps, &m, &r);
        if (threadIdx.x == 0) stats[2 * row] = m, stats[2 * row + 1] = r;
    }
}

typedef struct {
    const void *dy, *x;
    const real *stats;
    lra_type t;
    int64_t D;
} dgain_from;

LRA_DEV void add_dgain(const dgain_from *a, int64_t row, int64_t d, double *s)
{
    real dy = t_load(a->dy, a->t, row * a->D + d), x = t_load(a->x, a->t, row * a->D + d);
    s[0] += (double)(dy * ((x - a->stats[2 * row]) * a->stats[2 * row + 1]));
    s[1] += (double)dy;
}
COLUMN_KERNEL(dgain_kernel, dgain_from, 2, add_dgain)

/* sources: dy, x; y: (2,D) = dgain, dbias; scratch: (blocks of rows, 2, D), then (rows, 2) */
LRA_CUDA_BODY(layer_norm_dgain)
{
    const layer_norm_args *a = (const layer_norm_args *)c->y->args;
    const lra_tensor *x = c->y->src[1];
    int64_t D = lra_width(x), rows = lra_rows(x);
    bool wide = D % LRA_LANES == 0 && is_aligned(c->in[1], NULL, NULL);
    real *part = (real *)c->scratch, *stats = part + row_blocks(rows) * 2 * D;
    LRA_LAUNCH(stats_kernel, lra_grid(rows, LRA_BLOCK_WARPS), ROW_BLOCK, 0, stream, rows, D, wide,
               x->type, c->in[1], (real)a->eps, stats);
    dgain_from from = {c->in[0], c->in[1], stats, x->type, D};
    COLUMN_LAUNCH(dgain_kernel, from, 2, 1, rows, D, part, stream);
    add_blocks(part, 1, row_blocks(rows), 2 * D, (real *)c->out, stream);
}
