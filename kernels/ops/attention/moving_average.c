/* Moving average over P positions. Applied to attention values it equals an average of the weights
 * over P columns (LaS):
 *   causal   y_t = (x_t + x_(t-1) + .. + x_(t-P+1)) / P
 *   centred  y_t = (x_(t-(P-1)/2) + .. + x_(t+(P-1)/2)) / P, P odd
 * Positions outside of the example or of the chunk of t count as zero, and the divisor remains P. y
 * is zero for t >= length.
 * Source: Viewing Transformers Through the Lens of Long Convolution Layers, eq. 4. The causal form
 * excludes future positions, unlike the centred form. */
#include "kernels/ops/attention/positions_body.h"
#include "kernels/ops/typed.h"

/* Sources: x (B,T,..), [length]. */
LRA_BODY(moving_average)
{
    const moving_average_args *a = c->y->args;
    int64_t B = c->y->shape.d[0], T = c->y->shape.d[1], D = lra_elements(c->y) / (B * T);
    const int32_t *length = a->has_length ? c->in[1] : NULL;
#pragma omp parallel for num_threads(c->n_threads) if (B * T * D >= LRA_PARALLEL_MIN)
    for (int64_t row = 0; row < B * T; row++) {
        int64_t t = row % T, n = length ? length[row / T] : T, low, high;
        smooth_span(a, t, n, &low, &high);
        const elem *x = (const elem *)c->in[0] + (row - t) * D;
        elem *y = (elem *)c->out + row * D;
        for (int64_t d = 0; d < D; d++) {
            real sum = 0;
            for (int64_t s = low; s < high && t < n; s++) sum += e_load(x[s * D + d]);
            y[d] = e_store(sum / (real)a->width);
        }
    }
}

#if LRA_RECORD
LRA_DECLARE(moving_average)

static int shape(lra_tensor *y, lra_err *e)
{
    const lra_tensor *x = y->src[0];
    const moving_average_args *a = y->args;
    if (x->type != lra_elem(y->graph)) return lra_fail(e, "the source must be elem");
    if (x->shape.n < 2) return lra_fail(e, "the source has rank %d, expected (B,T,..)", x->shape.n);
    if (a->width < 1 || (!a->causal && a->width % 2 == 0))
        return lra_fail(e, "width is %lld, expected a positive%s number", (long long)a->width,
                        a->causal ? "" : " odd");
    if (lra_expect_length(a->has_length ? y->src[1] : NULL, x->shape.d[0], e) != 0)
        return LRA_FAILED;
    y->shape = x->shape;
    y->type = x->type;
    return 0;
}

static lra_tensor *average(lra_tensor *x, lra_tensor *length, moving_average_args a)
{
    lra_tensor *src[] = {x, length};
    return lra_node(&lra_op_moving_average, x->graph, length ? 2 : 1, src, &a, sizeof a);
}

static void grad(lra_tensor *y, lra_tensor *dy, lra_tensor **dx)
{
    moving_average_args a = *(const moving_average_args *)y->args;
    a.back = !a.back;
    dx[0] = average(dy, a.has_length ? y->src[1] : NULL, a);
}

static double flops(const lra_tensor *y)
{
    return (double)((const moving_average_args *)y->args)->width * (double)lra_elements(y);
}

lra_tensor *lra_moving_average(lra_tensor *x, lra_tensor *length, int64_t width, bool causal,
                               int64_t chunk)
{
    return average(x, length, (moving_average_args){width, chunk, causal, length != NULL, false});
}

static lra_tensor *sample(lra_graph *g, int i)
{
    if (i > 3) return NULL;
    lra_tensor *x = lra_sample_input(g, "x", "normal", LRA_SHAPE(2, 9, 2, 3));
    lra_tensor *length = i % 2 ? lra_sample_input(g, "length", "length:9", LRA_SHAPE(2)) : NULL;
    return lra_moving_average(x, length, 3 + i % 2 * 2, i < 2, i == 3 ? 4 : 0);
}

const lra_op lra_op_moving_average = {.name = "moving_average",
                                      .shape = shape,
                                      .grad = grad,
                                      .flops = flops,
                                      .cpu = LRA_BODIES(moving_average),
                                      .sample = sample};
#endif
