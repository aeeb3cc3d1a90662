/* Inverted dropout: y = x mask/(1 - rate), mask 0 with probability rate. The gradient is the same
 * op with the same mask. The random words of a mask are Philox4x32-10 with key (seed, xxh32 of the
 * node's path) and counter (step, element/4). No mask is stored, and masks do not depend on
 * threads, plans or length buckets.
 * tied: one draw for each pair of first and last index (example, channel), shared along the
 * dimensions between (variational dropout, Gal & Ghahramani 2016). */
#include "kernels/ops/args.h"
#include "kernels/ops/elementwise/dropout_template.h"

#include "kernels/base/os/file.h"

enum { BLOCK = DROPOUT_BLOCK };

static inline dropout_draw draw_of(const dropout_args *a, const lra_step *step)
{
    return dropout_draw_of(a->rate, a->key, step);
}

/* Computes the dropout factors of elements BLOCK i to BLOCK (i + 1) - 1. */
static inline void draw(const dropout_draw *a, const lra_step *step, int64_t i, real factor[BLOCK])
{
    const uint64_t first[] = {(uint64_t)(i * DRAWS), (uint64_t)(i * DRAWS + DRAWS / 2)};
    dropout_factors(a, step, first, factor);
}

LRA_ROW_FN void scale(int64_t i, int64_t w, lra_type t, const void *x, const real *factor, void *y)
{
    lanes_store(y, t, i, w, lanes_load(x, t, i, w) * lanes_load(factor, LRA_F32, i, w));
}
LRA_ROW_FN void scale_row(lra_type t, const void *x, const real *factor, int64_t n, void *y)
{
    LANES_EACH(n, scale, t, x, factor, y);
}

static inline void apply(const lra_call *c, const lra_step *step)
{
    const dropout_draw a = draw_of(c->y->args, step);
    int64_t n = lra_elements(c->y);
    lra_type t = c->y->type;
#pragma omp parallel for num_threads(c->n_threads) if (n >= LRA_PARALLEL_MIN)
    for (int64_t i = 0; i < (n + BLOCK - 1) / BLOCK; i++) {
        real factor[BLOCK];
        int64_t from = BLOCK * i, m = n - from < BLOCK ? n - from : BLOCK;
        draw(&a, step, i, factor);
        LRA_BY_TYPE(scale_row, t, t_at(c->in[0], t, from), factor, m, t_to(c->out, t, from));
    }
}

/* Dropout with tied masks. Scratch: (B,D) factors, rounded up to full blocks. */
static inline void apply_tied(const lra_call *c, const lra_step *step)
{
    const dropout_draw a = draw_of(c->y->args, step);
    int64_t n = lra_elements(c->y), D = lra_width(c->y);
    int64_t B = c->y->shape.d[0], T = n / (B * D);
    lra_type t = c->y->type;
    real *factor = c->scratch;
    for (int64_t i = 0; i < (B * D + BLOCK - 1) / BLOCK; i++) draw(&a, step, i, factor + BLOCK * i);
#pragma omp parallel for num_threads(c->n_threads) if (n >= LRA_PARALLEL_MIN)
    for (int64_t row = 0; row < B * T; row++)
        LRA_BY_TYPE(scale_row, t, t_at(c->in[0], t, row * D), factor + row / T * D, D,
                    t_to(c->out, t, row * D));
}

LRA_BODY(dropout)
{
    const dropout_args *a = c->y->args;
    lra_step step;
    memcpy(&step, c->in[1], sizeof step);
    if (a->tied)
        apply_tied(c, &step);
    else
        apply(c, &step);
}

#if LRA_RECORD
LRA_DECLARE(dropout)

static int shape(lra_tensor *y, lra_err *e)
{
    const dropout_args *a = y->args;
    if (lra_expect_float(y->src[0], "the source", e) != 0) return LRA_FAILED;
    if (!(a->rate >= 0 && a->rate < 1)) return lra_fail(e, "rate %g is not in [0,1)", a->rate);
    if (a->tied && y->src[0]->shape.n < 2)
        return lra_fail(e, "tied, but the source has rank %d", y->src[0]->shape.n);
    y->shape = y->src[0]->shape;
    y->type = y->src[0]->type;
    return 0;
}

static void grad(lra_tensor *y, lra_tensor *dy, lra_tensor **dx)
{
    lra_tensor *src[] = {dy, y->src[1]};
    dx[0] = lra_node(&lra_op_dropout, y->graph, 2, src, y->args, sizeof(dropout_args));
}

static int64_t scratch(const lra_tensor *y, int n_threads)
{
    (void)n_threads;
    const dropout_args *a = y->args;
    int64_t n = y->shape.n ? y->shape.d[0] * lra_width(y) : 1;
    return a->tied ? (n + BLOCK - 1) / BLOCK * BLOCK * (int64_t)lra_type_size(lra_real(y->graph))
                   : 0;
}

static double flops(const lra_tensor *y)
{
    return 12 * (double)lra_elements(y);
}

lra_tensor *lra_dropout(lra_tensor *x, double rate, bool tied)
{
    lra_graph *g = x->graph;
    if (lra_graph_mode(g) == LRA_EVAL || rate == 0) return x;
    dropout_args a = {rate, tied, 0};
    lra_tensor *src[] = {x, lra_step_input(g)};
    lra_tensor *y = lra_node(&lra_op_dropout, g, 2, src, &a, sizeof a);
    ((dropout_args *)(uintptr_t)y->args)->key = lra_hash32(lra_tensor_path(y));
    return y;
}

static lra_tensor *sample(lra_graph *g, int i)
{
    if (i > 3) return NULL;
    lra_shape s = i == 0 ? LRA_SHAPE(3, 7) : i < 3 ? LRA_SHAPE(2, 5, 9) : LRA_SHAPE(2, 5, 8);
    return lra_dropout(lra_sample_input(g, "x", "normal", s), 0.3, i > 1);
}

const lra_op lra_op_dropout = {.name = "dropout",
                               .flags = LRA_INPLACE,
                               .shape = shape,
                               .grad = grad,
                               .flops = flops,
                               .scratch = scratch,
                               .cpu = LRA_BODIES(dropout),
                               .sample = sample};
#endif
