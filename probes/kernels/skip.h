/* The direct path of a kernel, D of y = k * u + D u, which --kernel-skip counts as its lag 0. */
#ifndef LRA_PROBES_KERNELS_SKIP_H
#define LRA_PROBES_KERNELS_SKIP_H

#include "probes/kernels/numbers.h"

/* Finds the vector D of a long convolution or a scan by its use: D multiplies the input of the op,
 * and the product is added to the output. NULL: the op has no direct path. */
lra_tensor *lra_skip_find(const lra_graph *g, const lra_tensor *node);
/* Adds D at lag 0 of kernels that were read before; in kernels with several components, to the
 * component of the channel's own input. Requires a forward pass. */
int lra_skip_add(const lra_length_graph *v, lra_tensor *skip, lra_extracted_kernels *k, int state,
                 lra_err *e);

#endif
