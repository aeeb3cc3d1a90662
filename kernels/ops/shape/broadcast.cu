/* broadcast and reduce_sum on a GPU. */
#include "kernels/ops/columns_cuda.h"
#include "kernels/ops/strided_cuda.h"

static __global__ void broadcast_kernel(int64_t n, strided s, lra_type from, const void *x,
                                        lra_type to, void *y)
{
    for (EACH(i, n)) t_store(y, to, i, t_load(x, from, strided_at(&s, i)));
}

LRA_CUDA_BODY(broadcast)
{
    const lra_tensor *y = c->y, *x = y->src[0];
    int missing = y->shape.n - x->shape.n;
    int64_t n = lra_elements(y), step = 1;
    strided s = {y->shape.n, {0}, {0}};
    for (int i = s.n - 1; i >= 0; i--) {
        int64_t d = i < missing ? 1 : x->shape.d[i - missing];
        s.size[i] = y->shape.d[i];
        s.stride[i] = d == 1 ? 0 : step;
        step *= d;
    }
    LRA_LAUNCH(broadcast_kernel, lra_grid(n, LRA_BLOCK), LRA_BLOCK, 0, stream, n, s, x->type,
               c->in[0], y->type, c->out);
}

typedef struct {
    const void *x;
    lra_type t;
    int64_t D;
} reduce_from;

LRA_DEV void add_element(const reduce_from *a, int64_t row, int64_t d, double *s)
{
    s[0] += (double)t_load(a->x, a->t, row * a->D + d);
}
COLUMN_KERNEL(reduce_kernel, reduce_from, 1, add_element)

/* Partial sums if a row is a single number (D = 1): one warp for each block of rows. */
static __global__ void reduce_row_kernel(int64_t O, int64_t R, int64_t n_blocks, lra_type t,
                                         const void *x, real *part)
{
    for (EACH_ROW(i, O * n_blocks)) {
        int64_t first = i % n_blocks * LRA_ROW_BLOCK, o = i / n_blocks;
        int64_t end = first + LRA_ROW_BLOCK < R ? first + LRA_ROW_BLOCK : R;
        double s = 0;
        for (int64_t r = first + threadIdx.x; r < end; r += LRA_WARP)
            s += (double)t_load(x, t, o * R + r);
        s = warp_sum_double(s);
        if (threadIdx.x == 0) part[i] = (real)s;
    }
}

/* scratch: (O, blocks of R, D) */
LRA_CUDA_BODY(reduce_sum)
{
    const reduce_sum_args *a = (const reduce_sum_args *)c->y->args;
    const lra_tensor *x = c->y->src[0];
    int64_t O = 1, R = 1, D = 1;
    for (int i = 0; i < x->shape.n; i++) *(i < a->from ? &O : i < a->to ? &R : &D) *= x->shape.d[i];
    real *part = (real *)c->scratch;
    reduce_from from = {c->in[0], x->type, D};
    if (D == 1)
        LRA_LAUNCH(reduce_row_kernel, lra_grid(O * row_blocks(R), LRA_BLOCK_WARPS), ROW_BLOCK, 0,
                   stream, O, R, row_blocks(R), x->type, c->in[0], part);
    else
        COLUMN_LAUNCH(reduce_kernel, from, 1, O, R, D, part, stream);
    add_blocks(part, O, row_blocks(R), D, (real *)c->out, stream);
}
