/* Random orthogonal rows (m,K), real, without a gradient. kernels/base/core/orthogonal.h draws them
 * anew at every training step. The only source is the step input, which contains the seed; the key
 * of the draws is the hash of the node's path. */
#include "kernels/ops/args.h"
#include "kernels/ops/typed.h"

#include "kernels/base/os/file.h"
#include "kernels/base/core/orthogonal.h"

/* Scratch: (m,K) doubles. */
LRA_BODY(orthogonal)
{
    const orthogonal_args *a = c->y->args;
    double *rows = c->scratch;
    real *y = c->out;
    lra_step step;
    memcpy(&step, c->in[0], sizeof step);
    lra_orthogonal_rows(step.seed, a->key, step.step, a->m, a->K, rows);
    for (int64_t i = 0; i < a->m * a->K; i++) y[i] = (real)rows[i];
}

#if LRA_RECORD
LRA_DECLARE(orthogonal)

static int shape(lra_tensor *y, lra_err *e)
{
    const orthogonal_args *a = y->args;
    if (a->m < 1 || a->K < 1)
        return lra_fail(e, "%lld rows of %lld", (long long)a->m, (long long)a->K);
    y->shape = LRA_SHAPE(a->m, a->K);
    y->type = lra_real(y->graph);
    return 0;
}

static double flops(const lra_tensor *y)
{
    double K = (double)lra_width(y);
    return 2 * (double)lra_rows(y) * K * K;
}

static int64_t scratch(const lra_tensor *y, int n_threads)
{
    (void)n_threads;
    return lra_elements(y) * (int64_t)sizeof(double);
}

lra_tensor *lra_orthogonal(lra_graph *g, int64_t m, int64_t K)
{
    orthogonal_args a = {m, K, 0};
    lra_tensor *step = lra_step_input(g);
    lra_tensor *y = lra_node(&lra_op_orthogonal, g, 1, &step, &a, sizeof a);
    ((orthogonal_args *)(uintptr_t)y->args)->key = lra_hash32(lra_tensor_path(y));
    return y;
}

static lra_tensor *sample(lra_graph *g, int i)
{
    static const int64_t size[][2] = {{3, 5}, {7, 3}, {1, 1}, {40, 33}};
    return i < 4 ? lra_orthogonal(g, size[i][0], size[i][1]) : NULL;
}

const lra_op lra_op_orthogonal = {.name = "orthogonal",
                                  .flags = LRA_NOGRAD,
                                  .shape = shape,
                                  .flops = flops,
                                  .scratch = scratch,
                                  .cpu = LRA_BODIES(orthogonal),
                                  .sample = sample};
#endif
