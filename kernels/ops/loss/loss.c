/* Losses: real scalars, means over the unmasked terms.
 *   cross_entropy = mean of -log softmax(logits)[label] over rows with label >= 0; 0 without
 *     such rows
 *   cross_entropy_rows = the terms of cross_entropy, 0 where label < 0; no mean and no gradient
 *   mse = mean (x - target)^2;  l1 = mean |x - target|, with gradient 0 where they are equal
 * Partial sums of blocks of rows or elements are added in block order. */
#include "kernels/ops/loss/loss_body.h"
#include "kernels/ops/typed.h"

static inline int64_t count_labels(const int32_t *label, int64_t n)
{
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++) count += label[i] >= 0;
    return count;
}

static inline void check_labels(const int32_t *label, int64_t n, int64_t C)
{
    for (int64_t i = 0; i < n; i++)
        if (label[i] >= C)
            LRA_BUG("label %d of row %lld, there are %lld classes", (int)label[i], (long long)i,
                    (long long)C);
}

/* Returns the sum of exp(z - max) over a row; max: maximum of the row. */
static inline real exp_sum(const real *z, int64_t C, real *max)
{
    real m = z[0], s = 0;
#pragma omp simd reduction(max : m)
    for (int64_t k = 1; k < C; k++) m = z[k] > m ? z[k] : m;
#pragma omp simd reduction(+ : s)
    for (int64_t k = 0; k < C; k++) s += r_exp(z[k] - m);
    *max = m;
    return s;
}

/* Returns -log softmax(z)[label] for a row z of C logits. */
static inline real row_entropy(const real *z, int64_t C, int32_t label)
{
    real m, sum = exp_sum(z, C, &m);
    return r_log(sum) - (z[label] - m);
}

/* sources: logits, label; scratch: a double for each block of rows */
LRA_BODY(cross_entropy)
{
    int64_t C = lra_width(c->y->src[0]), rows = lra_rows(c->y->src[0]);
    int64_t n_blocks = n_blocks_of(rows, LRA_ROW_BLOCK);
    const real *logits = c->in[0];
    const int32_t *label = c->in[1];
    double *part = c->scratch, total = 0;
    check_labels(label, rows, C);
#pragma omp parallel for num_threads(c->n_threads) if (rows * C >= LRA_PARALLEL_MIN)
    for (int64_t b = 0; b < n_blocks; b++) {
        int64_t last = (b + 1) * LRA_ROW_BLOCK < rows ? (b + 1) * LRA_ROW_BLOCK : rows;
        double s = 0;
        for (int64_t i = b * LRA_ROW_BLOCK; i < last; i++)
            if (label[i] >= 0) s += (double)row_entropy(logits + i * C, C, label[i]);
        part[b] = s;
    }
    int64_t count = count_labels(label, rows);
    for (int64_t b = 0; b < n_blocks; b++) total += part[b];
    *(real *)c->out = (real)(count ? total / (double)count : 0);
}

/* sources: logits, label */
LRA_BODY(cross_entropy_rows)
{
    int64_t C = lra_width(c->y->src[0]), rows = lra_rows(c->y->src[0]);
    const real *logits = c->in[0];
    const int32_t *label = c->in[1];
    real *y = c->out;
    check_labels(label, rows, C);
#pragma omp parallel for num_threads(c->n_threads) if (rows * C >= LRA_PARALLEL_MIN)
    for (int64_t i = 0; i < rows; i++)
        y[i] = label[i] < 0 ? 0 : row_entropy(logits + i * C, C, label[i]);
}

/* sources: dy, logits, label */
LRA_BODY(cross_entropy_grad)
{
    int64_t C = lra_width(c->y), rows = lra_rows(c->y);
    const real *logits = c->in[1];
    const int32_t *label = c->in[2];
    int64_t count = count_labels(label, rows);
    real *dx = c->out, scale = count ? *(const real *)c->in[0] / (real)count : 0;
#pragma omp parallel for num_threads(c->n_threads) if (rows * C >= LRA_PARALLEL_MIN)
    for (int64_t i = 0; i < rows; i++) {
        const real *z = logits + i * C;
        real *d = dx + i * C, m;
        if (label[i] < 0) {
            for (int64_t k = 0; k < C; k++) d[k] = 0;
            continue;
        }
        real r = scale / exp_sum(z, C, &m);
        for (int64_t k = 0; k < C; k++) d[k] = r_exp(z[k] - m) * r;
        d[label[i]] -= scale;
    }
}

/* Defines the bodies of a loss: name, with sources x and target, and name_grad, with sources dy, x
 * and target. */
