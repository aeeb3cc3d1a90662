/* Batch normalisation per channel over all rows that are not padding (Ioffe & Szegedy 2015):
 *   y = (x - mean) r gain + bias,  r = 1/sqrt(var + eps),  zero where t >= length.
 * Training normalises with the mean and the biased variance of the batch, and updates the running
 * statistics (states):
 *   state = (1 - momentum) state + momentum new, where new has the unbiased variance.
 * Evaluation normalises with the states.
 *   dx = r gain (dy - mean(dy) - xhat mean(dy xhat)) in training, r gain dy in evaluation.
 * Statistics are one tensor (2,D): mean and biased variance. Sums are taken over blocks of rows in
 * order, in double. Double is needed because columns of dx sum to 0, and the gradient of a bias
 * before the norm is this sum.
 * Difference from the paper: rows beyond the length of their sample are ignored. */
#include "kernels/ops/args.h"
#include "kernels/ops/norm/norm_shape.h"
#include "kernels/ops/typed.h"

/* x viewed as B samples of T rows of D; (B,D) has T = 1. */
typedef struct {
    int64_t B, T, D, n_blocks;
    const int32_t *length;
} rows_view;

static inline rows_view view_of(const lra_call *c, const lra_tensor *x)
{
    const batch_norm_args *a = c->y->args;
    const lra_shape *s = &x->shape;
    rows_view v = {.B = s->d[0], .T = s->n == 3 ? s->d[1] : 1, .D = s->d[s->n - 1]};
    v.n_blocks = (v.B * v.T + LRA_ROW_BLOCK - 1) / LRA_ROW_BLOCK;
    if (a->has_length) v.length = c->in[c->y->n_src - 1];
    return v;
}

static inline bool is_padding(const rows_view *v, int64_t row)
{
    return v->length && row % v->T >= v->length[row / v->T];
}

static inline int64_t count_rows(const rows_view *v)
{
    int64_t n = v->length ? 0 : v->B * v->T;
    for (int64_t b = 0; v->length && b < v->B; b++) n += v->length[b] < v->T ? v->length[b] : v->T;
    return n;
}

/* Adds all blocks to the first one, in order; part: (n_blocks, n). */
static inline void add_blocks(double *part, int64_t n_blocks, int64_t n)
{
    for (int64_t b = 1; b < n_blocks; b++)
        for (int64_t i = 0; i < n; i++) part[i] += part[b * n + i];
}

/* Partial sums of each block: part[block] (D) = sum of x if mean is NULL, else sum of (x -
 * mean)^2. */
static inline void sum_powers(const lra_call *c, const rows_view *v, const real *mean, double *part)
{
    lra_type t = c->y->src[0]->type;
    int64_t D = v->D, rows = v->B * v->T;
#pragma omp parallel for num_threads(c->n_threads) if (rows * D >= LRA_PARALLEL_MIN)
    for (int64_t b = 0; b < v->n_blocks; b++) {
        double *s = part + b * D;
        int64_t last = (b + 1) * LRA_ROW_BLOCK < rows ? (b + 1) * LRA_ROW_BLOCK : rows;
        for (int64_t d = 0; d < D; d++) s[d] = 0;
        for (int64_t i = b * LRA_ROW_BLOCK; i < last; i++) {
            const void *x = t_at(c->in[0], t, i * D);
            if (is_padding(v, i)) continue;
            if (mean)
                for (int64_t d = 0; d < D; d++) {
                    double off = (double)(t_load(x, t, d) - mean[d]);
                    s[d] += off * off;
                }
            else
                for (int64_t d = 0; d < D; d++) s[d] += (double)t_load(x, t, d);
        }
    }
}

/* sources: x, [length]; y: (2,D) */
LRA_BODY(batch_norm_stats)
{
    rows_view v = view_of(c, c->y->src[0]);
    real *mean = c->out, *var = mean + v.D;
    double *part = c->scratch;
    int64_t n = count_rows(&v);
    for (int k = 0; k < 2; k++) {
        real *to = k ? var : mean;
        sum_powers(c, &v, k ? mean : NULL, part);
        add_blocks(part, v.n_blocks, v.D);
        for (int64_t d = 0; d < v.D; d++) to[d] = n ? (real)(part[d] / (double)n) : 0;
    }
}

