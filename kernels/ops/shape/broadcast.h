/* Broadcasting with a change of type, for builders of kernels/ops. */
#ifndef LRA_OPS_SHAPE_BROADCAST_H
#define LRA_OPS_SHAPE_BROADCAST_H

#include "kernels/graph/op.h"

/* True if dimensions of `from` are missing in front, 1, or equal to those of `to`. */
bool lra_shape_spreads(lra_shape from, lra_shape to);
/* Repeats dimensions of size 1 and converts to `type`; x itself when there is nothing to do. */
lra_tensor *lra_broadcast_to(lra_tensor *x, lra_shape s, lra_type type);

#endif
