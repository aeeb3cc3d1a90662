/* y[.., i, ..] = sum of x[.., j, ..] over j <= i, or over j >= i; the gradient is the cumulative
 * sum of dy in the opposite direction. Sums are real, in the order of the axis, and rounded only
 * when y is stored. */
#include "kernels/ops/axis_view_body.h"
#include "kernels/ops/typed.h"

enum { LANES = 64 }; /* adjacent columns that are summed together */

/* Cumulative sums of columns [k, k+n) of one slice (R,I). */
LRA_ROW_FN void sum_columns(lra_type t, const void *x, void *y, axis_view v, int64_t k, int64_t n,
                            bool back)
{
    real s[LANES] = {0};
    for (int64_t i = 0; i < v.R; i++) {
        int64_t at = (back ? v.R - 1 - i : i) * v.I + k;
        for (int64_t j = 0; j < n; j++) {
            s[j] += t_load(x, t, at + j);
            t_store(y, t, at + j, s[j]);
        }
    }
}

LRA_BODY(cumsum)
{
    const axis_view v = axis_of(c->y);
    bool back = ((const axis_args *)c->y->args)->back;
    lra_type t = c->y->type;
    int64_t parts = (v.I + LANES - 1) / LANES;
#pragma omp parallel for num_threads(c->n_threads) if (v.O * v.R * v.I >= LRA_PARALLEL_MIN)
    for (int64_t i = 0; i < v.O * parts; i++) {
        int64_t k = i % parts * LANES, from = i / parts * v.R * v.I;
        LRA_BY_TYPE(sum_columns, t, t_at(c->in[0], t, from), t_to(c->out, t, from), v, k,
                    v.I - k < LANES ? v.I - k : LANES, back);
    }
}

#if LRA_RECORD
LRA_DECLARE(cumsum)

static int shape(lra_tensor *y, lra_err *e)
{
    if (lra_expect_float(y->src[0], "the source", e) != 0) return LRA_FAILED;
    return axis_shape(y, ((const axis_args *)y->args)->axis, e);
}

static void grad(lra_tensor *y, lra_tensor *dy, lra_tensor **dx)
{
    const axis_args *a = y->args;
    dx[0] = lra_cumsum(dy, a->axis, !a->back);
}

lra_tensor *lra_cumsum(lra_tensor *x, int axis, bool back)
{
    axis_args a = {axis, back};
    return lra_node(&lra_op_cumsum, x->graph, 1, &x, &a, sizeof a);
}

static lra_tensor *sample(lra_graph *g, int i)
{
    const lra_shape s[] = {LRA_SHAPE(2, 9, 5), LRA_SHAPE(3, 4, 70), LRA_SHAPE(6, 2),
                           LRA_SHAPE(2, 9, 5)};
    static const int axis[] = {1, 1, 0, 2};
    if (i > 3) return NULL;
    return lra_cumsum(lra_sample_input(g, "x", "normal", s[i]), axis[i], i % 2 == 1);
}

const lra_op lra_op_cumsum = {.name = "cumsum",
                              .flags = LRA_INPLACE,
                              .shape = shape,
                              .grad = grad,
                              .cpu = LRA_BODIES(cumsum),
                              .sample = sample};
#endif
