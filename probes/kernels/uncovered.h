/* Nodes of a network that mix positions and have no convolution kernel: attention, an LSTM, ...
 * Kernels of the other nodes do not describe the model. */
#ifndef LRA_PROBES_KERNELS_UNCOVERED_H
#define LRA_PROBES_KERNELS_UNCOVERED_H

#include "models/training/loaded_model.h"

/* Their names and ops, in the order of the network: "layer0 (attention), layer1 (attention)"; of a
 * model on which a limit of distance is undefined the reason.  "": there are none.  The caller
 * frees the text.  NULL: failed.  The data of the run must be loaded. */
char *lra_uncovered_nodes(const lra_train_spec *run, lra_device *device, lra_err *e);

#endif
