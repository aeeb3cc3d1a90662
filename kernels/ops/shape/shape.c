/* Ops that move data. reshape and leading slices are aliases; slice_copy, pad, permute and concat
 * copy. Elements are copied as bytes, so that every type works, including int32.
 *   slice: y = x[.., from : from + n, ..]
 *   pad, the gradient of slice: zeros except y[.., from : from + n, ..] = x
 *   permute: dimension i of y is dimension axes[i] of x; concat: the sources, one after the
 *   other */
#include "kernels/ops/args.h"
#include "kernels/ops/typed.h"

typedef struct {
    lra_shape shape;
} reshape_args;

/* outer(): number of elements before an axis (O). inner(): number of elements after it (I). */
static inline int64_t outer(const lra_shape *s, int axis)
{
    int64_t n = 1;
    for (int i = 0; i < axis; i++) n *= s->d[i];
    return n;
}
static inline int64_t inner(const lra_shape *s, int axis)
{
    int64_t n = 1;
    for (int i = axis + 1; i < s->n; i++) n *= s->d[i];
    return n;
}

LRA_BODY(slice_copy)
{
    const slice_args *a = c->y->args;
    const lra_tensor *x = c->y->src[0];
    int64_t O = outer(&x->shape, a->axis);
    int64_t unit = inner(&x->shape, a->axis) * (int64_t)lra_type_size(x->type);
    int64_t row = x->shape.d[a->axis] * unit;
    const char *in = c->in[0];
    char *out = c->out;
#pragma omp parallel for num_threads(c->n_threads) if (O * a->n * unit >= LRA_PARALLEL_MIN)
    for (int64_t o = 0; o < O; o++)
        memcpy(out + o * a->n * unit, in + o * row + a->from * unit, (size_t)(a->n * unit));
}

LRA_BODY(pad)
{
    const slice_args *a = c->y->args;
    const lra_tensor *x = c->y->src[0];
    int64_t O = outer(&x->shape, a->axis);
    int64_t unit = inner(&x->shape, a->axis) * (int64_t)lra_type_size(x->type);
    int64_t row = a->n * unit, part = x->shape.d[a->axis] * unit, before = a->from * unit;
    const char *in = c->in[0];
    char *out = c->out;
#pragma omp parallel for num_threads(c->n_threads) if (O * row >= LRA_PARALLEL_MIN)
    for (int64_t o = 0; o < O; o++) {
        memset(out + o * row, 0, (size_t)before);
        memcpy(out + o * row + before, in + o * part, (size_t)part);
        memset(out + o * row + before + part, 0, (size_t)(row - before - part));
    }
}

enum { TILE = 32, LINE = 64 };

/* Transposes n x m elements: to[i to_step + j] = from[j from_step + i]. Squares whose sides are
 * cache lines are transposed in the L1 cache, so that each line is read and written completely.
 * Otherwise, rows that are a power of two apart would share few cache sets and evict a line before
 * all of it is used. */
#define TILE_FN(name, type)                                                                        \
    static inline void name##_square(type *to, const type *from, int64_t to_step,                  \
                                     int64_t from_step)                                            \
    {                                                                                              \
        enum { SIDE = LINE / sizeof(type) };                                                       \
        type x[SIDE][SIDE], y[SIDE][SIDE];                                                         \
        for (int j = 0; j < SIDE; j++) memcpy(x[j], from + j * from_step, LINE);                   \
        for (int i = 0; i < SIDE; i++)                                                             \
            for (int j = 0; j < SIDE; j++) y[i][j] = x[j][i];                                      \
        for (int i = 0; i < SIDE; i++) memcpy(to + i * to_step, y[i], LINE);                       \
    }                                                                                              \
    static inline void name(type *to, const type *from, int64_t n, int64_t m, int64_t to_step,     \
                            int64_t from_step)                                                     \
    {                                                                                              \
        const int64_t side = LINE / (int64_t)sizeof(type), whole = m - m % side;                   \
        int64_t i = 0;                                                                             \
        for (; i + side <= n; i += side)                                                           \
            for (int64_t j = 0; j < whole; j += side)                                              \
                name##_square(to + i * to_step + j, from + j * from_step + i, to_step, from_step); \
        for (int64_t at = 0; at < n; at++)                                                         \
            for (int64_t j = at < i ? whole : 0; j < m; j++)                                       \
                to[at * to_step + j] = from[j * from_step + at];                                   \
    }
TILE_FN(tile16, uint16_t)
TILE_FN(tile32, uint32_t)
TILE_FN(tile64, uint64_t)

