/* y = x_1 + ... + x_n, added in real from left to right and rounded once. */
#include "kernels/ops/typed.h"

LRA_BODY(sum)
{
    int64_t n = lra_elements(c->y);
    lra_type t = c->y->type;
    int terms = c->y->n_src;
#pragma omp parallel for num_threads(c->n_threads) if (n >= LRA_PARALLEL_MIN)
    for (int64_t first = 0; first < n; first += LRA_PIECE) {
        real s[LRA_PIECE];
        int64_t m = n - first < LRA_PIECE ? n - first : LRA_PIECE;
        for (int64_t i = 0; i < m; i++) s[i] = t_load(c->in[0], t, first + i);
        for (int k = 1; k < terms; k++)
            for (int64_t i = 0; i < m; i++) s[i] += t_load(c->in[k], t, first + i);
        for (int64_t i = 0; i < m; i++) t_store(c->out, t, first + i, s[i]);
    }
}

#if LRA_RECORD
LRA_DECLARE(sum)

static int shape(lra_tensor *y, lra_err *e)
{
    const lra_tensor *x = y->src[0];
    for (int i = 0; i < y->n_src; i++) {
        if (lra_expect_float(y->src[i], "a term", e) != 0) return LRA_FAILED;
        if (lra_expect_shape(y->src[i], x->shape, "a term", e) != 0) return LRA_FAILED;
        if (y->src[i]->type != x->type) return lra_fail(e, "terms of different types");
    }
    y->shape = x->shape;
    y->type = x->type;
    return 0;
}

static void grad(lra_tensor *y, lra_tensor *dy, lra_tensor **dx)
{
    for (int i = 0; i < y->n_src; i++) dx[i] = dy;
}

static double flops(const lra_tensor *y)
{
    return (double)lra_elements(y) * (y->n_src - 1);
}

lra_tensor *lra_sum(int n, lra_tensor *const *x)
{
    return n == 1 ? x[0] : lra_node(&lra_op_sum, x[0]->graph, n, x, NULL, 0);
}

static lra_tensor *sample(lra_graph *g, int i)
{
    if (i > 1) return NULL;
    lra_shape s = i ? LRA_SHAPE(2, 3, 33) : LRA_SHAPE(5);
    lra_tensor *x[] = {lra_sample_input(g, "a", "normal", s), lra_sample_input(g, "b", "normal", s),
                       lra_sample_input(g, "c", "normal", s)};
    return lra_sum(3 - i, x);
}

const lra_op lra_op_sum = {.name = "sum",
                           .flags = LRA_INPLACE,
                           .shape = shape,
                           .grad = grad,
                           .flops = flops,
                           .cpu = LRA_BODIES(sum),
                           .sample = sample};
#endif
