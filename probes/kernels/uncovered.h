/* Nodes of a network that mix positions without a convolution kernel: attention, an LSTM, ... If
 * there are any, the kernels alone do not describe the model. */
#ifndef LRA_PROBES_KERNELS_UNCOVERED_H
#define LRA_PROBES_KERNELS_UNCOVERED_H

#include "models/training/loaded_model.h"

/* Names and ops of these nodes, in network order: "layer0 (attention), layer1 (attention)"; for a
 * model without a defined distance limit, the reason. "": there are none. The caller frees the
 * text. NULL: failed. The data of the run must be loaded. */
char *lra_uncovered_nodes(const lra_train_spec *run, lra_device *device, lra_err *e);

#endif
