/* Visible key blocks of each query block in BigBird, per head. The first and the last block of an
 * example see all blocks. Any other block sees these two, itself, its two neighbours, and up to
 * `random` of the remaining blocks, drawn without replacement with equal probabilities.
 * The draws depend only on layer, head, query block and the number of blocks.
 * Source: Zaheer et al. 2020, arXiv:2007.14062. */
#include "kernels/ops/attention/bigbird_blocks_body.h"
#include "kernels/ops/typed.h"

/* Sources: length (B). */
LRA_BODY(bigbird_blocks)
{
    const bigbird_blocks_args *a = c->y->args;
    const int64_t *d = c->y->shape.d, most = d[3], n = d[0] * d[1] * d[2];
    const int32_t *length = c->in[0];
    LRA_EACH(i)
    {
        int64_t b = i / (d[1] * d[2]), head = i / d[2] % d[1];
        int32_t all = (int32_t)((length[b] + a->block - 1) / a->block);
        bigbird_blocks_row(a, head, (int32_t)(i % d[2]), all, (int)most,
                           (int32_t *)c->out + i * most);
    }
}

#if LRA_RECORD
LRA_DECLARE(bigbird_blocks)

static int shape(lra_tensor *y, lra_err *e)
{
    const bigbird_blocks_args *a = y->args;
    if (a->block < 1 || a->heads < 1 || a->T < 1 || a->random < 0)
        return lra_fail(e, "%lld positions in blocks of %lld, %lld heads, %lld random blocks",
                        (long long)a->T, (long long)a->block, (long long)a->heads,
                        (long long)a->random);
    int64_t B = y->src[0]->shape.d[0];
    if (lra_expect_length(y->src[0], B, e) != 0) return LRA_FAILED;
    y->shape = LRA_SHAPE(B, a->heads, (a->T + a->block - 1) / a->block, bigbird_blocks_most(a));
    y->type = LRA_I32;
    return 0;
}

static double flops(const lra_tensor *y)
{
    (void)y;
    return 0;
}

lra_tensor *lra_bigbird_blocks(lra_tensor *length, int64_t T, int64_t heads, int64_t block,
                               int64_t random, int64_t layer)
{
    bigbird_blocks_args a = {T, heads, block, random, layer};
    return lra_node(&lra_op_bigbird_blocks, length->graph, 1, &length, &a, sizeof a);
}

static lra_tensor *sample(lra_graph *g, int i)
{
    if (i > 1) return NULL;
    lra_tensor *length = lra_sample_input(g, "length", i ? "length:47" : "length:9", LRA_SHAPE(3));
    return lra_bigbird_blocks(length, i ? 47 : 9, 2, 3, i ? 6 : 2, 1);
}

const lra_op lra_op_bigbird_blocks = {.name = "bigbird_blocks",
                                      .flags = LRA_NOGRAD,
                                      .shape = shape,
                                      .flops = flops,
                                      .cpu = LRA_BODIES(bigbird_blocks),
                                      .sample = sample};
#endif
