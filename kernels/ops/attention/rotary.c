/* Rotary position embedding. The pair (a,b) of channels (2i,2i+1) of a head at position t is
 * rotated by the angle t w_i:
 *   (a cos - b sin, b cos + a sin),  w_i = base^(-2i/K)
 * With `half`, w_i = 0 for the slower, or the faster, half of the pairs. The gradient rotates by
 * the opposite angle.
 * Sources: Su et al. 2021; for `half`: On the locality bias and results in the LRA, table 5. */
#include "kernels/ops/lanes_template.h"
#include "kernels/ops/attention/positions_body.h"

#if LRA_TYPE_f64
enum { STEPS = 1 };
#else
/* Distance between positions whose cosines are computed directly. In between, each position is
 * obtained from the previous one by a rotation, with an error of 1e-14 in double. Computing a
 * cosine for each position took as long as the rest of the op. */
enum { STEPS = 32 };

LRA_ROW_FN lanes neighbours(lanes v)
{
#if defined(LRA_LEVEL_avx512)
    return _mm512_permute_ps(v, 0xB1);
#elif defined(LRA_LEVEL_avx2)
    return _mm256_permute_ps(v, 0xB1);
#else
    return (lanes){v[1], v[0], v[3], v[2]};
#endif
}
#endif

/* Rotates a row without separating the pairs: y = (a,b,..) c + (b,a,..) s, where c = (cos,cos,..)
 * and s = (-sin,sin,..). */
LRA_ROW_FN void turn_lanes(int64_t i, int64_t w, const elem *x, const real *c, const real *s,
                           elem *y)
{
#if LRA_TYPE_f64
    (void)w;
    y[i] = x[i] * c[i] + x[i ^ 1] * s[i];
#else
    lanes v = lanes_load(x, LRA_ELEM, i, w);
    lanes_store(y, LRA_ELEM, i, w,
                v * lanes_load(c, LRA_F32, i, w) + neighbours(v) * lanes_load(s, LRA_F32, i, w));
#endif
}

/* Fills positions [t, t + n) of a table (T,2,K): the factors c of the row itself and s of the
 * swapped row. */
static inline void positions(const rotary_args *a, int64_t t, int64_t n, int64_t pairs, real *table)
{
    for (int64_t i = 0; i < pairs; i++) {
        double w = rotary_speed(a, i, pairs), cos_1 = cos(w), sin_1 = sin(w);
        double c = cos((double)t * w), s = sin((double)t * w);
        for (int64_t k = t; k < t + n; k++) {
            real *at = table + 4 * k * pairs + 2 * i, turn = (real)(a->back ? -s : s);
            at[0] = at[1] = (real)c;
            at[2 * pairs] = -turn, at[2 * pairs + 1] = turn;
            double next = c * cos_1 - s * sin_1;
            s = s * cos_1 + c * sin_1, c = next;
        }
    }
}

/* Sources: x (B,T,H,K). Scratch: the table of cosines and sines. */
LRA_BODY(rotary)
{
    const rotary_args *a = c->y->args;
    const lra_shape *s = &c->y->shape;
    int64_t B = s->d[0], T = s->d[1], H = s->d[2], K = s->d[3];
    real *table = c->scratch;
#pragma omp parallel num_threads(c->n_threads) if (B * T * H * K >= LRA_PARALLEL_MIN)
    {
#pragma omp for
        for (int64_t t = 0; t < T; t += STEPS)
            positions(a, t, T - t < STEPS ? T - t : STEPS, K / 2, table);
#pragma omp for
        for (int64_t row = 0; row < B * T; row++) {
            const real *by = table + row % T * 2 * K;
            const elem *x = (const elem *)c->in[0] + row * H * K;
            elem *y = (elem *)c->out + row * H * K;
            for (int64_t h = 0; h < H; h++, x += K, y += K)
                LANES_EACH(K, turn_lanes, x, by, by + K, y);
        }
    }
}

#if LRA_RECORD
LRA_DECLARE(rotary)

static int shape(lra_tensor *y, lra_err *e)
{
    const lra_tensor *x = y->src[0];
    const rotary_args *a = y->args;
    if (x->type != lra_elem(y->graph)) return lra_fail(e, "the source must be elem");
    if (x->shape.n != 4)
        return lra_fail(e, "the source has rank %d, expected (B,T,H,K)", x->shape.n);
    if (x->shape.d[3] % 2)
        return lra_fail(e, "heads of %lld channels, expected an even number",
                        (long long)x->shape.d[3]);
    if (a->half < LRA_HALF_NONE || a->half > LRA_HALF_FAST)
        return lra_fail(e, "rotary_half is %d, expected none, slow or fast", a->half);
    if (!(a->base > 1)) return lra_fail(e, "base is %g, expected more than 1", a->base);
    y->shape = x->shape;
    y->type = x->type;
    return 0;
}

static lra_tensor *turn(lra_tensor *x, rotary_args a)
{
    return lra_node(&lra_op_rotary, x->graph, 1, &x, &a, sizeof a);
}

static void grad(lra_tensor *y, lra_tensor *dy, lra_tensor **dx)
{
    rotary_args a = *(const rotary_args *)y->args;
    a.back = !a.back;
    dx[0] = turn(dy, a);
}

static double flops(const lra_tensor *y)
{
    return 3 * (double)lra_elements(y);
}

static int64_t scratch(const lra_tensor *y, int n_threads)
{
    (void)n_threads;
    return 2 * y->shape.d[1] * y->shape.d[3] * (int64_t)lra_type_size(lra_real(y->graph));
}

lra_tensor *lra_rotary(lra_tensor *x, double base, lra_rotary_half half)
{
    return turn(x, (rotary_args){base, (int)half, false});
}

static lra_tensor *sample(lra_graph *g, int i)
{
    const lra_rotary_half half[] = {LRA_HALF_NONE, LRA_HALF_SLOW, LRA_HALF_FAST};
    if (i > 2) return NULL;
    return lra_rotary(lra_sample_input(g, "x", "normal", LRA_SHAPE(2, 7, 3, 8)), 100, half[i]);
}

const lra_op lra_op_rotary = {.name = "rotary",
                              .shape = shape,
                              .grad = grad,
                              .flops = flops,
                              .scratch = scratch,
                              .cpu = LRA_BODIES(rotary),
                              .sample = sample};
#endif
