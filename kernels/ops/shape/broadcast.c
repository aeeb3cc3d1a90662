/* Repetition of dimensions (broadcast) and sums over dimensions (reduce_sum).
 *   broadcast: y[i] = x[i without repeated dimensions];   reduce_sum: y = sum of x over dimensions.
 * reduce_sum sums one group of adjacent dimensions, with x viewed as (O,R,I) -> (O,I). It sums in
 * blocks of LRA_ROW_BLOCK along R, whose partial sums are added in block order. For several groups
 * the builder adds several nodes. The result is real, because sums of activations are statistics or
 * gradients of parameters. */
#include "kernels/ops/args.h"
#include "kernels/ops/shape/broadcast.h"
#include "kernels/ops/dense/row_sums_template.h"

typedef struct {
    lra_shape shape;
    lra_type type;
} broadcast_args;

/* Lengths of x viewed as (O,R,I); R is summed. */
typedef struct {
    int64_t O, R, I, n_blocks;
} reduce_view;

static inline reduce_view view_of(const lra_tensor *y)
{
    const reduce_sum_args *a = y->args;
    const lra_shape *s = &y->src[0]->shape;
    reduce_view v = {1, 1, 1, 0};
    for (int i = 0; i < s->n; i++) *(i < a->from ? &v.O : i < a->to ? &v.R : &v.I) *= s->d[i];
    v.n_blocks = (v.R + LRA_ROW_BLOCK - 1) / LRA_ROW_BLOCK;
    return v;
}

LRA_ROW_FN void fill_row(lra_type t, real v, int64_t n, void *y)
{
    for (int64_t k = 0; k < n; k++) t_store(y, t, k, v);
}

/* Writes n elements of y from `at` on: the elements of x from `from` on, or (along = 0) one element
 * of x repeated. */
static inline void spread_row(const lra_tensor *x, const void *in, int64_t from, int64_t along,
                              const lra_tensor *y, void *out, int64_t at, int64_t n)
{
    if (along == 0) {
        real v = t_load(in, x->type, from);
        LRA_BY_TYPE(fill_row, y->type, v, n, t_to(out, y->type, at));
    } else if (x->type == y->type) {
        memcpy(t_to(out, y->type, at), t_at(in, x->type, from), (size_t)(n * t_size(x->type)));
    } else {
        for (int64_t k = 0; k < n; k++)
            t_store(out, y->type, at + k, t_load(in, x->type, from + k));
    }
}

LRA_BODY(broadcast)
{
    const lra_tensor *y = c->y, *x = y->src[0];
    int n = y->shape.n, missing = n - x->shape.n;
    int64_t width = lra_width(y), rows = lra_rows(y);
    int64_t stride[LRA_MAX_RANK] = {0}, step = 1;
    for (int i = n - 1; i >= missing; i--) {
        int64_t d = x->shape.d[i - missing];
        stride[i] = d == 1 ? 0 : step;
        step *= d;
    }
    int64_t along = n ? stride[n - 1] : 0, some = 1 + 4096 / (width + 1);
#pragma omp parallel for num_threads(c->n_threads) if (rows * width >= LRA_PARALLEL_MIN)
    for (int64_t first = 0; first < rows; first += some) {
        int64_t at[LRA_MAX_RANK], from = 0, rest = first;
        int64_t last = rows - first < some ? rows : first + some;
        for (int i = n - 2; i >= 0; i--) {
            at[i] = rest % y->shape.d[i];
            from += at[i] * stride[i];
            rest /= y->shape.d[i];
        }
        for (int64_t r = first; r < last; r++) {
            spread_row(x, c->in[0], from, along, y, c->out, r * width, width);
            for (int i = n - 2; i >= 0; i--) { /* advances the index to the next row of y */
                from += stride[i];
                if (++at[i] < y->shape.d[i]) break;
                from -= at[i] * stride[i];
                at[i] = 0;
            }
        }
    }
}

LRA_ROW_FN void add_lanes(int64_t i, int64_t w, lra_type t, const void *x, lanes *s)
{
    *s += lanes_load(x, t, i, w);
}
LRA_ROW_FN void sum_all(lra_type t, const void *x, int64_t n, real *sum)
{
    lanes s = {0};
    LANES_EACH(n, add_lanes, t, x, &s);
    *sum = lanes_sum(s);
}

LRA_BODY(reduce_sum)
{
    const reduce_view v = view_of(c->y);
    lra_type t = c->y->src[0]->type;
    /* part: partial sums, (O, n_blocks, I) */
    real *y = c->out, *part = v.n_blocks > 1 ? c->scratch : y;
#pragma omp parallel num_threads(c->n_threads) if (v.O * v.R * v.I >= LRA_PARALLEL_MIN)
    {
#pragma omp for
        for (int64_t i = 0; i < v.O * v.n_blocks; i++) {
            int64_t o = i / v.n_blocks, first = i % v.n_blocks * LRA_ROW_BLOCK;
            int64_t n = v.R - first < LRA_ROW_BLOCK ? v.R - first : LRA_ROW_BLOCK;
            const void *x = t_at(c->in[0], t, (o * v.R + first) * v.I);
            if (v.I == 1)
                LRA_BY_TYPE(sum_all, t, x, n, part + i);
            else
                LRA_BY_TYPE(sum_rows, t, x, n, v.I, part + i * v.I);
        }
#pragma omp for
        for (int64_t o = 0; o < (v.n_blocks > 1 ? v.O : 0); o++)
            sum_rows(LRA_F32, part + o * v.n_blocks * v.I, v.n_blocks, v.I, y + o * v.I);
    }
}

#if LRA_RECORD
LRA_DECLARE(broadcast)
LRA_DECLARE(reduce_sum)