/* sources: state (D), stats (2,D), x (its shape only), [length] */
LRA_BODY(batch_norm_move)
{
    const batch_norm_args *a = c->y->args;
    rows_view v = view_of(c, c->y->src[2]);
    const real *state = c->in[0], *batch = (const real *)c->in[1] + a->which * v.D;
    real *y = c->out, momentum = (real)a->momentum, unbias = 1;
    int64_t n = count_rows(&v);
    if (a->which == 1 && n > 1) unbias = (real)n / (real)(n - 1);
    for (int64_t d = 0; d < v.D; d++)
        y[d] = n ? (1 - momentum) * state[d] + momentum * batch[d] * unbias : state[d];
}

/* sources: x, mean (D), var (D), gain, bias, [length] */
LRA_BODY(batch_norm)
{
    const batch_norm_args *a = c->y->args;
    rows_view v = view_of(c, c->y->src[0]);
    const real *mean = c->in[1], *var = c->in[2], *gain = c->in[3], *bias = c->in[4];
    lra_type t = c->y->type;
    int64_t D = v.D, rows = v.B * v.T;
    real *scale = c->scratch, eps = (real)a->eps;
    for (int64_t d = 0; d < D; d++) scale[d] = gain[d] / r_sqrt(var[d] + eps);
#pragma omp parallel for num_threads(c->n_threads) if (rows * D >= LRA_PARALLEL_MIN)
    for (int64_t i = 0; i < rows; i++) {
        const void *x = t_at(c->in[0], t, i * D);
        void *y = t_to(c->out, t, i * D);
        if (is_padding(&v, i))
            memset(y, 0, (size_t)D * lra_type_size(t));
        else
            for (int64_t d = 0; d < D; d++)
                t_store(y, t, d, (t_load(x, t, d) - mean[d]) * scale[d] + bias[d]);
    }
}

/* sources: dy, x, mean, var, [length]; y: (2,D) = sums of dy xhat (dgain) and of dy (dbias) */
LRA_BODY(batch_norm_dgain)
{
    const batch_norm_args *a = c->y->args;
    const lra_tensor *x = c->y->src[1];
    rows_view v = view_of(c, x);
    const real *mean = c->in[2], *var = c->in[3];
    lra_type t = x->type;
    int64_t D = v.D, rows = v.B * v.T;
    real *y = c->out;
    double *part = c->scratch;
#pragma omp parallel for num_threads(c->n_threads) if (rows * D >= LRA_PARALLEL_MIN)
    for (int64_t b = 0; b < v.n_blocks; b++) {
        double *dgain = part + b * 2 * D, *dbias = dgain + D;
        int64_t last = (b + 1) * LRA_ROW_BLOCK < rows ? (b + 1) * LRA_ROW_BLOCK : rows;
        for (int64_t d = 0; d < 2 * D; d++) dgain[d] = 0;
        for (int64_t i = b * LRA_ROW_BLOCK; i < last; i++) {
            const void *dy = t_at(c->in[0], t, i * D), *row = t_at(c->in[1], t, i * D);
            if (is_padding(&v, i)) continue;
            for (int64_t d = 0; d < D; d++) {
                double g = (double)t_load(dy, t, d);
                dgain[d] += g * (double)(t_load(row, t, d) - mean[d]);
                dbias[d] += g;
            }
        }
    }
    add_blocks(part, v.n_blocks, 2 * D);
    for (int64_t d = 0; d < D; d++) {
        y[d] = (real)(part[d] / sqrt((double)var[d] + a->eps));
        y[D + d] = (real)part[D + d];
    }
}

/* sources: dy, x, mean, var, gain, dgain (2,D), [length]; scratch: (3,D), the rows scale, shift and
 * slope of dx = scale dy - shift - slope (x - mean) */
