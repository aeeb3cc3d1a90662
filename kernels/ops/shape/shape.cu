/* slice_copy, pad, permute and concat on a GPU, for elements of 2 or 4 bytes. */
#include "kernels/ops/strided_cuda.h"

template <class WORD>
static __global__ void permute_kernel(int64_t n, strided s, const WORD *x, WORD *y)
{
    for (EACH(i, n)) y[i] = x[strided_at(&s, i)];
}

LRA_CUDA_BODY(permute)
{
    const lra_tensor *y = c->y, *x = y->src[0];
    const permute_args *a = (const permute_args *)y->args;
    strided s = {y->shape.n, {0}, {0}};
    int64_t n = lra_elements(y), step = 1, stride[LRA_MAX_RANK] = {0};
    for (int i = x->shape.n - 1; i >= 0; i--) {
        stride[i] = step;
        step *= x->shape.d[i];
    }
    for (int i = 0; i < s.n; i++) s.size[i] = y->shape.d[i], s.stride[i] = stride[a->axes[i]];
    if (lra_type_size(y->type) == 2)
        LRA_LAUNCH(permute_kernel, lra_grid(n, LRA_BLOCK), LRA_BLOCK, 0, stream, n, s,
                   (const uint16_t *)c->in[0], (uint16_t *)c->out);
    else
        LRA_LAUNCH(permute_kernel, lra_grid(n, LRA_BLOCK), LRA_BLOCK, 0, stream, n, s,
                   (const uint32_t *)c->in[0], (uint32_t *)c->out);
}

/* Copies n elements of each row, from index `from` of x to index `to` of y. Rows of x and y have
 * x_width and y_width elements. The other elements of y are zeroed if `clear` is true, else
 * unchanged. */
typedef struct {
    int64_t rows, x_width, y_width, from, to, n;
    bool clear;
} part_copy;

template <class WORD> static __global__ void copy_kernel(part_copy p, const WORD *x, WORD *y)
{
    int64_t width = p.clear ? p.y_width : p.n, first = p.clear ? 0 : p.to;
    for (EACH(i, p.rows * width)) {
        int64_t row = i / width, k = first + i % width - p.to;
        bool inside = k >= 0 && k < p.n;
        y[row * p.y_width + p.to + k] = inside ? x[row * p.x_width + p.from + k] : (WORD)0;
    }
}

static void copy_part(const part_copy *p, lra_type t, const void *x, void *y, void *stream)
{
    unsigned grid = lra_grid(p->rows * (p->clear ? p->y_width : p->n), LRA_BLOCK);
    if (lra_type_size(t) == 2)
        LRA_LAUNCH(copy_kernel, grid, LRA_BLOCK, 0, stream, *p, (const uint16_t *)x, (uint16_t *)y);
    else
        LRA_LAUNCH(copy_kernel, grid, LRA_BLOCK, 0, stream, *p, (const uint32_t *)x, (uint32_t *)y);
}

/* Number of elements of a row: the product of all dimensions from `axis` on. */
static int64_t row_of(const lra_shape *s, int axis)
{
    int64_t n = 1;
    for (int i = axis; i < s->n; i++) n *= s->d[i];
    return n;
}

LRA_CUDA_BODY(slice_copy)
{
    const slice_args *a = (const slice_args *)c->y->args;
    const lra_tensor *x = c->y->src[0];
    int64_t unit = row_of(&x->shape, a->axis + 1), width = row_of(&x->shape, a->axis);
    part_copy p = {
        lra_elements(x) / width, width, a->n * unit, a->from * unit, 0, a->n * unit, false};
    copy_part(&p, x->type, c->in[0], c->out, stream);
}

LRA_CUDA_BODY(pad)
{
    const slice_args *a = (const slice_args *)c->y->args;
    const lra_tensor *x = c->y->src[0];
    int64_t unit = row_of(&x->shape, a->axis + 1), width = row_of(&x->shape, a->axis);
    part_copy p = {lra_elements(x) / width, width, a->n * unit, 0, a->from * unit, width, true};
    copy_part(&p, x->type, c->in[0], c->out, stream);
}

LRA_CUDA_BODY(concat)
{
    const lra_tensor *y = c->y;
    int axis = ((const slice_args *)y->args)->axis;
    int64_t y_width = row_of(&y->shape, axis), rows = lra_elements(y) / y_width, to = 0;
    for (int i = 0; i < y->n_src; i++) {
        int64_t width = row_of(&y->src[i]->shape, axis);
        part_copy p = {rows, width, y_width, 0, to, width, false};
        copy_part(&p, y->type, c->in[i], c->out, stream);
        to += width;
    }
}
