/* Indices that sort each row in ascending order, stable. Bottom-up merge sort; the scratch holds
 * two indices per element. */
#include "kernels/ops/typed.h"

/* True if the element at index a sorts before that at index b, for rows of int32 or real. */
static inline bool goes_before(const void *x, lra_type t, int32_t a, int32_t b)
{
    if (t == LRA_I32) return ((const int32_t *)x)[a] < ((const int32_t *)x)[b];
    return t_load(x, t, a) < t_load(x, t, b);
}

/* Merges pairs of adjacent sorted runs, `run` indices each, into runs of twice the length. */
static inline void merge(const void *x, lra_type t, int64_t D, int64_t run, const int32_t *from,
                         int32_t *to)
{
    for (int64_t first = 0; first < D; first += 2 * run) {
        int64_t middle = first + run < D ? first + run : D;
        int64_t end = first + 2 * run < D ? first + 2 * run : D, a = first, b = middle;
        for (int64_t i = first; i < end; i++) {
            bool second = a == middle || (b < end && goes_before(x, t, from[b], from[a]));
            to[i] = second ? from[b++] : from[a++];
        }
    }
}

LRA_BODY(argsort)
{
    int64_t D = lra_width(c->y), rows = lra_rows(c->y);
    lra_type t = c->y->src[0]->type;
    size_t unit = lra_type_size(t);
#pragma omp parallel for num_threads(c->n_threads) if (rows * D >= LRA_PARALLEL_MIN)
    for (int64_t i = 0; i < rows; i++) {
        const char *x = (const char *)c->in[0] + (size_t)(i * D) * unit;
        int32_t *y = (int32_t *)c->out + i * D, *a = (int32_t *)c->scratch + i * 2 * D, *b = a + D;
        for (int64_t d = 0; d < D; d++) a[d] = (int32_t)d;
        for (int64_t run = 1; run < D; run *= 2) {
            merge(x, t, D, run, a, b);
            int32_t *swap = a;
            a = b, b = swap;
        }
        memcpy(y, a, (size_t)D * sizeof *y);
    }
}

#if LRA_RECORD
LRA_DECLARE(argsort)

static int shape(lra_tensor *y, lra_err *e)
{
    const lra_tensor *x = y->src[0];
    if (x->type != LRA_I32 && lra_expect_float(x, "the source", e) != 0) return LRA_FAILED;
    if (x->shape.n < 1) return lra_fail(e, "the source is a scalar");
    y->shape = x->shape;
    y->type = LRA_I32;
    return 0;
}

static int64_t scratch(const lra_tensor *y, int n_threads)
{
    (void)n_threads;
    return 2 * lra_elements(y) * (int64_t)sizeof(int32_t);
}

static double flops(const lra_tensor *y)
{
    return (double)lra_elements(y) * log2((double)lra_width(y) + 1);
}

lra_tensor *lra_argsort(lra_tensor *x)
{
    return lra_node(&lra_op_argsort, x->graph, 1, &x, NULL, 0);
}

static lra_tensor *sample(lra_graph *g, int i)
{
    const lra_shape s[] = {LRA_SHAPE(3, 7), LRA_SHAPE(2, 3, 70), LRA_SHAPE(5, 1),
                           LRA_SHAPE(4, 300)};
    if (i > 3) return NULL;
    return lra_argsort(lra_sample_input(g, "x", i % 2 ? "index:4" : "normal", s[i]));
}

const lra_op lra_op_argsort = {.name = "argsort",
                               .flags = LRA_NOGRAD,
                               .shape = shape,
                               .flops = flops,
                               .scratch = scratch,
                               .cuda_scratch = lra_no_scratch,
                               .cpu = LRA_BODIES(argsort),
                               .sample = sample};
#endif
