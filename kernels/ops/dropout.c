/* Inverted dropout: y = x mask/(1 - rate), mask 0 with probability rate; the gradient is the same op with
 * the same mask.  A mask word is Philox4x32-10 with key (seed, xxh32 of the node's path) and counter
 * (step, element/4): nothing is stored, and it does not depend on threads, plans or length buckets.
 * tied: the element is that of (first dimension, last dimension), shared between
 * (variational dropout, Gal & Ghahramani 2016). */
#include "kernels/ops/args.h"
#include "kernels/ops/lanes_fn.h"

#include "kernels/base/file.h"
#include "kernels/base/philox.h"

/* Draws of DRAWS consecutive counters at once, lane by lane what lra_philox_at() gives.  A word is the low half of a
 * lane of 64 bits: a product comes whole, and what stands above a word is never read.  As many draws as registers hold:
 * the rounds of one are a chain. */
enum { DRAWS = 32, BLOCK = 4 * DRAWS };
#if defined(LRA_LEVEL_avx512)
enum { DRAW_LANES = 8 };
#elif defined(LRA_LEVEL_avx2)
enum { DRAW_LANES = 4 };
#else
enum { DRAW_LANES = 2 };
#endif
enum { VECTORS = DRAWS / DRAW_LANES };
typedef uint64_t draw_lanes __attribute__((vector_size(DRAW_LANES * 8)));

/* factor times the low half of each lane */
LRA_ROW_FN draw_lanes multiply(draw_lanes x, uint32_t factor)
{
#if LRA_PASS != 64 && defined(LRA_LEVEL_avx512)
    return (draw_lanes)_mm512_mul_epu32((__m512i)x, _mm512_set1_epi64(factor));
#elif LRA_PASS != 64 && defined(LRA_LEVEL_avx2)
    return (draw_lanes)_mm256_mul_epu32((__m256i)x, _mm256_set1_epi64x(factor));
#else
    return (x & 0xFFFFFFFFu) * factor;
#endif
}

typedef struct {
    draw_lanes word[4][VECTORS];
} draw_words;

LRA_ROW_FN draw_words philox_lanes(const uint32_t key[2], const lra_step *step, uint64_t first)
{
    uint32_t k0 = key[0], k1 = key[1];
    draw_words d;
    for (int j = 0; j < VECTORS; j++)
        for (int l = 0; l < DRAW_LANES; l++) {
            uint64_t at = first + (uint64_t)(j * DRAW_LANES + l);
            d.word[0][j][l] = step->step, d.word[1][j][l] = step->step >> 32;
            d.word[2][j][l] = at, d.word[3][j][l] = at >> 32;
        }
    for (int round = 0; round < 10; round++, k0 += 0x9E3779B9u, k1 += 0xBB67AE85u) {
        LANES_UNROLL for (int j = 0; j < VECTORS; j++)
        {
            draw_lanes p0 = multiply(d.word[0][j], 0xD2511F53u);
            draw_lanes p1 = multiply(d.word[2][j], 0xCD9E8D57u);
            d.word[0][j] = (p1 >> 32) ^ d.word[1][j] ^ k0;
            d.word[2][j] = (p0 >> 32) ^ d.word[3][j] ^ k1;
            d.word[1][j] = p1, d.word[3][j] = p0;
        }
    }
    return d;
}

/* What a draw is compared with: lra_u01f(w) < rate where w >> 8 < least. */
typedef struct {
    uint32_t key[2], least;
    real kept;
} dropout_draw;

static inline dropout_draw draw_of(const dropout_args *a, const lra_step *step)
{
    lra_rng key = lra_rng_new(step->seed, a->key, 0);
    return (dropout_draw){.key = {key.key[0], key.key[1]},
                          .least = (uint32_t)ceil(a->rate * 0x1p24),
                          .kept = (real)(1 / (1 - a->rate))};
}

/* Factors 0 or 1/(1 - rate) of elements BLOCK i to BLOCK (i + 1) - 1. */
static inline void draw(const dropout_draw *a, const lra_step *step, int64_t i, real factor[BLOCK])
{
    const real kept = a->kept;
    const uint32_t least = a->least;
    const draw_words d = philox_lanes(a->key, step, (uint64_t)(i * DRAWS));
    uint64_t word[4][DRAWS];
    memcpy(word, &d, sizeof word);
    for (int l = 0; l < DRAWS; l++)
        for (int k = 0; k < 4; k++)
            factor[4 * l + k] = (uint32_t)word[k][l] >> 8 < least ? 0 : kept;
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

/* scratch: (B,D) factors, rounded up to whole blocks */
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
