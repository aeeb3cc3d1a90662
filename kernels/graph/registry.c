/* All ops, in the order of ops.def. */
#include "kernels/graph/op.h"

static const lra_op *const registry[] = {
#define LRA_OP(name) &lra_op_##name,
#include "kernels/graph/ops.def"
#undef LRA_OP
};

const lra_op *lra_op_at(int i)
{
    return i >= 0 && i < (int)(sizeof registry / sizeof *registry) ? registry[i] : NULL;
}
