/* y[.., c] = 1 where c = index, else 0. */
#include "kernels/ops/args.h"
#include "kernels/ops/typed.h"

LRA_BODY(one_hot)
{
    int64_t C = lra_width(c->y), n = lra_elements(c->y);
    const int32_t *index = c->in[0];
    LRA_EACH(i) t_store(c->out, c->y->type, i, i % C == index[i / C] ? 1 : 0);
}

#if LRA_RECORD
LRA_DECLARE(one_hot)

static int shape(lra_tensor *y, lra_err *e)
{
    const one_hot_args *a = y->args;
    const lra_tensor *x = y->src[0];
    if (lra_expect_index(x, "the index", e) != 0) return LRA_FAILED;
    if (x->shape.n == LRA_MAX_RANK)
        return lra_fail(e, "rank %d, at most %d", x->shape.n, LRA_MAX_RANK - 1);
    if (a->C < 1) return lra_fail(e, "%lld classes", (long long)a->C);
    y->shape = x->shape;
    y->shape.d[y->shape.n++] = a->C;
    y->type = lra_elem(y->graph);
    return 0;
}

static double flops(const lra_tensor *y)
{
    (void)y;
    return 0;
}

lra_tensor *lra_one_hot(lra_tensor *index, int64_t C)
{
    one_hot_args a = {C};
    return lra_node(&lra_op_one_hot, index->graph, 1, &index, &a, sizeof a);
}

static lra_tensor *sample(lra_graph *g, int i)
{
    if (i > 1) return NULL;
    return lra_one_hot(lra_sample_input(g, "index", i ? "label:5" : "index:7", LRA_SHAPE(3, 4)), 5);
}

const lra_op lra_op_one_hot = {.name = "one_hot",
                               .flags = LRA_NOGRAD,
                               .shape = shape,
                               .flops = flops,
                               .cpu = LRA_BODIES(one_hot),
                               .sample = sample};
#endif
