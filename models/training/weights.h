/* Weights as safetensors files in PyTorch's layout.
 * Tensor `param/PATH` is the parameter of that scope path, `state/PATH` an array without gradient.
 *   convolution  PATH/kernel  (H, D/G, K), here (K, D/G, H)     torch.nn.Conv1d(D, H, K, groups=G).weight
 *   linear       PATH/w       (H, D), here (D, H)               torch.nn.Linear(D, H).weight
 * All other arrays are the same in both.  Metadata `lra.format` is "1". */
#ifndef LRA_MODELS_TRAINING_WEIGHTS_H
#define LRA_MODELS_TRAINING_WEIGHTS_H

#include "kernels/base/formats/safetensors.h"
#include "kernels/graph/graph.h"

/* Writes weights and states to the file `to`. config: configuration lines of the run; step: -1 if
 * unknown; *n_arrays: number of arrays written. */
int lra_weights_export(const lra_params *p, const char *config, int64_t step, const char *to,
                       int *n_arrays, lra_err *e);
/* Writes the provenance of the weights into the metadata of a file. */
int lra_weights_describe(const char *config, int64_t step, lra_config *meta, lra_err *e);
/* Reverses the dimensions of an array of two or three dimensions, out[c][b][a] = in[a][b][c], and
 * those of s. element: bytes of an element. */
void lra_weights_reverse(lra_shape *s, size_t element, const void *in, void *out);
/* Checks the metadata of a file. A file without `lra.format` and without any array name of this
 * suite passes; lra_weights_import() then reports the names that do not match. */
int lra_weights_check(const lra_safetensors *t, const char *name, lra_err *e);
/* Imports every weight and state of `p` from the file, which must contain exactly these arrays.
 * Integers and other floating-point types than F32 are converted to float32; *n_converted counts
 * these arrays. `name` is used in messages. */
int lra_weights_import(lra_params *p, const lra_safetensors *t, const char *name, int *n_converted,
                       lra_err *e);
/* Differences between the arrays of a file and those of a model. */
typedef struct {
    /* number of arrays in the file; of these, arrays that the model does not have */
    int n_file, n_unknown;
    /* number of arrays that the model needs; of these, arrays that the file does not have */
    int n_model, n_missing;
    const char *unknown, *missing; /* first unknown and first missing array; NULL: none */
    /* array of the model with the name most similar to `unknown`; NULL: none */
    const char *near;
} lra_weights_names;
/* Fails with the number and the first name of unknown and of missing arrays; returns 0 if all
 * match. name: path of the file. */
int lra_weights_fail_names(const lra_weights_names *n, const char *name, lra_err *e);
/* Imports array i of `p` from the array `tensor` of a file, which is in PyTorch's layout. */
int lra_weights_put(lra_params *p, int i, const lra_ndarray *a, const char *tensor,
                    const char *name, lra_err *e);

#endif