/* Proceeds in tiles over two axes: the last axis of y, and the axis of y that is last in x. */
LRA_BODY(permute)
{
    const lra_tensor *y = c->y, *x = y->src[0];
    const permute_args *a = y->args;
    int n = y->shape.n, across = n - 1;
    int64_t step[LRA_MAX_RANK] = {1}, tiles[LRA_MAX_RANK] = {1}, n_tiles = 1;
    for (int i = 0; i < n; i++) {
        step[i] = inner(&x->shape, a->axes[i]);
        if (a->axes[i] == n - 1) across = i;
    }
    for (int i = 0; i < n; i++) {
        bool cut = i == n - 1 || i == across;
        tiles[i] = cut ? (y->shape.d[i] + TILE - 1) / TILE : y->shape.d[i];
        n_tiles *= tiles[i];
    }
    int64_t size = (int64_t)lra_type_size(y->type), width = lra_width(y);
    int64_t rows = n ? y->shape.d[across] : 1, row = n ? inner(&y->shape, across) : 1;
#pragma omp parallel for num_threads(c->n_threads) if (lra_elements(y) >= LRA_PARALLEL_MIN)
    for (int64_t tile = 0; tile < n_tiles; tile++) {
        int64_t from = 0, to = 0, rest = tile, at[LRA_MAX_RANK] = {0};
        for (int i = n - 1; i >= 0; i--) {
            bool cut = i == n - 1 || i == across;
            at[i] = rest % tiles[i] * (cut ? TILE : 1);
            rest /= tiles[i];
            from += at[i] * step[i];
            to += at[i] * inner(&y->shape, i);
        }
        int64_t m = n ? width - at[n - 1] : 1, k = n ? rows - at[across] : 1;
        m = m < TILE ? m : TILE, k = across == n - 1 ? 1 : k < TILE ? k : TILE;
        const char *in = (const char *)c->in[0] + from * size;
        char *out = (char *)c->out + to * size;
        if (across == n - 1)
            memcpy(out, in, (size_t)(m * size));
        else if (size == 4)
            tile32((uint32_t *)out, (const uint32_t *)in, k, m, row, step[n - 1]);
        else if (size == 8)
            tile64((uint64_t *)out, (const uint64_t *)in, k, m, row, step[n - 1]);
        else
            tile16((uint16_t *)out, (const uint16_t *)in, k, m, row, step[n - 1]);
    }
}

LRA_BODY(concat)
{
    const lra_tensor *y = c->y;
    int axis = ((const slice_args *)y->args)->axis;
    int64_t O = outer(&y->shape, axis);
    int64_t unit = inner(&y->shape, axis) * (int64_t)lra_type_size(y->type);
    int64_t row = y->shape.d[axis] * unit;
#pragma omp parallel for num_threads(c->n_threads) if (O * row >= LRA_PARALLEL_MIN)
    for (int64_t o = 0; o < O; o++) {
        char *to = (char *)c->out + o * row;
        for (int i = 0; i < y->n_src; i++) {
            int64_t part = y->src[i]->shape.d[axis] * unit;
            memcpy(to, (const char *)c->in[i] + o * part, (size_t)part);
            to += part;
        }
    }
}

#if LRA_RECORD
LRA_DECLARE(slice_copy)
LRA_DECLARE(pad)
LRA_DECLARE(permute)
LRA_DECLARE(concat)

static double no_flops(const lra_tensor *y)
{
    (void)y;
    return 0;
}

/* ---- reshape --------------------------------------------------------------------------------- */

static int reshape_shape(lra_tensor *y, lra_err *e)
{
    const reshape_args *a = y->args;
    const lra_tensor *x = y->src[0];
    char p[96], q[96];
    if (lra_shape_elements(a->shape) != lra_elements(x))
        return lra_fail(e, "shape %s has another number of elements than %s",
                        lra_shape_text(x->shape, p), lra_shape_text(a->shape, q));
    y->shape = a->shape;
    y->type = x->type;
    return 0;
}

static void reshape_grad(lra_tensor *y, lra_tensor *dy, lra_tensor **dx)
{
    dx[0] = lra_reshape(dy, y->src[0]->shape);
}

lra_tensor *lra_reshape(lra_tensor *x, lra_shape s)
{
    reshape_args a = {s};
    if (lra_shape_equal(x->shape, s)) return x;
    return lra_node(&lra_op_reshape, x->graph, 1, &x, &a, sizeof a);
}

static lra_tensor *reshape_sample(lra_graph *g, int i)
{
    if (i) return NULL;
    return lra_reshape(lra_sample_input(g, "x", "normal", LRA_SHAPE(3, 8)), LRA_SHAPE(2, 3, 4));
}

