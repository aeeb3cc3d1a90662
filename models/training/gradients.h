/* The gradients of one batch, as a safetensors file: what another implementation of a model is
 * compared with.
 *   param/PATH, grad/PATH      a weight and d loss / d weight, both in PyTorch's layout (weights.h)
 *   state/PATH, constant/PATH  arrays without gradient
 *   input/NAME                 tokens or values, length; label, or target with asked and scale
 *   output, loss               logits or numbers, and the mean loss over what is asked
 * Reals are F64 in a float64 graph, else F32; integers are I32.  Metadata: what the caller says,
 * lra.precision, and lra.reversed, the names of arrays (PATH) whose dimensions stand in the
 * opposite order of ours. */
#ifndef LRA_MODELS_TRAINING_GRADIENTS_H
#define LRA_MODELS_TRAINING_GRADIENTS_H

#include "kernels/base/formats/safetensors.h"
#include "models/network.h"

typedef struct {
    const lra_network *network;
    lra_tensor **param, **grad; /* (n) */
    int n;
    lra_tensor **out; /* (n_out): what a plan must compute: gradients, output, loss, inputs */
    int n_out;
} lra_gradients;

/* Adds the gradients of the network's loss to its graph. */
lra_gradients lra_gradients_new(const lra_network *k);
void lra_gradients_free(lra_gradients *g);
/* After a run of a plan with these outputs.  `more`: arrays of the caller's own.  *n_arrays: how
 * many were written.  Nullable: more, n_arrays */
int lra_gradients_write(const lra_gradients *g, lra_plan *plan, const lra_params *p,
                        const lra_config *meta, int n_more, const lra_safetensor *more,
                        const char *to, int *n_arrays, lra_err *e);

#endif
