/* Gradients of one batch as a safetensors file, for comparison with other implementations of a
 * model.
 *   param/PATH, grad/PATH      a weight and d loss / d weight, both in PyTorch's layout (weights.h)
 *   state/PATH, constant/PATH  arrays without gradient
 *   input/NAME                 tokens or values, length; label; or target, asked (the loss mask) and
 *                              scale
 *   output, loss               logits or predicted numbers, and the mean loss over the loss mask
 * Reals are F64 in a float64 graph, else F32; integers are I32. Metadata: the caller's entries,
 * lra.precision, and lra.reversed, the names (PATH) of arrays whose dimensions are in the reverse
 * of this suite's order. */
#ifndef LRA_MODELS_TRAINING_GRADIENTS_H
#define LRA_MODELS_TRAINING_GRADIENTS_H

#include "kernels/base/formats/safetensors.h"
#include "models/network.h"

typedef struct {
    const lra_network *network;
    lra_tensor **param, **grad; /* (n) parameters and their gradients */
    int n;
    lra_tensor **out; /* (n_out) outputs of the plan: gradients, output, loss, inputs */
    int n_out;
} lra_gradients;

/* Adds the gradients of the network's loss to its graph. */
lra_gradients lra_gradients_new(const lra_network *k);
void lra_gradients_free(lra_gradients *g);
/* Writes the file after a run of a plan with these outputs. more: additional arrays of the caller.
 * *n_arrays: number of arrays written. Nullable: more, n_arrays. */
int lra_gradients_write(const lra_gradients *g, lra_plan *plan, const lra_params *p,
                        const lra_config *meta, int n_more, const lra_safetensor *more,
                        const char *to, int *n_arrays, lra_err *e);

#endif
