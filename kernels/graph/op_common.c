/* The leaf ops, and functions shared by builders and shape functions. */
#include "kernels/graph/graph_impl.h"

/* Leaves hold data and have no body. Their builders set the shape. */
static int leaf_shape(lra_tensor *y, lra_err *e)
{
    (void)y, (void)e;
    return 0;
}

const lra_op lra_op_input = {.name = "input", .flags = LRA_LEAF | LRA_NOGRAD, .shape = leaf_shape};
const lra_op lra_op_param = {.name = "param", .flags = LRA_LEAF | LRA_NOGRAD, .shape = leaf_shape};
const lra_op lra_op_state = {.name = "state", .flags = LRA_LEAF | LRA_NOGRAD, .shape = leaf_shape};
const lra_op lra_op_constant = {
    .name = "constant", .flags = LRA_LEAF | LRA_NOGRAD, .shape = leaf_shape};

int64_t lra_no_scratch(const lra_tensor *y)
{
    (void)y;
    return 0;
}

int64_t lra_cuda_scratch(const lra_tensor *y)
{
    if (y->op->cuda_scratch) return y->op->cuda_scratch(y);
    return y->op->scratch ? y->op->scratch(y, 1) : 0;
}

bool lra_is(const lra_tensor *x, const lra_op *op)
{
    return x->op == op;
}

bool lra_reads_shadow(const lra_op *op, int i)
{
    return i < 32 && (op->shadow >> i & 1u);
}

int64_t lra_elements(const lra_tensor *x)
{
    return lra_shape_elements(x->shape);
}
int64_t lra_bytes(const lra_tensor *x)
{
    return lra_elements(x) * (int64_t)lra_type_size(x->type);
}
int64_t lra_width(const lra_tensor *x)
{
    return x->shape.n ? x->shape.d[x->shape.n - 1] : 1;
}
int64_t lra_rows(const lra_tensor *x)
{
    int64_t width = lra_width(x);
    return width ? lra_elements(x) / width : 0;
}

int lra_expect_float(const lra_tensor *x, const char *what, lra_err *e)
{
    if (x->type != LRA_I32) return 0;
    return lra_fail(e, "%s is int32, expected real numbers", what);
}

int lra_expect_index(const lra_tensor *x, const char *what, lra_err *e)
{
    if (x->type == LRA_I32) return 0;
    return lra_fail(e, "%s holds real numbers, expected int32", what);
}

int lra_expect_shape(const lra_tensor *x, lra_shape s, const char *what, lra_err *e)
{
    char a[96], b[96];
    if (lra_shape_equal(x->shape, s)) return 0;
    return lra_fail(e, "%s has shape %s, expected %s", what, lra_shape_text(x->shape, a),
                    lra_shape_text(s, b));
}

int lra_expect_limit(const lra_tensor *limit, lra_err *e)
{
    if (lra_expect_index(limit, "the distance limit", e) != 0) return LRA_FAILED;
    return lra_expect_shape(limit, LRA_SHAPE(1), "the distance limit", e);
}

int lra_expect_length(const lra_tensor *length, int64_t B, lra_err *e)
{
    if (!length) return 0;
    if (lra_expect_index(length, "length", e) != 0) return LRA_FAILED;
    return lra_expect_shape(length, LRA_SHAPE(B), "length", e);
}
