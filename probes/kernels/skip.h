/* The direct path of a kernel, D of y = k * u + D u, which --kernel-skip counts as its lag 0. */
#ifndef LRA_PROBES_KERNELS_SKIP_H
#define LRA_PROBES_KERNELS_SKIP_H

#include "probes/kernels/numbers.h"

/* The vector D of a long convolution or a scan, found by its use: it multiplies their input, and
 * the product is added to their output. NULL: there is none. */
lra_tensor *lra_skip_find(const lra_graph *g, const lra_tensor *node);
/* Call it after a forward pass, on filled kernels: adds D at lag 0; in vectors, to the number of
 * the channel's own input. */
int lra_skip_add(const lra_length_graph *v, lra_tensor *skip, lra_extracted_kernels *k, int state,
                 lra_err *e);

#endif