bool lra_shape_spreads(lra_shape from, lra_shape to)
{
    if (from.n > to.n) return false;
    for (int i = 0; i < from.n; i++) {
        int64_t d = from.d[i];
        if (d != 1 && d != to.d[to.n - from.n + i]) return false;
    }
    return true;
}

/* ---- broadcast ------------------------------------------------------------------------------- */

static int broadcast_shape(lra_tensor *y, lra_err *e)
{
    const broadcast_args *a = y->args;
    const lra_tensor *x = y->src[0];
    char p[96], q[96];
    if (lra_expect_float(x, "the source", e) != 0) return LRA_FAILED;
    if (!lra_shape_spreads(x->shape, a->shape))
        return lra_fail(e, "shape %s does not broadcast to %s", lra_shape_text(x->shape, p),
                        lra_shape_text(a->shape, q));
    y->shape = a->shape;
    y->type = a->type;
    return 0;
}

static void broadcast_grad(lra_tensor *y, lra_tensor *dy, lra_tensor **dx)
{
    dx[0] = lra_reduce_sum(dy, y->src[0]->shape);
}

lra_tensor *lra_broadcast_to(lra_tensor *x, lra_shape s, lra_type type)
{
    if (lra_shape_equal(x->shape, s)) return x->type == type ? x : lra_cast(x, type);
    broadcast_args a = {s, type};
    return lra_node(&lra_op_broadcast, x->graph, 1, &x, &a, sizeof a);
}

lra_tensor *lra_broadcast(lra_tensor *x, lra_shape s)
{
    return lra_broadcast_to(x, s, x->type);
}

static lra_tensor *broadcast_sample(lra_graph *g, int i)
{
    const lra_shape from[] = {LRA_SHAPE(5), LRA_SHAPE(3, 1), LRA_SHAPE(2, 1, 4), LRA_SHAPE(1)};
    const lra_shape to[] = {LRA_SHAPE(3, 5), LRA_SHAPE(3, 7), LRA_SHAPE(3, 2, 5, 4), LRA_SHAPE(6)};
    if (i == 4) /* sample with a scalar source */
        return lra_broadcast(lra_sample_input(g, "x", "normal", (lra_shape){0}), LRA_SHAPE(2, 3));
    return i > 4 ? NULL : lra_broadcast(lra_sample_input(g, "x", "normal", from[i]), to[i]);
}

const lra_op lra_op_broadcast = {.name = "broadcast",
                                 .shape = broadcast_shape,
                                 .grad = broadcast_grad,
                                 .cpu = LRA_BODIES(broadcast),
                                 .sample = broadcast_sample};

/* ---- reduce ---------------------------------------------------------------------------------- */

static int reduce_shape(lra_tensor *y, lra_err *e)
{
    const reduce_sum_args *a = y->args;
    const lra_tensor *x = y->src[0];
    if (lra_expect_float(x, "the source", e) != 0) return LRA_FAILED;
    y->shape = x->shape;
    for (int i = a->from; i < a->to; i++) y->shape.d[i] = 1;
    y->type = lra_real(y->graph);
    return 0;
}

static void reduce_grad(lra_tensor *y, lra_tensor *dy, lra_tensor **dx)
{
    dx[0] = lra_broadcast_to(dy, y->src[0]->shape, y->src[0]->type);
}

static int64_t reduce_scratch(const lra_tensor *y, int n_threads)
{
    (void)n_threads;
    reduce_view v = view_of(y);
    return v.O * v.n_blocks * v.I * (int64_t)lra_type_size(y->type);
}

static double reduce_flops(const lra_tensor *y)
{
    return (double)lra_elements(y->src[0]);
}

lra_tensor *lra_reduce_sum(lra_tensor *x, lra_shape s)
{
    lra_graph *g = x->graph;
    char p[96], q[96];
    if (!lra_shape_spreads(s, x->shape)) {
        lra_graph_fail(g, "reduce: shape %s does not reduce to %s", lra_shape_text(x->shape, p),
                       lra_shape_text(s, q));
        return x;
    }
    int missing = x->shape.n - s.n;
    bool summed[LRA_MAX_RANK + 1] = {false};
    for (int i = 0; i < x->shape.n; i++)
        summed[i] = i < missing || (s.d[i - missing] == 1 && x->shape.d[i] != 1);
    for (int i = 0; i < x->shape.n; i++) {
        if (!summed[i]) continue;
        reduce_sum_args a = {i, i + 1};
        while (summed[a.to]) a.to++;
        i = a.to;
        x = lra_node(&lra_op_reduce_sum, g, 1, &x, &a, sizeof a);
    }
    return lra_shape_equal(x->shape, s) ? x : lra_reshape(x, s);
}

static lra_tensor *reduce_sample(lra_graph *g, int i)
{
    const lra_shape from[] = {LRA_SHAPE(3, 5), LRA_SHAPE(3, 7), LRA_SHAPE(3, 2, 5, 4),
                              LRA_SHAPE(1100, 1)};
    const lra_shape to[] = {LRA_SHAPE(5), LRA_SHAPE(3, 1), LRA_SHAPE(2, 1, 4), LRA_SHAPE(1, 1)};
    if (i == 4)
        return lra_reduce_sum(lra_sample_input(g, "x", "normal", LRA_SHAPE(600, 3)), LRA_SHAPE(3));
    return i > 4 ? NULL : lra_reduce_sum(lra_sample_input(g, "x", "normal", from[i]), to[i]);
}

const lra_op lra_op_reduce_sum = {.name = "reduce_sum",
                                  .shape = reduce_shape,
                                  .grad = reduce_grad,
                                  .flops = reduce_flops,
                                  .scratch = reduce_scratch,
                                  .cpu = LRA_BODIES(reduce_sum),
                                  .sample = reduce_sample};
#endif