const lra_op lra_op_reshape = {.name = "reshape",
                               .flags = LRA_ALIAS,
                               .shape = reshape_shape,
                               .grad = reshape_grad,
                               .flops = no_flops,
                               .sample = reshape_sample};

/* ---- slice and pad --------------------------------------------------------------------------- */

static int slice_shape(lra_tensor *y, lra_err *e)
{
    const slice_args *a = y->args;
    const lra_shape *s = &y->src[0]->shape;
    char p[96];
    if (a->axis < 0 || a->axis >= s->n)
        return lra_fail(e, "axis %d of shape %s", a->axis, lra_shape_text(*s, p));
    if (a->from < 0 || a->n < 1 || a->from + a->n > s->d[a->axis])
        return lra_fail(e, "elements %lld to %lld of axis %d of shape %s", (long long)a->from,
                        (long long)(a->from + a->n), a->axis, lra_shape_text(*s, p));
    y->shape = *s;
    y->shape.d[a->axis] = a->n;
    y->type = y->src[0]->type;
    return 0;
}

static int pad_shape(lra_tensor *y, lra_err *e)
{
    const slice_args *a = y->args;
    const lra_shape *s = &y->src[0]->shape;
    if (a->axis >= s->n || a->from + s->d[a->axis] > a->n)
        return lra_fail(e, "the source does not fit");
    y->shape = *s;
    y->shape.d[a->axis] = a->n;
    y->type = y->src[0]->type;
    return 0;
}

static void slice_grad(lra_tensor *y, lra_tensor *dy, lra_tensor **dx)
{
    const slice_args *s = y->args;
    slice_args a = {s->axis, s->from, y->src[0]->shape.d[s->axis]};
    dx[0] = lra_node(&lra_op_pad, y->graph, 1, &dy, &a, sizeof a);
}

static void pad_grad(lra_tensor *y, lra_tensor *dy, lra_tensor **dx)
{
    const slice_args *a = y->args;
    dx[0] = lra_slice(dy, a->axis, a->from, y->src[0]->shape.d[a->axis]);
}

lra_tensor *lra_slice(lra_tensor *x, int axis, int64_t from, int64_t n)
{
    slice_args a = {axis, from, n};
    bool leading = axis >= 0 && axis < x->shape.n && outer(&x->shape, axis) == 1;
    return lra_node(leading ? &lra_op_slice : &lra_op_slice_copy, x->graph, 1, &x, &a, sizeof a);
}

size_t lra_alias_offset(const lra_tensor *y)
{
    if (y->op != &lra_op_slice) return 0;
    const slice_args *a = y->args;
    return (size_t)(a->from * inner(&y->shape, a->axis)) * lra_type_size(y->type);
}

static lra_tensor *slice_sample(lra_graph *g, int i)
{
    if (i == 0) return lra_slice(lra_sample_input(g, "x", "normal", LRA_SHAPE(5, 3)), 0, 1, 3);
    if (i == 1) return lra_slice(lra_sample_input(g, "x", "normal", LRA_SHAPE(1, 7, 2)), 1, 6, 1);
    return NULL;
}
static lra_tensor *slice_copy_sample(lra_graph *g, int i)
{
    if (i == 0) return lra_slice(lra_sample_input(g, "x", "normal", LRA_SHAPE(3, 5)), 1, 2, 3);
    if (i == 1) return lra_slice(lra_sample_input(g, "x", "normal", LRA_SHAPE(2, 7, 3)), 1, 0, 4);
    return NULL;
}
static lra_tensor *pad_sample(lra_graph *g, int i)
{
    const slice_args a[] = {{0, 1, 5}, {1, 0, 4}, {2, 2, 5}};
    if (i > 2) return NULL;
    lra_tensor *x = lra_sample_input(g, "x", "normal", LRA_SHAPE(2, 3, 3));
    return lra_node(&lra_op_pad, g, 1, &x, &a[i], sizeof a[i]);
}

const lra_op lra_op_slice = {.name = "slice",
                             .flags = LRA_ALIAS,
                             .shape = slice_shape,
                             .grad = slice_grad,
                             .flops = no_flops,
                             .sample = slice_sample};
const lra_op lra_op_slice_copy = {.name = "slice_copy",
                                  .shape = slice_shape,
                                  .grad = slice_grad,
                                  .flops = no_flops,
                                  .cpu = LRA_BODIES(slice_copy),
                                  .sample = slice_copy_sample};
const lra_op lra_op_pad = {.name = "pad",
                           .shape = pad_shape,
                           .grad = pad_grad,
                           .flops = no_flops,
                           .cpu = LRA_BODIES(pad),
                           .sample = pad_sample};

