/* A tensor viewed as (O,R,I) for ops along one axis: R is the length of the axis, O and I are the
 * numbers of elements before and after it. */
#ifndef LRA_OPS_AXIS_VIEW_BODY_H
#define LRA_OPS_AXIS_VIEW_BODY_H

#include <stdbool.h>

#include "kernels/graph/op.h"

typedef struct {
    int axis;
    bool back;
} axis_args;

typedef struct {
    int64_t O, R, I;
} axis_view;

static inline axis_view axis_of(const lra_tensor *y)
{
    int axis = ((const axis_args *)y->args)->axis;
    axis_view v = {1, 1, 1};
    for (int i = 0; i < y->shape.n; i++)
        *(i < axis ? &v.O : i == axis ? &v.R : &v.I) *= y->shape.d[i];
    return v;
}

#if LRA_RECORD
/* Shape rule: y has the shape of its source. Checks the axis. */
static inline int axis_shape(lra_tensor *y, int axis, lra_err *e)
{
    const lra_tensor *x = y->src[0];
    if (axis < 0 || axis >= x->shape.n) return lra_fail(e, "axis %d of rank %d", axis, x->shape.n);
    y->shape = x->shape;
    y->type = x->type;
    return 0;
}
#endif

#endif
