/* Inverted dropout: y = x mask/(1 - rate), mask 0 with probability rate; the gradient is the same op with
 * the same mask.  A mask word is Philox4x32-10 with key (seed, xxh32 of the node's path) and counter
 * (step, element/4): nothing is stored, and it does not depend on threads, plans or length buckets.
 * tied: the element is that of (first dimension, last dimension), shared between
 * (variational dropout, Gal & Ghahramani 2016). */
#include "kernels/ops/args.h"
#include "kernels/ops/typed.h"

#include "kernels/base/file.h"
#include "kernels/base/philox.h"

/* Draws of LANES consecutive counters at once, lane by lane what lra_philox_at() gives. */
enum { LANES = 16, BLOCK = 4 * LANES };

static inline void philox_lanes(const uint32_t key[2], const lra_step *step, uint64_t first,
                                uint32_t word[4][LANES])
{
    uint32_t k0 = key[0], k1 = key[1];
    for (int l = 0; l < LANES; l++) {
        word[0][l] = (uint32_t)step->step, word[1][l] = (uint32_t)(step->step >> 32);
        word[2][l] = (uint32_t)(first + (uint64_t)l);
        word[3][l] = (uint32_t)((first + (uint64_t)l) >> 32);
    }
    for (int round = 0; round < 10; round++, k0 += 0x9E3779B9u, k1 += 0xBB67AE85u) {
#pragma omp simd
        for (int l = 0; l < LANES; l++) {
            uint64_t p0 = (uint64_t)0xD2511F53u * word[0][l];
            uint64_t p1 = (uint64_t)0xCD9E8D57u * word[2][l];
            word[0][l] = (uint32_t)(p1 >> 32) ^ word[1][l] ^ k0;
            word[2][l] = (uint32_t)(p0 >> 32) ^ word[3][l] ^ k1;
            word[1][l] = (uint32_t)p1, word[3][l] = (uint32_t)p0;
        }
    }
}

/* Factors 0 or 1/(1 - rate) of elements BLOCK i to BLOCK (i + 1) - 1. */
static inline void draw(const dropout_args *a, const lra_step *step, int64_t i, real factor[BLOCK])
{
    lra_rng key = lra_rng_new(step->seed, a->key, 0);
    uint32_t word[4][LANES];
    const real kept = (real)(1 / (1 - a->rate));
    philox_lanes(key.key, step, (uint64_t)(i * LANES), word);
    for (int k = 0; k < 4; k++)
        for (int l = 0; l < LANES; l++)
            factor[4 * l + k] = (double)lra_u01f(word[k][l]) < a->rate ? 0 : kept;
}

static inline void apply(const lra_call *c, const lra_step *step)
{
    const dropout_args *a = c->y->args;
    int64_t n = lra_elements(c->y);
    lra_type t = c->y->type;
#pragma omp parallel for num_threads(c->n_threads) if (n >= LRA_PARALLEL_MIN)
    for (int64_t i = 0; i < (n + BLOCK - 1) / BLOCK; i++) {
        real factor[BLOCK];
        int64_t end = n < BLOCK * (i + 1) ? n : BLOCK * (i + 1);
        draw(a, step, i, factor);
        for (int64_t k = BLOCK * i; k < end; k++)
            t_store(c->out, t, k, t_load(c->in[0], t, k) * factor[k % BLOCK]);
    }
}

/* scratch: (B,D) factors, rounded up to whole blocks */
static inline void apply_tied(const lra_call *c, const lra_step *step)
{
    int64_t n = lra_elements(c->y), D = lra_width(c->y);
    int64_t B = c->y->shape.d[0], T = n / (B * D);
    lra_type t = c->y->type;
    real *factor = c->scratch;
    for (int64_t i = 0; i < (B * D + BLOCK - 1) / BLOCK; i++)
        draw(c->y->args, step, i, factor + BLOCK * i);
#pragma omp parallel for num_threads(c->n_threads) if (n >= LRA_PARALLEL_MIN)
    for (int64_t row = 0; row < B * T; row++) {
        const real *f = factor + row / T * D;
        const void *x = t_at(c->in[0], t, row * D);
        void *y = t_to(c->out, t, row * D);
        for (int64_t d = 0; d < D; d++) t_store(y, t, d, t_load(x, t, d) * f[d]);
    }
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
        return lra_fail(e, "tied, and the source has rank %d", y->src[0]->shape.n);
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
    if (i > 2) return NULL;
    lra_shape s = i == 0 ? LRA_SHAPE(3, 7) : LRA_SHAPE(2, 5, 9);
    return lra_dropout(lra_sample_input(g, "x", "normal", s), 0.3, i == 2);
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