/* ---- permute --------------------------------------------------------------------------------- */

static int permute_shape(lra_tensor *y, lra_err *e)
{
    const permute_args *a = y->args;
    const lra_shape *s = &y->src[0]->shape;
    unsigned seen = 0;
    y->shape.n = s->n;
    for (int i = 0; i < s->n; i++) {
        int axis = a->axes[i];
        if (axis < 0 || axis >= s->n || seen >> axis & 1u)
            return lra_fail(e, "axes are not a permutation of 0 to %d", s->n - 1);
        seen |= 1u << axis;
        y->shape.d[i] = s->d[axis];
    }
    y->type = y->src[0]->type;
    return 0;
}

static void permute_grad(lra_tensor *y, lra_tensor *dy, lra_tensor **dx)
{
    const permute_args *a = y->args;
    int back[LRA_MAX_RANK];
    for (int i = 0; i < y->shape.n; i++) back[a->axes[i]] = i;
    dx[0] = lra_permute(dy, y->shape.n, back);
}

lra_tensor *lra_permute(lra_tensor *x, int n, const int *axes)
{
    permute_args a = {{0}};
    if (n != x->shape.n) {
        lra_graph_fail(x->graph, "permute: %d axes for a tensor of rank %d", n, x->shape.n);
        return x;
    }
    for (int i = 0; i < n; i++) a.axes[i] = axes[i];
    return lra_node(&lra_op_permute, x->graph, 1, &x, &a, sizeof a);
}

static lra_tensor *permute_sample(lra_graph *g, int i)
{
    static const int axes[][4] = {{1, 0}, {0, 2, 1}, {2, 0, 1}, {0, 2, 1, 3}, {1, 0}, {2, 1, 0}};
    const lra_shape s[] = {LRA_SHAPE(3, 5),       LRA_SHAPE(2, 5, 3), LRA_SHAPE(2, 3, 7),
                           LRA_SHAPE(2, 5, 3, 4), LRA_SHAPE(41, 67),  LRA_SHAPE(35, 2, 1)};
    if (i > 5) return NULL;
    return lra_permute(lra_sample_input(g, "x", "normal", s[i]), s[i].n, axes[i]);
}

const lra_op lra_op_permute = {.name = "permute",
                               .shape = permute_shape,
                               .grad = permute_grad,
                               .flops = no_flops,
                               .cpu = LRA_BODIES(permute),
                               .sample = permute_sample};

/* ---- concat ---------------------------------------------------------------------------------- */

static int concat_shape(lra_tensor *y, lra_err *e)
{
    const slice_args *a = y->args;
    lra_shape s = y->src[0]->shape;
    if (a->axis < 0 || a->axis >= s.n) return lra_fail(e, "axis %d of rank %d", a->axis, s.n);
    int64_t total = 0;
    for (int i = 0; i < y->n_src; i++) {
        const lra_tensor *x = y->src[i];
        if (x->shape.n == s.n) s.d[a->axis] = x->shape.d[a->axis];
        if (lra_expect_shape(x, s, "a source", e) != 0) return LRA_FAILED;
        if (x->type != y->src[0]->type) return lra_fail(e, "sources of different types");
        total += s.d[a->axis];
    }
    y->shape = s;
    y->shape.d[a->axis] = total;
    y->type = y->src[0]->type;
    return 0;
}

static void concat_grad(lra_tensor *y, lra_tensor *dy, lra_tensor **dx)
{
    int axis = ((const slice_args *)y->args)->axis;
    int64_t from = 0;
    for (int i = 0; i < y->n_src; i++) {
        int64_t n = y->src[i]->shape.d[axis];
        dx[i] = lra_slice(dy, axis, from, n);
        from += n;
    }
}

lra_tensor *lra_concat(int n, lra_tensor *const *x, int axis)
{
    slice_args a = {axis, 0, 0};
    return lra_node(&lra_op_concat, x[0]->graph, n, x, &a, sizeof a);
}

static lra_tensor *concat_sample(lra_graph *g, int i)
{
    if (i > 2) return NULL;
    lra_shape a = LRA_SHAPE(2, 3, 5), b = a;
    b.d[i] = 4;
    lra_tensor *x = lra_sample_input(g, "a", "normal", a),
               *y = lra_sample_input(g, "b", "normal", b);
    return lra_concat(3, (lra_tensor *[]){x, y, x}, i);
}

const lra_op lra_op_concat = {.name = "concat",
                              .shape = concat_shape,
                              .grad = concat_grad,
                              .flops = no_flops,
                              .cpu = LRA_BODIES(concat),
                              .sample = concat_sample};
#endif
