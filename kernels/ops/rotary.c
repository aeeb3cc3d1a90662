/* Rotary positions: the pair (a,b) of channels (2i,2i+1) of a head at position t is turned by the angle t w_i:
 *   (a cos - b sin, b cos + a sin),  w_i = base^(-2i/K);  half: w_i = 0 for the slower, or the faster, half of the pairs
 * The gradient turns back.  Source: Su et al. 2021; half: On the locality bias and results in the LRA, table 5. */
#include "kernels/ops/positions_fn.h"
#include "kernels/ops/typed.h"

/* sources: x (B,T,H,K); scratch: (T,K/2,2) cosines and sines */
LRA_BODY(rotary)
{
    const rotary_args *a = c->y->args;
    const lra_shape *s = &c->y->shape;
    int64_t B = s->d[0], T = s->d[1], H = s->d[2], pairs = s->d[3] / 2;
    real *turn = c->scratch;
    for (int64_t i = 0; i < pairs; i++) {
        double w = rotary_speed(a, i, pairs);
        for (int64_t t = 0; t < T; t++) {
            turn[2 * (t * pairs + i)] = (real)cos((double)t * w);
            turn[2 * (t * pairs + i) + 1] = (real)((a->back ? -1 : 1) * sin((double)t * w));
        }
    }
#pragma omp parallel for num_threads(c->n_threads) if (B * T * H * pairs >= LRA_PARALLEL_MIN)
    for (int64_t row = 0; row < B * T; row++) {
        const real *by = turn + row % T * 2 * pairs;
        for (int64_t h = 0; h < H; h++) {
            const elem *x = (const elem *)c->in[0] + (row * H + h) * 2 * pairs;
            elem *y = (elem *)c->out + (row * H + h) * 2 * pairs;
            for (int64_t i = 0; i < pairs; i++) {
                real p = e_load(x[2 * i]), q = e_load(x[2 * i + 1]);
                y[2 * i] = e_store(p * by[2 * i] - q * by[2 * i + 1]);
                y[2 * i + 1] = e_store(q * by[2 * i] + p * by[2 * i + 1]);
            }
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
    return y->shape.d[1] * y->shape.d[3] * (int64_t)lra_type_size(lra_real(y->graph));
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
