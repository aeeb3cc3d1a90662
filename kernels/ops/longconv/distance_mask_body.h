/* Tests whether an element of an array is within the distance limit. */
#ifndef LRA_OPS_LONGCONV_DISTANCE_MASK_BODY_H
#define LRA_OPS_LONGCONV_DISTANCE_MASK_BODY_H

#include "kernels/ops/args.h"
#include "kernels/ops/real.h"

typedef struct {
    int64_t n, inner; /* n: length of the masked axis; inner: elements per index of this axis */
    int64_t zero, step;
} near_view;

static inline near_view near_view_of(const lra_tensor *y)
{
    const distance_mask_args *a = (const distance_mask_args *)y->args;
    near_view v = {y->shape.d[a->axis], 1, a->zero, a->step};
    for (int i = a->axis + 1; i < y->shape.n; i++) v.inner *= y->shape.d[i];
    return v;
}

LRA_FN bool is_near(const near_view *v, int64_t i, int32_t limit)
{
    int64_t away = i / v->inner % v->n - v->zero;
    return (away < 0 ? -away : away) * v->step <= limit;
}

#endif