#define BODIES(name)                                                                               \
    LRA_BODY(name)                                                                                 \
    {                                                                                              \
        int64_t n = lra_elements(c->y->src[0]), n_blocks = n_blocks_of(n, LRA_PIECE);              \
        const real *x = c->in[0], *target = c->in[1];                                              \
        double *part = c->scratch, total = 0;                                                      \
        _Pragma("omp parallel for num_threads(c->n_threads) if (n >= LRA_PARALLEL_MIN)") for (     \
            int64_t b = 0; b < n_blocks; b++)                                                      \
        {                                                                                          \
            int64_t last = (b + 1) * LRA_PIECE < n ? (b + 1) * LRA_PIECE : n;                      \
            double s = 0;                                                                          \
            for (int64_t i = b * LRA_PIECE; i < last; i++)                                         \
                s += (double)name##_f(x[i] - target[i]);                                           \
            part[b] = s;                                                                           \
        }                                                                                          \
        for (int64_t b = 0; b < n_blocks; b++) total += part[b];                                   \
        *(real *)c->out = (real)(total / (double)n);                                               \
    }                                                                                              \
    LRA_BODY(name##_grad)                                                                          \
    {                                                                                              \
        int64_t n = lra_elements(c->y);                                                            \
        const real *x = c->in[1], *target = c->in[2];                                              \
        real *dx = c->out, scale = *(const real *)c->in[0] / (real)n;                              \
        LRA_EACH(i)                                                                                \
        dx[i] = scale * name##_d(x[i] - target[i]);                                                \
    }
BODIES(mse)
BODIES(l1)

#if LRA_RECORD
LRA_DECLARE(cross_entropy)
LRA_DECLARE(cross_entropy_grad)
LRA_DECLARE(cross_entropy_rows)

static double flops(const lra_tensor *y)
{
    return 4 * (double)lra_elements(y->src[0]);
}

/* ---- cross-entropy --------------------------------------------------------------------------- */

static int entropy_shape(lra_tensor *y, lra_err *e)
{
    const lra_tensor *logits = y->src[0], *label = y->src[1];
    if (lra_expect_float(logits, "logits", e) != 0) return LRA_FAILED;
    if (lra_expect_index(label, "label", e) != 0) return LRA_FAILED;
    if (logits->shape.n < 1) return lra_fail(e, "logits are a scalar");
    lra_shape rows = logits->shape;
    rows.n--;
    if (lra_expect_shape(label, rows, "label", e) != 0) return LRA_FAILED;
    y->shape = (lra_shape){0};
    y->type = lra_real(y->graph);
    return 0;
}

/* Shape rule of all gradients: the shape of source 1. */
static int grad_shape(lra_tensor *y, lra_err *e)
{
    (void)e;
    y->shape = y->src[1]->shape;
    y->type = lra_real(y->graph);
    return 0;
}

static void entropy_grad(lra_tensor *y, lra_tensor *dy, lra_tensor **dx)
{
    lra_tensor *src[] = {dy, y->src[0], y->src[1]};
    dx[0] = lra_node(&lra_op_cross_entropy_grad, y->graph, 3, src, NULL, 0);
}

static int64_t entropy_scratch(const lra_tensor *y, int n_threads)
{
    (void)n_threads;
    return n_blocks_of(lra_rows(y->src[0]), LRA_ROW_BLOCK) * (int64_t)sizeof(double);
}

/* Scratch of the CUDA body: a sum and a count for each block of rows. */
static int64_t entropy_cuda_scratch(const lra_tensor *y)
{
    return 2 * entropy_scratch(y, 1);
}

lra_tensor *lra_cross_entropy(lra_tensor *logits, lra_tensor *label)
{
    lra_tensor *src[] = {lra_cast(logits, lra_real(logits->graph)), label};
    return lra_node(&lra_op_cross_entropy, logits->graph, 2, src, NULL, 0);
}

static lra_tensor *entropy_sample(lra_graph *g, int i)
{
    if (i == 0)
        return lra_cross_entropy(lra_sample_input(g, "logits", "normal", LRA_SHAPE(5, 3)),
                                 lra_sample_input(g, "label", "index:3", LRA_SHAPE(5)));
    if (i == 1)
        return lra_cross_entropy(lra_sample_input(g, "logits", "normal", LRA_SHAPE(2, 9, 11)),
                                 lra_sample_input(g, "label", "label:11", LRA_SHAPE(2, 9)));
    return NULL;
}
static lra_tensor *entropy_grad_sample(lra_graph *g, int i)
{
    if (i) return NULL;
    lra_tensor *dy = lra_sample_input(g, "dy", "normal", (lra_shape){0});
    lra_tensor *logits = lra_sample_input(g, "logits", "normal", LRA_SHAPE(7, 10));
    lra_tensor *src[] = {lra_cast(dy, lra_real(g)), lra_cast(logits, lra_real(g)),
                         lra_sample_input(g, "label", "label:10", LRA_SHAPE(7))};
    return lra_node(&lra_op_cross_entropy_grad, g, 3, src, NULL, 0);
}

const lra_op lra_op_cross_entropy = {.name = "cross_entropy",
                                     .shape = entropy_shape,
                                     .grad = entropy_grad,
                                     .flops = flops,
                                     .scratch = entropy_scratch,
                                     .cuda_scratch = entropy_cuda_scratch,
                                     .cpu = LRA_BODIES(cross_entropy),
                                     .sample = entropy_sample};
const lra_op lra_op_cross_entropy_grad = {.name = "cross_entropy_grad",
                                          .flags = LRA_NOGRAD,
                                          .shape = grad_shape,
                                          .cpu = LRA_BODIES(cross_entropy_grad),
                                          .sample = entropy_grad_sample};

static int rows_shape(lra_tensor *y, lra_err *e)
{
    if (entropy_shape(y, e) != 0) return LRA_FAILED;
    y->shape = y->src[1]->shape;
    return 0;
}

lra_tensor *lra_cross_entropy_rows(lra_tensor *logits, lra_tensor *label)
{
    lra_tensor *src[] = {lra_cast(logits, lra_real(logits->graph)), label};
    return lra_node(&lra_op_cross_entropy_rows, logits->graph, 2, src, NULL, 0);
}

static lra_tensor *rows_sample(lra_graph *g, int i)
{
    if (i > 1) return NULL;
    int64_t C = i ? 300 : 3;
    lra_tensor *logits = lra_sample_input(g, "logits", "normal", LRA_SHAPE(2, 9, C));
    return lra_cross_entropy_rows(
        logits, lra_sample_input(g, "label", i ? "label:300" : "label:3", LRA_SHAPE(2, 9)));
}

const lra_op lra_op_cross_entropy_rows = {.name = "cross_entropy_rows",
                                          .flags = LRA_NOGRAD,
                                          .shape = rows_shape,
                                          .flops = flops,
                                          .cpu = LRA_BODIES(cross_entropy_rows),
                                          .sample = rows_sample};

/* ---- distances ------------------------------------------------------------------------------- */

static int distance_shape(lra_tensor *y, lra_err *e)
{
    if (lra_expect_float(y->src[0], "the source", e) != 0) return LRA_FAILED;
    if (lra_expect_float(y->src[1], "the target", e) != 0) return LRA_FAILED;
    if (lra_expect_shape(y->src[1], y->src[0]->shape, "the target", e) != 0) return LRA_FAILED;
    y->shape = (lra_shape){0};
    y->type = lra_real(y->graph);
    return 0;
}

static int64_t distance_scratch(const lra_tensor *y, int n_threads)
{
    (void)n_threads;
    return n_blocks_of(lra_elements(y->src[0]), LRA_PIECE) * (int64_t)sizeof(double);
}

#define RECORDS(fn)                                                                                \
    LRA_DECLARE(fn)                                                                                \
    LRA_DECLARE(fn##_grad)                                                                         \
    static void fn##_emit(lra_tensor *y, lra_tensor *dy, lra_tensor **dx)                          \
    {                                                                                              \
        lra_tensor *src[] = {dy, y->src[0], y->src[1]};                                            \
        dx[0] = lra_node(&lra_op_##fn##_grad, y->graph, 3, src, NULL, 0);                          \
        dx[1] = lra_affine(dx[0], -1, 0);                                                          \
    }                                                                                              \
    lra_tensor *lra_##fn(lra_tensor *x, lra_tensor *target)                                        \
    {                                                                                              \
        lra_type r = lra_real(x->graph);                                                           \
        lra_tensor *src[] = {lra_cast(x, r), lra_cast(target, r)};                                 \
        return lra_node(&lra_op_##fn, x->graph, 2, src, NULL, 0);                                  \
    }                                                                                              \
    static lra_tensor *fn##_sample(lra_graph *g, int i)                                            \
    {                                                                                              \
        if (i) return NULL;                                                                        \
        return lra_##fn(lra_sample_input(g, "x", "normal", LRA_SHAPE(3, 7)),                       \
                        lra_sample_input(g, "target", "normal", LRA_SHAPE(3, 7)));                 \
    }                                                                                              \
    static lra_tensor *fn##_grad_sample(lra_graph *g, int i)                                       \
    {                                                                                              \
        if (i) return NULL;                                                                        \
        lra_type r = lra_real(g);                                                                  \
        lra_tensor *src[] = {                                                                      \
            lra_cast(lra_sample_input(g, "dy", "normal", (lra_shape){0}), r),                      \
            lra_cast(lra_sample_input(g, "x", "normal", LRA_SHAPE(5, 9)), r),                      \
            lra_cast(lra_sample_input(g, "target", "normal", LRA_SHAPE(5, 9)), r)};                \
        return lra_node(&lra_op_##fn##_grad, g, 3, src, NULL, 0);                                  \
    }                                                                                              \
    const lra_op lra_op_##fn = {.name = #fn,                                                       \
                                .shape = distance_shape,                                           \
                                .grad = fn##_emit,                                                 \
                                .flops = flops,                                                    \
                                .scratch = distance_scratch,                                       \
                                .cpu = LRA_BODIES(fn),                                             \
                                .sample = fn##_sample};                                            \
    const lra_op lra_op_##fn##_grad = {.name = #fn "_grad",                                        \
                                       .flags = LRA_NOGRAD,                                        \
                                       .shape = grad_shape,                                        \
                                       .cpu = LRA_BODIES(fn##_grad),                               \
                                       .sample = fn##_grad_sample};
RECORDS(mse)
RECORDS(l1)
#endif
