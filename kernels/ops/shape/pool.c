/* Pooling (B,T,D) -> (B,D) over t < length: mean, last row (length-1), or maximum. The gradient of
 * the maximum flows to the first of equal values. A sample of length 0 gives zeros. */
#include "kernels/ops/args.h"
#include "kernels/ops/dense/row_sums_template.h"

/* Sums rows [0,n) block by block. acc: (2,D): the sum, and scratch for the sum of a block. */
LRA_ROW_FN void sum_blocks(lra_type t, const void *x, int64_t n, int64_t D, real *acc)
{
    real *block = acc + D;
    for (int64_t d = 0; d < D; d++) acc[d] = 0;
    for (int64_t first = 0; first < n; first += LRA_ROW_BLOCK) {
        int64_t rows = n - first < LRA_ROW_BLOCK ? n - first : LRA_ROW_BLOCK;
        sum_rows(t, t_at(x, t, first * D), rows, D, block);
        for (int64_t d = 0; d < D; d++) acc[d] += block[d];
    }
}

/* Maxima of rows [0,n), n > 0. acc: (2,D): the maxima, and the index of the first row that has each
 * maximum, as int32. */
LRA_ROW_FN void max_rows(lra_type t, const void *x, int64_t n, int64_t D, real *acc)
{
    int32_t *where = (int32_t *)(acc + D);
    for (int64_t d = 0; d < D; d++) acc[d] = t_load(x, t, d), where[d] = 0;
    for (int64_t i = 1; i < n; i++)
#pragma omp simd
        for (int64_t d = 0; d < D; d++) {
            real v = t_load(x, t, i * D + d);
            where[d] = v > acc[d] ? (int32_t)i : where[d];
            acc[d] = v > acc[d] ? v : acc[d];
        }
}

/* Pools rows [0,n) of x by `kind`. acc[0..D): the result. */
static inline void pool_rows(lra_pool_kind kind, const void *x, lra_type t, int64_t n, int64_t D,
                             real *acc)
{
    for (int64_t d = 0; d < D; d++) acc[d] = 0;
    if (n == 0) return;
    if (kind == LRA_POOL_MEAN) {
        LRA_BY_TYPE(sum_blocks, t, x, n, D, acc);
        for (int64_t d = 0; d < D; d++) acc[d] /= (real)n;
    } else if (kind == LRA_POOL_MAX) {
        LRA_BY_TYPE(max_rows, t, x, n, D, acc);
    } else {
        for (int64_t d = 0; d < D; d++) acc[d] = t_load(x, t, (n - 1) * D + d);
    }
}

/* sources: x, [length]; scratch: (B,2,D) */
LRA_BODY(pool)
{
    const pool_args *a = c->y->args;
    const lra_tensor *x = c->y->src[0];
    int64_t B = x->shape.d[0], T = x->shape.d[1], D = x->shape.d[2];
    const int32_t *length = a->has_length ? c->in[1] : NULL;
    real *scratch = c->scratch;
#pragma omp parallel for num_threads(c->n_threads) if (B * T * D >= LRA_PARALLEL_MIN)
    for (int64_t b = 0; b < B; b++) {
        real *acc = scratch + b * 2 * D;
        pool_rows(a->kind, t_at(c->in[0], x->type, b * T * D), x->type, length ? length[b] : T, D,
                  acc);
        for (int64_t d = 0; d < D; d++) t_store(c->out, c->y->type, b * D + d, acc[d]);
    }
}

/* Gradient of the maximum: dx, which is zero on entry, receives dy at the first maximum of each
 * column of x. acc: scratch (2,D) */
static inline void spread_max(const void *dy, const void *x, lra_type t, int64_t n, int64_t D,
                              void *dx, real *acc)
{
    const int32_t *where = (const int32_t *)(acc + D);
    if (n == 0) return;
    LRA_BY_TYPE(max_rows, t, x, n, D, acc);
    for (int64_t d = 0; d < D; d++) t_store(dx, t, where[d] * D + d, t_load(dy, t, d));
}

LRA_ROW_FN void spread_mean(lra_type t, const void *dy, int64_t n, int64_t D, void *dx)
{
    if (n == 0) return;
    real scale = 1 / (real)n;
    for (int64_t d = 0; d < D; d++) t_store(dx, t, d, t_load(dy, t, d) * scale);
    for (int64_t i = 1; i < n; i++) memcpy(t_to(dx, t, i * D), dx, (size_t)(D * t_size(t)));
}

