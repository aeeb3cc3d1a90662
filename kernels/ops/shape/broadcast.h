/* Broadcasting with conversion of the type, for builders in kernels/ops. */
#ifndef LRA_OPS_SHAPE_BROADCAST_H
#define LRA_OPS_SHAPE_BROADCAST_H

#include "kernels/graph/op.h"

/* True if `from` can be broadcast to `to`: each of its dimensions is missing (leading dimensions
 * only), 1, or equal to that of `to`. */
bool lra_shape_spreads(lra_shape from, lra_shape to);
/* Repeats dimensions of size 1 and converts to `type`; x itself if it has that shape and type. */
lra_tensor *lra_broadcast_to(lra_tensor *x, lra_shape s, lra_type type);

#endif