LRA_BODY(batch_norm_dx)
{
    const batch_norm_args *a = c->y->args;
    rows_view v = view_of(c, c->y);
    const real *mean = c->in[2], *var = c->in[3], *gain = c->in[4], *sums = c->in[5];
    lra_type t = c->y->type;
    int64_t D = v.D, rows = v.B * v.T, n = count_rows(&v);
    real *scale = c->scratch, *shift = scale + D, *slope = shift + D;
    double per_row = a->training && n ? 1 / (double)n : 0;
    for (int64_t d = 0; d < D; d++) {
        double r = 1 / sqrt((double)var[d] + a->eps);
        scale[d] = (real)(r * (double)gain[d]);
        shift[d] = (real)((double)scale[d] * (double)sums[D + d] * per_row);
        slope[d] = (real)((double)scale[d] * (double)sums[d] * per_row * r);
    }
#pragma omp parallel for num_threads(c->n_threads) if (rows * D >= LRA_PARALLEL_MIN)
    for (int64_t i = 0; i < rows; i++) {
        const void *dy = t_at(c->in[0], t, i * D), *x = t_at(c->in[1], t, i * D);
        void *dx = t_to(c->out, t, i * D);
        if (is_padding(&v, i))
            memset(dx, 0, (size_t)D * lra_type_size(t));
        else
            for (int64_t d = 0; d < D; d++)
                t_store(dx, t, d,
                        scale[d] * t_load(dy, t, d) - shift[d] -
                            (t_load(x, t, d) - mean[d]) * slope[d]);
    }
}

#if LRA_RECORD
LRA_DECLARE(batch_norm_stats)
LRA_DECLARE(batch_norm_move)
LRA_DECLARE(batch_norm)
LRA_DECLARE(batch_norm_dgain)
LRA_DECLARE(batch_norm_dx)

/* ---- shapes ---------------------------------------------------------------------------------- */

static int check_source(const lra_tensor *y, const lra_tensor *x, lra_err *e)
{
    const batch_norm_args *a = y->args;
    if (lra_expect_float(x, "the source", e) != 0) return LRA_FAILED;
    if (x->shape.n != 2 && x->shape.n != 3)
        return lra_fail(e, "the source has rank %d, expected 2 or 3", x->shape.n);
    return lra_expect_length(a->has_length ? y->src[y->n_src - 1] : NULL, x->shape.d[0], e);
}

static int stats_shape(lra_tensor *y, lra_err *e)
{
    if (check_source(y, y->src[0], e) != 0) return LRA_FAILED;
    y->shape = LRA_SHAPE(2, lra_width(y->src[0]));
    y->type = lra_real(y->graph);
    return 0;
}

static int move_shape(lra_tensor *y, lra_err *e)
{
    lra_shape s = LRA_SHAPE(lra_width(y->src[2]));
    if (lra_expect_shape(y->src[0], s, "the state", e) != 0) return LRA_FAILED;
    y->shape = s;
    y->type = lra_real(y->graph);
    return 0;
}

static int norm_shape(lra_tensor *y, lra_err *e)
{
    static const char *const what[] = {"", "mean", "var", "gain", "bias"};
    const lra_tensor *x = y->src[0];
    if (check_source(y, x, e) != 0) return LRA_FAILED;
    for (int i = 1; i < 5; i++)
        if (lra_expect_shape(y->src[i], LRA_SHAPE(lra_width(x)), what[i], e) != 0)
            return LRA_FAILED;
    y->shape = x->shape;
    y->type = x->type;
    return 0;
}

/* ---- scratch and cost ------------------------------------------------------------------------ */

static int64_t stats_scratch(const lra_tensor *y, int n_threads)
{
    (void)n_threads;
    return norm_sums_scratch(y->src[0], 1, sizeof(double));
}
static int64_t dgain_scratch(const lra_tensor *y, int n_threads)
{
    (void)n_threads;
    return norm_sums_scratch(y->src[1], 2, sizeof(double));
}
static int64_t factors_scratch(const lra_tensor *y, int n_threads)
{
    (void)n_threads;
    return 3 * lra_width(y) * (int64_t)lra_type_size(lra_real(y->graph));
}
static double flops(const lra_tensor *y)
{
    return 4 * (double)lra_elements(y->src[0]);
}