/* sources: dy, [x, for a maximum], [length]; scratch for a maximum: (B,2,D) */
LRA_BODY(pool_grad)
{
    const pool_args *a = c->y->args;
    int64_t B = c->y->shape.d[0], T = a->T, D = c->y->shape.d[2];
    lra_type t = c->y->type;
    const int32_t *length = a->has_length ? c->in[c->y->n_src - 1] : NULL;
    size_t row = (size_t)D * lra_type_size(t);
#pragma omp parallel for num_threads(c->n_threads) if (B * T * D >= LRA_PARALLEL_MIN)
    for (int64_t b = 0; b < B; b++) {
        int64_t n = length ? length[b] : T;
        const void *dy = t_at(c->in[0], t, b * D);
        void *dx = t_to(c->out, t, b * T * D);
        int64_t written = a->kind == LRA_POOL_MEAN ? n : 0;
        LRA_BY_TYPE(spread_mean, t, dy, written, D, dx);
        memset(t_to(dx, t, written * D), 0, (size_t)(T - written) * row);
        if (a->kind == LRA_POOL_LAST && n > 0) memcpy(t_to(dx, t, (n - 1) * D), dy, row);
        if (a->kind == LRA_POOL_MAX)
            spread_max(dy, t_at(c->in[1], t, b * T * D), t, n, D, dx,
                       (real *)c->scratch + b * 2 * D);
    }
}

#if LRA_RECORD
LRA_DECLARE(pool)
LRA_DECLARE(pool_grad)

static int shape(lra_tensor *y, lra_err *e)
{
    const pool_args *a = y->args;
    const lra_tensor *x = y->src[0];
    if (lra_expect_float(x, "the source", e) != 0) return LRA_FAILED;
    if (x->shape.n != 3) return lra_fail(e, "the source has rank %d, expected 3", x->shape.n);
    if (a->kind > LRA_POOL_MAX) return lra_fail(e, "kind %d is not built from rows", (int)a->kind);
    if (lra_expect_length(a->has_length ? y->src[1] : NULL, x->shape.d[0], e) != 0)
        return LRA_FAILED;
    y->shape = LRA_SHAPE(x->shape.d[0], x->shape.d[2]);
    y->type = x->type;
    return 0;
}

static int grad_shape(lra_tensor *y, lra_err *e)
{
    (void)e;
    const lra_shape *s = &y->src[0]->shape;
    y->shape = LRA_SHAPE(s->d[0], ((const pool_args *)y->args)->T, s->d[1]);
    y->type = y->src[0]->type;
    return 0;
}

static lra_tensor *build_grad(lra_tensor *dy, lra_tensor *x, lra_tensor *length, lra_pool_kind kind)
{
    pool_args a = {kind, length != NULL, x->shape.d[1]};
    lra_tensor *src[3] = {dy};
    int n = 1;
    if (kind == LRA_POOL_MAX) src[n++] = x;
    if (length) src[n++] = length;
    return lra_node(&lra_op_pool_grad, x->graph, n, src, &a, sizeof a);
}

static void grad(lra_tensor *y, lra_tensor *dy, lra_tensor **dx)
{
    const pool_args *a = y->args;
    dx[0] = build_grad(dy, y->src[0], a->has_length ? y->src[1] : NULL, a->kind);
}

static int64_t scratch(const lra_tensor *y, int n_threads)
{
    (void)n_threads;
    return 2 * lra_elements(y) * (int64_t)lra_type_size(lra_real(y->graph));
}

static int64_t grad_scratch(const lra_tensor *y, int n_threads)
{
    (void)n_threads;
    if (((const pool_args *)y->args)->kind != LRA_POOL_MAX) return 0;
    return 2 * lra_elements(y->src[0]) * (int64_t)lra_type_size(lra_real(y->graph));
}

static double flops(const lra_tensor *y)
{
    return (double)lra_elements(y->src[0]);
}

lra_tensor *lra_pool(lra_tensor *x, lra_tensor *length, lra_pool_kind kind)
{
    pool_args a = {kind, length != NULL, 0};
    lra_tensor *src[] = {x, length};
    return lra_node(&lra_op_pool, x->graph, length ? 2 : 1, src, &a, sizeof a);
}

/* Test samples: three kinds, with and without length. */
static lra_tensor *sample(lra_graph *g, int i)
{
    if (i > 5) return NULL;
    lra_tensor *x = lra_sample_input(g, "x", "normal", LRA_SHAPE(3, 7, 5));
    lra_tensor *length = i < 3 ? NULL : lra_sample_input(g, "length", "length:7", LRA_SHAPE(3));
    return lra_pool(x, length, (lra_pool_kind)(i % 3));
}
static lra_tensor *grad_sample(lra_graph *g, int i)
{
    if (i > 5) return NULL;
    lra_tensor *dy = lra_sample_input(g, "dy", "normal", LRA_SHAPE(3, 5));
    lra_tensor *x = lra_sample_input(g, "x", "normal", LRA_SHAPE(3, 7, 5));
    lra_tensor *length = i < 3 ? NULL : lra_sample_input(g, "length", "length:7", LRA_SHAPE(3));
    return build_grad(dy, x, length, (lra_pool_kind)(i % 3));
}

const lra_op lra_op_pool = {.name = "pool",
                            .shape = shape,
                            .grad = grad,
                            .flops = flops,
                            .scratch = scratch,
                            .cpu = LRA_BODIES(pool),
                            .sample = sample};
const lra_op lra_op_pool_grad = {.name = "pool_grad",
                                 .flags = LRA_NOGRAD,
                                 .shape = grad_shape,
                                 .scratch = grad_scratch,
                                 .cpu = LRA_BODIES(pool_grad),
                                 .sample = grad_sample};
#endif
