/* Chunks of sorted rows, for attention of each chunk to itself and to the previous chunk
 * (Reformer). Computes the position ids and numbers of tokens of each chunk, which depend on the
 * lengths of the examples. The previous chunk of the first one is the last chunk that is not
 * empty. */
#include "kernels/ops/attention/lsh_buckets_body.h"
#include "kernels/ops/typed.h"

/* Sources: order (N,T), [length]. */
LRA_BODY(lsh_buckets)
{
    const lsh_buckets_view v = lsh_buckets_view_of(c->y);
    const int32_t *length = c->y->n_src > 1 ? c->in[1] : NULL;
    int64_t rows = c->y->src[0]->shape.d[0], each = lra_elements(c->y) / rows;
#pragma omp parallel for num_threads(c->n_threads) if (rows * each >= LRA_PARALLEL_MIN)
    for (int64_t n = 0; n < rows; n++)
        for (int64_t i = 0; i < each; i++) chunk_write(&v, c->in[0], length, n, i, c->out);
}

#if LRA_RECORD
LRA_DECLARE(lsh_buckets)

static int shape(lra_tensor *y, lra_err *e)
{
    const lsh_buckets_args *a = y->args;
    const lra_tensor *order = y->src[0];
    if (lra_expect_index(order, "the order", e) != 0) return LRA_FAILED;
    if (order->shape.n != 2) return lra_fail(e, "the order has rank %d", order->shape.n);
    if (a->J < 1) return lra_fail(e, "%lld chunks", (long long)a->J);
    int64_t N = order->shape.d[0], T = order->shape.d[1];
    if (y->n_src > 1) {
        const lra_tensor *length = y->src[1];
        if (lra_expect_index(length, "length", e) != 0) return LRA_FAILED;
        if (length->shape.n != 1 || N % length->shape.d[0])
            return lra_fail(e, "%lld rows do not match the number of lengths", (long long)N);
    }
    const lra_shape s[] = {[LRA_CHUNK_KEY] = LRA_SHAPE(N, a->J * 2 * ((T + a->J - 1) / a->J)),
                           [LRA_CHUNK_OWN] = LRA_SHAPE(N * a->J),
                           [LRA_CHUNK_SEEN] = LRA_SHAPE(N * a->J),
                           [LRA_CHUNK_SLOT] = LRA_SHAPE(N, T)};
    y->shape = s[a->part];
    y->type = LRA_I32;
    return 0;
}

static double flops(const lra_tensor *y)
{
    (void)y;
    return 0;
}

lra_tensor *lra_lsh_buckets(lra_tensor *order, lra_tensor *length, int64_t J, lra_chunk_part part)
{
    lsh_buckets_args a = {part, J};
    lra_tensor *src[] = {order, length};
    return lra_node(&lra_op_lsh_buckets, order->graph, length ? 2 : 1, src, &a, sizeof a);
}

/* Test samples of every part, with and without padding. */
static lra_tensor *sample(lra_graph *g, int i)
{
    if (i > 7) return NULL;
    lra_tensor *order = lra_argsort(lra_sample_input(g, "x", "normal", LRA_SHAPE(6, 23)));
    lra_tensor *length = lra_sample_input(g, "length", "length:23", LRA_SHAPE(3));
    return lra_lsh_buckets(order, i < 4 ? length : NULL, i < 4 ? 4 : 23, (lra_chunk_part)(i % 4));
}

const lra_op lra_op_lsh_buckets = {.name = "lsh_buckets",
                                   .flags = LRA_NOGRAD,
                                   .shape = shape,
                                   .flops = flops,
                                   .cpu = LRA_BODIES(lsh_buckets),
                                   .sample = sample};
#endif