/* ---- gradient and builder -------------------------------------------------------------------- */

/* In evaluation mean and var are constants. In training their dependence on x is included in dx. */
static void grad(lra_tensor *y, lra_tensor *dy, lra_tensor **dx)
{
    const batch_norm_args *a = y->args;
    lra_tensor *x = y->src[0], *mean = y->src[1], *var = y->src[2];
    lra_tensor *length = a->has_length ? y->src[5] : NULL;
    int extra = a->has_length;
    lra_tensor *sums = lra_node(&lra_op_batch_norm_dgain, y->graph, 4 + extra,
                                (lra_tensor *[]){dy, x, mean, var, length}, a, sizeof *a);
    lra_tensor *src[] = {dy, x, mean, var, y->src[3], sums, length};
    dx[0] = lra_node(&lra_op_batch_norm_dx, y->graph, 6 + extra, src, a, sizeof *a);
    dx[3] = norm_sums_row(sums, 0);
    dx[4] = norm_sums_row(sums, 1);
}

static void move_state(lra_tensor *state, lra_tensor *stats, lra_tensor *x, lra_tensor *length,
                       batch_norm_args a, int which)
{
    a.which = which;
    lra_tensor *src[] = {state, stats, x, length};
    lra_assign(state,
               lra_node(&lra_op_batch_norm_move, x->graph, length ? 4 : 3, src, &a, sizeof a));
}

lra_tensor *lra_batch_norm(lra_tensor *x, lra_tensor *length, lra_tensor *gain, lra_tensor *bias,
                           lra_tensor *mean, lra_tensor *var, double momentum, double eps)
{
    lra_graph *g = x->graph;
    lra_type r = lra_real(g);
    bool training = lra_graph_mode(g) == LRA_TRAIN;
    batch_norm_args a = {eps > 0 ? eps : 1e-5, momentum, length != NULL, training, 0};
    lra_tensor *m = mean, *v = var;
    if (training) {
        lra_tensor *stats = lra_node(&lra_op_batch_norm_stats, g, length ? 2 : 1,
                                     (lra_tensor *[]){x, length}, &a, sizeof a);
        move_state(mean, stats, x, length, a, 0);
        move_state(var, stats, x, length, a, 1);
        m = norm_sums_row(stats, 0);
        v = norm_sums_row(stats, 1);
    }
    lra_tensor *src[] = {x, m, v, lra_cast(gain, r), lra_cast(bias, r), length};
    return lra_node(&lra_op_batch_norm, g, length ? 6 : 5, src, &a, sizeof a);
}

/* ---- samples --------------------------------------------------------------------------------- */

static lra_tensor *sample(lra_graph *g, int i)
{
    if (i > 2) return NULL;
    lra_shape s = i == 0 ? LRA_SHAPE(6, 5) : i == 1 ? LRA_SHAPE(3, 7, 5) : LRA_SHAPE(2, 300, 3);
    lra_shape d = LRA_SHAPE(s.d[s.n - 1]);
    lra_tensor *length = i ? lra_sample_input(g, "length", "length:7", LRA_SHAPE(s.d[0])) : NULL;
    if (i == 2) length = NULL;
    return lra_batch_norm(lra_sample_input(g, "x", "normal", s), length,
                          lra_sample_input(g, "gain", "normal", d),
                          lra_sample_input(g, "bias", "normal", d), lra_state(g, "mean", d, NULL),
                          lra_state(g, "var", d, LRA_SPEC(LRA_CONSTANT(1))), 0.1, 1e-3);
}

