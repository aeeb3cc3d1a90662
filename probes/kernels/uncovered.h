/* Nodes of a network that mix positions without a convolution kernel, such as attention or an LSTM.
 * If there are any, the kernels alone do not describe the model. */
#ifndef LRA_PROBES_KERNELS_UNCOVERED_H
#define LRA_PROBES_KERNELS_UNCOVERED_H

#include "models/training/loaded_model.h"

/* Returns the names and ops of the nodes that mix positions without a kernel, in network order:
 * "layer0 (attention), layer1 (attention)"; "" if there are none. For a model without distance
 * limits, returns the reason why it has none. The caller frees the text. NULL: failure. The data of
 * the run must be loaded. */
char *lra_uncovered_nodes(const lra_train_spec *run, lra_device *device, lra_err *e);

#endif
