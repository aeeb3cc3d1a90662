/* Embedding: y = table[index]. table: (V,D), index: (..), y: (..,D). The gradient adds the rows of
 * dy in the order of the indices, and each thread adds its own columns, so that the bits do not
 * depend on the number of threads. An index outside of [0,V) is a bug: data readers check their
 * vocabulary. */
#include "kernels/ops/dense/embedding_body.h"
#include "kernels/ops/lanes_template.h"

static inline void check_index(const lra_call *c, const int32_t *index, int64_t n, int64_t V)
{
    for (int64_t i = 0; i < n; i++)
        if (index[i] < 0 || index[i] >= V)
            LRA_BUG("op '%s': index %d is not in [0,%lld)", c->y->op->name, (int)index[i],
                    (long long)V);
}

LRA_BODY(embedding)
{
    int64_t D = lra_width(c->y), n = lra_elements(c->y->src[1]);
    const elem *table = c->in[0];
    const int32_t *index = c->in[1];
    elem *y = c->out;
    check_index(c, index, n, c->y->src[0]->shape.d[0]);
#pragma omp parallel for num_threads(c->n_threads) if (n * D >= LRA_PARALLEL_MIN)
    for (int64_t i = 0; i < n; i++) memcpy(y + i * D, table + index[i] * D, (size_t)D * sizeof *y);
}

LRA_ROW_FN void add_lanes(int64_t i, int64_t w, lra_type t, const void *dy, int64_t from, real *row)
{
    lanes_store(row, LRA_F32, i, w,
                lanes_load(row, LRA_F32, i, w) + lanes_load(dy, t, from + i, w));
}
/* Adds columns [first, last) of row i of dy to row index[i] of dtable, for all i. */
LRA_ROW_FN void add_columns(lra_type t, const void *dy, const int32_t *index, int64_t n, int64_t D,
                            int64_t first, int64_t last, real *dtable)
{
    for (int64_t i = 0; i < n; i++)
        LANES_SPAN(first, last, add_lanes, t, dy, i * D, dtable + index[i] * D);
}

enum { COLUMNS = 16 }; /* full cache lines, and full vectors of every instruction set */

LRA_BODY(embedding_grad)
{
    int64_t V = c->y->shape.d[0], D = c->y->shape.d[1], n = lra_elements(c->y->src[1]);
    const int32_t *index = c->in[1];
    real *dtable = c->out;
    int64_t each = ((D + COLUMNS - 1) / COLUMNS + c->n_threads - 1) / c->n_threads * COLUMNS;
    check_index(c, index, n, V);
    memset(dtable, 0, (size_t)lra_bytes(c->y));
#pragma omp parallel for num_threads(c->n_threads) if (n * D >= LRA_PARALLEL_MIN)
    for (int64_t first = 0; first < D; first += each)
        LRA_BY_TYPE(add_columns, c->y->src[0]->type, c->in[0], index, n, D, first,
                    first + each < D ? first + each : D, dtable);
}

#if LRA_RECORD
LRA_DECLARE(embedding)
LRA_DECLARE(embedding_grad)

typedef struct {
    int64_t V;
} embedding_args;

static int shape(lra_tensor *y, lra_err *e)
{
    const lra_tensor *table = y->src[0], *index = y->src[1];
    if (lra_expect_float(table, "the table", e) != 0) return LRA_FAILED;
    if (lra_expect_index(index, "index", e) != 0) return LRA_FAILED;
    if (table->shape.n != 2)
        return lra_fail(e, "the table has rank %d, expected 2", table->shape.n);
    if (index->shape.n == LRA_MAX_RANK) return lra_fail(e, "index has too many dimensions");
    y->shape = index->shape;
    y->shape.d[y->shape.n++] = table->shape.d[1];
    y->type = lra_elem(y->graph);
    return 0;
}

static int grad_shape(lra_tensor *y, lra_err *e)
{
    (void)e;
    y->shape = LRA_SHAPE(((const embedding_args *)y->args)->V, lra_width(y->src[0]));
    y->type = lra_real(y->graph);
    return 0;
}

static void grad(lra_tensor *y, lra_tensor *dy, lra_tensor **dx)
{
    embedding_args a = {y->src[0]->shape.d[0]};
    dx[0] = lra_node(&lra_op_embedding_grad, y->graph, 2, (lra_tensor *[]){dy, y->src[1]}, &a,
                     sizeof a);
}

static double no_flops(const lra_tensor *y)
{
    (void)y;
    return 0;
}
/* Scratch of the CUDA body: sums in fixed point, or partial sums of slices. */
static int64_t grad_cuda_scratch(const lra_tensor *y)
{
    int64_t n = lra_elements(y->src[1]), slices = embedding_slices(n, lra_elements(y));
    if (embedding_scatters(n, y->shape.d[0])) return embedding_scatter_bytes(lra_elements(y));
    return slices > 1 ? slices * lra_bytes(y) : 0;
}
static double grad_flops(const lra_tensor *y)
{
    return (double)lra_elements(y->src[0]);
}

lra_tensor *lra_embedding(lra_tensor *table, lra_tensor *index)
{
    if (table->op != &lra_op_param) table = lra_cast(table, lra_elem(table->graph));
    return lra_node(&lra_op_embedding, table->graph, 2, (lra_tensor *[]){table, index}, NULL, 0);
}

static lra_tensor *sample(lra_graph *g, int i)
{
    if (i == 0)
        return lra_embedding(lra_sample_input(g, "table", "normal", LRA_SHAPE(5, 3)),
                             lra_sample_input(g, "index", "index:5", LRA_SHAPE(2, 7)));
    if (i == 1)
        return lra_embedding(lra_sample_input(g, "table", "normal", LRA_SHAPE(11, 33)),
                             lra_sample_input(g, "index", "index:11", LRA_SHAPE(40)));
    return NULL;
}
static lra_tensor *grad_sample(lra_graph *g, int i)
{
    /* Sample 1 has enough positions for several slices on a GPU; sample 2 has so many positions and
     * rows that a GPU scatters. */
    static const int64_t V[] = {6, 6, 1500}, T[] = {9, 600, 700}, D[] = {17, 2, 11};
    if (i > 2) return NULL;
    embedding_args a = {V[i]};
    lra_tensor *src[] = {
        lra_sample_input(g, "dy", "normal", LRA_SHAPE(2, T[i], D[i])),
        lra_sample_input(g, "index", i == 2 ? "index:1500" : "index:6", LRA_SHAPE(2, T[i]))};
    return lra_node(&lra_op_embedding_grad, g, 2, src, &a, sizeof a);
}

const lra_op lra_op_embedding = {.name = "embedding",
                                 .shadow = 1,
                                 .shape = shape,
                                 .grad = grad,
                                 .flops = no_flops,
                                 .cpu = LRA_BODIES(embedding),
                                 .sample = sample};
const lra_op lra_op_embedding_grad = {.name = "embedding_grad",
                                      .flags = LRA_NOGRAD,
                                      .shape = grad_shape,
                                      .flops = grad_flops,
                                      .cuda_scratch = grad_cuda_scratch,
                                      .cpu = LRA_BODIES(embedding_grad),
                                      .sample = grad_sample};
#endif