static batch_norm_args sample_args(bool has_length)
{
    return (batch_norm_args){1e-3, 0.1, has_length, true, 1};
}
static lra_tensor *real_sample(lra_graph *g, const char *name, const char *fill, lra_shape s)
{
    return lra_cast(lra_sample_input(g, name, fill, s), lra_real(g));
}
static lra_tensor *stats_sample(lra_graph *g, int i)
{
    batch_norm_args a = sample_args(i == 1);
    if (i > 1) return NULL;
    lra_tensor *src[] = {lra_sample_input(g, "x", "normal", LRA_SHAPE(3, 7, 5)),
                         lra_sample_input(g, "length", "length:7", LRA_SHAPE(3))};
    return lra_node(&lra_op_batch_norm_stats, g, 1 + i, src, &a, sizeof a);
}
static lra_tensor *move_sample(lra_graph *g, int i)
{
    batch_norm_args a = sample_args(true);
    if (i) return NULL;
    lra_tensor *src[] = {real_sample(g, "state", "normal", LRA_SHAPE(5)),
                         real_sample(g, "stats", "positive", LRA_SHAPE(2, 5)),
                         lra_sample_input(g, "x", "normal", LRA_SHAPE(3, 7, 5)),
                         lra_sample_input(g, "length", "length:7", LRA_SHAPE(3))};
    return lra_node(&lra_op_batch_norm_move, g, 4, src, &a, sizeof a);
}
static lra_tensor *part_sample(const lra_op *op, bool dx, lra_graph *g, int i)
{
    batch_norm_args a = sample_args(true);
    if (i) return NULL;
    lra_shape s = LRA_SHAPE(3, 7, 5), d = LRA_SHAPE(5);
    lra_tensor *src[7] = {
        lra_sample_input(g, "dy", "normal", s), lra_sample_input(g, "x", "normal", s),
        real_sample(g, "mean", "normal", d), real_sample(g, "var", "positive", d)};
    int n = 4;
    if (dx) {
        src[n++] = real_sample(g, "gain", "normal", d);
        src[n++] = real_sample(g, "sums", "normal", LRA_SHAPE(2, 5));
    }
    src[n++] = lra_sample_input(g, "length", "length:7", LRA_SHAPE(3));
    return lra_node(op, g, n, src, &a, sizeof a);
}
static lra_tensor *dgain_sample(lra_graph *g, int i)
{
    return part_sample(&lra_op_batch_norm_dgain, false, g, i);
}
static lra_tensor *dx_sample(lra_graph *g, int i)
{
    return part_sample(&lra_op_batch_norm_dx, true, g, i);
}

/* No gradient flows through the statistics directly: batch_norm's own dx accounts for them. */
const lra_op lra_op_batch_norm_stats = {.name = "batch_norm_stats",
                                        .flags = LRA_NOGRAD,
                                        .shape = stats_shape,
                                        .flops = flops,
                                        .scratch = stats_scratch,
                                        .cpu = LRA_BODIES(batch_norm_stats),
                                        .sample = stats_sample};
const lra_op lra_op_batch_norm_move = {.name = "batch_norm_move",
                                       .flags = LRA_NOGRAD,
                                       .shape = move_shape,
                                       .cpu = LRA_BODIES(batch_norm_move),
                                       .sample = move_sample};
const lra_op lra_op_batch_norm = {.name = "batch_norm",
                                  .shape = norm_shape,
                                  .grad = grad,
                                  .flops = flops,
                                  .scratch = factors_scratch,
                                  .cpu = LRA_BODIES(batch_norm),
                                  .sample = sample};
const lra_op lra_op_batch_norm_dgain = {.name = "batch_norm_dgain",
                                        .flags = LRA_NOGRAD,
                                        .shape = norm_dgain_shape,
                                        .flops = flops,
                                        .scratch = dgain_scratch,
                                        .cpu = LRA_BODIES(batch_norm_dgain),
                                        .sample = dgain_sample};
const lra_op lra_op_batch_norm_dx = {.name = "batch_norm_dx",
                                     .flags = LRA_INPLACE | LRA_NOGRAD,
                                     .shape = norm_dx_shape,
                                     .flops = flops,
                                     .scratch = factors_scratch,
                                     .cpu = LRA_BODIES(batch_norm_dx),
                                     .sample = dx_sample};
#endif
